"""Ports: the protocols of stores and engines, with the contract of every method. Implementations inherit nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from engrain.domain.access.keys_port import AccessKeys
from engrain.domain.access.pools import Pools
from engrain.domain.entities.registry_port import Registry
from engrain.domain.maintenance.overview import Overviews
from engrain.domain.maintenance.vitals import Monitored
from engrain.domain.rules.maturity import DEFAULT_THRESHOLDS
from engrain.domain.runs.jobs_port import JobQueue
from engrain.domain.runs.runs_port import Runs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.entities.registry import Name
    from engrain.domain.filters import TimePosition
    from engrain.domain.maintenance.retention import CleanupBatch, Retention
    from engrain.domain.maintenance.stats import AgentCounts, Stats
    from engrain.domain.memories.decay import AgingKind, DecayPolicy, Standing, SweepBatch
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
    from engrain.domain.rules.maturity import Application, Outcome, Thresholds
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


class Records(Protocol):
    """Memories as rows. Every write is one transaction with its events, durable when it returns.

    Reads and writes cover one caller's tenant and scopes: other memories do not exist for them. A call that raises has
    written nothing (except OutcomeUnknown).
    """

    def put(self, act: Act, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        """Add memories; returns the new ones as stored.

        An id that is already there, or was erased, is left as it is (so a repeat adds nothing). An episode gets the
        next `turn` of its session: one more than the largest there, 0 without a session. An active fact supersedes the
        one in its `slot`: the old one is closed (`validity`, `invalidated_at`, and an open `valid_to`: where the new
        one begins, not before itself), the new one names it in `supersedes_id` and by a link `supersedes`, with an
        event `fact_superseded`. Searched by its own words when it returns, by its neighbours' after `flush_index`
        at the latest.

        Raises:
            InvalidInput: a memory of another tenant or of a scope the caller does not see; a new one whose `entity_id`
                the tenant does not know, or whose `source_episode_id` or `supersedes_id` names no episode, or fact,
                that the caller sees and that was there before it, if only in this call.
        """

    def get(self, caller: Caller, ids: Sequence[str]) -> list[MemoryRecord]:
        """Memories that the caller sees, live or not, in the order of `ids`; other ids are absent."""

    def find_active_fact(self, caller: Caller, *, scope: str, subject: str, predicate: str) -> Fact | None:
        """The active fact in this slot, without an entity; None if there is none, or the caller does not see it."""

    def put_related(
        self, act: Act, fact: Fact, related: Mapping[str, float], *, after: Callable[[Fact, Fact], Fact] | None = None
    ) -> Fact | None:
        """Put an active fact, and in the same transaction links `related_to` from it to `related`, by id with weight.

        `after` returns the fact to store in place of this one, from it and the fact that it supersedes, if there is
        one; it may be called again where a transaction is repeated, and changes neither id nor slot. Memories that the
        caller does not see are left out. The links `related_to` from the superseded fact are removed: they belonged to
        its content. Returns the fact as stored; None, and nothing was written, if its id is taken.

        Raises:
            InvalidInput: as `put`.
        """

    def supersede(self, act: Act, fact: Fact, ids: Sequence[str], *, derives: bool = True) -> Fact | None:
        """Put an active fact that supersedes these active ones, and no other: all or nothing, one transaction.

        The facts of `ids` are closed as by `put`, whatever their slot; if the new fact `derives` from them it is linked
        `derived_from` to them. Each has an event `fact_superseded`. Returns the fact as stored. None, and nothing was
        written, if one of `ids` is no active fact that the caller sees, another fact is active in the new one's slot,
        or its id is taken.

        Raises:
            InvalidInput: as `put`.
        """

    def touch(self, act: Act, ids: Sequence[str]) -> list[MemoryRecord]:
        """Count a reference to memories, one statement a kind and no event; answers like `get`."""

    def confirm(self, act: Act, id_: str) -> MemoryRecord | None:
        """Set the confirmation of a fact or rule to now and end its fading (`metadata.status`); None if there is none.

        Raises:
            InvalidInput: it is an episode, or no longer active.
        """

    def age(self, act: Act, id_: str, to: Standing) -> MemoryRecord | None:
        """Let a fact or rule fade, recover (`active`) or expire, by `decay.with_standing`; None if there is none.

        A memory that is no longer live, or stands so already, stays as it is, without an event. An expired one is out
        of the searches when it returns.

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
        """Record the outcome of a rule by `maturity.apply_outcome`, with these `thresholds`; None if there is none.

        No mark is lost, however many callers mark at once. Each is an `Application` with the reason as its context, and
        an event. A rule that became a warning is searched by its new words when it returns, and waits for a vector of
        them; its old ref is no longer valid.

        Raises:
            InvalidInput: it is no rule, or forgotten; nothing was written.
        """

    def applications(
        self, caller: Caller, rule_id: str, limit: int, *, after: TimePosition | None = None
    ) -> list[Application]:
        """Applications of a rule the caller sees, newest first (then the larger id), after the position of one."""

    def forget(self, act: Act, id_: str) -> MemoryRecord | None:
        """Forget one memory: an episode expires now, a fact is retracted, a rule gets `metadata.forgotten`.

        Out of the searches when it returns. Returns the memory as it is now, or None if the caller sees no such memory;
        one that is no longer live stays as it is.
        """

    def erase(self, act: Act, ids: Sequence[str]) -> list[str]:
        """Remove memories for good: rows, vectors, words, links, the payloads of their events; returns the ids removed.

        References to them in `source_episode_id` and `supersedes_id` become None. A tombstone with a digest stays, and
        the event `memory_erased`; the id is never used again.
        """

    def history(self, caller: Caller, id_: str) -> list[Fact]:
        """Facts of the slot of this one, by created_at, then id; empty if the caller sees no such fact."""

    def link(self, act: Act, link: Link) -> bool:
        """Add a link between two memories the caller sees; False if it is there already.

        Raises:
            NotFound: one of them is not visible.
        """

    def links(
        self, caller: Caller, id_: str, *, direction: Direction = "both", relation: Relation | None = None
    ) -> list[Link]:
        """Links of a memory with both ends visible to the caller, by creation, then source, target and relation."""

    def events(
        self,
        caller: Caller,
        *,
        memory_id: str | None = None,
        event_type: str | None = None,
        limit: int = 1_000,
        after: TimePosition | None = None,
    ) -> list[Event]:
        """Events in the caller's scopes, newest first (then the larger id); those of one act in any order.

        With `after`, events after a position (created_at, id) in that order.
        """

    def mention(self, act: Act, memory_id: str, entity_ids: Collection[str]) -> list[str]:
        """Add mentions of entities to a memory, with one event `entities_mentioned`; returns the new ones, sorted.

        Each adds one to the entity's mentions, for callers who see the memory.

        Raises:
            NotFound: the caller sees no such memory.
            InvalidInput: the tenant does not know one of the entities; nothing was written.
        """

    def put_entity(self, act: Act, entity: Entity) -> Entity:
        """Add an entity to the tenant's registry, with one name and type.

        Raises:
            InvalidInput: the id, or the name with this type, is taken, or it is of another tenant.
        """

    def entities(self, caller: Caller, ids: Sequence[str]) -> list[Entity]:
        """Entities of the caller's tenant, in the order of `ids`; unknown ids are absent.

        `mention_count` is the stored count, and one for every mention in a memory the caller sees.
        """

    def stats(self, caller: Caller, now: datetime, *, scope: str | None = None) -> Stats:
        """Counts of memories the caller sees; with a `scope`, of facts and rules in `global` and that scope alone."""


