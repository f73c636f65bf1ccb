"""The schema on a cluster that shards by tenant, and the store's conformance there."""
