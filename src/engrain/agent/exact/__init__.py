"""Exact values of an agent: what is stored and given back as it came, beside the memories."""
