"""The rooms as wired for one Memory, and what its verbs have in common."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from engrain import metrics
from engrain.domain import checks
from engrain.domain.ids import derived_id
from engrain.domain.memories.maturity import Thresholds
from engrain.domain.records import GLOBAL_SCOPE, Episode, Fact, MemoryRecord, Rule
from engrain.domain.requests import Act, Request
from engrain.domain.wording import Wording, worded
from engrain.errors import DatabaseBusy, DatabaseFull, DatabaseReadOnly, EngineUnavailable, InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from engrain.agent.intake import Intake
    from engrain.agent.keys import KeyUses
    from engrain.agent.learner import Learner
    from engrain.agent.note_cache import NoteCache
    from engrain.agent.references import References
    from engrain.agent.workers import Workers
    from engrain.config import Settings
    from engrain.context.recipes import Recipe
    from engrain.domain.filters import Filter
    from engrain.domain.ports import Clock, Embedder, Ids, NameFinder, Reranker, Store, TokenCounter
    from engrain.domain.records import Answer, Caller
    from engrain.engines.llms.usage_meter import MeteredLLM
    from engrain.learning.summaries.summarization import SummaryWriter
    from engrain.retrieval.embedding_queue import EmbeddingQueue
    from engrain.retrieval.presets import Preset
    from engrain.retrieval.search import QueryEmbedding, SearchQuery

# A search waits for vectors that are being made only while they are few; an import's thousands it does without.
_WORTH_WAITING_FOR = 64

# Somebody else may write between a look and a write that depends on it; the next try sees what they did.
MOST_TRIES = 3

_Kept = TypeVar("_Kept", Episode, Fact, Rule)
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The rooms as wired for one Memory."""

    store: Store
    queue: EmbeddingQueue
    settings: Settings
    clock: Clock
    ids: Ids
    embedder: Embedder | None
    reranker: Reranker | None
    name_finder: NameFinder | None  # who finds names that their spelling does not give away
    llm: MeteredLLM | None  # asked where a model helps; `workers.map_bounded` asks it several things at once
    asked_embedder: Embedder | None  # the one in force, or whose vectors would have to be made first
    without_vectors: Wording | None  # why an embedder that was asked for is not used
    presets: Mapping[str, Preset]
    recipes: Mapping[str, Recipe]
    count_tokens: TokenCounter  # of blocks and messages that name none
    workers: Workers
    learner: Learner
    references: References
    key_uses: KeyUses
    note_cache: NoteCache
    intake: Intake

    def seeing(self, caller: Caller) -> Caller:
        """The same caller, in the pools it is in now."""
        pools = self.store.pools_of(caller)
        return caller if pools == caller.pools else replace(caller, pools=pools)

    @property
    def thresholds(self) -> Thresholds:
        """What a rule has to show to be trusted more, or to become a warning."""
        return Thresholds(**self.settings.maturity.model_dump())

    def most(self, limit: int | None) -> int:
        """How many are asked for, None for the settings' number.

        Raises:
            InvalidInput: no whole number, or more than the settings allow.
        """
        chosen = self.settings.retrieval
        return chosen.limit if limit is None else checks.count(limit, name="limit", high=chosen.max_limit)

    def act(self, caller: Caller) -> Act:
        """A write by `caller`, now; the references that recalls have left are counted before it."""
        self.references.settle()
        return Act(caller=caller, at=self.clock(), checks_pools=caller.pools != ())

    def id_for(self, caller: Caller, idempotency_key: str | None) -> str:
        """A fresh id; with a key the one that this agent's key always gets, which sorts before every fresh one."""
        if idempotency_key is None:
            return self.ids()
        return derived_id(caller.tenant_id, caller.agent, "idempotency", idempotency_key, at=None)

    def keep(self, act: Act, memory: _Kept, *, idempotency_key: str | None = None) -> _Kept:
        """Store one memory and let the background work know; the memory as stored, now or when the key was first used.

        Raises:
            InvalidInput: the key was used for something else, or the source of ids repeats itself; nothing was written.
        """
        try:
            stored = self.put(act, [memory])
        finally:
            self.note_cache.drop(memory)
        if not stored:
            return self._kept_before(act.caller, memory, idempotency_key)
        kept = stored[0]
        assert isinstance(kept, type(memory))
        return kept

    def keep_instead(self, act: Act, id_: str, **said: Any) -> Fact:
        """Store a new fact in the place of an active one: as that stands when this is written, but for what is `said`.

        It is the caller's, of now, and nobody has referred to it.

        Raises:
            NotFound, InvalidInput: as `active_fact`, or of what is said; nothing was written.
        """
        anew: dict[str, Any] = {"agent": act.caller.agent, "created_at": act.at, "last_confirmed_at": act.at}
        anew |= {"supersedes_id": None, "reference_count": 0, "last_referenced_at": None}
        for left in reversed(range(MOST_TRIES)):
            old = active_fact(self.store, act.caller, id_)
            fact = replace(old, id=self.ids(), **anew, **said)
            try:
                stored = self.store.supersede(act, fact, [old.id], derives=False)
            except InvalidInput:  # of its own, unless whom it is about was merged since it was read
                if not left or active_fact(self.store, act.caller, id_).entity_id == old.entity_id:
                    raise
                continue
            finally:
                self.note_cache.drop(fact)
            if stored is not None:
                self.follow_up(act, stored)
                return stored
        active_fact(self.store, act.caller, id_)
        raise InvalidInput(
            f"fact {id_} changes all the while, or the source of ids repeats itself; nothing was written"
        )

    def keep_episode(self, act: Act, episode: Episode, key: str) -> Episode:
        """`keep`, for what may be stored again under its key."""
        return self.keep(act, episode, idempotency_key=key)

    def put(self, act: Act, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        """`Store.put`, and what follows from it: whom they mention is noted with what not everybody sees, at once."""
        if self.settings.entities.link == "fast":
            return self._put_linked(act, memories)
        stored = self.store.put(act, memories)
        self.queue.announce()
        self.intake.stored(stored)
        return stored

    def follow_up(self, act: Act, stored: MemoryRecord) -> None:
        """What a new memory sets going: a vector made in the background and, if so set, whom it mentions noted."""
        self.queue.announce()
        if self.settings.entities.link == "fast":
            self._link(act, stored)

    def referenced(self, caller: Caller, ids: Sequence[str]) -> list[MemoryRecord]:
        """Those of `ids` the caller sees, the reference counted; uncounted where the database cannot be written now."""
        try:
            return self.store.touch(self.act(caller), ids)
        except (DatabaseBusy, DatabaseFull, DatabaseReadOnly):
            metrics.count("references_not_counted", len(ids))
            return self.store.get(caller, ids)

    def writer(self) -> SummaryWriter:
        """Who writes summaries and reflections."""
        from engrain.learning.summaries.summarization import SummaryWriter

        return SummaryWriter(
            count_tokens=self.count_tokens,
            llm=self.llm,
            run_all=lambda works: self.workers.map_bounded(lambda work: work(), works),
            timeout_s=self.settings.llm.timeout_s,
        )

    def preset(self, name: str | None) -> Preset:
        """The ranking of that name, None for the settings' choice.

        Raises:
            InvalidInput: with the known names.
        """
        from engrain.retrieval import presets

        return presets.find_preset(self.settings.retrieval.preset if name is None else name, self.presets)

    def search(self, caller: Caller, question: SearchQuery, narrowed: Filter) -> Answer:
        """The answer to a question; whose ranking looks at references sees those of every recall before it."""
        from engrain.retrieval import reranking, search

        if "recency" in question.preset.weights:
            self.references.settle()
        request = Request(caller=caller, filter=narrowed, now=self.clock())
        if not question.deep:
            return search.search(self.store, request, question, lambda: self._embedding(caller))
        enough = replace(question, limit=max(question.limit, reranking.MAX_CANDIDATES))
        answer = search.search(self.store, request, enough, lambda: self._embedding(caller))
        return reranking.rerank(answer, self.reranker, limit=question.limit, budget_s=self.settings.reranking.budget_s)

    def answer(self, caller: Caller, question: SearchQuery, narrowed: Filter) -> Answer:
        """The answer to a question, a reference left to each hit unless it was asked of the past."""
        answer = self.search(caller, question, narrowed)
        if narrowed.as_of is None:
            self.refer(caller, [hit.memory for hit in answer])
        return answer

    def refer(self, caller: Caller, memories: Sequence[MemoryRecord]) -> None:
        """Leave one reference to each of these to be counted soon."""
        self.references.note(Act(caller=caller, at=self.clock()), [each.id for each in memories])

    def _put_linked(self, act: Act, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        from engrain.agent import linking

        stored = linking.put(self.store, act, memories)
        self.queue.announce()
        self.intake.stored(stored)
        for memory in stored:
            if memory.scope == GLOBAL_SCOPE:
                self._link(act, memory)
        return stored

    def _link(self, act: Act, memory: MemoryRecord) -> None:
        """Note whom a new memory mentions; where that cannot be written now it can still be enriched.

        It is stored already: that it was erased meanwhile, or the registry changes all the while, is no error of it.
        """
        from engrain.agent import linking

        try:
            linking.link(self, act, memory)
        except (DatabaseBusy, DatabaseFull, DatabaseReadOnly, InvalidInput, NotFound):
            metrics.count("memories_not_linked")

    def _embedding(self, caller: Caller) -> QueryEmbedding:
        """How a worker makes a question's vector, once the newest memories have theirs while these are few."""
        from engrain.retrieval.search import QueryEmbedding

        embedder = self.embedder
        if embedder is None:
            why = self.without_vectors or Wording("keywords alone: no embedder is configured")
            return QueryEmbedding(begin=lambda _: lambda: why, catch_up=lambda _: False)
        has_waited = not self.queue.is_idle and not self._catch_up(self.store.waiting(caller))
        return QueryEmbedding(
            begin=lambda text: self.workers.start(lambda: _embedded(embedder, text)),
            catch_up=lambda waiting: not has_waited and self._catch_up(waiting),
        )

    def _catch_up(self, waiting: int) -> bool:
        """Have the vectors made of so many memories, and wait while they are few; whether they are made."""
        if waiting:
            self.queue.announce()  # another process may have left them
        return waiting <= _WORTH_WAITING_FOR and self.queue.wait(self.settings.embedding.wait_s)

    def _kept_before(self, caller: Caller, memory: _Kept, key: str | None) -> _Kept:
        if key is None:
            raise InvalidInput(f"id {memory.id} is taken and nothing was written; the source of ids repeats itself")
        said = f"idempotency_key {key!r} was used for"
        for found in self.store.get(caller, [memory.id]):
            if isinstance(found, type(memory)) and _statement(found) == _statement(memory):
                return found
            raise InvalidInput(f"{said} another {found.kind} and nothing was written; use a fresh key")
        raise InvalidInput(f"{said} a memory that is gone and nothing was written; use a fresh key")


def interval(valid_from: object, valid_to: object) -> tuple[datetime | None, datetime | None]:
    """When something is true, as two times.

    Raises:
        InvalidInput: one of them is no time, or it ends before it begins.
    """
    start, end = checks.moment(valid_from, name="valid_from"), checks.moment(valid_to, name="valid_to")
    if start is not None and end is not None and end < start:
        raise InvalidInput(f"valid_to {end:%Y-%m-%d} lies before valid_from {start:%Y-%m-%d}")
    return start, end


def writable(caller: Caller, scope: object) -> str:
    """Where this agent may write: everybody's scope, which is the default, its own, or that of a pool it is in."""
    return GLOBAL_SCOPE if scope is None else checks.choice(scope, caller.scopes, name="scope")


def agent_name(value: object) -> str:
    """The name of an agent, which is that of its own scope, so no other scope's.

    Raises:
        InvalidInput: it is one.
    """
    name = checks.name(value, name="agent")
    if name == GLOBAL_SCOPE or name.startswith("pool:"):
        raise InvalidInput(f"agent {name!r} is the name of a scope; choose another")
    return name


def as_registered(work: Callable[[], _Answer]) -> _Answer:
    """What `work` writes of whom it found in the registry; it looks again where they were merged or removed since.

    Raises:
        InvalidInput: of the last try.
    """
    for left in reversed(range(MOST_TRIES)):
        try:
            return work()
        except InvalidInput:
            if not left:
                raise
            metrics.count("entities_taken_meanwhile")
    raise AssertionError("unreachable: the last try returns or raises")


def unknown(caller: Caller, id_: str) -> NotFound:
    """The error for an id that this agent does not see, whether or not somebody else does."""
    return NotFound(f"no memory {id_} is visible to agent {caller.agent}; recall shows ids")


def active_fact(store: Store, caller: Caller, id_: str) -> Fact:
    """The fact of this id.

    Raises:
        NotFound: the caller sees no such memory.
        InvalidInput: it is no fact, or no longer active.
    """
    found = next(iter(store.get(caller, [id_])), None)
    if found is None:
        raise unknown(caller, id_)
    if not isinstance(found, Fact):
        raise InvalidInput(f"{id_} is of kind {found.kind}; only a fact can be corrected")
    if found.validity != "active":
        raise InvalidInput(f"fact {id_} is {found.validity}; its history shows what holds its place now")
    return found


def _embedded(embedder: Embedder, text: str) -> NDArray[np.float32] | Wording:
    """The vector of a question, or a sentence that says why there is none."""
    try:
        vector: NDArray[np.float32] = embedder.embed([text], role="query")[0]
    except EngineUnavailable as error:
        metrics.count("searches_without_vectors")
        return worded(error, "the embedder").after("keywords alone: ")
    return vector


def _statement(memory: MemoryRecord) -> tuple[str, ...]:
    return (memory.subject, memory.predicate, memory.content) if isinstance(memory, Fact) else (memory.content,)
