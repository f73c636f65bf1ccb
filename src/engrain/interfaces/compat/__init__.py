"""Interfaces that keep the published contract of another system."""
