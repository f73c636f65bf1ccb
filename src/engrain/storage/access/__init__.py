"""Access: pools and their members, keys of network clients."""
