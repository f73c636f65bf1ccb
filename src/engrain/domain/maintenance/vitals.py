"""Vitals of a whole database: a few cheap numbers that a monitor reads every few seconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engrain.domain.records import Record

if TYPE_CHECKING:
    from collections.abc import Mapping
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
