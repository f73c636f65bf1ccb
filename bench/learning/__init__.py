"""Bench of learning: facts that a language model learns from a conversation, and evidence found with their help."""
