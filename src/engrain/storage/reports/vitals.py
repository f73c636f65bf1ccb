"""Vital figures of a database, in the few statements that a monitor runs every few seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.maintenance.vitals import MOST_WAITING, JobVitals, PoolVitals, Vitals
from engrain.domain.records import KINDS
from engrain.storage.migrations import HEAD
from engrain.storage.rows import KIND_TABLES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from engrain.storage.transaction import Transaction


def measure_vitals(tx: Transaction, now: datetime, *, tables: Sequence[str], pool: PoolVitals | None) -> Vitals:
    """Measure the vital figures of a database; `tables` are ours, of a server's database that may hold others."""
    [(size,)] = tx.rows("size", tables=tx.dialect.listed(tables))
    counts: dict[str, int] = {kind: int(memories) for kind, memories in tx.rows("memories_by_kind")}
    waiting, oldest = _count_waiting(tx)
    return Vitals(
        schema=max((name for (name,) in tx.rows("schema_revisions")), default=""),
        newest_schema=HEAD,
        memories={kind: counts.get(kind, 0) for kind in KINDS},
        size_bytes=size,
        without_vector=waiting,
        without_vector_since=oldest,
        jobs=_count_jobs(tx, now),
        pool=pool,
    )


def _count_waiting(tx: Transaction) -> tuple[int, datetime | None]:
    """Count the memories that wait for a vector, and tell since when the oldest of the counted ones does."""
    docs = [doc for (doc,) in tx.rows("waiting_docs", limit=MOST_WAITING)]
    if not docs:
        return 0, None
    bound = {"docs": tx.dialect.listed([min(docs)])}
    # A doc is unique within its tenant over the tables; on PostgreSQL the tenant is known to the index alone.
    one = "SELECT created_at FROM {0} WHERE doc IN :docs"
    if tx.dialect.name == "postgres":
        one += " AND tenant_id IN (SELECT tenant_id FROM memory_index WHERE doc IN :docs AND state = 1)"
    found = tx.ask(" UNION ALL ".join(one.format(table) for table in KIND_TABLES.values()), bound)
    return len(docs), min((tx.dialect.moment(at) for (at,) in found), default=None)


def _count_jobs(tx: Transaction, now: datetime) -> JobVitals:
    [row] = tx.rows("job_vitals", now=tx.dialect.time(now))
    waiting, running, dead_letters, overdue, since = row
    return JobVitals(
        waiting=waiting,
        running=running,
        dead_letters=dead_letters,
        overdue=overdue,
        overdue_since=None if since is None else tx.dialect.moment(since),
    )
