"""What an agent works with before it is durable: messages that wait, the current conversation, where an input goes."""
