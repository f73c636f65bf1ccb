"""Request and response formats of the embedding services: OpenAI's and Cohere's.

vLLM, TEI, Ollama, LM Studio, LiteLLM and many more speak OpenAI's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engrain.domain.ports import EmbedRole


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The format in which one service takes texts and gives vectors.

    Attributes:
        provider: the part of an embedder's name before the colon.
        url: the service's own address, used where the settings give none.
        path: what follows the base of an address.
        dims: the dimensions of the models that are known.
        max_texts: texts in one request.
        request: the JSON for a model, texts, their role and the dimensions to be asked for, if any.
        vectors: the vectors of an answer, in the order of that many texts; LookupError, TypeError or ValueError where
            it is no such answer.
    """

    provider: str
    url: str
    path: str
    dims: Mapping[str, int]
    max_texts: int
    request: Callable[[str, Sequence[str], EmbedRole, int | None], Mapping[str, Any]]
    vectors: Callable[[Any, int], Sequence[Any]]


def _openai_request(model: str, texts: Sequence[str], role: EmbedRole, dims: int | None) -> dict[str, Any]:  # noqa: ARG001  # one kind of request for both roles
    """https://platform.openai.com/docs/api-reference/embeddings/create."""
    request = {"model": model, "input": list(texts), "encoding_format": "float"}
    return request if dims is None else {**request, "dimensions": dims}


def _openai_vectors(answer: Any, count: int) -> list[Any]:
    """In the order of the texts, which is that of `index` and not always that of the answer."""
    by_index = {item["index"]: item["embedding"] for item in answer["data"]}
    if len(answer["data"]) != count:
        raise ValueError(f"{len(answer['data'])} vectors for {count} texts")
    return [by_index[index] for index in range(count)]


OPENAI: Final = Dialect(
    provider="openai",
    url="https://api.openai.com/v1",
    path="/embeddings",
    dims={"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536},
    max_texts=256,  # of 2,048 that the service takes: servers of one's own take fewer
    request=_openai_request,
    vectors=_openai_vectors,
)


def _cohere_request(model: str, texts: Sequence[str], role: EmbedRole, dims: int | None) -> dict[str, Any]:
    """https://docs.cohere.com/reference/embed."""
    request = {
        "model": model,
        "texts": list(texts),
        "input_type": f"search_{role}",
        "embedding_types": ["float"],
        "truncate": "END",
    }
    return request if dims is None else {**request, "output_dimension": dims}


def _cohere_vectors(answer: Any, count: int) -> list[Any]:
    """The answer's, which are in the order of the texts."""
    vectors = answer["embeddings"]["float"]
    if len(vectors) != count:
        raise ValueError(f"{len(vectors)} vectors for {count} texts")
    return list(vectors)


COHERE: Final = Dialect(
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
    max_texts=96,
    request=_cohere_request,
    vectors=_cohere_vectors,
)

DIALECTS: Final[Mapping[str, Dialect]] = {dialect.provider: dialect for dialect in (OPENAI, COHERE)}
