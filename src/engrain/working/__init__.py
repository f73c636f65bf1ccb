"""Working memory: current conversations in this process, an outbox of unsaved messages, the routing of inputs."""
