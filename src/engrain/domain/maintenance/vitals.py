"""Vitals of a whole database: a few cheap numbers that a monitor reads every few seconds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engrain.domain.records import Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

# Waiting memories are counted up to this number.
MOST_WAITING = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JobVitals(Record):
    """Counts of jobs by status. Overdue are due jobs, and running ones whose lease is over."""

    waiting: int = 0
    running: int = 0
    dead_letters: int = 0
    overdue: int = 0
    overdue_since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolVitals(Record):
    """Connections of this process to a database server: the limit `most`, open ones, and those in use."""

    most: int
    open: int
    in_use: int
    requests_waiting: int

    def __add__(self, other: PoolVitals) -> PoolVitals:
        return PoolVitals(
            most=self.most + other.most,
            open=self.open + other.open,
            in_use=self.in_use + other.in_use,
            requests_waiting=self.requests_waiting + other.requests_waiting,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Vitals(Record):
    """Vitals of a database, over all tenants.

    Attributes:
        schema: schema revision; `newest_schema` is the one this engrain works with.
        memories: number of searched memories, by kind.
        size_bytes: with indexes; of a file without the write-ahead log.
        without_vector: memories that wait for a vector, counted up to MOST_WAITING.
        without_vector_since: time when the oldest of those was stored; None if none waits.
        pool: None without a server.
    """

    schema: str
    newest_schema: str
    memories: Mapping[str, int] = field(hash=False)  # a dict has no hash of its own
    size_bytes: int
    without_vector: int
    without_vector_since: datetime | None
    jobs: JobVitals
    pool: PoolVitals | None


def merge_vitals(servers: Sequence[Vitals]) -> Vitals:
    """Merge the vitals of several servers of one memory; the first of them has its jobs."""
    first = servers[0]
    memories = sum((Counter(vitals.memories) for vitals in servers), Counter[str]())
    since = [vitals.without_vector_since for vitals in servers if vitals.without_vector_since is not None]
    pools = [vitals.pool for vitals in servers if vitals.pool is not None]
    return replace(
        first,
        schema=next((vitals.schema for vitals in servers if vitals.schema != vitals.newest_schema), first.schema),
        memories={kind: memories[kind] for kind in first.memories},
        size_bytes=sum(vitals.size_bytes for vitals in servers),
        without_vector=sum(vitals.without_vector for vitals in servers),
        without_vector_since=min(since, default=None),
        pool=sum(pools[1:], pools[0]) if pools else None,
    )
