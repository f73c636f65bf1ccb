"""Agent: one short method for each verb. Arguments are parsed here, once; what is behind trusts its types."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from engrain import metrics
from engrain.agent.groups import Entities, Rules
from engrain.agent.parts import active_fact, interval, unknown, writable
from engrain.domain import checks
from engrain.domain.query import Filter
from engrain.domain.records import (
    DECAY_RATES,
    KINDS,
    RELATIONS,
    ROLES,
    Answer,
    Caller,
    Episode,
    Event,
    Fact,
    Link,
    MemoryRecord,
    Rule,
    Stats,
)
from engrain.domain.requests import Direction, Request
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from engrain.agent.parts import Parts
    from engrain.context.block import ContextBlock
    from engrain.domain.ports import TokenCounter
    from engrain.portability.importer import ImportReport

# More than a context block can hold at any sensible budget.
_CONTEXT_CANDIDATES = 50
_MOST_TOKENS = 1_000_000_000
_DIRECTIONS: tuple[Direction, ...] = get_args(Direction)


class Agent:
    """The memory as one agent sees it: its own scope, the global one, and nothing else. Immutable and cheap."""

    __slots__ = ("_caller", "_parts")

    def __init__(self, parts: Callable[[], Parts], caller: Caller) -> None:
        """Made by `Memory.agent`; `parts` raises MemoryClosed once the memory is closed."""
        self._parts = parts
        self._caller = caller

    @property
    def caller(self) -> Caller:
        """Tenant, agent, session and request id that every call carries."""
        return self._caller

    @property
    def rules(self) -> Rules:
        """What worked and what did not, as guidance."""
        return Rules(self._parts, self._caller)

    @property
    def entities(self) -> Entities:
        """Whom and what facts are about."""
        return Entities(self._parts, self._caller)

    def observe(  # what an episode is made of
        self,
        content: str,
        *,
        role: str = "user",
        speaker: str | None = None,
        session: str | None = None,
        event_time: datetime | str | None = None,
        importance: float = 5.0,
        ttl_days: float | None = None,
        tokens: int | None = None,
        model: str | None = None,
        tool_calls: Iterable[Any] | None = None,
        tags: Iterable[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> Episode:
        """Remember what happened: one turn of a conversation. Durable when it returns; its vector follows soon.

        `role` is user, assistant, tool or system; `event_time` (now) is when it happened; `importance` lies in 0-10;
        with `ttl_days` it is forgotten that long after now. `tokens`, `model` and `tool_calls` (JSON values) are what a
        runtime knows of the turn. With an `idempotency_key` a repeat gives the episode stored first.

        Raises:
            InvalidInput: empty, too long (10 MB) or not text, another value out of range, or a key that was used for
                something else; nothing was written.
        """
        parts = self._parts()
        act = parts.act(self._caller)
        key = checks.optional_name(idempotency_key, what="idempotency_key")
        lifetime = None if ttl_days is None else checks.number(ttl_days, what="ttl_days", low=0, high=36_500)
        episode = Episode(
            id=parts.id_for(self._caller, key),
            tenant_id=self._caller.tenant_id,
            agent=self._caller.agent,
            scope=self._caller.agent,
            session=self._caller.session if session is None else checks.name(session, what="session"),
            role=checks.choice(role, ROLES, what="role"),
            speaker=checks.optional_name(speaker, what="speaker"),
            content=checks.content(content),
            event_time=checks.moment(event_time, what="event_time") or act.at,
            created_at=act.at,
            expires_at=None if lifetime is None else act.at + timedelta(days=lifetime),
            importance=checks.number(importance, what="importance", low=0, high=10),
            tokens=None if tokens is None else checks.count(tokens, what="tokens", high=_MOST_TOKENS),
            model=checks.optional_name(model, what="model"),
            tool_calls=checks.json_values(tool_calls, what="tool_calls"),
            tags=checks.names(tags, what="tag"),
            metadata=checks.metadata(metadata),
        )
        return parts.keep(act, episode, idempotency_key=key)

    def remember(  # what a fact is made of
        self,
        content: str,
        *,
        subject: str,
        predicate: str,
        entity_id: str | None = None,
        scope: str | None = None,
        valid_from: datetime | str | None = None,
        valid_to: datetime | str | None = None,
        category: str = "fact",
        permanence: str = "standard",
        importance: float = 5.0,
        confidence: float = 1.0,
        source: str | None = None,
        source_episode_id: str | None = None,
        tags: Iterable[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> Fact:
        """Remember what is true: `subject` `predicate` `content`. It supersedes what was true of the same before.

        The same is the same `predicate` of the same `entity_id`, or where there is none of the same `subject`, in the
        same `scope`: "global" (every agent of the tenant sees it) or this agent's own name. `permanence` (permanent,
        stable, standard, volatile, ephemeral) is how slowly it fades; `valid_from` and `valid_to` bound when it is
        true. `source` says where it comes from, `source_episode_id` from which episode. With an `idempotency_key` a
        repeat gives the fact stored first.

        Raises:
            InvalidInput: an empty or unknown value, an entity or episode that is not there, an interval that ends
                before it begins, or a key that was used for something else; nothing was written.
        """
        parts = self._parts()
        act = parts.act(self._caller)
        key = checks.optional_name(idempotency_key, what="idempotency_key")
        kept = checks.choice(permanence, DECAY_RATES, what="permanence")
        start, end = interval(valid_from, valid_to)
        fact = Fact(
            id=parts.id_for(self._caller, key),
            tenant_id=self._caller.tenant_id,
            agent=self._caller.agent,
            scope=writable(self._caller, scope),
            subject=checks.name(subject, what="subject"),
            predicate=checks.name(predicate, what="predicate"),
            entity_id=checks.optional_name(entity_id, what="entity_id"),
            content=checks.content(content),
            category=checks.name(category, what="category"),
            source=checks.optional_name(source, what="source"),
            confidence=checks.number(confidence, what="confidence", low=0, high=1),
            importance=checks.number(importance, what="importance", low=0, high=10),
            permanence=kept,
            decay_rate=DECAY_RATES[kept],
            valid_from=start,
            valid_to=end,
            created_at=act.at,
            source_episode_id=checks.optional_name(source_episode_id, what="source_episode_id"),
            last_confirmed_at=act.at,
            tags=checks.names(tags, what="tag"),
            metadata=checks.metadata(metadata),
        )
        return parts.keep(act, fact, idempotency_key=key)

    def recall(  # what a search can be narrowed by
        self,
        query: str,
        *,
        limit: int | None = None,
        preset: str | None = None,
        kinds: Iterable[str] | str | None = None,
        sessions: Iterable[str] | str | None = None,
        exclude_sessions: Iterable[str] | str | None = None,
        roles: Iterable[str] | str | None = None,
        speakers: Iterable[str] | str | None = None,
        subjects: Iterable[str] | str | None = None,
        tags: Iterable[str] | str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        as_of: datetime | str | None = None,
        include_inactive: bool = False,
    ) -> Answer:
        """The best memories for a question, best first (ties: newest, then id), each saying why.

        Any text is a query. `preset` is engrain, semantic, keyword or hybrid. The rest narrows: `tags` must all be
        there, of the others any; since <= time < until. `as_of` searches what was believed at that time in place of
        what is now; `include_inactive` adds what is superseded, retracted, expired or forgotten.

        Raises:
            InvalidInput: a limit outside 0-1000, an unknown preset, kind or role, or a time that is none.
        """
        from engrain.retrieval import presets, search

        parts = self._parts()
        asked = search.Question(
            text=checks.query(query),
            preset=presets.preset(parts.settings.preset if preset is None else preset),
            limit=parts.settings.limit if limit is None else checks.count(limit, what="limit"),
        )
        narrowed = Filter(
            kinds=checks.choices(kinds, KINDS, what="kind") or KINDS,
            sessions=checks.names(sessions, what="session"),
            exclude_sessions=checks.names(exclude_sessions, what="session"),
            roles=checks.choices(roles, ROLES, what="role"),
            speakers=checks.names(speakers, what="speaker"),
            subjects=checks.names(subjects, what="subject"),
            tags=checks.names(tags, what="tag"),
            since=checks.moment(since, what="since"),
            until=checks.moment(until, what="until"),
            as_of=checks.moment(as_of, what="as_of"),
            include_inactive=checks.flag(include_inactive, what="include_inactive"),
        )
        request = Request(caller=self._caller, filter=narrowed, now=parts.clock())
        with metrics.timed("recall_seconds"):
            return search.search(parts.store, request, asked, lambda text: parts.vector_of(self._caller, text))

    def context(
        self, query: str, *, budget_tokens: int | None = None, count_tokens: TokenCounter | None = None
    ) -> ContextBlock:
        """A Markdown block for a prompt: facts, rules, then what was said, the best for `query` within the budget.

        The current session is left out: the model has it already. `count_tokens` defaults to four characters a token.

        Raises:
            InvalidInput: a budget that is negative or no whole number.
        """
        from engrain.context import block

        chosen = self._parts().settings.budget_tokens if budget_tokens is None else budget_tokens
        budget = checks.count(chosen, what="budget_tokens", high=10_000_000)
        answer = self.recall(query, limit=_CONTEXT_CANDIDATES, exclude_sessions=self._caller.session)
        built = block.build(answer.hits, budget_tokens=budget, count_tokens=count_tokens or block.approximate_tokens)
        return replace(built, degraded=answer.degraded)

    def get(self, id_: str, *, as_of: datetime | str | None = None) -> MemoryRecord | None:
        """One memory by id, whether live, superseded or forgotten; None where this agent sees no such memory.

        Counts as a reference (`reference_count`), unless the database cannot be written now. With `as_of` it is not
        counted, and None too where it was not believed at that time.

        Raises:
            InvalidInput: an id that is no text, or a time that is none.
        """
        name, then = checks.name(id_, what="id"), checks.moment(as_of, what="as_of")
        parts = self._parts()
        if then is None:
            return next(iter(parts.referenced(self._caller, [name])), None)
        return next((each for each in parts.store.get(self._caller, [name]) if each.was_believed(then)), None)

    def facts(
        self,
        subject: str | None = None,
        predicate: str | None = None,
        *,
        as_of: datetime | str | None = None,
        include_inactive: bool = False,
        limit: int = 100,
    ) -> list[Fact]:
        """What is known of a subject, a predicate or both, the newest first (by `happened_at`, then id).

        `as_of` gives what was believed at that time in place of what is now; `include_inactive` adds what is
        superseded, retracted or expired.

        Raises:
            InvalidInput: an empty name, a limit outside 0-1000, or a time that is none.
        """
        parts = self._parts()
        narrowed = Filter(
            kinds=("fact",),
            subjects=() if subject is None else (checks.name(subject, what="subject"),),
            predicates=() if predicate is None else (checks.name(predicate, what="predicate"),),
            as_of=checks.moment(as_of, what="as_of"),
            include_inactive=checks.flag(include_inactive, what="include_inactive"),
        )
        request = Request(caller=self._caller, filter=narrowed, now=parts.clock())
        found = parts.store.recent(request, checks.count(limit, what="limit"))
        return [each for each in found if isinstance(each, Fact)]

    def correct(
        self,
        id_: str,
        content: str,
        *,
        valid_from: datetime | str | None = None,
        valid_to: datetime | str | None = None,
        confidence: float = 1.0,
        source: str | None = None,
        source_episode_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Fact:
        """Put a new fact in the place of an active one, which it supersedes: the same statement with other content.

        Subject, predicate, entity, scope, category, permanence, importance and tags stay; the rest is new.

        Raises:
            NotFound: this agent sees no such memory.
            InvalidInput: it is no fact, no longer active, or a value is refused; nothing was written.
        """
        parts = self._parts()
        act = parts.act(self._caller)
        old = active_fact(parts.store, self._caller, checks.name(id_, what="id"))
        start, end = interval(valid_from, valid_to)
        fact = replace(
            old,
            id=parts.ids(),
            agent=self._caller.agent,
            content=checks.content(content),
            source=checks.optional_name(source, what="source"),
            confidence=checks.number(confidence, what="confidence", low=0, high=1),
            valid_from=start,
            valid_to=end,
            created_at=act.at,
            supersedes_id=None,
            source_episode_id=checks.optional_name(source_episode_id, what="source_episode_id"),
            last_confirmed_at=act.at,
            reference_count=0,
            last_referenced_at=None,
            metadata=checks.metadata(metadata),
        )
        return parts.keep(act, fact)

    def confirm(self, id_: str) -> Fact | Rule:
        """Say that a fact or a rule still holds: it fades from now on, not from when it was learned.

        Raises:
            NotFound: this agent sees no such memory.
            InvalidInput: it is an episode, or no longer active.
        """
        name = checks.name(id_, what="id")
        parts = self._parts()
        confirmed = parts.store.confirm(parts.act(self._caller), name)
        if confirmed is None:
            raise unknown(self._caller, name)
        assert not isinstance(confirmed, Episode)
        return confirmed

    def forget(self, id_: str) -> MemoryRecord:
        """Forget one memory: it leaves every search at once, and stays readable by its id; twice is once.

        An episode expires, a fact is retracted, a rule gets `metadata["forgotten"]`.

        Raises:
            NotFound: this agent sees no such memory.
        """
        name = checks.name(id_, what="id")
        parts = self._parts()
        gone = parts.store.retire(parts.act(self._caller), name)
        if gone is None:
            raise unknown(self._caller, name)
        return gone

    def erase(self, ids: Iterable[str] | str) -> list[str]:
        """Remove memories for good, with their vectors, words, links and what events say of them; the ids that went.

        This cannot be undone. What this agent does not see is left alone. The event `memory_erased` stays, with a
        digest of what was there; the id is never taken again.

        Raises:
            InvalidInput: an id that is no text; nothing was erased.
        """
        names = checks.names(ids, what="id")
        parts = self._parts()
        return parts.store.erase(parts.act(self._caller), names) if names else []

    def link(self, source_id: str, target_id: str, relation: str, *, weight: float = 1.0) -> Link:
        """Say how one memory bears on another: the source `relation` the target. One that is there stays as it is.

        `relation` is derived_from, supports, contradicts, supersedes or related_to; `weight` lies in 0-1.

        Raises:
            NotFound: this agent does not see one of the two.
            InvalidInput: an unknown relation, a weight out of range, or a memory linked to itself.
        """
        parts = self._parts()
        act = parts.act(self._caller)
        link = Link(
            source_id=checks.name(source_id, what="source_id"),
            target_id=checks.name(target_id, what="target_id"),
            relation=checks.choice(relation, RELATIONS, what="relation"),
            weight=checks.number(weight, what="weight", low=0, high=1),
            created_at=act.at,
        )
        if link.source_id == link.target_id:
            raise InvalidInput(f"a memory cannot be linked to itself ({link.source_id}); name two")
        if parts.store.link(act, link):
            return link
        there = parts.store.links(self._caller, link.source_id, direction="outgoing", relation=link.relation)
        return next((each for each in there if each.target_id == link.target_id), link)

    def links(self, id_: str, *, direction: str = "both", relation: str | None = None) -> list[Link]:
        """The links of a memory whose both ends this agent sees, by creation; none where it sees no such memory.

        `direction` is outgoing (it is the source), incoming (it is the target) or both.

        Raises:
            InvalidInput: an unknown direction or relation.
        """
        return self._parts().store.links(
            self._caller,
            checks.name(id_, what="id"),
            direction=checks.choice(direction, _DIRECTIONS, what="direction"),
            relation=None if relation is None else checks.choice(relation, RELATIONS, what="relation"),
        )

    def history(self, id_: str) -> list[Fact]:
        """Every fact that ever held the place of this one, oldest first; none where this agent sees no such fact."""
        return self._parts().store.history(self._caller, checks.name(id_, what="id"))

    def events(self, id_: str | None = None, *, event_type: str | None = None, limit: int = 100) -> list[Event]:
        """What was done to one memory, or to all that this agent sees, newest first: who, when, on whose request.

        Raises:
            InvalidInput: an id or event type that is no text, or a limit outside 0-1000.
        """
        return self._parts().store.events(
            self._caller,
            memory_id=checks.optional_name(id_, what="id"),
            event_type=checks.optional_name(event_type, what="event_type"),
            limit=checks.count(limit, what="limit"),
        )

    def stats(self) -> Stats:
        """How much this agent remembers."""
        parts = self._parts()
        return parts.store.stats(self._caller, parts.clock())

    def import_file(
        self,
        path: str | Path,
        *,
        format: str = "auto",  # noqa: A002  # the word of the command line
        strict: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> ImportReport:
        """Add the conversations of an export (chatgpt, claude, claude-code, openai, jsonl, locomo) as episodes.

        Importing a file again adds only what is new in it. A broken record is reported and passed over; `strict` stops
        at it. `progress` is told how many turns were read. Vectors are made in the background; `Memory.flush` waits for
        them.

        Raises:
            UnreadableImport: the file is of no known format, or broken and `strict`.
        """
        from engrain.portability import importer
        from engrain.portability.formats import FORMATS

        parts = self._parts()
        report = importer.import_file(
            parts.store,
            self._caller,
            Path(checks.path(path, what="path")),
            clock=parts.clock,
            format_name=checks.choice(format, ["auto", *FORMATS], what="format"),
            strict=strict,
            progress=progress,
        )
        parts.queue.announce()
        return report
