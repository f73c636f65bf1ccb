"""Queries: the verbs of an agent that read; nothing is written but references."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from engrain.agent.operations.instrumentation import instrument
from engrain.agent.wiring.arguments import (
    check_reading,
    find_preset,
    parse_limit,
    parse_point,
    parse_reading,
    parse_times,
    parse_trust,
)
from engrain.agent.wiring.view import View
from engrain.domain import checks, pagination
from engrain.domain.filters import Filter
from engrain.domain.records import KINDS, RELATIONS, ROLES, Answer, Caller, Event, Fact, Link, MemoryRecord
from engrain.domain.requests import Direction, Request

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from engrain.context.block import ContextBlock
    from engrain.context.messages import ContextMessages
    from engrain.domain.maintenance.findings import Audit
    from engrain.domain.maintenance.overview import Overview
    from engrain.domain.maintenance.stats import Stats
    from engrain.domain.pagination import Page
    from engrain.storage.unit_of_work import Snapshot
    from engrain.verbs import chat_words, words

_MOST_NEIGHBOURS = 5
_MOST_SKIPPED = 1_000_000
_DIRECTIONS: tuple[Direction, ...] = get_args(Direction)


@instrument()
class Queries(View):
    """The reading half of an agent's verbs."""

    __slots__ = ()

    @property
    def caller(self) -> Caller:
        """The tenant, agent, session and request id that every call carries; its pools are read at each."""
        return self._caller

    def recall(
        self,
        query: words.Query,
        *,
        limit: words.Limit | None = None,
        preset: words.PresetName | None = None,
        kinds: words.Kinds | None = None,
        scope: words.WithinScope | None = None,
        sessions: words.Sessions | None = None,
        exclude_sessions: words.ExcludeSessions | None = None,
        roles: words.Roles | None = None,
        speakers: words.Speakers | None = None,
        subjects: words.Subjects | None = None,
        tags: words.AllTags | None = None,
        since: words.Since | None = None,
        until: words.Until | None = None,
        as_of: words.AsOf | None = None,
        valid_at: words.ValidAt | None = None,
        include_inactive: words.IncludeInactive = False,
        min_confidence: words.MinConfidence | None = None,
        min_trust: words.MinTrust | None = None,
        deep: words.Deep = False,
        neighbours: words.Neighbours = 0,
        explain: words.Explain = False,
        count_references: words.CountReferences = True,
    ) -> Answer:
        """Find the best memories for a question, best first, with the reasons for each hit's rank.

        Any text is a query; of a long prompt what it asks is searched for. `preset` is engrain, semantic, keyword,
        hybrid, recall, assistant, weighted, notes, recency, importance, or one of the setting `retrieval.presets`; ties
        go by its own order, then newest, then id. The rest narrows: `tags` must all be there, of other lists any.

        With `deep` the re-ranker has the setting `reranking.budget_s`; without one, or where it fails or is late, the
        order stays and `degraded` says so. `min_trust` leaves out what was learned from less: "user" what others than
        the user have said. `neighbours` take one statement for each hit. Each hit counts as a reference once the answer
        is there, unless it was asked for with `as_of`, `valid_at` or without `count_references`.

        Raises:
            InvalidInput: an unknown preset, kind or role, a scope that this agent does not see, a time that is none, or
                a number out of its range.
        """
        from engrain.agent.reads import lookups
        from engrain.agent.reads.search import search, search_counted
        from engrain.retrieval.search_query import SearchQuery

        parts = self._parts()
        least = None if min_confidence is None else checks.number(min_confidence, name="min_confidence", low=0, high=1)
        search_query = SearchQuery(
            text=checks.query(query),
            preset=find_preset(parts, preset),
            limit=parse_limit(parts, limit),
            deep=checks.flag(deep, name="deep"),
            min_confidence=least,
            neighbours=checks.count(neighbours, name="neighbours", high=_MOST_NEIGHBOURS),
            explains=checks.flag(explain, name="explain"),
        )
        times = parse_times(parts.local_now(), since=since, until=until, as_of=as_of, valid_at=valid_at)
        narrowed = Filter(
            kinds=checks.choices(kinds, KINDS, name="kind") or KINDS,
            scopes=() if scope is None else parse_reading(self._caller, scope),
            sessions=checks.names(sessions, name="session"),
            exclude_sessions=checks.names(exclude_sessions, name="session"),
            roles=checks.choices(roles, ROLES, name="role"),
            speakers=checks.names(speakers, name="speaker"),
            subjects=checks.names(subjects, name="subject"),
            tags=checks.names(tags, name="tag"),
            include_inactive=checks.flag(include_inactive, name="include_inactive"),
            trust=parse_trust(min_trust),
            since=times.since,
            until=times.until,
            as_of=times.as_of,
            valid_at=times.valid_at,
        )
        narrowed = lookups.with_namesakes(parts, self._caller, narrowed)

        def check(snapshot: Snapshot) -> None:
            if scope is not None:
                check_reading(snapshot.caller, scope)

        is_counted = checks.flag(count_references, name="count_references")
        answer = (search_counted if is_counted else search)(parts, self._caller, search_query, narrowed, check=check)
        return replace(answer, times=times.in_words)

    def context(
        self,
        query: words.Prompt,
        *,
        budget_tokens: words.BudgetTokens | None = None,
        count_tokens: words.CountTokens | None = None,
        recipe: words.RecipeName | None = None,
        recent_episodes: words.RecentEpisodes | None = None,
        session_turns: chat_words.SessionTurns | None = None,
        tags: words.AllTags | None = None,
        min_trust: words.MinTrust | None = None,
        as_of: words.AsOf | None = None,
        valid_at: words.ValidAt | None = None,
        include_superseded: words.IncludeSuperseded = False,
        with_dates: words.WithDates = True,
        with_sources: words.WithSources = False,
        count_references: words.CountReferences = True,
    ) -> ContextBlock:
        """Build a Markdown block for a prompt from the best memories that fit its budget.

        Its sections are facts, rules, episodes and the latest reflection, without the newest `session_turns` of the
        current session. A fact that others than the user have said is marked, and left out by `min_trust`, as is what
        they said. Memories in the block count as references, unless `count_references` is false. `count_tokens` may be
        a function of a text. Superseded facts stand last, newest first; with `with_sources` a line ends with its id. It
        holds what was believed `as_of` a time, or was true at `valid_at`, then without references or a reflection.

        Raises:
            InvalidInput: a number out of its range, an unknown recipe or counter, or a counter that fails.
            EngineUnavailable: the counter's package or vocabulary is missing.
        """
        from engrain.agent.reads import context_blocks

        parts = self._parts()
        request = context_blocks.parse_request(
            parts,
            checks.query(query),
            budget_tokens=budget_tokens,
            count_tokens=count_tokens,
            recipe=recipe,
            recent_episodes=recent_episodes,
            session_turns=session_turns,
            tags=tags,
            min_trust=min_trust,
        )
        line_options = replace(
            request.line_options,
            with_dates=checks.flag(with_dates, name="with_dates"),
            with_sources=checks.flag(with_sources, name="with_sources"),
        )
        superseded = checks.flag(include_superseded, name="include_superseded")
        times = parse_times(parts.local_now(), as_of=as_of, valid_at=valid_at)
        counted = checks.flag(count_references, name="count_references")
        request = replace(
            request, include_superseded=superseded, line_options=line_options, times=times, counts_references=counted
        )
        return replace(context_blocks.build_block(parts, self._caller, request), times=times.in_words)

    def messages(
        self,
        asked: words.Prompt,
        *,
        system: chat_words.SystemPrompt = "",
        tools: chat_words.Tools = 0,
        window_tokens: words.WindowTokens | None = None,
        count_tokens: words.CountTokens | None = None,
        recipe: words.RecipeName | None = None,
        recent_episodes: words.RecentEpisodes | None = None,
        min_trust: words.MinTrust | None = None,
        summarize: words.Summarize | None = None,
    ) -> ContextMessages:
        """Build chat messages from a system prompt, a context block, the turns of this session and a prompt.

        The newest turns stand that fit into `context.turns_share` of what memories get; a prompt that is stored already
        is not repeated. The window is divided as the settings of `context` say; the answer keeps its share. Where
        memories do not fit, `summarize(memories, tokens)` makes one message of them, if its result fits: by default the
        sentence of each memory that is closest to the prompt.

        Raises:
            InvalidInput: the prompt does not fit beside the system prompt, the tools and the answer's share; or as
                `context`.
        """
        from engrain.agent.reads import context_blocks

        parts = self._parts()
        window = parts.settings.context.window_tokens if window_tokens is None else window_tokens
        request = context_blocks.parse_request(
            parts,
            checks.content(asked, name="asked"),
            count_tokens=count_tokens,
            recipe=recipe,
            recent_episodes=recent_episodes,
            min_trust=min_trust,
        )
        chat_window = context_blocks.ChatWindow(
            tokens=checks.count(window, name="window_tokens", high=context_blocks.MOST_TOKENS),
            system=checks.query(system, name="system"),
            tools=tools,
            summarize=summarize,
        )
        return context_blocks.build_messages(parts, self._caller, request, chat_window)

    def get(
        self, id_: words.Id, *, as_of: words.AsOf | None = None, count_references: words.CountReferences = True
    ) -> MemoryRecord | None:
        """Read one memory by id, be it live, superseded or forgotten; None where this agent sees none.

        Counts as a reference, unless the database cannot be written now, or `count_references` is false. With `as_of`
        it is not counted, and None too where it was not believed at that time.

        Raises:
            InvalidInput: an id that is no text, or a time that is none.
        """
        from engrain.agent.reads.lookups import find_memory
        from engrain.agent.reads.search import get_counted

        parts = self._parts()
        name, then = checks.name(id_, name="id"), parse_point(as_of, name="as_of", now=parts.clock())
        if checks.flag(count_references, name="count_references") and then is None:
            return next(iter(get_counted(parts, self._caller, [name])), None)
        memory = parts.store.read(self._caller, find_memory, name)
        return memory if memory is not None and (then is None or memory.was_believed(then)) else None

    def facts(
        self,
        subject: words.OfSubject | None = None,
        predicate: words.OfPredicate | None = None,
        *,
        as_of: words.AsOf | None = None,
        valid_at: words.ValidAt | None = None,
        pending: words.Pending = False,
        min_trust: words.MinTrust | None = None,
        include_inactive: words.IncludeInactive = False,
        limit: words.PageLimit = 100,
        after: words.After | None = None,
    ) -> Page[Fact]:
        """List the facts about a subject, with a predicate or both, newest first.

        A subject has all names that the registry knows, and "user" also the user's; both match in every spelling. With
        `valid_at` those that were true then, by what is known now. With `pending` those that only tools or assistants
        have said: `confirm` makes one the user's, `forget` drops it.

        Ordered by `happened_at`, then id.

        Raises:
            InvalidInput: an empty name, a limit outside 0-1000, a time that is none, or a cursor of another list.
        """
        from engrain.agent.reads import lookups
        from engrain.storage.search import recency

        parts = self._parts()
        now = parts.clock()
        times = parse_times(parts.local_now(), as_of=as_of, valid_at=valid_at)
        narrowed = Filter(
            kinds=("fact",),
            subjects=() if subject is None else (checks.name(subject, name="subject"),),
            predicates=() if predicate is None else (checks.name(predicate, name="predicate"),),
            as_of=times.as_of,
            valid_at=times.valid_at,
            trust=parse_trust(min_trust, pending=checks.flag(pending, name="pending")),
            include_inactive=checks.flag(include_inactive, name="include_inactive"),
            period="current",
            after=pagination.decode_moment("facts", after),
        )
        narrowed = lookups.with_namesakes(parts, self._caller, narrowed)
        request = Request(caller=self._caller, filter=narrowed, now=now)
        most = checks.count(limit, name="limit")
        newest = parts.store.read(self._caller, recency.load_newest, request, most + 1)
        facts = [fact for fact in newest if isinstance(fact, Fact)]
        page = pagination.cut("facts", facts, most, lambda fact: (fact.happened_at, fact.id))
        return replace(page, times=times.in_words)

    def list(
        self,
        kind: words.OfKind | None = None,
        *,
        include_inactive: words.IncludeInactive = False,
        limit: words.PageLimit = 100,
        after: words.After | None = None,
    ) -> Page[MemoryRecord]:
        """List the memories that this agent sees, of one kind or of all, newest first.

        Ordered by when they happened (`happened_at`), then id. Not counted as references.

        Raises:
            InvalidInput: an unknown kind, a limit outside 0-1000, or a cursor of another list.
        """
        narrowed = Filter(
            kinds=KINDS if kind is None else (checks.choice(kind, KINDS, name="kind"),),
            include_inactive=checks.flag(include_inactive, name="include_inactive"),
        )
        return self._newest("list", narrowed, limit, after)

    def episodes(
        self,
        session: words.OneSession | None = None,
        *,
        include_inactive: words.IncludeInactive = False,
        limit: words.PageLimit = 100,
        after: words.After | None = None,
    ) -> Page[MemoryRecord]:
        """List the episodes that this agent sees, of one conversation or of all, newest first.

        Ordered by event time, then id. Not counted as references.

        Raises:
            InvalidInput: an empty session, a limit outside 0-1000, or a cursor of another list.
        """
        narrowed = Filter(
            kinds=("episode",),
            sessions=() if session is None else (checks.name(session, name="session"),),
            include_inactive=checks.flag(include_inactive, name="include_inactive"),
        )
        return self._newest("episodes", narrowed, limit, after)

    def latest_reflection(self) -> Fact | None:
        """Read the newest reflection of this agent (`Memory.reflect`); None before the first.

        A fact of category "reflection" and scope "global" counts as well. A second call reads a cache: it sees writes
        of this Memory at once, and what another process erased or forgot; a newer one of another process after
        `notes.cache_ttl_s` at the latest. Not counted as a reference.
        """
        from engrain.agent.reads import context_blocks

        return context_blocks.latest_reflection(self._parts(), self._caller)

    def links(
        self, id_: words.Id, *, direction: words.LinkDirection = "both", relation: words.OfRelation | None = None
    ) -> Sequence[Link]:
        """List the links of a memory whose both ends this agent sees, oldest first.

        Empty where it sees no such memory.

        Raises:
            InvalidInput: an unknown direction or relation.
        """
        from engrain.storage.search import history

        return self._parts().store.read(
            self._caller,
            history.load_links,
            checks.name(id_, name="id"),
            direction=checks.choice(direction, _DIRECTIONS, name="direction"),
            relation=None if relation is None else checks.choice(relation, RELATIONS, name="relation"),
        )

    def history(self, id_: words.Id) -> Sequence[Fact]:
        """List every fact that was ever in the slot of this one, oldest first.

        Empty where this agent sees no such fact.
        """
        from engrain.storage.search import history

        return self._parts().store.read(self._caller, history.load_history, checks.name(id_, name="id"))

    def events(
        self,
        id_: words.OfMemory | None = None,
        *,
        event_type: words.EventType | None = None,
        run_id: words.OfRun | None = None,
        limit: words.PageLimit = 100,
        after: words.After | None = None,
    ) -> Page[Event]:
        """List the changes of one memory or run, or of all that this agent sees, newest first.

        An event says who made the change, when, and on whose request. Where the setting `events.keep_days` has removed
        events, the last page has `removed_before`: older ones are gone, whatever the list is of.

        Raises:
            InvalidInput: an id or event type that is no text, a limit outside 0-1000, or a cursor of another list.
        """
        from engrain.storage.search import history

        most = checks.count(limit, name="limit")
        events, removed_before = self._parts().store.read(
            self._caller,
            history.load_page,
            memory_id=checks.optional_name(id_, name="id"),
            event_type=checks.optional_name(event_type, name="event_type"),
            run_id=checks.optional_name(run_id, name="run_id"),
            limit=most + 1,
            after=pagination.decode_moment("events", after),
        )
        page = pagination.cut("events", events, most, lambda event: (event.created_at, event.id))
        return replace(page, removed_before=removed_before)

    def stats(self, *, scope: words.WithinScope | None = None) -> Stats:
        """Count the memories of this agent by kind and state.

        With a `scope` facts and rules are those of it and of "global".

        Raises:
            InvalidInput: a scope that this agent does not see.
        """
        parts = self._parts()
        return parts.store.read(self._caller, _count_memories, parts.clock(), scope)

    def overview(self, *, days: words.Days = 30, limit: words.MostOfEach = 10) -> Overview:
        """Show counts, activity by day, newest and most used memories, entities, runs and backlog.

        As of one moment; nothing counts as a reference. The days are of UTC: memories written, consolidated and expired
        on each.

        Raises:
            InvalidInput: days outside 0-366, or a limit outside 0-100.
        """
        from engrain.agent.reads import overview

        parts = self._parts()
        request = overview.OverviewRequest(
            days=checks.count(days, name="days", high=overview.MOST_DAYS),
            limit=checks.count(limit, name="limit", high=overview.MOST),
        )
        parts.references.flush()
        return parts.store.read(self._caller, overview.read_overview, request, parts.clock())

    def audit(
        self,
        *,
        kinds: words.FindingKinds | None = None,
        limit: words.PageLimit = 100,
        skip: words.Skip = 0,
        unused_days: words.UnusedDays = 30.0,
        progress: words.Progress | None = None,
    ) -> Audit:
        """Audit the memories for problems, with evidence and a command for each finding; change nothing.

        `kinds` are secret, contradiction, duplicate, near_duplicate, echo, stale, orphaned and never_recalled; without
        any, all. `limit` findings of each kind are given after the first `skip`, and `counts` has all of them. Reads as
        many memories as the setting `audit.memories` says. `progress` gets the number read.

        Raises:
            InvalidInput: an unknown kind, or a number out of its range.
        """
        from engrain.domain.maintenance.findings import FINDING_KINDS
        from engrain.lifecycle import audit

        parts = self._parts()
        options = audit.AuditOptions(
            kinds=checks.choices(kinds, FINDING_KINDS, name="kind") or FINDING_KINDS,
            limit=checks.count(limit, name="limit"),
            skip=checks.count(skip, name="skip", high=_MOST_SKIPPED),
            most_memories=parts.settings.audit.memories,
            decay=parts.decay,
            unused_days=checks.number(unused_days, name="unused_days", low=0, high=36_500),
        )
        parts.references.flush()
        return audit.audit(parts.store, self._caller, options, now=parts.clock(), progress=progress)

    def _newest(self, name: str, narrowed: Filter, limit: int, after: str | None) -> Page[MemoryRecord]:
        """A page of the list `name`, newest first, and one statement."""
        from engrain.storage.search import recency

        parts = self._parts()
        narrowed = replace(narrowed, after=pagination.decode_moment(name, after))
        most = checks.count(limit, name="limit")
        request = Request(caller=self._caller, filter=narrowed, now=parts.clock())
        memories = parts.store.read(self._caller, recency.load_newest, request, most + 1)
        return pagination.cut(name, memories, most, lambda memory: (memory.happened_at, memory.id))


def _count_memories(snapshot: Snapshot, now: datetime, scope: str | None) -> Stats:
    from engrain.storage.reports.stats import count_memories

    return count_memories(snapshot, now, scope=None if scope is None else check_reading(snapshot.caller, scope))
