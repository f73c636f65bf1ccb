"""Exact values of an agent: logs of JSON entries, given back as they came."""
