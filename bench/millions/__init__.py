"""Millions of memories on one PostgreSQL: one large tenant and many small ones, made by SQL from a few real ones."""
