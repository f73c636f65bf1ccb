"""Adapters for agent frameworks, one module each; each takes the framework from an extra of its name."""
