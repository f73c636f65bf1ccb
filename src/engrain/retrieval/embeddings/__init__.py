"""Embeddings of memories: the checked embedder, the embedding queue, and reembedding."""
