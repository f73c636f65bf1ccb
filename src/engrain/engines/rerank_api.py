"""Re-rankers that are served over HTTP: Cohere, Jina, vLLM and LiteLLM alike, and text-embeddings-inference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from engrain.engines.endpoint import Endpoint, Patience, Timing, sendable
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.engines.endpoint import Access

COHERE_URL: Final = "https://api.cohere.com/v2"
PATH: Final = "/rerank"
_ATTEMPTS = 2  # somebody is looking on
_MOST_DOCUMENTS = 1000
_MOST_TEXTS = 32  # what text-embeddings-inference takes unless it is told otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A model behind an address; `model` is None where the server has one only and takes no name (TEI)."""

    provider: str
    model: str | None

    @property
    def name(self) -> str:
        """provider:model."""
        return f"{self.provider}:{self.model or 'served'}"

    @property
    def most_documents(self) -> int:
        """In one request."""
        return _MOST_TEXTS if self.model is None else _MOST_DOCUMENTS

    def request(self, query: str, documents: Sequence[str]) -> dict[str, Any]:
        """The JSON of https://docs.cohere.com/reference/rerank, or that of https://huggingface.github.io/text-embeddings-inference/."""
        if self.model is None:
            return {"query": query, "texts": list(documents), "truncate": True}
        return {"model": self.model, "query": query, "documents": list(documents), "top_n": len(documents)}


class ServedReranker:
    """A re-ranker over HTTP. Thread-safe; says nothing to the server before the first question."""

    def __init__(self, served: Served, access: Access, timing: Timing | None = None) -> None:
        """Ask the model at `access`."""
        self.name: Final = served.name
        self._who = f"the re-ranker {self.name}"
        self._served = served
        self._clock = (timing or Timing()).clock
        self._endpoint = Endpoint(self._who, access, timing)

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> Sequence[tuple[int, float]]:
        """As the port says, one pair for each document."""
        ends = self._clock() + timeout_s
        pairs: list[tuple[int, float]] = []
        for first in range(0, len(documents), self._served.most_documents):
            batch = [sendable(each) for each in documents[first : first + self._served.most_documents]]
            patience = Patience(attempts=_ATTEMPTS, total_s=ends - self._clock())
            answer = self._endpoint.post(self._served.request(sendable(query), batch), patience=patience)
            pairs.extend((first + at, score) for at, score in self._scores(answer, len(batch)))
        return pairs

    def _scores(self, answer: Any, count: int) -> list[tuple[int, float]]:
        """The pairs of an answer of either kind: {"results": [...]} or a bare list, relevance_score or score."""
        try:
            results = answer["results"] if isinstance(answer, dict) else answer
            pairs = [
                (each["index"], float(each["relevance_score"] if "relevance_score" in each else each["score"]))
                for each in results
            ]
            is_whole = sorted(at for at, _ in pairs) == list(range(count))
        except (LookupError, TypeError, ValueError):
            raise EngineUnavailable(
                f"{self._who} answered JSON that holds no scores: check reranking.url"
            ) from None  # the cause may quote the answer
        if not is_whole or not all(math.isfinite(score) for _, score in pairs):
            raise EngineUnavailable(f"{self._who} did not give each of {count} memories one finite score")
        return pairs