class Searches(Protocol):
    """Searches of the channels. Raw signals, never final scores.

    The index has active facts, and rules and episodes until they are forgotten: an expired episode stays, and is
    filtered. Other memories that a filter's `as_of` or `include_inactive` matches are found too, the newest 5,000 of
    them, by their own words, with the frequencies of the index, and by their stored vectors.
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
            EngineUnavailable: another embedder became active since this store's `use_embedder`, in whatever process.
        """

    def speakers(self, request: Request) -> list[str]:
        """Distinct speakers of the episodes in the caller's scopes, sorted, at most 1,000."""

    def newest(self, request: Request, limit: int) -> list[Candidate]:
        """The newest memories that match, by happened_at, then id, both descending; raw = happened_at in seconds."""

    def important(self, request: Request, limit: int) -> list[Candidate]:
        """The most important memories that match, then the newest (happened_at, id); raw = importance, 0-10."""

    def mentioning(self, request: Request, names: Collection[str], limit: int) -> list[Candidate]:
        """Memories that match and mention an entity that one of `names` names, canonically or as an alias.

        Names are compared by `entities.registry.name_key`. A memory mentions the entities that `mention` added to it,
        and a fact the one it is about. raw = number of the named entities that it mentions; 0.5 for a memory that
        mentions none and is linked to one that does, both visible to the caller. Best first, ties newest (happened_at,
        id). Only the newest 2,000 mentions of each entity, by kind and scope, are looked at.
        """

    def traits(self, request: Request, refs: Collection[Ref]) -> dict[Ref, Traits]:
        """Traits of those of `refs` that are in the caller's scopes: all that ranking uses but the content."""

    def in_one_snapshot(self, caller: Caller, work: Callable[[], _Result]) -> _Result:
        """Run `work` in one snapshot: all its reads, in this thread and of this caller's tenant, see one state.

        `work` only reads, and may be run again from its beginning where a connection was lost. Repeated reads of one
        request reach the database once. Inside another snapshot of the same tenant it is part of that one.

        Raises:
            RuntimeError: `work` writes; nothing was written.
        """

    def load(self, request: Request, refs: Collection[Ref]) -> dict[Ref, MemoryRecord]:
        """Records of refs that a channel has just returned; one forgotten since is absent."""

    def recent(self, request: Request, limit: int) -> list[MemoryRecord]:
        """The newest memories that match, by happened_at, then id, both descending."""

    def neighbours(self, request: Request, memory: MemoryRecord, reach: int) -> list[MemoryRecord]:
        """The turns within `reach` of an episode in its session that match, in order, without itself."""

    def flush_index(self) -> int:
        """Finish the indexing of single puts: the words of neighbours, and the embedding queue.

        At most 1,000 memories a call, the oldest first; returns their number. Until then they are found by their own
        words. A backend that defers nothing answers 0.
        """

    def waiting(self, caller: Caller) -> int:
        """Number of memories in the searches of the caller's scopes that wait for a vector, counted up to 1,000."""


