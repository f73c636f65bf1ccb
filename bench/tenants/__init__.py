"""Many tenants on one PostgreSQL: what a search costs beside the bare SQL of the same work."""
