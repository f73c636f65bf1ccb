"""What an agent asks of its memory; nothing is written but how often a memory was asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from engrain.agent.operations.instrumentation import instrument
from engrain.agent.reads.search import get_counted, search_counted
from engrain.agent.wiring.arguments import find_preset, parse_limit
from engrain.agent.wiring.view import View
from engrain.domain import checks, pagination
from engrain.domain.filters import Filter
from engrain.domain.maintenance.findings import FINDING_KINDS, Audit
from engrain.domain.records import (
    GLOBAL_SCOPE,
    KINDS,
    RELATIONS,
    ROLES,
    Answer,
    Caller,
    Event,
    Fact,
    Link,
    MemoryRecord,
)
from engrain.domain.requests import Direction, Request

if TYPE_CHECKING:
    from engrain.context.block import ContextBlock
    from engrain.context.messages import ContextMessages
    from engrain.domain.maintenance.overview import Overview
    from engrain.domain.maintenance.stats import Stats
    from engrain.domain.pagination import Page
    from engrain.verbs import words

_MOST_NEIGHBOURS = 5
_MOST_SKIPPED = 1_000_000
_DIRECTIONS: tuple[Direction, ...] = get_args(Direction)


@instrument()
class Queries(View):
    """The half of an Agent's verbs that asks."""

    __slots__ = ()

    @property
    def caller(self) -> Caller:
        """Tenant, agent, session and request id that every call carries; its pools are asked for at each."""
        return self._who

    def recall(  # what a search can be narrowed by
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
        include_inactive: words.IncludeInactive = False,
        min_confidence: words.MinConfidence | None = None,
        deep: words.Deep = False,
        neighbours: words.Neighbours = 0,
        explain: words.Explain = False,
    ) -> Answer:
        """The best memories for a question, best first (ties: the ranking's own, newest, id), each saying why.

        Any text is a query. `preset` names the ranking: engrain, semantic, keyword, hybrid, recall, assistant,
        weighted, notes, recency, importance, or one of the setting `retrieval.presets`. The rest narrows: `tags` must
        all be there, of the others any; since <= time < until; `scope` leaves what is of it and of "global". `as_of`
        searches what was believed at that time in place of what is now; `include_inactive` adds what is superseded,
        retracted, expired or forgotten; what is believed less than `min_confidence` (the preset's) is left out.

        With `deep` the memory's re-ranker puts the best 50 in order, within the setting `reranking.budget_s`; without
        one, or where it fails or is late, the order stays and `degraded` says so. With `neighbours` (0-5) each episode
        comes with so many turns before and after it, one statement for each hit. With `explain` the answer tells of
        candidates that are no hits, and why. Each hit counts as a reference (`reference_count`) once the answer is
        there, unless it was asked for with `as_of`.

        Raises:
            InvalidInput: an unknown preset, kind or role, a scope that this agent does not see, a time that is none, or
                a number out of its range.
        """
        from engrain.retrieval.search import SearchQuery

        parts = self._parts()
        caller = self._caller
        least = None if min_confidence is None else checks.number(min_confidence, name="min_confidence", low=0, high=1)
        asked = SearchQuery(
            text=checks.query(query),
            preset=find_preset(parts, preset),
            limit=parse_limit(parts, limit),
            deep=checks.flag(deep, name="deep"),
            min_confidence=least,
            neighbours=checks.count(neighbours, name="neighbours", high=_MOST_NEIGHBOURS),
            explains=checks.flag(explain, name="explain"),
        )
        narrowed = Filter(
            kinds=checks.choices(kinds, KINDS, name="kind") or KINDS,
            scopes=() if scope is None else (GLOBAL_SCOPE, checks.choice(scope, caller.scopes, name="scope")),
            sessions=checks.names(sessions, name="session"),
            exclude_sessions=checks.names(exclude_sessions, name="session"),
            roles=checks.choices(roles, ROLES, name="role"),
            speakers=checks.names(speakers, name="speaker"),
            subjects=checks.names(subjects, name="subject"),
            tags=checks.names(tags, name="tag"),
            since=checks.moment(since, name="since"),
            until=checks.moment(until, name="until"),
            as_of=checks.moment(as_of, name="as_of"),
            include_inactive=checks.flag(include_inactive, name="include_inactive"),
        )
        return search_counted(parts, caller, asked, narrowed)

    def context(
        self,
        query: words.Prompt,
        *,
        budget_tokens: words.BudgetTokens | None = None,
        count_tokens: words.CountTokens | None = None,
        recipe: words.RecipeName | None = None,
        recent_episodes: words.RecentEpisodes | None = None,
        include_superseded: words.IncludeSuperseded = False,
        with_dates: words.WithDates = True,
        with_sources: words.WithSources = False,
    ) -> ContextBlock:
        """A Markdown block for a prompt: facts, rules, what was said, the latest reflection; what is best and fits.

        The current session is left out: the model has it already. What stands in the block counts as a reference. The
        settings of `context` say the rest: `recipe` is engrain, butler or assistant; `count_tokens` a function of a
        text, or characters, wordpiece or tiktoken:ENCODING; `recent_episodes` shows so many of the newest episodes,
        whatever the query. With `include_superseded` facts that hold no more stand behind those that do, the newest
        first, and say so; with `with_sources` each line ends with where it comes from and its id.

        Raises:
            InvalidInput: a number out of its range, an unknown recipe or counter, or a counter that fails.
            EngineUnavailable: the counter's package or vocabulary is missing.
        """
        from engrain.agent.reads import context_blocks
        from engrain.context.entries import LineOptions

        parts = self._parts()
        asked = context_blocks.parse_request(
            parts,
            checks.query(query),
            budget_tokens=budget_tokens,
            count_tokens=count_tokens,
            recipe=recipe,
            recent_episodes=recent_episodes,
        )
        line_options = LineOptions(
            with_dates=checks.flag(with_dates, name="with_dates"),
            with_sources=checks.flag(with_sources, name="with_sources"),
        )
        superseded = checks.flag(include_superseded, name="include_superseded")
        return context_blocks.build_block(
            parts, self._caller, replace(asked, include_superseded=superseded, line_options=line_options)
        )

    def messages(
        self,
        asked: words.Prompt,
        *,
        system: words.SystemPrompt = "",
        tools: words.Tools = 0,
        window_tokens: words.WindowTokens | None = None,
        count_tokens: words.CountTokens | None = None,
        recipe: words.RecipeName | None = None,
        recent_episodes: words.RecentEpisodes | None = None,
        summarise: words.Summarise | None = None,
    ) -> ContextMessages:
        """Messages for a chat: the system prompt, the block of what is remembered, what is asked; never too long.

        The window (the setting) is divided as the settings of `context` say; the answer keeps its share. `tools` are
        their schemas, which are counted, or their number. Where memories do not fit, `summarise(memories, tokens)`
        makes one message of them, if what it makes fits: by default of each the sentence closest to what is asked.

        Raises:
            InvalidInput: what is asked does not fit beside the system prompt, the tools and the answer's share; or as
                `context`.
        """
        from engrain.agent.reads import context_blocks

        parts = self._parts()
        window = parts.settings.context.window_tokens if window_tokens is None else window_tokens
        wanted = context_blocks.parse_request(
            parts,
            checks.content(asked, name="asked"),
            count_tokens=count_tokens,
            recipe=recipe,
            recent_episodes=recent_episodes,
        )
        inside = context_blocks.ChatWindow(
            tokens=checks.count(window, name="window_tokens", high=context_blocks.MOST_TOKENS),
            system=checks.query(system, name="system"),
            tools=tools,
            summarise=summarise,
        )
        return context_blocks.build_messages(parts, self._caller, wanted, inside)

    def get(self, id_: words.Id, *, as_of: words.AsOf | None = None) -> MemoryRecord | None:
        """One memory by id, whether live, superseded or forgotten; None where this agent sees no such memory.

        Counts as a reference (`reference_count`), unless the database cannot be written now. With `as_of` it is not
        counted, and None too where it was not believed at that time.

        Raises:
            InvalidInput: an id that is no text, or a time that is none.
        """
        name, then = checks.name(id_, name="id"), checks.moment(as_of, name="as_of")
        parts = self._parts()
        caller = self._caller
        if then is None:
            return next(iter(get_counted(parts, caller, [name])), None)
        return next((each for each in parts.store.get(caller, [name]) if each.was_believed(then)), None)

    def facts(
        self,
        subject: words.OfSubject | None = None,
        predicate: words.OfPredicate | None = None,
        *,
        as_of: words.AsOf | None = None,
        include_inactive: words.IncludeInactive = False,
        limit: words.PageLimit = 100,
        after: words.After | None = None,
    ) -> Page[Fact]:
        """What is known of a subject, a predicate or both, the newest first (by `happened_at`, then id).

        `as_of` gives what was believed at that time in place of what is now; `include_inactive` adds what is
        superseded, retracted or expired. `after` is the `next` of the page before.

        Raises:
            InvalidInput: an empty name, a limit outside 0-1000, a time that is none, or a cursor of another list.
        """
        parts = self._parts()
        narrowed = Filter(
            kinds=("fact",),
            subjects=() if subject is None else (checks.name(subject, name="subject"),),
            predicates=() if predicate is None else (checks.name(predicate, name="predicate"),),
            as_of=checks.moment(as_of, name="as_of"),
            include_inactive=checks.flag(include_inactive, name="include_inactive"),
            after=pagination.decode_moment("facts", after),
        )
        request = Request(caller=self._caller, filter=narrowed, now=parts.clock())
        most = checks.count(limit, name="limit")
        facts = [fact for fact in parts.store.recent(request, most + 1) if isinstance(fact, Fact)]
        return pagination.cut("facts", facts, most, lambda fact: (fact.happened_at, fact.id))

    def latest_reflection(self) -> Fact | None:
        """What this agent carries on from the last time it looked back (`Memory.reflect`); None before the first.

        One that somebody stored for everybody (category "reflection", scope "global") counts as well.

        A second call asks the database nothing: what this Memory writes is seen at once, what another process writes
        after `notes.cache_ttl_s` at the latest. Not counted as a reference.
        """
        from engrain.agent.learning import reflection

        return reflection.latest_reflection(self._parts(), self._who)

    def links(
        self, id_: words.Id, *, direction: words.LinkDirection = "both", relation: words.OfRelation | None = None
    ) -> list[Link]:
        """The links of a memory whose both ends this agent sees, by creation; none where it sees no such memory.

        `direction` is outgoing (it is the source), incoming (it is the target) or both.

        Raises:
            InvalidInput: an unknown direction or relation.
        """
        return self._parts().store.links(
            self._caller,
            checks.name(id_, name="id"),
            direction=checks.choice(direction, _DIRECTIONS, name="direction"),
            relation=None if relation is None else checks.choice(relation, RELATIONS, name="relation"),
        )

    def history(self, id_: words.Id) -> list[Fact]:
        """Every fact that ever held the place of this one, oldest first; none where this agent sees no such fact."""
        return self._parts().store.history(self._caller, checks.name(id_, name="id"))

    def events(
        self,
        id_: words.OfMemory | None = None,
        *,
        event_type: words.EventType | None = None,
        limit: words.PageLimit = 100,
        after: words.After | None = None,
    ) -> Page[Event]:
        """What was done to one memory, or to all that this agent sees, newest first: who, when, on whose request.

        `after` is the `next` of the page before.

        Raises:
            InvalidInput: an id or event type that is no text, a limit outside 0-1000, or a cursor of another list.
        """
        most = checks.count(limit, name="limit")
        events = self._parts().store.events(
            self._caller,
            memory_id=checks.optional_name(id_, name="id"),
            event_type=checks.optional_name(event_type, name="event_type"),
            limit=most + 1,
            after=pagination.decode_moment("events", after),
        )
        return pagination.cut("events", events, most, lambda event: (event.created_at, event.id))

    def stats(self, *, scope: words.WithinScope | None = None) -> Stats:
        """How much this agent remembers; with a `scope`, facts and rules of it and "global" alone.

        Raises:
            InvalidInput: a scope that this agent does not see.
        """
        parts = self._parts()
        caller = self._caller
        narrowed = None if scope is None else checks.choice(scope, caller.scopes, name="scope")
        return parts.store.stats(caller, parts.clock(), scope=narrowed)

    def overview(self, *, days: words.Days = 30, limit: words.MostOfEach = 10) -> Overview:
        """What a dashboard shows of what this agent sees, as of one moment; nothing counts as a reference.

        Counts by state, what was written, consolidated and expired on each of the last `days` (of UTC), the newest and
        the most referenced memories, the entities with most facts, runs, and what waits: at most `limit` of each.

        Raises:
            InvalidInput: days outside 0-366, or a limit outside 0-100.
        """
        from engrain.agent.reads import overview

        parts = self._parts()
        asked = overview.OverviewRequest(
            days=checks.count(days, name="days", high=overview.MOST_DAYS),
            limit=checks.count(limit, name="limit", high=overview.MOST),
        )
        parts.references.flush()
        return overview.read_overview(parts.store, self._caller, asked, now=parts.clock())

    def audit(
        self,
        *,
        kinds: words.FindingKinds | None = None,
        limit: words.PageLimit = 100,
        skip: words.Skip = 0,
        unused_days: words.UnusedDays = 30.0,
        progress: words.Progress | None = None,
    ) -> Audit:
        """What looks wrong with what this agent sees, with evidence and a command for each finding; changes nothing.

        `kinds` are secret, contradiction, duplicate, near_duplicate, echo, stale, orphaned and never_recalled; without
        any, all. Of each kind the answer has `limit` findings after the first `skip`, and `counts` all of them. Looks
        at as many memories as the setting `audit.memories` says. What is older than `unused_days` and was never
        asked for is never_recalled. `progress` is told how many memories were read.

        Raises:
            InvalidInput: an unknown kind, or a number out of its range.
        """
        from engrain.lifecycle import audit

        parts = self._parts()
        asked = audit.AuditOptions(
            kinds=checks.choices(kinds, FINDING_KINDS, name="kind") or FINDING_KINDS,
            limit=checks.count(limit, name="limit"),
            skip=checks.count(skip, name="skip", high=_MOST_SKIPPED),
            most_memories=parts.settings.audit.memories,
            fading_below=parts.settings.decay.fading_below,
            unused_days=checks.number(unused_days, name="unused_days", low=0, high=36_500),
        )
        parts.references.flush()
        return audit.audit(parts.store, self._caller, asked, now=parts.clock(), progress=progress)
