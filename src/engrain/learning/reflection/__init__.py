"""Reflections: permanent facts that sum up the last days of an agent, with their sources."""
