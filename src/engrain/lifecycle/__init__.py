"""Lifecycle of memories: the decay sweep, the cleanup of episodes, and the audit."""
