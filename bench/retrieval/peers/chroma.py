"""Chroma, a collection for each conversation, by cosine distance: docs.trychroma.com."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bench.retrieval.peers import Offer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.retrieval.peers import Vectors

_AT_ONCE = 2_000  # less than Chroma's largest batch


class ChromaStore:
    """A persistent client. Vectors are given to it, as an embedding function of its own would."""

    def __init__(self, vectors: Vectors, client: Any) -> None:
        self._vectors = vectors
        self._client = client
        self._collections: dict[str, Any] = {}

    def remember(self, namespace: str, texts: Sequence[str]) -> None:
        collection = self._client.create_collection(
            f"conversation-{namespace}", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )
        for start in range(0, len(texts), _AT_ONCE):
            some = list(texts[start : start + _AT_ONCE])
            ids = [f"{start + at:06}" for at in range(len(some))]
            collection.add(ids=ids, documents=some, embeddings=self._vectors.documents(some))
        self._collections[namespace] = collection

    def search(self, namespace: str, question: str, limit: int) -> Sequence[int]:
        collection = self._collections[namespace]
        found = collection.query(query_embeddings=[self._vectors.question(question)], n_results=limit, include=[])
        return [int(id_) for id_ in found["ids"][0]]

    def close(self) -> None:
        self._client.close()


def _opened(vectors: Vectors, folder: Path) -> ChromaStore:
    chromadb = importlib.import_module("chromadb")
    settings = chromadb.config.Settings(anonymized_telemetry=False)
    return ChromaStore(vectors, chromadb.PersistentClient(path=str(folder), settings=settings))


OFFER = Offer(modules=("chromadb",), install="pip install chromadb", open=_opened)
