"""Citus cluster: how the tables are distributed over its nodes, and what its statements do otherwise."""
