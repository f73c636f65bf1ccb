"""Shards: the tenants of one memory on several PostgreSQL servers, a directory of them, and moves between them."""
