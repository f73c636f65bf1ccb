"""txtai's hybrid index: half dense vectors, half BM25, an index for each conversation: neuml.github.io/txtai."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.retrieval.peers import Offer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from bench.retrieval.peers import Vectors


class Txtai:
    """`hybrid: true` and nothing else said; the external transform gives the bench's vectors."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._indexes: dict[str, Any] = {}

    def remember(self, namespace: str, texts: Sequence[str]) -> None:
        vectors = self._vectors

        def transform(some: Sequence[str]) -> NDArray[np.float32]:  # txtai would call a method without its texts
            return np.array(vectors.whichever(some), np.float32)

        index = importlib.import_module("txtai").Embeddings(method="external", transform=transform, hybrid=True)
        index.index([(at, text, None) for at, text in enumerate(texts)])
        self._indexes[namespace] = index

    def search(self, namespace: str, question: str, limit: int) -> Sequence[int]:
        return [int(id_) for id_, _ in self._indexes[namespace].search(question, limit)]

    def close(self) -> None:
        for index in self._indexes.values():
            index.close()


def _opened(vectors: Vectors, _: Path) -> Txtai:
    return Txtai(vectors)


OFFER = Offer(modules=("txtai",), install="pip install txtai", open=_opened)
