"""Entities: how names are found in texts, linked to the registry, resolved to candidates, and told of together."""
