"""Mem0's open memory with `infer=False`: turns are kept as they are, no language model reads them: docs.mem0.ai.

Its search is by vector alone then: for keywords it needs `fastembed` and an encoder that it downloads. Where spaCy is
installed it also tries to download a model of it for entities and lemmas; leave spaCy out of the environment.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bench.retrieval.peers import Offer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.retrieval.peers import Vectors

_PROVIDER = "langchain"  # the provider whose model may be an object


class Embedder:
    """Embedder that Mem0's factory makes of its configuration, whose `model` is the bench's vectors."""

    def __init__(self, config: Any) -> None:
        self.config = config

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """One vector; "search" says that the text is a question."""
        vectors: Vectors = self.config.model
        return vectors.question(text) if memory_action == "search" else vectors.documents([text])[0]

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text, memory_action) for text in texts]


class Mem0:
    """One memory; a conversation is a user of it."""

    def __init__(self, memory: Any) -> None:
        self._memory = memory
        self._places: dict[str, int] = {}

    def remember(self, namespace: str, texts: Sequence[str]) -> None:
        for at, text in enumerate(texts):
            added = self._memory.add([{"role": "user", "content": text}], user_id=namespace, infer=False)
            [kept] = added["results"]
            self._places[kept["id"]] = at

    def search(self, namespace: str, question: str, limit: int) -> Sequence[int]:
        found = self._memory.search(question, filters={"user_id": namespace}, top_k=limit)
        return [self._places[each["id"]] for each in found["results"]]

    def close(self) -> None:
        self._memory.vector_store.client.close()
        self._memory.close()


def _opened(vectors: Vectors, folder: Path) -> Mem0:
    mem0 = importlib.import_module("mem0")
    factory = importlib.import_module("mem0.utils.factory").EmbedderFactory
    factory.provider_to_class = {**factory.provider_to_class, _PROVIDER: f"{__name__}.{Embedder.__name__}"}
    stored = {
        "collection_name": "turns",
        "path": str(folder / "qdrant"),
        "embedding_model_dims": vectors.dims,
        "on_disk": True,
    }
    configuration = {
        "embedder": {"provider": _PROVIDER, "config": {"model": vectors, "embedding_dims": vectors.dims}},
        "vector_store": {"provider": "qdrant", "config": stored},
        "llm": {"provider": "openai", "config": {"api_key": "never used"}},
        "history_db_path": str(folder / "history.db"),
    }
    return Mem0(mem0.Memory.from_config(configuration))


OFFER = Offer(modules=("mem0", "qdrant_client"), install="pip install mem0ai", open=_opened)
