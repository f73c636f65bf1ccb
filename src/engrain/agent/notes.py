"""Notes: an agent's own facts, filed under keys."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, get_args

from engrain import metrics
from engrain.agent.operations.instrumentation import instrument
from engrain.agent.reads.search import search_counted
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.arguments import find_preset, parse_label, parse_limit, parse_text, stored_text
from engrain.agent.wiring.view import View
from engrain.agent.writes import linking
from engrain.agent.writes.episodes import parse_importance
from engrain.agent.writes.memories import new_fact
from engrain.domain import checks, pagination
from engrain.domain.filters import Filter
from engrain.domain.memories.lineage import inherit_trust
from engrain.domain.memories.notes import (
    CONFIDENCE_KEY,
    FIRST_SAVED_KEY,
    LEAST_SUMMARIZED,
    NOTE_DECAY_RATE,
    TFIDF_KEY,
    Note,
    NoteAnswer,
    NoteCacheStats,
    NoteHit,
    NoteRelation,
    SearchMode,
    follow_note,
    group_by_prefix,
    hit_source,
    is_note,
    note_key,
    note_of,
    summary_content,
    summary_key,
)
from engrain.domain.memories.predicates import is_free_text
from engrain.domain.pagination import Page
from engrain.domain.records import Caller, Fact, MemoryRecord
from engrain.domain.requests import Act, Request
from engrain.errors import InvalidInput, NotFound
from engrain.storage.entities.mentions import note_mentions
from engrain.storage.search.history import load_links
from engrain.storage.search.recency import load_newest
from engrain.storage.selection import find_active_fact, is_active_fact, load_memories
from engrain.storage.transaction import repeatable
from engrain.storage.write import arrivals, removal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engrain.agent.wiring.parts import Parts
    from engrain.storage.unit_of_work import Snapshot, UnitOfWork
    from engrain.verbs import words

_MODES: tuple[SearchMode, ...] = get_args(SearchMode)
# One call summarizes the newest so many of the old ones; the next goes on.
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
            InvalidInput: an empty key or content, one that is too long, or a key that is the predicate of a text that
                stands for itself ("observation 0123456789ab"); nothing was written.
        """
        parts = self._parts()
        act = new_act(parts, self._caller)
        draft = _draft(parts, act, _new_key(parts, key), parse_text(parts, content))
        try:
            stored = parts.store.write(act, _save, parts, draft)
        finally:
            parts.note_cache.drop(draft)
        if stored is None:
            raise InvalidInput(f"id {draft.id} is taken and nothing was written; the source of ids repeats itself")
        parts.queue.announce()
        return note_of(stored)

    def recall(self, key: words.NoteKey) -> Note | None:
        """Read the note under a key; None where there is none.

        A second call reads a cache, and asks the database only whether the note still stands: what any process saved,
        forgot or erased is seen at once. Not counted as a reference.

        Raises:
            InvalidInput: an empty key, or one that is too long.
        """
        parts, caller = self._parts(), self._caller
        own_key = stored_text(parts, checks.name(key, name="key"))

        def read() -> Note | None:
            note = parts.store.read(caller, _find_active, own_key, parts.clock())
            return None if note is None else note_of(note)

        def is_active(id_: str) -> bool:
            return parts.store.read(caller, is_active_fact, id_, parts.clock())

        return parts.note_cache.read(caller, own_key, read, is_active)

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
        parts, most = self._parts(), checks.count(limit, name="limit")
        key_or_id = stored_text(parts, checks.name(note, name="note"))
        return parts.store.read(self._caller, _load_related, key_or_id, most, parts.clock())

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
        from engrain.retrieval.search_query import SearchQuery

        parts = self._parts()
        search_query = SearchQuery(
            text=checks.query(query),
            preset=find_preset(parts, "notes"),
            limit=parse_limit(parts, limit),
            deep=checks.choice(mode, _MODES, name="mode") == "deep",
            min_similarity=checks.number(min_similarity, name="min_similarity", low=0, high=1),
            category=checks.optional_name(category, name="category"),
        )
        answer = search_counted(parts, self._caller, search_query, Filter(period="current"))
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
        parts = self._parts()
        act = new_act(parts, self._caller)
        sought = _draft(parts, act, checks.name(key, name="key"), "")
        try:
            forgotten = parts.store.write(act, _forget, sought)
        finally:
            parts.note_cache.drop(sought)
        if forgotten is None:
            raise NotFound(f"agent {self._caller.agent} has no note {sought.predicate!r}; list shows the keys")
        return note_of(forgotten)

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
        parts, caller = self._parts(), self._caller
        act = new_act(parts, caller)
        limit = act.at - timedelta(days=days)
        request = _request(caller, Filter(until=limit), act.at)
        facts = _facts(parts.store.read(caller, load_newest, request, _MOST_SUMMARIZED))
        groups = group_by_prefix(fact for fact in facts if fact.created_at < limit)
        try:
            return sum(_archive(parts, act, prefix, group) for prefix, group in groups.items())
        finally:
            parts.note_cache.drop_agent(caller)

    def invalidate(self) -> int:
        """Drop this agent's notes from the cache; give their number."""
        return self._parts().note_cache.drop_agent(self._caller)

    def clear_cache(self) -> None:
        """Drop every agent's notes from the cache of this Memory."""
        self._parts().note_cache.clear()

    def cache_stats(self) -> NoteCacheStats:
        """Count this agent's notes in the cache, and the hits and misses of its recalls."""
        return self._parts().note_cache.stats(self._caller)

    def _newest(self, verb: str, narrowed: Filter, limit: int, after: str | None) -> Page[Note]:
        """Return a page of notes, as of one moment."""
        parts = self._parts()
        request = _request(self._caller, replace(narrowed, after=pagination.decode_moment(verb, after)), parts.clock())
        notes = _facts(parts.store.read(self._caller, load_newest, request, limit + 1))
        page = pagination.cut(verb, notes, limit, lambda note: (note.happened_at, note.id))
        return Page(items=tuple(map(note_of, page)), next=page.next)


