"""Backups: rows of an agent, a tenant or a whole database, read out and restored."""
