"""Maintenance of tables: compaction when it is asked for, and planner statistics before autovacuum comes by.

Of a table that was never analysed PostgreSQL believes that a tenant and a scope leave one row in 40,000: any index that
begins with them is as good as the one made for a statement, and better where it is smaller, so that each write reads
the whole scope. It keeps such a plan until the table is analysed, which autovacuum does within a minute or so, of what
is committed. This does it after the first rows, inside of a long transaction too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.runs.jobs import Compaction
from engrain.storage.postgres.schema import OUR_TABLES
from engrain.storage.transaction import Transaction

if TYPE_CHECKING:
    from engrain.storage.postgres.connections import Connection, Connections
    from engrain.storage.statements import Statements

# What PostgreSQL takes every unknown table for. Of a smaller one it would know that reading all of it is cheapest.
_BYTES = 10 * 8192


class PlannerStatistics:
    """Counter of rows that analyses the tables every so many."""

    def __init__(self, *, every: int) -> None:
        """Analyse once for `every` rows."""
        self._every = every
        self._rows = 0

    def note(self, tx: Transaction, rows: int) -> None:
        """Rows came in this transaction. Where it is run again they count twice, which makes the next look earlier."""
        self._rows += rows
        if self._rows >= self._every:
            self._rows = 0
            analyse_unknown_tables(tx)


def analyse_unknown_tables(tx: Transaction) -> None:
    """Analyse the tables that have grown and are unknown, but those that somebody else is at."""
    unknown = [name for (name,) in tx.rows("unknown_tables", tables=list(OUR_TABLES), bytes=_BYTES)]
    if unknown:
        tx.db.execute(f"ANALYZE (SKIP_LOCKED) {', '.join(unknown)}")


def compact_tables(connections: Connections, statements: Statements) -> Compaction:
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
