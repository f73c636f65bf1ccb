"""Floor of a statement on a cluster: the CPU of one by key, beside the same on a table that is not distributed."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROUNDS, _TAKES = 400, 8
_FILL = """
CREATE TABLE {table} (tenant text, id bigint, value bigint, PRIMARY KEY (tenant, id));
INSERT INTO {table} SELECT 'tenant', n, n FROM generate_series(1, 10000) AS n;
ANALYZE {table}
"""
_STATEMENTS = {
    "SELECT by key": "SELECT value FROM {table} WHERE tenant = %(tenant)s AND id = %(id)s",
    "join by key": (
        "SELECT a.value FROM {table} AS a JOIN {table} AS b USING (tenant, id) "
        "WHERE tenant = %(tenant)s AND id = %(id)s"
    ),
    "UPDATE by key": "UPDATE {table} SET value = value + 1 WHERE tenant = %(tenant)s AND id = %(id)s",
}
_NODE = """
SELECT nodename, nodeport FROM citus_shards
WHERE shardid = get_shard_id_for_distribution_column('floor_spread', CAST('tenant' AS text)) LIMIT 1
"""


def print_floor(url: str) -> None:
    """Print the CPU of each statement for a backend of the node that has the row, beside one with a plain table."""
    with (
        _made_tables(url) as (host, port),
        psycopg.connect(url, host=host, port=port, autocommit=True) as node,
        psycopg.connect(url, autocommit=True) as coordinator,
    ):
        for name, statement in _STATEMENTS.items():
            plain = _measure(coordinator, statement.format(table="floor_plain"))
            spread = _measure(node, statement.format(table="floor_spread"))
            print(f"{name:14} plain {plain:5.0f} us   distributed {spread:5.0f} us ({spread / plain:.1f} x)")


@contextmanager
def _made_tables(url: str) -> Iterator[tuple[str, int]]:
    """Make a plain table and a distributed one, which are dropped in the end; the node that has the rows."""
    with psycopg.connect(url, autocommit=True) as db:
        try:
            for table in ("floor_plain", "floor_spread"):
                for command in _FILL.format(table=table).split(";"):
                    db.execute(command.encode())
            db.execute("SELECT create_distributed_table('floor_spread', 'tenant', colocate_with => 'none')")
            [(host, port)] = db.execute(_NODE).fetchall()
            yield host, port
        finally:
            db.execute("DROP TABLE IF EXISTS floor_plain, floor_spread")


def _measure(db: psycopg.Connection[Any], statement: str) -> float:
    best = float("inf")
    for _ in range(_TAKES + 1):  # the first prepares it
        before = _read_cpu(db.info.backend_pid)
        for number in range(_ROUNDS):
            db.execute(statement.encode(), {"tenant": "tenant", "id": 1 + number % 100})
        best = min(best, (_read_cpu(db.info.backend_pid) - before) / _ROUNDS)
    return best


def _read_cpu(process: int) -> float:
    """Microseconds that a process of this machine has run, to a finer grain than psutil's."""
    return int(Path(f"/proc/{process}/schedstat").read_text(encoding="ascii").split()[0]) / 1e3
