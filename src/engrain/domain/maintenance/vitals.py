"""How a whole database stands, told in a few cheap numbers: what a monitor reads every few seconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from engrain.domain.records import Record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

# Of what waits so many are counted, and the oldest of these is told of.
MOST_WAITING = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JobVitals(Record):
    """How many jobs stand how. Overdue is one whose time has come, or whose worker's lease is over."""

    waiting: int = 0
    running: int = 0
    dead_letters: int = 0
    overdue: int = 0
    overdue_since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolVitals(Record):
    """Connections of this process to a database server: of at most `most` so many are open, and in use."""

    most: int
    open: int
    in_use: int
    requests_waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Vitals(Record):
    """How a database stands, over every tenant.

    Attributes:
        schema: the revision it has; `newest_schema` is the one this engrain works with.
        memories: by kind, how many the searches hold.
        size_bytes: with its indexes; of a file without the write-ahead log.
        without_vector: how many memories wait for a vector, counted up to MOST_WAITING.
        without_vector_since: when the oldest of those was stored; None where nothing waits.
        pool: None where there is no server.
    """

    schema: str
    newest_schema: str
    memories: Mapping[str, int] = field(hash=False)  # a dict has no hash of its own
    size_bytes: int
    without_vector: int
    without_vector_since: datetime | None
    jobs: JobVitals
    pool: PoolVitals | None


class Monitored(Protocol):
    """The part of the Store port that monitors read."""

    def vitals(self, now: datetime) -> Vitals:
        """How the database stands, over every tenant: housekeeping. A few short statements, whatever its size."""
