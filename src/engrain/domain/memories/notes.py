"""Notes: what an agent keeps for itself under a key. Each is a view of a fact; no table is theirs alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from engrain.domain.records import REFLECTION, SUMMARY, Fact, MemoryRecord, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engrain.domain.records import Caller
    from engrain.domain.wording import Wording

Source = Literal["fts5", "tfidf", "combined", "llm"]
SearchMode = Literal["fast", "deep"]

# Where a fact's metadata keeps what is a note's own.
CONFIDENCE_KEY = "category_confidence"
FIRST_SAVED_KEY = "first_saved_at"
TFIDF_KEY = "tfidf"

SUMMARY_PREFIX = "summary"
LEAST_SUMMARIZED = 2
_SEPARATOR = ":"
# So that a summary's key is one that can be asked for, whatever the prefix.
_LONGEST_PREFIX = 480


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Record):
    """One note as it stands, or stood: `archived` says that a later one, or a summary, has its place."""

    id: str  # of the fact; saving the key again makes a new one
    key: str
    content: str
    category: str
    category_confidence: float | None = None  # in [0, 1], 0 where no keyword spoke; None where nobody judged
    created_at: datetime  # when the key was first saved
    updated_at: datetime
    archived: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteHit(Record):
    """A note that was found, and which search it owes its place to."""

    note: Note
    score: float
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteAnswer(Record):
    """The notes of one search, best first; `degraded` has a sentence for each thing it had to do without."""

    query: str
    mode: SearchMode  # fast where a deep search had no re-ranker that answered
    hits: tuple[NoteHit, ...] = ()
    total_candidates: int = 0
    degraded: tuple[Wording, ...] = ()

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes alone."""
        return tuple(hit.note for hit in self.hits)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRelation(Record):
    """A note that another one shares words with; `score` is the Jaccard similarity, or the weight somebody gave."""

    note: Note
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteCacheStats(Record):
    """One agent's part of the cache of notes, since its Memory was opened."""

    size: int
    hits: int
    misses: int


def is_note(memory: MemoryRecord, caller: Caller) -> bool:
    """Whether it is a note of this agent: a fact about itself, and no entity, in its own scope, that it wrote down.

    What was made of its memories, a reflection or a summary, is none.
    """
    own = (caller.tenant_id, caller.agent, caller.agent)
    return (
        isinstance(memory, Fact)
        and memory.entity_id is None
        and memory.category not in {REFLECTION, SUMMARY}
        and (memory.tenant_id, memory.subject, memory.scope) == own
    )


def note_of(fact: Fact) -> Note:
    """A fact as a note; what its metadata does not say, or says nonsense about, is taken from the fact."""
    return Note(
        id=fact.id,
        key=fact.predicate,
        content=fact.content,
        category=fact.category,
        category_confidence=_confidence(fact.metadata),
        created_at=_first_saved(fact.metadata) or fact.created_at,
        updated_at=fact.created_at,
        archived=fact.validity != "active",
    )


def follow_note(note: Fact, before: Fact) -> Fact:
    """A note in the place of another of its key: the key was first saved when it was before."""
    first = min(note_of(before).created_at, note_of(note).created_at)
    return replace(note, metadata={**note.metadata, FIRST_SAVED_KEY: first.isoformat()})


def group_by_prefix(notes: Iterable[Fact]) -> dict[str, list[Fact]]:
    """Notes by the prefix of their keys, before the first colon, each group oldest first; two are a group.

    A key without a colon is a prefix of its own. Summaries are of no group: they are summarised already.
    """
    ordered = sorted(notes, key=lambda note: (_prefix(note), note.created_at, note.id))
    groups = {prefix: list(group) for prefix, group in groupby(ordered, _prefix)}
    return {
        prefix: group for prefix, group in groups.items() if prefix != SUMMARY_PREFIX and len(group) >= LEAST_SUMMARIZED
    }


def summary_key(prefix: str, at: datetime) -> str:
    """What the summary of a group is called on a day in UTC."""
    return _SEPARATOR.join((SUMMARY_PREFIX, prefix, f"{at.astimezone(UTC):%Y-%m-%d}"))


def summary_content(before: str | None, notes: Sequence[Fact]) -> str:
    """What was in the summary before, then each note under its key."""
    said = [f"{note.predicate}: {note.content}" for note in notes]
    return "\n".join(said if before is None else [before, *said])


def _prefix(note: Fact) -> str:
    return note.predicate.partition(_SEPARATOR)[0][:_LONGEST_PREFIX].strip()


def _confidence(metadata: Mapping[str, Any]) -> float | None:
    found = metadata.get(CONFIDENCE_KEY)
    is_one = isinstance(found, int | float) and not isinstance(found, bool) and 0 <= found <= 1
    return float(found) if is_one else None  # type: ignore[arg-type]  # mypy does not follow the flag


def _first_saved(metadata: Mapping[str, Any]) -> datetime | None:
    """When the first version was saved; None where a fact has no such note, or an unreadable one."""
    try:
        found = datetime.fromisoformat(metadata.get(FIRST_SAVED_KEY, ""))
    except (TypeError, ValueError):
        return None
    return None if found.tzinfo is None else found.astimezone(UTC)
