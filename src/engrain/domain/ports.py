"""Ports: the protocols of engines, with the contract of every method. Implementations inherit nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.entities.registry import Name
    from engrain.domain.runs.completions import Completion, Prompt

Clock = Callable[[], datetime]  # aware, UTC
Ids = Callable[[], str]  # fresh UUIDv7, increasing
TokenCounter = Callable[[str], int]
EmbedRole = Literal["query", "document"]


class SecretText(Protocol):
    """A key or passphrase that no message shows."""

    def get_secret_value(self) -> str: ...


class Embedder(Protocol):
    """Turns texts into vectors whose dot product is their similarity."""

    @property
    def name(self) -> str:
        """`"provider:model"`, recorded with its vectors."""

    @property
    def dims(self) -> int:
        """Length of every vector."""

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> NDArray[np.float32]:
        """Unit-norm rows [len(texts), dims] in input order; all or nothing; EngineUnavailable once retries end."""


class Reranker(Protocol):
    """Scores documents by reading each together with the query: slower than a search, and more accurate."""

    @property
    def name(self) -> str:
        """`"provider:model"`, shown in explanations."""

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> Sequence[tuple[int, float]]:
        """(index into `documents`, score) pairs in any order, larger is better; EngineUnavailable on failure."""


class NameFinder(Protocol):
    """Finds names in a text: of people, organizations, places, and addresses."""

    @property
    def name(self) -> str:
        """`"provider:model"`, the `source` of every name it finds."""

    def find(self, text: str) -> list[Name]:
        """The names, by start, then end; they may overlap. EngineUnavailable where it cannot answer."""


class LLM(Protocol):
    """A language model, with one prompt at a time. Writing and finding memories never needs one."""

    @property
    def name(self) -> str:
        """`"provider:model"`, recorded with its results."""

    def complete(self, prompt: Prompt, *, timeout_s: float) -> Completion:
        """Complete a prompt within the time, retries included. Thread-safe; EngineUnavailable once retries end."""
