"""Text: analysis, indexing, similarity and what a text holds."""
