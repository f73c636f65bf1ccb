"""Benchmarks of engrain: evidence found by searches, and costs."""
