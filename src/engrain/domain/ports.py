"""Where engrain meets the outside. Implementations inherit nothing; the contract of each method is written here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from engrain.domain.access.keys_port import AccessKeys
from engrain.domain.access.pools import Pools
from engrain.domain.entities.registry_port import Registry
from engrain.domain.maintenance.backups import Backups
from engrain.domain.maintenance.overview import Overviews
from engrain.domain.maintenance.vitals import Monitored
from engrain.domain.memories.maturity import DEFAULT_THRESHOLDS
from engrain.domain.runs.jobs_port import JobQueue
from engrain.domain.runs.runs_port import Runs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.entities.registry import Name
    from engrain.domain.filters import Place
    from engrain.domain.maintenance.retention import CleanupBatch, Retention
    from engrain.domain.maintenance.stats import Stats
    from engrain.domain.memories.aging import AgingKind, Standing
    from engrain.domain.memories.decay import DecayPolicy, SweepBatch
    from engrain.domain.memories.maturity import Application, Outcome, Thresholds
    from engrain.domain.records import (
        Caller,
        EmbeddingVersion,
        Entity,
        Event,
        Fact,
        Link,
        MemoryRecord,
        Relation,
        Rule,
    )
    from engrain.domain.requests import Act, Candidate, Direction, Health, Ref, Request, Traits, Unembedded
    from engrain.domain.runs.completions import Completion, Prompt

Clock = Callable[[], datetime]  # aware, UTC
Ids = Callable[[], str]  # fresh UUIDv7, increasing
TokenCounter = Callable[[str], int]
EmbedRole = Literal["query", "document"]
_Result = TypeVar("_Result")


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


class Reranker(Protocol):
    """Reads a question together with each candidate: slower than a search, and a better judge."""

    @property
    def name(self) -> str:
        """`"provider:model"`, shown in explanations."""

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> Sequence[tuple[int, float]]:
        """(index into `documents`, score) pairs in any order, larger is better; EngineUnavailable on failure."""


class NameFinder(Protocol):
    """Finds the names in a text: of people, organizations, places, and what is written like an address."""

    @property
    def name(self) -> str:
        """`"provider:model"`, the `source` of every name it finds."""

    def find(self, text: str) -> list[Name]:
        """The names, by start, then end; they may overlap. EngineUnavailable where it cannot answer."""


class LLM(Protocol):
    """A language model: asked one question at a time, and never needed to write a memory or to find one."""

    @property
    def name(self) -> str:
        """`"provider:model"`, recorded with what it made."""

    def complete(self, prompt: Prompt, *, timeout_s: float) -> Completion:
        """Its answer within the time, retries included. Thread-safe; EngineUnavailable once retries end."""


class Records(Protocol):
    """Memories as rows. Every write is one transaction with its events, durable when it returns.

    Reads and writes are of one caller's tenant and scopes: what is outside of them does not exist. A call that raises
    has written nothing (OutcomeUnknown apart).
    """

    def put(self, act: Act, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        """Add memories; those that were new, as they are when it returns.

        An id that is already there, or was erased, is left as it is (so a repeat adds nothing). An episode gets the
        next `turn` of its session: one more than the largest there, 0 without a session. An active fact supersedes the
        one in the same `place`: the old one is closed (`validity`, `invalidated_at`, `valid_to` where it was open:
        where the new one begins, not before itself), the new one names it in `supersedes_id` and by a link
        `supersedes`, which `fact_superseded` tells of. Found by its own words when it returns, and by its neighbours'
        after `flush_index` at the latest.

        Raises:
            InvalidInput: a memory of another tenant or of a scope the caller does not see; a new one whose `entity_id`
                the tenant does not know, or whose `source_episode_id` or `supersedes_id` names no episode, or fact,
                that the caller sees and that was there before it, if only in this call.
        """

    def get(self, caller: Caller, ids: Sequence[str]) -> list[MemoryRecord]:
        """Those of `ids` the caller may see, live or not, in the order asked; strangers and unknown ids are absent."""

    def find_active_fact(self, caller: Caller, *, scope: str, subject: str, predicate: str) -> Fact | None:
        """The active fact about no entity in this place; None where there is none, or the caller does not see it."""

    def put_related(
        self, act: Act, fact: Fact, related: Mapping[str, float], *, after: Callable[[Fact, Fact], Fact] | None = None
    ) -> Fact | None:
        """Put an active fact, and in the same transaction a link `related_to` from it to each of `related`, weighed so.

        `after` makes it what it is to be after the fact that it supersedes, where there is one; it may be asked again
        where a transaction is repeated, and changes neither id nor place.
        What the caller does not see of them is left out. The links `related_to` that led from the fact it supersedes
        are removed: they were of what that said. The fact as stored; None, and nothing was written, where its id is
        taken.

        Raises:
            InvalidInput: as `put`.
        """

    def supersede(self, act: Act, fact: Fact, ids: Sequence[str], *, derives: bool = True) -> Fact | None:
        """Put an active fact in the place of these active ones, and of no other: all or nothing, one transaction.

        Each of `ids` is closed as `put` closes what it supersedes, whatever its place, and where the new fact `derives`
        from them it is linked `derived_from` each, which `fact_superseded` tells of. The fact as stored. None, and
        nothing was written, where one of `ids` is no active fact that the caller sees, a fact that is none of them
        holds the new one's place, or its id is taken.

        Raises:
            InvalidInput: as `put`.
        """

    def touch(self, act: Act, ids: Sequence[str]) -> list[MemoryRecord]:
        """Count a reference to each, one statement a kind and no event; answers like `get`."""

    def confirm(self, act: Act, id_: str) -> MemoryRecord | None:
        """Move the confirmation of a fact or rule to now and end its fading (`metadata.status`); None where none is.

        Raises:
            InvalidInput: it is an episode, or no longer active.
        """

    def age(self, act: Act, id_: str, to: Standing) -> MemoryRecord | None:
        """Let a fact or rule fade, recover (`active`) or expire, as `aging.with_standing` says; None if there is none.

        What is no longer live, or stands so already, stays as it is, without an event. What expired is out of the
        searches when it returns.

        Raises:
            InvalidInput: it is an episode.
        """

    def mark(
        self,
        act: Act,
        id_: str,
        outcome: Outcome,
        *,
        reason: str | None = None,
        thresholds: Thresholds = DEFAULT_THRESHOLDS,
    ) -> Rule | None:
        """Say what came of following a rule, as `maturity.apply_outcome` counts it; None where there is none.

        `thresholds` say from when on it is trusted more, or less.

        No mark is lost, however many mark at once. Each is an `Application` with the reason as its context, and an
        event. A rule that became a warning is searched by its new words when it returns, and waits for a vector of
        them; what was its ref is none any more.

        Raises:
            InvalidInput: it is no rule, or forgotten; nothing was written.
        """

    def applications(
        self, caller: Caller, rule_id: str, limit: int, *, after: Place | None = None
    ) -> list[Application]:
        """How a rule the caller sees fared, newest first (then the larger id), after the place of one of them."""

    def forget(self, act: Act, id_: str) -> MemoryRecord | None:
        """Forget one memory: an episode expires now, a fact is retracted, a rule gets `metadata.forgotten`.

        Gone from search when it returns. The memory as it is now, or None where the caller sees no such memory; one
        that is no longer live stays as it is.
        """

    def erase(self, act: Act, ids: Sequence[str]) -> list[str]:
        """Remove memories for good: rows, vectors, words, links, the payloads of their events; the ids that went.

        Whatever named one in `source_episode_id` or `supersedes_id` names nothing. A tombstone with a digest stays, and
        the event `memory_erased`; the id is never taken again.
        """

    def history(self, caller: Caller, id_: str) -> list[Fact]:
        """Every fact of the place of this one, by created_at, then id; empty where the caller sees no such fact."""

    def link(self, act: Act, link: Link) -> bool:
        """Add an edge between two memories the caller sees; False where it is there already.

        Raises:
            NotFound: one of them is not visible.
        """

    def links(
        self, caller: Caller, id_: str, *, direction: Direction = "both", relation: Relation | None = None
    ) -> list[Link]:
        """The edges of a memory whose both ends the caller sees, by creation, then source, target and relation."""

    def events(
        self,
        caller: Caller,
        *,
        memory_id: str | None = None,
        event_type: str | None = None,
        limit: int = 1_000,
        after: Place | None = None,
    ) -> list[Event]:
        """What was done in the caller's scopes, newest first (then the larger id); one act's in any order.

        `after` leaves what comes after a place (created_at, id) in that order.
        """

    def mention(self, act: Act, memory_id: str, entity_ids: Collection[str]) -> list[str]:
        """Note whom a memory mentions; those that were not noted before, sorted, told of by one `entities_mentioned`.

        Each of those counts one mention more, to those who see the memory.

        Raises:
            NotFound: the caller sees no such memory.
            InvalidInput: the tenant does not know one of the entities; nothing was noted.
        """

    def put_entity(self, act: Act, entity: Entity) -> Entity:
        """Add somebody to the tenant's registry, under one name and type.

        Raises:
            InvalidInput: the id, or the name with this type, is taken, or it is of another tenant.
        """

    def entities(self, caller: Caller, ids: Sequence[str]) -> list[Entity]:
        """Those of `ids` that the caller's tenant knows, in the order asked.

        `mention_count` is what the entity came with, and one for each memory the caller sees that `mention` noted.
        """

    def stats(self, caller: Caller, now: datetime, *, scope: str | None = None) -> Stats:
        """Counts of what the caller can see; with a `scope`, of facts and rules in `global` and that scope alone."""


class Searches(Protocol):
    """What every channel asks. Raw signals, never final scores.

    The searches hold a fact while it is active, a rule and an episode until they are forgotten: an episode that
    runs out stays, and is filtered. What else a filter's `as_of` or `include_inactive` wants is found too, the newest
    5,000 of it, by its own words, weighed by what is held, and by its kept vector.
    """

    def keyword(self, request: Request, terms: Collection[str], limit: int) -> list[Candidate]:
        """Matches of any of the terms, by BM25 (own words 1.0, neighbours' words 0.5), raw > 0.

        Best first, ties newest ref first, at most `limit`; all must match the request's filter.
        """

    def nearest(
        self, request: Request, vector: NDArray[np.float32], limit: int, *, also: Collection[Ref] = ()
    ) -> list[Candidate]:
        """Memories by cosine to the unit-norm `vector`; the `limit` best, and those of `also` that have a vector.

        Best first, ties newest ref first; memories without a vector are absent; all match the request's filter.

        Raises:
            EngineUnavailable: another embedder has taken over since this store's `use_embedder`, whoever switched.
        """

    def speakers(self, request: Request) -> list[str]:
        """Distinct speakers of the episodes in the caller's scopes, sorted, at most 1,000."""

    def newest(self, request: Request, limit: int) -> list[Candidate]:
        """The newest memories that match, by happened_at, then id, both descending; raw = happened_at in seconds."""

    def important(self, request: Request, limit: int) -> list[Candidate]:
        """The most important memories that match, then the newest (happened_at, id); raw = importance, 0-10."""

    def mentioning(self, request: Request, names: Collection[str], limit: int) -> list[Candidate]:
        """Memories that match and mention an entity that one of `names` names, canonically or as an alias.

        Names are compared as `entities.names.name_key` folds them. A memory mentions the entities that `mention` noted
        for it, and a fact the one it is about. raw = how many of the named entities it mentions; one that mentions none
        and is linked to one that does, both visible to the caller, has 0.5. Best first, ties newest (happened_at, id).
        Of each entity the newest 2,000 mentions in each of the caller's kinds and scopes are looked at.
        """

    def traits(self, request: Request, refs: Collection[Ref]) -> dict[Ref, Traits]:
        """What a ranking weighs of each of `refs` that is in the caller's scopes: all but the content."""

    def in_one_snapshot(self, caller: Caller, work: Callable[[], _Result]) -> _Result:
        """What `work` returns: all that it reads, in this thread and of this caller's tenant, is of one state.

        `work` only reads, and may be run again from its beginning where a connection was lost. What one question needs
        several times is asked of the database once. Inside another of the same tenant it is part of that one.

        Raises:
            RuntimeError: `work` writes; nothing was written.
        """

    def load(self, request: Request, refs: Collection[Ref]) -> dict[Ref, MemoryRecord]:
        """The records behind refs a channel has just proposed; one forgotten since is absent."""

    def recent(self, request: Request, limit: int) -> list[MemoryRecord]:
        """The newest memories that match, by happened_at, then id, both descending."""

    def neighbours(self, request: Request, memory: MemoryRecord, reach: int) -> list[MemoryRecord]:
        """The turns within `reach` of an episode in its session that match, in order, without itself."""

    def flush_index(self) -> int:
        """Finish what single puts left for later: the words of neighbours, and a place in the queue for a vector.

        At most 1,000 memories a call, the oldest first; how many it was. Until then they are found by their own words.
        A backend that leaves nothing for later answers 0.
        """

    def waiting(self, caller: Caller) -> int:
        """How many memories that the searches of the caller's scopes hold wait for a vector, counted up to 1,000."""


class Surveys(Protocol):
    """What an audit reads: all that a caller sees, page by page, and what hangs off it. Nothing is counted."""

    def page(self, request: Request, *, before: str | None, limit: int) -> list[MemoryRecord]:
        """The next memories that match, by id from the largest: of those with an id less than `before`, where given."""

    def links_from(self, caller: Caller, ids: Collection[str], relations: Collection[Relation]) -> list[Link]:
        """The edges of some relations that leave some memories, both ends seen, by source, target, then relation."""

    def vectors_of(self, caller: Caller, ids: Collection[str]) -> dict[str, NDArray[np.float32]]:
        """The kept vectors of the active version, float32[dims], of those of `ids` the caller sees."""

    def unmentioned(self, caller: Caller, *, after: str | None, limit: int) -> list[Entity]:
        """The next entities, by id, that no memory the caller sees is about or mentions, live or not."""


class Vectors(Protocol):
    """The vectors of every tenant, by the version of the embedder that made them: housekeeping, never an answer.

    A version is given by number, None for the active one; one that is not there is InvalidInput.
    """

    def use_embedder(self, name: str, dims: int) -> str | None:
        """Say whose vectors this store is searched with; the active embedder's name where it is another, else None.

        Where no embedder is recorded yet, this one is: version 1, active.
        """

    def embedding_versions(self) -> list[EmbeddingVersion]:
        """Every embedder there was, oldest first."""

    def begin_version(self, name: str, dims: int) -> EmbeddingVersion:
        """A building version for this embedder: the unfinished one, or a new one.

        Raises:
            InvalidInput: this embedder is the active one, none is, or another version is being built.
        """

    def unembedded(self, limit: int, *, version: int | None = None) -> list[Unembedded]:
        """Settled memories that the searches hold, without a vector of the version, oldest first."""

    def attach(self, refs: Sequence[Ref], vectors: NDArray[np.float32], *, version: int | None = None) -> None:
        """Give memories their vectors, one transaction; what is gone or embedded meanwhile, or forgotten, is left.

        Raises:
            InvalidInput: the shape is not [len(refs), dims] of the version's embedder, or a value is not finite.
            EngineUnavailable: like `nearest`, where no version is named.
        """

    def switch_version(self, act: Act, version: int) -> bool:
        """Make a building version the active one, in one transaction; False where a memory still lacks its vector.

        Searches use the old vectors before and the new ones after; the old version is retired. What was gone before
        has no vector any more.

        Raises:
            InvalidInput: the version is not being built.
        """

    def prune_vectors(self, limit: int) -> int:
        """Remove vectors of retired versions, at most `limit`; how many it was."""


class Upkeep(Protocol):
    """What is done to a whole tenant's memories from time to time, whatever their scope: housekeeping.

    Each call is one bounded batch in a transaction with its events. The act's caller says which tenant and who did it.
    """

    def tenants(self) -> list[str]:
        """Every tenant that keeps, or kept, any memory, sorted."""

    def agents(self, tenant_id: str) -> list[str]:
        """The agents of a tenant, as far as its memories tell: who has a scope of its own or is in a pool, sorted."""

    def learners(self, tenant_id: str, *, since: datetime) -> list[str]:
        """The agents of a tenant that have stored a fact from this moment on, sorted; its events tell."""

    def sweep(
        self, act: Act, kind: AgingKind, policy: DecayPolicy, *, after: str, limit: int, dry_run: bool = False
    ) -> SweepBatch:
        """Look at the next `limit` live facts or rules that decay, by id after `after`; age those that are due.

        What is due, and how it should stand, is what `due_standing` says at the time of the act; what that means
        is `age`'s. It is judged by what stands when nobody else can change it: a confirmation that comes meanwhile
        wins. A second call changes nothing; a dry run never does.
        """

    def clean(self, act: Act, retention: Retention, *, limit: int, dry_run: bool = False) -> CleanupBatch:
        """Remove at most `limit` episodes that the retention does not keep: those that ran out, the longest first.

        Then, while there are more than `max_entries`, the oldest of those that are consolidated, but for one with a
        vector of which something was learned (linked `derived_from`) that still waits for its own.

        Rows, vectors, words, links and mentions go; what named one as its source names nothing; an event
        `episode_cleaned` stays, and no tombstone. A dry run counts what all calls together would remove.
        """


class Archive(Protocol):
    """Whole rows of every tenant, for a copy into another database. Rows are JSON: times ISO 8601, bytes base64."""

    @property
    def tables(self) -> Sequence[str]:
        """What is copied, in an order that satisfies every reference."""

    def rows(self, table: str, *, after: Sequence[Any] | None, limit: int) -> list[Mapping[str, Any]]:
        """The next rows in the order of the table's key, after the one whose key is `after`."""

    def key_of(self, table: str, row: Mapping[str, Any]) -> Sequence[Any]:
        """The key of a row, for `after`."""

    def last_key(self, table: str) -> Sequence[Any] | None:
        """The greatest key there, or None: where a copy goes on."""

    def restore(self, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write rows as they are, one transaction; those whose key is there already are left."""

    def reindex(self, limit: int) -> int:
        """Give restored memories their places in the searches, at most `limit`, the oldest first; how many it was."""


class Store(
    Records,
    Registry,
    Pools,
    Searches,
    Surveys,
    Overviews,
    Vectors,
    Upkeep,
    Runs,
    JobQueue,
    AccessKeys,
    Archive,
    Backups,
    Monitored,
    Protocol,
):
    """Memories, kept and found. Thread-safe. Driver errors arrive as the StorageError leaf that fits.

    A verb that reads sees one state, whoever writes meanwhile; one that writes is done whole, or leaves nothing.
    """

    def health(self) -> Health:
        """Whether rows, index and file agree; reads everything, so seconds on a large database."""

    def close(self) -> None:
        """Release connections; a second call does nothing."""
