"""Where engrain meets the outside. Implementations inherit nothing; the contract of each method is written here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.query import Filter
    from engrain.domain.records import Caller, MemoryRecord, Role, Stats

Clock = Callable[[], datetime]  # aware, UTC
Ids = Callable[[], str]  # fresh UUIDv7, increasing
TokenCounter = Callable[[str], int]
EmbedRole = Literal["query", "document"]
Ref = int | str  # a backend's own handle of one memory; hashable, valid while the memory is live


class Embedder(Protocol):
    """Turns texts into vectors whose dot product is their similarity."""

    @property
    def name(self) -> str:
        """`"provider:model"`, recorded with the vectors it made."""

    @property
    def dims(self) -> int:
        """Length of every vector."""

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> NDArray[np.float32]:
        """Unit-norm rows [len(texts), dims] in input order; all or nothing; EngineUnavailable once retries end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One search as every channel sees it: who asks, narrowed by what, at which moment."""

    caller: Caller
    filter: Filter
    now: datetime


@dataclass(frozen=True, slots=True)
class Candidate:
    """One memory a channel proposes, with the channel's own number; larger is better."""

    ref: Ref
    raw: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPlace:
    """Where an episode was said and by whom."""

    scope: str
    session: str | None
    role: Role
    speaker: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unembedded:
    """A live memory whose vector is still missing, and the text to embed."""

    ref: Ref
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What `doctor` shows of a store. `problems` are sentences that say what to do; none means sound."""

    location: str
    backend: str
    schema: str
    size_bytes: int
    memories: int
    indexed: int
    embedded: int
    waiting: int
    embedder: str | None
    problems: tuple[str, ...]


class Store(Protocol):
    """Memories, kept and found. Thread-safe. Every read is of one caller's tenant and scopes; there is no "all".

    Driver errors arrive as the StorageError leaf that fits; a call that raises has written nothing.
    """

    def put(self, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        """Add memories in one transaction, durable when it returns; those that were new, as stored.

        An id that is already there is left as it is (so a repeat adds nothing). An episode gets the next `turn` of its
        session; its neighbours' words are indexed at once where several come together, and by `settle` after a single
        one. An active fact supersedes the one of the same subject, predicate and scope: the old one is closed
        (`validity`, `superseded_at`, `valid_to`) in the same transaction.
        """

    def get(self, caller: Caller, ids: Sequence[str]) -> list[MemoryRecord]:
        """Those of `ids` the caller may see, live or not, in the order asked; strangers and unknown ids are absent."""

    def retire(self, caller: Caller, id_: str, *, at: datetime) -> MemoryRecord | None:
        """Forget one memory: an episode expires at `at`, a fact is retracted. Gone from search when it returns.

        The memory as it is now, or None where the caller sees no such memory; forgetting twice changes nothing.
        """

    def keyword(self, request: Request, terms: Collection[str], limit: int) -> list[Candidate]:
        """Live matches of any of the terms, by BM25 (own words 1.0, neighbours' words 0.5), raw > 0.

        Best first, ties newest ref first, at most `limit`; all must match the request's filter.
        """

    def nearest(
        self, request: Request, vector: NDArray[np.float32], limit: int, *, also: Collection[Ref] = ()
    ) -> list[Candidate]:
        """Live memories by cosine to the unit-norm `vector`; the `limit` best, and those of `also` that have a vector.

        Best first, ties newest ref first; memories without a vector are absent; all match the request's filter.
        """

    def speakers(self, request: Request) -> list[str]:
        """Distinct speakers of the episodes in the caller's scopes, sorted, at most 1,000."""

    def turns(self, request: Request, refs: Collection[Ref]) -> dict[Ref, TurnPlace]:
        """Session, role and speaker of those of `refs` that are episodes in the caller's scopes."""

    def load(self, request: Request, refs: Collection[Ref]) -> dict[Ref, MemoryRecord]:
        """The records behind refs a channel has just proposed; one retired since is absent."""

    def recent(self, request: Request, limit: int) -> list[MemoryRecord]:
        """The newest live memories that match, by happened_at, then id, both descending."""

    def neighbours(self, request: Request, memory: MemoryRecord, reach: int) -> list[MemoryRecord]:
        """The live turns within `reach` of an episode in its session, in order, without itself."""

    def settle(self) -> int:
        """Finish what single puts left for later: the words of neighbours, and a place in the queue for a vector.

        At most 1,000 memories a call, the oldest first; how many it was. Until then they are found by their own words.
        """

    def waiting(self, caller: Caller) -> int:
        """How many live memories in the caller's scopes wait for a vector, counted up to 1,000."""

    def unembedded(self, limit: int) -> list[Unembedded]:
        """Settled live memories without a vector, of every tenant: housekeeping, never an answer."""

    def attach(self, refs: Sequence[Ref], vectors: NDArray[np.float32]) -> None:
        """Give memories their vectors, one transaction; one retired or embedded meanwhile is passed over.

        Raises:
            InvalidInput: the shape is not [len(refs), dims] of the recorded embedder, or a value is not finite.
        """

    def use_embedder(self, name: str, dims: int) -> str | None:
        """Record the embedder of an empty store; the recorded name where another one made the vectors, else None."""

    def stats(self, caller: Caller, now: datetime) -> Stats:
        """Counts of what the caller can see."""

    def health(self) -> Health:
        """Whether rows, index and file agree; reads everything, so seconds on a large file."""

    def close(self) -> None:
        """Release connections; a second call does nothing."""
