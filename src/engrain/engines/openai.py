"""Embedders of OpenAI, and of whoever speaks its language: vLLM, TEI, Ollama, LM Studio, LiteLLM and many more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.engines.remote import Dialect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.domain.ports import EmbedRole


def _request(model: str, texts: Sequence[str], role: EmbedRole, dims: int | None) -> dict[str, Any]:  # noqa: ARG001  # one kind of request for both roles
    """https://platform.openai.com/docs/api-reference/embeddings/create."""
    request = {"model": model, "input": list(texts), "encoding_format": "float"}
    return request if dims is None else {**request, "dimensions": dims}


def _vectors(answer: Any, count: int) -> list[Any]:
    """In the order of the texts, which is that of `index` and not always that of the answer."""
    by_index = {item["index"]: item["embedding"] for item in answer["data"]}
    if len(answer["data"]) != count:
        raise ValueError(f"{len(answer['data'])} vectors for {count} texts")
    return [by_index[at] for at in range(count)]


OPENAI = Dialect(
    provider="openai",
    url="https://api.openai.com/v1",
    path="/embeddings",
    dims={"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536},
    most_texts=256,  # of 2,048 that the service takes: servers of one's own take fewer
    request=_request,
    vectors=_vectors,
)
