"""Ranking: signals that add to the fused score of candidates."""
