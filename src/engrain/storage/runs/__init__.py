"""Runs of learning: claims and leases, the actions of a plan, and undo."""
