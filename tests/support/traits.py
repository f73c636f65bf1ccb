"""Traits of memories as values that tests write down and compare, beside the columns that a search reads."""

from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from engrain.domain.memories.predicates import is_free_text
from engrain.domain.records import Episode, Fact, MemoryRecord, Rule
from engrain.domain.text.dialogue.changes import describe_statement
from engrain.domain.text.dialogue.questions import question_share
from engrain.domain.text.repetition import describe_repetition
from engrain.storage.dialects import micros, moment
from engrain.storage.search.traits import NEVER, TRAITS, load_traits

_TIMES = ("happened_at", "created_at", "confirmed_at", "referenced_at")


class Traits(NamedTuple):
    """The columns of `storage.search.traits.TRAITS` of one memory, without its doc."""

    id: str
    kind: str
    scope: str
    happened_at: datetime
    created_at: datetime
    importance: float
    confirmed_at: datetime | None
    referenced_at: datetime | None
    key: int = 0
    words: int = 0
    session: int = 0
    turn: int = 0
    role: str | None = None
    speaker: str | None = None
    asking: float = 0.0
    confidence: float = 1.0
    decay_rate: float = 0.0
    question_terms: str | None = None
    says_nothing: bool = False
    statement: str | None = None
    states_change: bool = False
    denies: bool = False
    takes_back: bool = False


def traits_of(memory: MemoryRecord) -> Traits:
    """The traits of a record."""
    shared = {
        "id": memory.id,
        "kind": memory.kind,
        "scope": memory.scope,
        "happened_at": memory.happened_at,
        "created_at": memory.created_at,
        "importance": 5.0 if isinstance(memory, Rule) else memory.importance,
        "referenced_at": memory.last_referenced_at,
        "session": session_key(memory.id, memory.scope, getattr(memory, "session", None)),
    }
    if isinstance(memory, Episode):
        said = {name: getattr(memory, name) for name in ("turn", "role", "speaker")}
        said |= describe_repetition(memory.content, role=memory.role, speaker=memory.speaker)._asdict()
        said["asking"] = asking = question_share(memory.content)
        said |= describe_statement(memory.content, role=memory.role, asking=asking)._asdict()
        return Traits(**shared, **said, confirmed_at=memory.created_at)
    fades = {"confidence": memory.confidence, "decay_rate": memory.decay_rate}
    if isinstance(memory, Fact):
        about = "" if is_free_text(memory.predicate) else f"{memory.subject} {memory.predicate} "
        fades |= describe_statement(about + memory.content, role="user", asking=0.0)._asdict()
    return Traits(**shared, **fades, key=hash(memory.id), words=hash(memory.id), confirmed_at=memory.last_confirmed_at)


def session_key(id_: str, scope: str, session: str | None) -> int:
    """A number that is equal for the turns of one session of a scope, and for no other memories."""
    return hash(id_) if session is None else hash((scope, session))


def as_table(traits: dict[int, Traits]) -> np.ndarray:
    """Traits by doc as the columns of a search."""

    def as_value(name: str, value: Any) -> Any:
        return value if name not in _TIMES else NEVER if value is None else micros(value)

    rows = [
        (doc, *(as_value(name, getattr(one, name)) for name in TRAITS.names[1:])) for doc, one in sorted(traits.items())
    ]
    return np.array(rows, TRAITS)


def from_table(rows: np.ndarray) -> dict[int, Traits]:
    """Traits by doc, from the columns of a search."""

    def as_value(name: str, value: Any) -> Any:
        return value if name not in _TIMES else None if value == NEVER else moment(value)

    listed = [dict(zip(TRAITS.names, row, strict=True)) for row in rows.tolist()]
    return {
        row["doc"]: Traits(**{name: as_value(name, value) for name, value in row.items() if name != "doc"})
        for row in listed
    }


def read_traits(snapshot: Any, request: Any, docs: Any, *, is_fresh: bool = True) -> dict[int, Traits]:
    """The traits of some docs as the database has them, or as a search finds those of turns again."""
    found = from_table(load_traits(snapshot, request, np.array(sorted(docs), np.int64), is_fresh=is_fresh))
    return found if is_fresh else {doc: one._replace(referenced_at=None) for doc, one in found.items()}


def recall_traits(snapshot: Any, request: Any, docs: Any) -> dict[int, Traits]:
    """The traits that a search finds, without the last references."""
    return read_traits(snapshot, request, docs, is_fresh=False)
