"""Rerankers by provider."""
