"""Compaction of a database: vacuum and analyse its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.runs.jobs import Compaction
from engrain.storage.postgres.schema import OUR_TABLES
from engrain.storage.transaction import Transaction

if TYPE_CHECKING:
    from engrain.storage.postgres.connections import Connection, Connections
    from engrain.storage.statements import Statements


def compact(connections: Connections, statements: Statements) -> Compaction:
    """Vacuum and analyse our tables, as autovacuum does later; nobody waits for it.

    Room goes back to the system where it lies at a table's end, else to the table: VACUUM FULL would lock it. Tables
    that belong to somebody else are left, with a warning in the server's log.
    """

    def measure(db: Connection) -> int:
        [(size,)] = Transaction(db, statements).rows("size", tables=list(OUR_TABLES))
        return int(size)

    before = connections.read(None, measure)
    connections.maintain(f"VACUUM (ANALYZE, SKIP_LOCKED) {', '.join(OUR_TABLES)}")
    return Compaction(bytes_before=before, bytes_after=connections.read(None, measure))
