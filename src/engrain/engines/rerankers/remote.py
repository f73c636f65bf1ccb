"""Rerankers over HTTP: the API of Cohere, Jina, vLLM and LiteLLM, and that of text-embeddings-inference (TEI)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from engrain.engines.endpoint import Endpoint, RetryPolicy, Timing
from engrain.engines.surrogates import replace_surrogates
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.engines.endpoint_config import EndpointConfig

COHERE_URL: Final = "https://api.cohere.com/v2"
PATH: Final = "/rerank"
_ATTEMPTS = 2  # somebody is looking on
_MAX_DOCUMENTS = 1000
_MAX_TEXTS = 32  # the default limit of text-embeddings-inference


class RemoteReranker:
    """Reranker over HTTP. Thread-safe; sends nothing before the first question."""

    def __init__(
        self, provider: str, model: str | None, config: EndpointConfig, *, timing: Timing | None = None
    ) -> None:
        """Ask the model at the endpoint of `config`; None where the server has one only and takes no name (TEI)."""
        self.name: Final = f"{provider}:{model or 'served'}"
        self._label = f"the re-ranker {self.name}"
        self._model = model
        self._clock = (timing or Timing()).clock
        self._endpoint = Endpoint(self._label, config, timing)

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> Sequence[tuple[int, float]]:
        """As the port says, one pair for each document."""
        deadline = self._clock() + timeout_s
        batch_size = _MAX_TEXTS if self._model is None else _MAX_DOCUMENTS
        pairs: list[tuple[int, float]] = []
        for first in range(0, len(documents), batch_size):
            batch = [replace_surrogates(text or " ") for text in documents[first : first + batch_size]]
            policy = RetryPolicy(attempts=_ATTEMPTS, total_s=deadline - self._clock())
            answer = self._endpoint.post(self._request(replace_surrogates(query or " "), batch), policy=policy)
            pairs.extend((first + index, score) for index, score in self._scores(answer, len(batch)))
        return pairs

    def _request(self, query: str, documents: Sequence[str]) -> dict[str, Any]:
        """The JSON body of https://docs.cohere.com/reference/rerank, or that of https://huggingface.github.io/text-embeddings-inference/."""
        if self._model is None:
            return {"query": query, "texts": list(documents), "truncate": True}
        return {"model": self._model, "query": query, "documents": list(documents), "top_n": len(documents)}

    def _scores(self, answer: Any, count: int) -> list[tuple[int, float]]:
        """The pairs of an answer of either kind: {"results": [...]} or a bare list, relevance_score or score."""
        try:
            results = answer["results"] if isinstance(answer, dict) else answer
            pairs = [
                (result["index"], float(result["relevance_score"] if "relevance_score" in result else result["score"]))
                for result in results
            ]
            is_whole = sorted(index for index, _ in pairs) == list(range(count))
        except (LookupError, TypeError, ValueError):
            raise EngineUnavailable(
                f"{self._label} answered JSON that holds no scores: check reranking.url"
            ) from None  # the cause may quote the answer
        if not is_whole or not all(math.isfinite(score) for _, score in pairs):
            raise EngineUnavailable(f"{self._label} did not give each of {count} memories one finite score")
        return pairs
