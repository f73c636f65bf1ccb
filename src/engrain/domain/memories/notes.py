"""Notes: an agent's own texts under keys. A note is a view of a fact; notes have no table of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from engrain.domain.filters import is_under_key
from engrain.domain.records import Caller, Degraded, Explanation, Fact, MemoryRecord, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


Source = Literal["fts5", "tfidf", "combined", "llm"]
SearchMode = Literal["fast", "deep"]

# Keys of a fact's metadata for the fields that only notes have.
CONFIDENCE_KEY = "category_confidence"
FIRST_SAVED_KEY = "first_saved_at"
TFIDF_KEY = "tfidf"

NOTE_DECAY_RATE = 0.0  # a note stands until its agent saves another, or forgets it
SUMMARY_PREFIX = "summary"
LEAST_SUMMARIZED = 2
_SEPARATOR = ":"
# So that the key of a summary is a valid name, whatever the prefix.
_LONGEST_PREFIX = 480


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Record):
    """One version of a note; `archived` if a later one, or a summary, has superseded it."""

    id: str  # of the fact; saving the key again makes a new one
    key: str
    content: str
    category: str
    category_confidence: float | None = None  # in [0, 1], 0 if no keyword matched; None if never computed
    created_at: datetime  # when the key was first saved
    updated_at: datetime
    archived: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteHit(Record):
    """A note that a search returned, and the search that ranked it."""

    note: Note
    score: float
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteAnswer(Record):
    """Notes of one search, best first; `degraded` has a sentence for each missing part."""

    query: str
    mode: SearchMode  # fast if the re-ranker of a deep search did not answer
    hits: tuple[NoteHit, ...] = ()
    total_candidates: int = 0
    degraded: tuple[Degraded, ...] = ()

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes alone."""
        return tuple(hit.note for hit in self.hits)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRelation(Record):
    """A note that shares words with another; `score` is the Jaccard similarity, or the weight of an explicit link."""

    note: Note
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteCacheStats(Record):
    """Statistics of one agent's part of the note cache, since its Memory was opened."""

    size: int
    hits: int
    misses: int


def is_note(memory: MemoryRecord, caller: Caller) -> bool:
    """True for a note of this agent: a fact about itself under a key, in its own scope."""
    own = (caller.tenant_id, caller.own_scope)
    return isinstance(memory, Fact) and (memory.tenant_id, memory.scope) == own and is_under_key(memory, caller.agent)


def note_key(fact: Fact) -> str:
    """Key of a note, by which it is recalled."""
    return fact.key.predicate


def note_of(fact: Fact) -> Note:
    """Note of a fact; fields that its metadata lacks, or has in an unreadable form, come from the fact."""
    return Note(
        id=fact.id,
        key=note_key(fact),
        content=fact.content,
        category=fact.category,
        category_confidence=_confidence(fact.metadata),
        created_at=_first_saved(fact.metadata) or fact.created_at,
        updated_at=fact.created_at,
        archived=fact.validity != "active",
    )


def hit_source(why: Explanation) -> Source:
    """The search that returned a hit: keywords, TF-IDF, both, or a reranker."""
    channels = {contribution.channel for contribution in why.contributions if contribution.value > 0}
    if "rerank" in channels:
        return "llm"
    if {"keyword", "tfidf"} <= channels:
        return "combined"
    return "tfidf" if "tfidf" in channels else "fts5"


def follow_note(note: Fact, before: Fact) -> Fact:
    """A note that supersedes another of its key: the time of the first save stays."""
    first = min(note_of(before).created_at, note_of(note).created_at)
    return replace(note, metadata={**note.metadata, FIRST_SAVED_KEY: first.isoformat()})


def group_by_prefix(notes: Iterable[Fact]) -> dict[str, list[Fact]]:
    """Notes by the prefix of their keys (before the first colon), each group oldest first; two or more make a group.

    A key without a colon is a prefix of its own. Summaries belong to no group.
    """
    ordered = sorted(notes, key=lambda note: (_prefix(note), note.created_at, note.id))
    groups = {prefix: list(group) for prefix, group in groupby(ordered, _prefix)}
    return {
        prefix: group for prefix, group in groups.items() if prefix != SUMMARY_PREFIX and len(group) >= LEAST_SUMMARIZED
    }


def summary_key(prefix: str, at: datetime) -> str:
    """Key of a group's summary on a day in UTC."""
    return _SEPARATOR.join((SUMMARY_PREFIX, prefix, f"{at.astimezone(UTC):%Y-%m-%d}"))


def summary_content(before: str | None, notes: Sequence[Fact]) -> str:
    """Content of a summary: the previous content, then one line for each note, with its key."""
    lines = [f"{note_key(note)}: {note.content}" for note in notes]
    return "\n".join(lines if before is None else [before, *lines])


def _prefix(note: Fact) -> str:
    return note_key(note).partition(_SEPARATOR)[0][:_LONGEST_PREFIX].strip()


def _confidence(metadata: Mapping[str, Any]) -> float | None:
    value = metadata.get(CONFIDENCE_KEY)
    is_valid = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return float(value) if is_valid else None  # type: ignore[arg-type]  # mypy does not follow the flag


def _first_saved(metadata: Mapping[str, Any]) -> datetime | None:
    """Time of the first save; None if the metadata has none, or an unreadable one."""
    try:
        saved_at = datetime.fromisoformat(metadata.get(FIRST_SAVED_KEY, ""))
    except (TypeError, ValueError):
        return None
    return None if saved_at.tzinfo is None else saved_at.astimezone(UTC)