class Surveys(Protocol):
    """Reads of an audit: all memories a caller sees, page by page, with links and vectors. No reference is counted."""

    def page(self, request: Request, *, before: str | None, limit: int) -> list[MemoryRecord]:
        """The next memories that match, by id from the largest: of those with an id less than `before`, where given."""

    def links_from(self, caller: Caller, ids: Collection[str], relations: Collection[Relation]) -> list[Link]:
        """Links of some relations from memories, with both ends visible, by source, target, then relation."""

    def vectors_of(self, caller: Caller, ids: Collection[str]) -> dict[str, NDArray[np.float32]]:
        """Stored vectors of the active version, float32[dims], of those of `ids` the caller sees."""

    def unmentioned(self, caller: Caller, *, after: str | None, limit: int) -> list[Entity]:
        """The next entities, by id, that no memory the caller sees is about or mentions, live or not."""


class Vectors(Protocol):
    """Vectors of every tenant, by the version of their embedder: maintenance, never an answer to a caller.

    A version is a number, None for the active one; an unknown one is InvalidInput.
    """

    def use_embedder(self, name: str, dims: int) -> str | None:
        """Set the embedder of this store's searches; returns the active embedder's name if it is another, else None.

        If no embedder is recorded yet, this one becomes version 1, active.
        """

    def embedding_versions(self) -> list[EmbeddingVersion]:
        """All versions, oldest first."""

    def begin_version(self, name: str, dims: int) -> EmbeddingVersion:
        """Begin or continue a building version for this embedder.

        Raises:
            InvalidInput: this embedder is the active one, none is, or another version is being built.
        """

    def unembedded(self, limit: int, *, version: int | None = None) -> list[Unembedded]:
        """Settled memories that the searches hold, without a vector of the version, oldest first."""

    def attach(self, refs: Sequence[Ref], vectors: NDArray[np.float32], *, version: int | None = None) -> None:
        """Store vectors of memories, one transaction; memories removed, forgotten or embedded meanwhile are skipped.

        Raises:
            InvalidInput: the shape is not [len(refs), dims] of the version's embedder, or a value is not finite.
            EngineUnavailable: like `nearest`, where no version is named.
        """

    def switch_version(self, act: Act, version: int) -> bool:
        """Make a building version the active one, in one transaction; False if a memory still lacks its vector.

        Searches use the old vectors before and the new ones after; the old version is retired. Memories that the
        searches no longer have lose their vectors.

        Raises:
            InvalidInput: the version is not being built.
        """

    def prune_vectors(self, limit: int) -> int:
        """Remove vectors of retired versions, at most `limit`; returns their number."""


