"""Summaries of memories by a language model, or by their best sentences where there is none."""
