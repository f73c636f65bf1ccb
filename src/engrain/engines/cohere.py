"""Embedders of Cohere, which read questions and documents differently."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.engines.remote import Dialect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.domain.ports import EmbedRole


def _request(model: str, texts: Sequence[str], role: EmbedRole, dims: int | None) -> dict[str, Any]:
    """https://docs.cohere.com/reference/embed."""
    request = {
        "model": model,
        "texts": list(texts),
        "input_type": f"search_{role}",
        "embedding_types": ["float"],
        "truncate": "END",
    }
    return request if dims is None else {**request, "output_dimension": dims}


def _vectors(answer: Any, count: int) -> list[Any]:
    """The answer's, which are in the order of the texts."""
    vectors = answer["embeddings"]["float"]
    if len(vectors) != count:
        raise ValueError(f"{len(vectors)} vectors for {count} texts")
    return list(vectors)


COHERE = Dialect(
    provider="cohere",
    url="https://api.cohere.com/v2",
    path="/embed",
    dims={
        "embed-v4.0": 1536,
        "embed-english-v3.0": 1024,
        "embed-multilingual-v3.0": 1024,
        "embed-english-light-v3.0": 384,
        "embed-multilingual-light-v3.0": 384,
    },
    most_texts=96,
    request=_request,
    vectors=_vectors,
)
