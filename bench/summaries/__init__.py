"""Summary benchmark: recall of extractive summaries beside simpler ways to choose sentences."""
