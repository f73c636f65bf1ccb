"""Portability benchmark: cost of backup and restore as memories grow, and a comparison of the two databases."""
