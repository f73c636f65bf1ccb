"""Notes of an agent: what it keeps for itself under keys."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, get_args

from engrain import metrics
from engrain.agent.operations.instrumentation import instrument
from engrain.agent.reads.search import search_counted
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.arguments import find_preset, parse_limit
from engrain.agent.wiring.view import View
from engrain.agent.writes.memories import follow_up
from engrain.domain import checks, pagination
from engrain.domain.filters import Filter
from engrain.domain.memories.notes import (
    CONFIDENCE_KEY,
    FIRST_SAVED_KEY,
    LEAST_SUMMARIZED,
    TFIDF_KEY,
    Note,
    NoteAnswer,
    NoteCacheStats,
    NoteHit,
    NoteRelation,
    SearchMode,
    follow_note,
    group_by_prefix,
    is_note,
    note_of,
    summary_content,
    summary_key,
)
from engrain.domain.pagination import Page
from engrain.domain.records import DECAY_RATES, Fact
from engrain.domain.requests import Request
from engrain.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable, MutableSequence, Sequence
    from datetime import datetime

    from engrain.domain.records import Caller, MemoryRecord
    from engrain.domain.requests import Act
    from engrain.verbs import words

_MODES: tuple[SearchMode, ...] = get_args(SearchMode)
# One call summarises the newest so many of the old ones; the next goes on.
_MOST_SUMMARIZED = 10_000


@instrument("notes")
class Notes(View):
    """What an agent keeps for itself under keys: facts about the agent, in its own scope."""

    __slots__ = ()

    def save(self, key: words.NoteKey, content: words.NoteText) -> Note:
        """Keep a note under a key, in the place of the one that was there; its history stays (`Agent.history`).

        It gets a category and how sure that is, the TF-IDF weights of its 50 heaviest terms (`metadata.tfidf` of the
        fact) and links `related_to` to at most 10 notes with which it shares more than a twentieth of its words, of
        the 50 that share most; those of the note before go. One transaction.

        Raises:
            InvalidInput: an empty key or content, or one that is too long; nothing was written.
        """
        from engrain.retrieval import cross_references
        from engrain.retrieval.tfidf import tokenize

        named, said = checks.name(key, name="key"), checks.content(content)
        parts = self._parts()
        caller = self._who
        act = new_act(parts, caller)
        text = cross_references.note_text(named, said)
        compared = cross_references.similar_notes(parts.store, caller, text, act.at)
        own, others = (
            tokenize(text),
            cross_references.tokenize_notes(each for each in compared if each.predicate != named),
        )
        drafted = self._drafted(act, named, said)
        fact = replace(drafted, metadata={**drafted.metadata, TFIDF_KEY: cross_references.tfidf_weights(own, others)})
        try:
            stored = parts.store.put_related(act, fact, cross_references.rank_related(own, others), after=follow_note)
        finally:
            parts.note_cache.drop(fact)
        if stored is None:
            raise InvalidInput(f"id {fact.id} is taken and nothing was written; the source of ids repeats itself")
        follow_up(parts, act, stored)
        return note_of(stored)

    def recall(self, key: words.NoteKey) -> Note | None:
        """The note under a key; None where there is none. A second call asks the database nothing.

        What this process writes is seen at once, what another one writes after `notes.cache_ttl_s` at the latest. Not
        counted as a reference.

        Raises:
            InvalidInput: an empty key, or one that is too long.
        """
        named = checks.name(key, name="key")
        parts = self._parts()
        return parts.note_cache.read(self._who, named, lambda: self._read(named))

    def list(self, limit: words.PageLimit = 100, *, after: words.After | None = None) -> Page[Note]:
        """The notes, the newest first; `after` is the `next` of the page before.

        Raises:
            InvalidInput: a limit outside 0-1000, or a cursor of another list.
        """
        return self._newest("notes.list", Filter(), checks.count(limit, name="limit"), after)

    def list_by_category(
        self, category: words.NoteCategory, limit: words.PageLimit = 20, *, after: words.After | None = None
    ) -> Page[Note]:
        """The notes of one category, the newest first; none where it has none.

        `after` is the `next` of the page before.

        Raises:
            InvalidInput: an empty category, a limit outside 0-1000, or a cursor of another list.
        """
        narrowed = Filter(categories=(checks.name(category, name="category"),))
        return self._newest("notes.list_by_category", narrowed, checks.count(limit, name="limit"), after)

    def related(self, note: words.NoteKeyOrId, limit: words.PageLimit = 10) -> Sequence[NoteRelation]:
        """Notes that share words with one, given by its key or id, the most alike first, then the newest.

        None where there is no such note. Links `related_to` that somebody made by hand count too, by their weight.

        Raises:
            InvalidInput: an empty key or id, or a limit outside 0-1000.
        """
        caller = self._who
        named, most = checks.name(note, name="note"), checks.count(limit, name="limit")
        return self._parts().store.in_one_snapshot(caller, lambda: self._related(caller, named, most))

    def search(
        self,
        query: words.Query,
        *,
        mode: words.NoteMode = "fast",
        limit: words.Limit | None = None,
        category: words.PreferredCategory | None = None,
        min_similarity: words.MinSimilarity = 0.0,
    ) -> NoteAnswer:
        """The best notes for a question by the ranking `notes`, each saying which search it owes its place to.

        `mode` deep lets the memory's re-ranker put them in order; where it cannot, the order of fast stays, and mode
        and `degraded` say so. A `category` that would leave none is passed over. `min_similarity` holds for the score
        before its age counts. Each hit counts as a reference.

        Raises:
            InvalidInput: an unknown mode, or a number out of its range.
        """
        from engrain.retrieval.notes import hit_source
        from engrain.retrieval.search import SearchQuery

        parts = self._parts()
        asked = SearchQuery(
            text=checks.query(query),
            preset=find_preset(parts, "notes"),
            limit=parse_limit(parts, limit),
            deep=checks.choice(mode, _MODES, name="mode") == "deep",
            min_similarity=checks.number(min_similarity, name="min_similarity", low=0, high=1),
            category=checks.optional_name(category, name="category"),
        )
        answer = search_counted(parts, self._who, asked, Filter())
        hits = [
            NoteHit(note=note_of(hit.memory), score=hit.score, source=hit_source(hit.why))
            for hit in answer
            if isinstance(hit.memory, Fact)
        ]
        return NoteAnswer(
            query=answer.query,
            mode=answer.mode,
            hits=tuple(hits),
            total_candidates=answer.candidates,
            degraded=answer.degraded,
        )

    def forget(self, key: words.NoteKey) -> Note:
        """Forget the note under a key: it leaves every search at once, and stays readable by its id.

        Raises:
            NotFound: there is none.
            InvalidInput: an empty key, or one that is too long.
        """
        named = checks.name(key, name="key")
        parts = self._parts()
        caller = self._who
        act = new_act(parts, caller)
        while (held := self._active(named)) is not None:
            try:
                gone = parts.store.forget(act, held.id)
            finally:
                parts.note_cache.drop(held)
            if isinstance(gone, Fact) and gone.validity == "retracted":
                return note_of(gone)  # else it was saved anew meanwhile: the new one goes
        raise NotFound(f"agent {caller.agent} has no note {named!r}; list shows the keys")

    def summarize_old(self, older_than_days: words.OlderThanDays = 30) -> int:
        """Put one summary in the place of each group of old notes, without a language model; how many notes it was.

        A group is two or more notes of one key prefix (before the first colon), not saved for so many days. The summary
        `summary:{prefix}:{date}` holds their contents, is derived_from each, and supersedes them: they are archived,
        readable by their ids. One transaction a group; a group that somebody writes to meanwhile is left for the next
        call. One call looks at the newest 10,000 of the old notes.

        Raises:
            InvalidInput: a number of days outside 0-36,500.
        """
        days = checks.number(older_than_days, name="older_than_days", low=0, high=36_500)
        parts = self._parts()
        act = new_act(parts, self._who)
        limit = act.at - timedelta(days=days)
        found = parts.store.recent(self._asking(Filter(until=limit), act.at), _MOST_SUMMARIZED)
        old = [fact for fact in self._live(found) if fact.created_at < limit]
        return sum(self._archive(act, prefix, group) for prefix, group in group_by_prefix(old).items())

    def invalidate(self) -> int:
        """Drop this agent's notes from the cache; how many it was."""
        return self._parts().note_cache.drop_agent(self._who)

    def clear_cache(self) -> None:
        """Drop every agent's notes from the cache of this Memory."""
        self._parts().note_cache.clear()

    def cache_stats(self) -> NoteCacheStats:
        """How many of this agent's notes are cached, and how its recalls fared."""
        return self._parts().note_cache.stats(self._who)

    def _drafted(self, act: Act, key: str, content: str) -> Fact:
        """A note as a fact, categorised, the first of its key."""
        caller = self._who
        from engrain.domain.memories import importance
        from engrain.domain.text.categories import categorize

        category = categorize(key, content)
        return Fact(
            id=self._parts().ids(),
            tenant_id=caller.tenant_id,
            agent=caller.agent,
            scope=caller.agent,
            subject=caller.agent,
            predicate=key,
            content=content,
            category=category.name,
            importance=importance.importance_of(content),
            decay_rate=DECAY_RATES["standard"],
            created_at=act.at,
            last_confirmed_at=act.at,
            metadata={CONFIDENCE_KEY: category.confidence, FIRST_SAVED_KEY: act.at.isoformat()},
        )

    def _archive(self, act: Act, prefix: str, group: Sequence[Fact]) -> int:
        """Summarise one group; how many notes, 0 where they are too large for one or somebody wrote to them."""
        parts = self._parts()
        key = summary_key(prefix, act.at)
        before = self._active(key)
        said = None if before is None else before.content
        while len(summary_content(said, group).encode()) > checks.MAX_CONTENT_BYTES:
            group = group[: len(group) // 2]  # the rest is for another day
            if len(group) < LEAST_SUMMARIZED:
                return 0
        fact = self._drafted(act, key, summary_content(said, group))
        fact = fact if before is None else follow_note(fact, before)
        closing = [*group, *([] if before is None else [before])]
        try:
            stored = parts.store.supersede(act, fact, [each.id for each in closing])
        finally:
            for each in closing:
                parts.note_cache.drop(each)
        if stored is None:
            metrics.count("note_groups_not_summarized")
            return 0
        follow_up(parts, act, stored)
        return len(group)

    def _read(self, key: str) -> Note | None:
        held = self._active(key)
        return None if held is None else note_of(held)

    def _active(self, key: str) -> Fact | None:
        caller = self._who
        own = caller.agent
        return self._parts().store.find_active_fact(caller, scope=own, subject=own, predicate=key)

    def _newest(self, verb: str, narrowed: Filter, limit: int, after: str | None) -> Page[Note]:
        """A page of notes; facts that stand among them and are none are passed over. All is of one state."""
        parts = self._parts()
        position = pagination.decode_moment(verb, after)

        def newest() -> Sequence[Fact]:
            last = position
            facts: MutableSequence[Fact] = []
            while len(facts) <= limit:
                found = parts.store.recent(self._asking(replace(narrowed, after=last), parts.clock()), limit + 1)
                facts += self._live(found)
                if len(found) <= limit:
                    break
                last = found[-1].happened_at, found[-1].id
            return facts

        facts = parts.store.in_one_snapshot(self._who, newest)
        page = pagination.cut(verb, facts, limit, lambda fact: (fact.happened_at, fact.id))
        return Page(items=tuple(map(note_of, page)), next=page.next)

    def _related(self, caller: Caller, named: str, most: int) -> Sequence[NoteRelation]:
        store = self._parts().store
        of_key = self._active(named)
        id_ = named if of_key is None else of_key.id
        if not any(is_note(each, caller) for each in store.get(caller, [id_])):
            return []
        weights: dict[str, float] = {}
        for link in store.links(caller, id_, relation="related_to"):
            other = link.target_id if link.source_id == id_ else link.source_id
            weights[other] = max(link.weight, weights.get(other, 0.0))
        others = self._live(store.get(caller, [*weights]))
        found = sorted(others, key=lambda each: (weights[each.id], each.created_at, each.id), reverse=True)
        return [NoteRelation(note=note_of(each), score=weights[each.id]) for each in found[:most]]

    def _asking(self, narrowed: Filter, now: datetime) -> Request:
        caller = self._who
        own = (caller.agent,)
        return Request(caller=caller, filter=replace(narrowed, kinds=("fact",), scopes=own, subjects=own), now=now)

    def _live(self, found: Iterable[MemoryRecord]) -> Sequence[Fact]:
        """Those that are notes as they stand."""
        return [
            each for each in found if isinstance(each, Fact) and is_note(each, self._who) and each.validity == "active"
        ]
