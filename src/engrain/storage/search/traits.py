"""Traits that ranking weighs besides words, as columns: one statement for all kinds, turns from a cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from engrain.domain.text.dialogue.changes import UNSTATED, describe_statement
from engrain.domain.text.dialogue.questions import LEAST_QUESTION_SHARE
from engrain.domain.text.repetition import asks_alone, describe_repetition
from engrain.storage.filters import HAPPENED_AT, IS_FREE_TEXT, SEEN
from engrain.storage.rows import KIND_TABLES
from engrain.storage.search import candidates
from engrain.storage.search.namespaces import load_caller_space
from engrain.storage.search.recency import IMPORTANCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from engrain.domain.records import Kind
    from engrain.domain.requests import Request
    from engrain.storage.unit_of_work import Snapshot

NEVER: Final = np.iinfo(np.int64).min  # a time that is not there
# Times are microseconds since 1970. `session` is equal for the turns of one session of a scope; a memory without one is
# a session of its own. An episode does not fade: its confidence is 1, its decay rate 0, and it is confirmed when it is
# created. From `key` on they are of `domain.text.repetition.Repetition`; facts and rules have no words of a turn,
# and a key of their own.
TRAITS: Final = np.dtype(
    [
        ("doc", "i8"),
        ("kind", "O"),
        ("id", "O"),
        ("scope", "O"),
        ("session", "i8"),
        ("turn", "i8"),
        ("role", "O"),
        ("speaker", "O"),
        ("asking", "f8"),
        ("happened_at", "i8"),
        ("created_at", "i8"),
        ("importance", "f8"),
        ("confidence", "f8"),
        ("decay_rate", "f8"),
        ("confirmed_at", "i8"),
        ("referenced_at", "i8"),
        ("key", "i8"),
        ("words", "i8"),
        ("question_terms", "O"),
        ("says_nothing", "?"),
        ("statement", "O"),
        ("states_change", "?"),
        ("denies", "?"),
        ("takes_back", "?"),
    ]
)
_FADES = "confidence, decay_rate, last_confirmed_at"
_JUST_TELLING = 0.4  # the share of its words that ask, of a turn that tells something beside: less than a question's
_LASTS = "CAST(1 AS double precision), CAST(0 AS double precision), created_at"
_UNSAID = "NULL, 0, NULL, NULL, CAST(0 AS double precision)"
# A fact about the user counts as what they say of themselves.
_ABOUT = "NULL, 0, CASE WHEN LOWER(subject) = 'user' THEN 'user' END, NULL, CAST(0 AS double precision)"
# What it states: itself, of one in free text.
_STATES = f"CASE WHEN {IS_FREE_TEXT} THEN content ELSE subject || ' ' || predicate || ' ' || content END"
_OF_KIND: Mapping[Kind, tuple[str, str, str]] = {
    "episode": ("session, turn, role, speaker, asking", _LASTS, "content"),
    "fact": (_ABOUT, _FADES, _STATES),
    "rule": (_UNSAID, _FADES, "NULL"),
}


def load_traits(
    snapshot: Snapshot, request: Request, docs: NDArray[np.int64], *, is_fresh: bool = False
) -> NDArray[Any]:
    """Load the rows of TRAITS of those docs that are in the caller's scopes, whatever the filter asks, by doc.

    The docs ascend. `is_fresh`: with the last references, which a cache does not know.
    """
    where = load_caller_space(snapshot, request.now)
    if not len(docs) or not where.kinds:
        return np.empty(0, TRAITS)
    # What a unit of work has read may yet be rolled back: only what a snapshot reads is shared.
    cache = None if snapshot.known is None else snapshot.backend.turns
    owners = [(snapshot.tenant_id, scope) for kind, scope in where.places if kind == "episode"]
    known = [] if cache is None or is_fresh else cache.find(owners, docs)
    if len(known) == 1 and len(known[0]) == len(docs):  # as most often
        return known[0]
    missing = docs
    if known:
        missing = docs[~candidates.contains(candidates.sort_docs(*(rows["doc"] for rows in known)), docs)]
    parts = list(known)
    if len(missing):
        read = _read_traits(snapshot, where.kinds, missing)
        parts.append(read)
        if cache is not None:
            turns = read[read["kind"] == "episode"]
            for owner in owners:
                own = turns[turns["scope"] == owner[1]]
                if len(own):
                    cache.add(owner, own)
    found = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return found[np.argsort(found["doc"])]


def _read_traits(snapshot: Snapshot, kinds: Iterable[Kind], docs: NDArray[np.int64]) -> NDArray[Any]:
    bound = {**snapshot.bindings(), "docs": snapshot.dialect.listed(docs.tolist())}
    rows = snapshot.ask(" UNION ALL ".join(map(_select_traits, kinds)), bound)
    micros = snapshot.dialect.micros
    return np.array([_make_row(row, micros) for row in rows], TRAITS)


def _select_traits(kind: Kind) -> str:
    words, standing, content = _OF_KIND[kind]
    columns = (
        f"doc, '{kind}', id, scope, {words}, {HAPPENED_AT[kind]}, created_at, {IMPORTANCE[kind]}, {standing}, "
        f"last_referenced_at, {content}"
    )
    return f"SELECT {columns} FROM {KIND_TABLES[kind]} NOT INDEXED WHERE doc IN :docs AND {SEEN}"  # noqa: S608  # no input in it


def _make_row(row: Sequence[Any], micros: Callable[[Any], int] | None) -> tuple[Any, ...]:
    """Complete what was read of a memory; `micros` makes numbers of the driver's times."""
    (
        doc,
        kind,
        id_,
        scope,
        session,
        turn,
        role,
        speaker,
        asking,
        happened,
        created,
        importance,
        confidence,
        rate,
        confirmed,
        referenced,
        content,
    ) = row
    if micros is not None:
        times = (happened, created, confirmed, referenced)
        happened, created, confirmed, referenced = [None if time is None else micros(time) for time in times]
    confirmed = NEVER if confirmed is None else confirmed
    referenced = NEVER if referenced is None else referenced
    repetition: tuple[int, int, str | None, bool] = (hash(id_), hash(id_), None, False)
    if content is None:
        statement = UNSTATED
    elif kind == "fact":
        statement = describe_statement(content, role="user", asking=asking)
    else:
        if asking >= LEAST_QUESTION_SHARE and not asks_alone(content, role=role):
            asking = _JUST_TELLING
        repetition = describe_repetition(content, role=role, speaker=speaker)
        statement = describe_statement(content, role=role, asking=asking)
    session = hash(id_) if session is None else hash((scope, session))
    said = (doc, kind, id_, scope, session, turn, role, speaker, asking)
    return (*said, happened, created, importance, confidence, rate, confirmed, referenced, *repetition, *statement)
