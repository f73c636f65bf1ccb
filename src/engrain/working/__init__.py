"""Working memory: current conversations in this process, and an outbox of unsaved messages."""
