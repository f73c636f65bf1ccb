"""Values and pure decisions: nothing here touches a file, a socket, a clock or a random source."""