def _draft(parts: Parts, act: Act, key: str, content: str) -> Fact:
    """Return a note as a fact, categorised, the first of its key."""
    from engrain.domain.text.categories import categorize

    category = categorize(key, content)
    fact = new_fact(
        parts,
        act,
        scope=act.caller.own_scope,
        subject=act.caller.agent,
        predicate=key,
        content=content,
        category=category.name,
        importance=parse_importance(None, content),
        metadata={CONFIDENCE_KEY: category.confidence, FIRST_SAVED_KEY: act.at.isoformat()},
    )
    return replace(fact, decay_rate=NOTE_DECAY_RATE)


@repeatable
def _save(work: UnitOfWork, parts: Parts, draft: Fact) -> Fact | None:
    """Store a note with its weights and relations in place of the one before; None where its id is taken."""
    from engrain.retrieval import cross_references
    from engrain.retrieval.tfidf import tokenize

    before = arrivals.lock_slot(work, draft)
    text = cross_references.note_text(draft.predicate, draft.content)
    compared = cross_references.similar_notes(work, text, work.act.at)
    others = cross_references.tokenize_notes(note for note in compared if note_key(note) != draft.predicate)
    own = tokenize(text)
    note = replace(draft, metadata={**draft.metadata, TFIDF_KEY: cross_references.tfidf_weights(own, others)})
    related = cross_references.rank_related(own, others)
    mentioned = linking.find_mentioned(work, parts, [note])
    stored = arrivals.put_related(work, note if before is None else follow_note(note, before), related)
    if stored is not None:
        note_mentions(work, stored, mentioned.get(stored.id, ()))
    return stored


def _forget(work: UnitOfWork, sought: Fact) -> Fact | None:
    """Forget the note under the key of a fact."""
    arrivals.lock_slot(work, sought)
    note = _find_active(work, sought.predicate, work.act.at)
    forgotten = None if note is None else removal.forget(work, note.id)
    return forgotten if isinstance(forgotten, Fact) else None


def _archive(parts: Parts, act: Act, prefix: str, group: Sequence[Fact]) -> int:
    """Summarize one group; return its size, 0 where it is too large or was written to."""

    def write(work: UnitOfWork) -> int | None:
        key, notes = summary_key(prefix, act.at), group
        before = _find_active(work, key, act.at)
        content = None if before is None else before.content
        while len(summary_content(content, notes).encode()) > checks.MAX_CONTENT_BYTES:
            notes = notes[: len(notes) // 2]  # the rest is for another day
            if len(notes) < LEAST_SUMMARIZED:
                return 0
        fact = _draft(parts, act, key, summary_content(content, notes))
        sources = notes if before is None else [*notes, before]
        if before is not None:
            fact = follow_note(fact, before)
        stored = arrivals.supersede(work, inherit_trust(fact, sources), [note.id for note in sources])
        if stored is None:
            return None
        linking.link(work, parts, stored)
        return len(notes)

    count = parts.store.write(act, write)
    if count is None:
        metrics.count("note_groups_not_summarized")
        return 0
    parts.queue.announce()
    return count


def _new_key(parts: Parts, key: object) -> str:
    """Check the key of a note that is to be saved."""
    name = parse_label(parts, key, name="key")
    if is_free_text(name):
        raise InvalidInput(f"key {name!r} is the predicate of a text that stands for itself; choose another key")
    return name


def _find_active(snapshot: Snapshot, key: str, now: datetime) -> Fact | None:
    """Find the note that stands under a key."""
    place = {"scope": snapshot.own_scope, "subject": snapshot.agent, "predicate": key}
    fact = find_active_fact(snapshot, **place, at=now)
    return fact if fact is not None and is_note(fact, snapshot.identity) else None


def _load_related(snapshot: Snapshot, key_or_id: str, most: int, now: datetime) -> Sequence[NoteRelation]:
    of_key = _find_active(snapshot, key_or_id, now)
    id_ = key_or_id if of_key is None else of_key.id
    if not any(is_note(memory, snapshot.identity) for memory in load_memories(snapshot, [id_])):
        return []
    weights: dict[str, float] = {}
    for link in load_links(snapshot, id_, relation="related_to"):
        other = link.target_id if link.source_id == id_ else link.source_id
        weights[other] = max(link.weight, weights.get(other, 0.0))
    linked = _facts(load_memories(snapshot, [*weights]))
    others = [fact for fact in linked if fact.is_live(now) and is_note(fact, snapshot.identity)]
    others = sorted(others, key=lambda note: (weights[note.id], note.created_at, note.id), reverse=True)
    return [NoteRelation(note=note_of(note), score=weights[note.id]) for note in others[:most]]


def _request(caller: Caller, narrowed: Filter, now: datetime) -> Request:
    own = replace(narrowed, kinds=("fact",), scopes=(caller.own_scope,), notes_of=caller.agent, period="current")
    return Request(caller=caller, filter=own, now=now)


def _facts(memories: Iterable[MemoryRecord]) -> Sequence[Fact]:
    return [memory for memory in memories if isinstance(memory, Fact)]