class Maintenance(Protocol):
    """Maintenance of a whole tenant's memories, whatever their scope.

    Every call is one bounded batch in a transaction with its events. The act's caller names the tenant and the actor.
    """

    def tenants(self) -> list[str]:
        """Tenants that have, or had, any memory, sorted."""

    def agents(self, tenant_id: str) -> list[str]:
        """Agents of a tenant with a scope of their own or in a pool, sorted."""

    def agent_counts(self, tenant_id: str, now: datetime) -> list[AgentCounts]:
        """Counts of the live memories by the agent that stored them, of every agent of a tenant, sorted by name."""

    def learners(self, tenant_id: str, *, since: datetime) -> list[str]:
        """Agents of a tenant that have stored a fact from this time on, by its events, sorted."""

    def sweep(
        self, act: Act, kind: AgingKind, policy: DecayPolicy, *, after: str, limit: int, dry_run: bool = False
    ) -> SweepBatch:
        """Look at the next `limit` live facts or rules that decay, by id after `after`; age those that are due.

        `decay.due_standing` decides at the time of the act, and `age` describes the change. Rows are judged while
        they are locked: a concurrent confirmation wins. A second call changes nothing; a dry run never does.
        """

    def clean(self, act: Act, retention: Retention, *, limit: int, dry_run: bool = False) -> CleanupBatch:
        """Remove at most `limit` episodes that the retention does not keep: expired ones, the longest expired first.

        Then, while there are more than `max_entries`, the oldest consolidated ones, except one with a vector from which
        a memory was derived (linked `derived_from`) that still waits for its own vector.

        Rows, vectors, words, links and mentions are removed; references to them as a source become None; an event
        `episode_cleaned` stays, and no tombstone. A dry run counts the removals of all calls together.
        """


class Store(
    Records,
    Registry,
    Pools,
    Searches,
    Surveys,
    Overviews,
    Vectors,
    Maintenance,
    Runs,
    JobQueue,
    AccessKeys,
    Monitored,
    Protocol,
):
    """Storage of memories, and their searches. Thread-safe. Driver errors arrive as the StorageError leaf that fits.

    A read sees one state, whatever is written meanwhile; a write is done in whole or not at all.
    """

    def health(self) -> Health:
        """Check that rows, index and file agree; reads everything, so seconds on a large database."""

    def close(self) -> None:
        """Close connections; a second call does nothing."""
