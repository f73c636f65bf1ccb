"""Traits that ranking weighs besides words, read in one statement for all kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.domain.requests import Traits
from engrain.storage.filters import HAPPENED_AT, SEEN
from engrain.storage.rows import KIND_TABLES
from engrain.storage.search.namespaces import load_caller_space

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from engrain.domain.records import Kind
    from engrain.domain.requests import Ref, Request
    from engrain.storage.unit_of_work import Snapshot

# What `important` and `traits` take for the importance of each kind.
IMPORTANCE: Mapping[Kind, str] = {
    "episode": "importance",
    "fact": "importance",
    "rule": "CAST(5 AS double precision)",
}
_FADES = "confidence, decay_rate, last_confirmed_at"
_LASTS = "CAST(1 AS double precision), CAST(0 AS double precision), created_at"
_UNSAID = "NULL, NULL, NULL, NULL, CAST(0 AS double precision), ''"
_OF_KIND: Mapping[Kind, tuple[str, str]] = {
    "episode": ("session, turn, role, speaker, asking, content", _LASTS),
    "fact": (_UNSAID, _FADES),
    "rule": (_UNSAID, _FADES),
}


def load_traits(snapshot: Snapshot, request: Request, docs: Collection[Ref]) -> dict[Ref, Traits]:
    """Load the traits of those docs that are in the caller's scopes, whatever the filter asks."""
    kinds = load_caller_space(snapshot, request.now).kinds if docs else []
    if not kinds:
        return {}
    bound = {**snapshot.bindings(), "docs": snapshot.dialect.listed(docs)}
    rows = snapshot.ask(" UNION ALL ".join(_select_traits(kind) for kind in kinds), bound)
    if snapshot.known is not None:
        snapshot.known.update({("kind", row[0]): row[1] for row in rows})
    return {row[0]: _read_traits(row, snapshot.dialect.moment) for row in rows}


def _select_traits(kind: Kind) -> str:
    words, standing = _OF_KIND[kind]
    columns = (
        f"doc, '{kind}', id, scope, {words}, {HAPPENED_AT[kind]}, created_at, {IMPORTANCE[kind]}, {standing}, "
        "last_referenced_at"
    )
    return f"SELECT {columns} FROM {KIND_TABLES[kind]} NOT INDEXED WHERE doc IN :docs AND {SEEN}"  # noqa: S608  # no input in it


def _read_traits(row: Sequence[Any], moment: Callable[[Any], datetime]) -> Traits:
    """The traits of a row; its times are most often one and the same."""
    happened_at, created_at, confirmed_at, referenced_at = row[10], row[11], row[15], row[16]
    created = moment(created_at)
    return Traits(
        kind=row[1],
        id=row[2],
        scope=row[3],
        session=row[4],
        turn=row[5],
        role=row[6],
        speaker=row[7],
        asking=row[8],
        content=row[9],
        happened_at=created if happened_at == created_at else moment(happened_at),
        created_at=created,
        importance=row[12],
        confidence=row[13],
        decay_rate=row[14],
        confirmed_at=created if confirmed_at == created_at else None if confirmed_at is None else moment(confirmed_at),
        referenced_at=None if referenced_at is None else moment(referenced_at),
    )
