"""Notes: an agent's own facts, filed under keys."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, get_args

from engrain import metrics
from engrain.agent.operations.instrumentation import instrument
from engrain.agent.reads.search import search_counted
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.arguments import find_preset, parse_limit
from engrain.agent.wiring.view import View
from engrain.agent.writes.episodes import parse_importance
from engrain.agent.writes.memories import follow_up, new_fact
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
from engrain.domain.records import Fact
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
    """Notes under keys: facts about the agent, in its own scope."""

    __slots__ = ()

    def save(self, key: words.NoteKey, content: words.NoteText) -> Note:
        """Save a note under a key; it supersedes the one that was there (`Agent.history` keeps that).

        It gets a category with its confidence, the TF-IDF weights of its 50 heaviest terms (`metadata.tfidf` of the
        fact) and links `related_to` to at most 10 notes with which it shares more than a twentieth of its words, of the
        50 that share most; those of the note before go. One transaction.

        Raises:
            InvalidInput: an empty key or content, or one that is too long; nothing was written.
        """
        from engrain.retrieval import cross_references
        from engrain.retrieval.tfidf import tokenize

        note_key, note_content = checks.name(key, name="key"), checks.content(content)
        parts, caller = self._parts(), self._who
        act = new_act(parts, caller)
        text = cross_references.note_text(note_key, note_content)
        compared = parts.store.read(caller, cross_references.similar_notes, text, act.at)
        others = cross_references.tokenize_notes(note for note in compared if note.predicate != note_key)
        own = tokenize(text)
        weights = cross_references.tfidf_weights(own, others)
        fact = self._draft(act, note_key, note_content, **{TFIDF_KEY: weights})
        try:
            stored = parts.store.put_related(act, fact, cross_references.rank_related(own, others), after=follow_note)
        finally:
            parts.note_cache.drop(fact)
        if stored is None:
            raise InvalidInput(f"id {fact.id} is taken and nothing was written; the source of ids repeats itself")
        follow_up(parts, act, stored)
        return note_of(stored)

    def recall(self, key: words.NoteKey) -> Note | None:
        """Read the note under a key; None where there is none.

        A second call reads a cache: it sees writes of this process at once, those of another after `notes.cache_ttl_s`
        at the latest. Not counted as a reference.

        Raises:
            InvalidInput: an empty key, or one that is too long.
        """
        note_key = checks.name(key, name="key")
        return self._parts().note_cache.read(self._who, note_key, lambda: self._read(note_key))

    def list(self, limit: words.PageLimit = 100, *, after: words.After | None = None) -> Page[Note]:
        """List the notes, newest first.

        Raises:
            InvalidInput: a limit outside 0-1000, or a cursor of another list.
        """
        return self._newest("notes.list", Filter(), checks.count(limit, name="limit"), after)

    def list_by_category(
        self, category: words.NoteCategory, limit: words.PageLimit = 20, *, after: words.After | None = None
    ) -> Page[Note]:
        """List the notes of one category, newest first.

        Raises:
            InvalidInput: an empty category, a limit outside 0-1000, or a cursor of another list.
        """
        narrowed = Filter(categories=(checks.name(category, name="category"),))
        return self._newest("notes.list_by_category", narrowed, checks.count(limit, name="limit"), after)

    def related(self, note: words.NoteKeyOrId, limit: words.PageLimit = 10) -> Sequence[NoteRelation]:
        """List the notes that share words with one, the most alike first, then the newest.

        Empty where there is no such note. Links `related_to` that were made by hand count too, by their weight.

        Raises:
            InvalidInput: an empty key or id, or a limit outside 0-1000.
        """
        key_or_id, most = checks.name(note, name="note"), checks.count(limit, name="limit")
        return self._parts().store.in_one_snapshot(self._who, lambda: self._related(self._who, key_or_id, most))

    def search(
        self,
        query: words.Query,
        *,
        mode: words.NoteMode = "fast",
        limit: words.Limit | None = None,
        category: words.PreferredCategory | None = None,
        min_similarity: words.MinSimilarity = 0.0,
    ) -> NoteAnswer:
        """Find the best notes for a question by the ranking `notes`, with the channel of each hit.

        Where the re-ranker cannot put them in order for `mode` deep, the order of fast stays, and mode and `degraded`
        say so. Each hit counts as a reference.

        Raises:
            InvalidInput: an unknown mode, or a number out of its range.
        """
        from engrain.retrieval.notes import hit_source
        from engrain.retrieval.search import SearchQuery

        parts = self._parts()
        search_query = SearchQuery(
            text=checks.query(query),
            preset=find_preset(parts, "notes"),
            limit=parse_limit(parts, limit),
            deep=checks.choice(mode, _MODES, name="mode") == "deep",
            min_similarity=checks.number(min_similarity, name="min_similarity", low=0, high=1),
            category=checks.optional_name(category, name="category"),
        )
        answer = search_counted(parts, self._who, search_query, Filter())
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
        note_key = checks.name(key, name="key")
        parts = self._parts()
        act = new_act(parts, self._who)
        while (fact := self._active(note_key)) is not None:
            try:
                forgotten = parts.store.forget(act, fact.id)
            finally:
                parts.note_cache.drop(fact)
            if isinstance(forgotten, Fact) and forgotten.validity == "retracted":
                return note_of(forgotten)  # else it was saved anew meanwhile: the new one goes
        raise NotFound(f"agent {self._who.agent} has no note {note_key!r}; list shows the keys")

    def summarize_old(self, older_than_days: words.OlderThanDays = 30) -> int:
        """Supersede groups of old notes by one summary each, without a model; give the number of notes.

        A group is two or more notes of one key prefix (before the first colon). The summary `summary:{prefix}:{date}`
        holds their contents, is derived_from each, and supersedes them; they stay readable by their ids. One
        transaction a group; a group that changes meanwhile is left for the next call. One call reads the newest 10,000
        of the old notes.

        Raises:
            InvalidInput: a number of days outside 0-36,500.
        """
        days = checks.number(older_than_days, name="older_than_days", low=0, high=36_500)
        parts = self._parts()
        act = new_act(parts, self._who)
        limit = act.at - timedelta(days=days)
        facts = parts.store.recent(self._request(Filter(until=limit), act.at), _MOST_SUMMARIZED)
        old = [fact for fact in self._live(facts) if fact.created_at < limit]
        return sum(self._archive(act, prefix, group) for prefix, group in group_by_prefix(old).items())

    def invalidate(self) -> int:
        """Drop this agent's notes from the cache; give their number."""
        return self._parts().note_cache.drop_agent(self._who)

    def clear_cache(self) -> None:
        """Drop every agent's notes from the cache of this Memory."""
        self._parts().note_cache.clear()

    def cache_stats(self) -> NoteCacheStats:
        """Count this agent's notes in the cache, and the hits and misses of its recalls."""
        return self._parts().note_cache.stats(self._who)

    def _draft(self, act: Act, key: str, content: str, **metadata: Any) -> Fact:
        """Return a note as a fact, categorised, the first of its key."""
        from engrain.domain.text.categories import categorize

        own, category = act.caller.agent, categorize(key, content)
        return new_fact(
            self._parts(),
            act,
            scope=own,
            subject=own,
            predicate=key,
            content=content,
            category=category.name,
            importance=parse_importance(None, content),
            metadata={CONFIDENCE_KEY: category.confidence, FIRST_SAVED_KEY: act.at.isoformat(), **metadata},
        )

    def _archive(self, act: Act, prefix: str, group: Sequence[Fact]) -> int:
        """Summarise one group; return its size, 0 where it is too large or was written to."""
        parts = self._parts()
        key = summary_key(prefix, act.at)
        before = self._active(key)
        content = None if before is None else before.content
        while len(summary_content(content, group).encode()) > checks.MAX_CONTENT_BYTES:
            group = group[: len(group) // 2]  # the rest is for another day
            if len(group) < LEAST_SUMMARIZED:
                return 0
        fact = self._draft(act, key, summary_content(content, group))
        fact = fact if before is None else follow_note(fact, before)
        closing = [*group, *([] if before is None else [before])]
        try:
            stored = parts.store.supersede(act, fact, [note.id for note in closing])
        finally:
            for note in closing:
                parts.note_cache.drop(note)
        if stored is None:
            metrics.count("note_groups_not_summarized")
            return 0
        follow_up(parts, act, stored)
        return len(group)

    def _read(self, key: str) -> Note | None:
        fact = self._active(key)
        return None if fact is None else note_of(fact)

    def _active(self, key: str) -> Fact | None:
        own = self._who.agent
        return self._parts().store.find_active_fact(self._who, scope=own, subject=own, predicate=key)

    def _newest(self, verb: str, narrowed: Filter, limit: int, after: str | None) -> Page[Note]:
        """Return a page of notes, as of one moment; other facts of the agent are passed over."""
        parts = self._parts()
        position = pagination.decode_moment(verb, after)

        def read() -> Sequence[Fact]:
            last = position
            facts: MutableSequence[Fact] = []
            while len(facts) <= limit:
                newest = parts.store.recent(self._request(replace(narrowed, after=last), parts.clock()), limit + 1)
                facts += self._live(newest)
                if len(newest) <= limit:
                    break
                last = newest[-1].happened_at, newest[-1].id
            return facts

        facts = parts.store.in_one_snapshot(self._who, read)
        page = pagination.cut(verb, facts, limit, lambda fact: (fact.happened_at, fact.id))
        return Page(items=tuple(map(note_of, page)), next=page.next)

    def _related(self, caller: Caller, key_or_id: str, most: int) -> Sequence[NoteRelation]:
        store = self._parts().store
        of_key = self._active(key_or_id)
        id_ = key_or_id if of_key is None else of_key.id
        if not any(is_note(memory, caller) for memory in store.get(caller, [id_])):
            return []
        weights: dict[str, float] = {}
        for link in store.links(caller, id_, relation="related_to"):
            other = link.target_id if link.source_id == id_ else link.source_id
            weights[other] = max(link.weight, weights.get(other, 0.0))
        others = self._live(store.get(caller, [*weights]))
        others = sorted(others, key=lambda note: (weights[note.id], note.created_at, note.id), reverse=True)
        return [NoteRelation(note=note_of(note), score=weights[note.id]) for note in others[:most]]

    def _request(self, narrowed: Filter, now: datetime) -> Request:
        own = (self._who.agent,)
        return Request(caller=self._who, filter=replace(narrowed, kinds=("fact",), scopes=own, subjects=own), now=now)

    def _live(self, memories: Iterable[MemoryRecord]) -> Sequence[Fact]:
        """Return those memories that are notes as they stand."""
        facts = (memory for memory in memories if isinstance(memory, Fact) and is_note(memory, self._who))
        return [fact for fact in facts if fact.validity == "active"]
