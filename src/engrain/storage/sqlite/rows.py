"""Between records and rows: one place knows how a time, a list or an object lies in a column."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any

from engrain.domain.records import Episode, Fact, Kind, MemoryRecord

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

TABLES: Mapping[Kind, str] = {"episode": "episodes", "fact": "facts"}

_EPISODE_COLUMNS = (
    "id, tenant_id, agent, scope, session, turn, role, speaker, content, event_time, created_at, expires_at, "
    "importance, reference_count, last_referenced_at, consolidation_status, tags, metadata"
)
_FACT_COLUMNS = (
    "id, tenant_id, agent, scope, subject, predicate, content, confidence, importance, permanence, decay_rate, "
    "validity, valid_from, valid_to, created_at, superseded_at, supersedes_id, source_episode_id, last_confirmed_at, "
    "reference_count, last_referenced_at, tags, metadata"
)
COLUMNS: Mapping[Kind, str] = {"episode": _EPISODE_COLUMNS, "fact": _FACT_COLUMNS}

_READERS = {kind: attrgetter(*columns.split(", ")) for kind, columns in COLUMNS.items()}
_PLAIN = frozenset({str, int, float, type(None)})


def micros(moment: datetime) -> int:
    """Microseconds since 1970 in UTC, exactly."""
    return (moment - _EPOCH) // _MICROSECOND


def moment(value: int) -> datetime:
    """The time of so many microseconds since 1970, in UTC."""
    return _EPOCH + timedelta(microseconds=value)


def values(memory: MemoryRecord) -> list[Any]:
    """A record's columns in the order of COLUMNS, as SQLite takes them."""
    return [value if type(value) in _PLAIN else _bound(value) for value in _READERS[memory.kind](memory)]


def record(kind: Kind, row: tuple[Any, ...]) -> MemoryRecord:
    """The record of a row selected as COLUMNS[kind]."""
    return _episode(row) if kind == "episode" else _fact(row)


def _episode(row: tuple[Any, ...]) -> Episode:
    return Episode(
        id=row[0],
        tenant_id=row[1],
        agent=row[2],
        scope=row[3],
        session=row[4],
        turn=row[5],
        role=row[6],
        speaker=row[7],
        content=row[8],
        event_time=moment(row[9]),
        created_at=moment(row[10]),
        expires_at=_optional(row[11]),
        importance=row[12],
        reference_count=row[13],
        last_referenced_at=_optional(row[14]),
        consolidation_status=row[15],
        tags=tuple(json.loads(row[16])),
        metadata=json.loads(row[17]),
    )


def _fact(row: tuple[Any, ...]) -> Fact:
    return Fact(
        id=row[0],
        tenant_id=row[1],
        agent=row[2],
        scope=row[3],
        subject=row[4],
        predicate=row[5],
        content=row[6],
        confidence=row[7],
        importance=row[8],
        permanence=row[9],
        decay_rate=row[10],
        validity=row[11],
        valid_from=_optional(row[12]),
        valid_to=_optional(row[13]),
        created_at=moment(row[14]),
        superseded_at=_optional(row[15]),
        supersedes_id=row[16],
        source_episode_id=row[17],
        last_confirmed_at=_optional(row[18]),
        reference_count=row[19],
        last_referenced_at=_optional(row[20]),
        tags=tuple(json.loads(row[21])),
        metadata=json.loads(row[22]),
    )


def _optional(value: int | None) -> datetime | None:
    return None if value is None else moment(value)


def _bound(value: Any) -> Any:
    """A time as its microseconds, a tuple or a mapping as JSON."""
    match value:
        case datetime():
            return micros(value)
        case tuple():
            return json.dumps(value, ensure_ascii=False) if value else "[]"
        case Mapping():
            return json.dumps(dict(value), ensure_ascii=False) if value else "{}"
        case _:
            return value
