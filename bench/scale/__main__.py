"""Measure a memory on a Citus cluster against one server: distribution, tasks of each statement, server CPU.

python -m bench.scale postgresql://postgres@coordinator:5432/postgres
"""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from bench.scale import cost, floor, tasks
from bench.speed.vectors import RandomVectors
from engrain import Memory
from tests.support.citus import CitusDatabases
from tests.support.postgres import PostgresServer

if TYPE_CHECKING:
    from collections.abc import Sequence

_TENANTS, _MEMORIES = 12, 80
_TABLES = """
SELECT table_name::text, citus_table_type, coalesce(nullif(distribution_column, '<none>'), '-'), shard_count
FROM citus_tables ORDER BY 2, 1
"""
_NODES = """
SELECT nodename || ':' || nodeport, count(*) FROM pg_dist_placement JOIN pg_dist_node USING (groupid)
WHERE shouldhaveshards GROUP BY 1 ORDER BY 1
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Fill a database on each, and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("url", help="a superuser's URL of the coordinator, in a database that knows the nodes")
    parser.add_argument("--rounds", type=int, default=200, help="recalls and observes that are measured")
    asked = parser.parse_args(arguments)
    with ExitStack() as stack:
        cluster = CitusDatabases(asked.url)
        stack.callback(cluster.remove)
        plain = stack.enter_context(PostgresServer())
        prices = {}
        for name, databases in (("one server", plain), ("cluster", cluster)):
            url = databases.new_database()
            with Memory.open(url, embedder=RandomVectors()) as memory:
                cost.fill(memory, tenants=_TENANTS, memories=_MEMORIES)
                if databases is cluster:
                    _print_distribution(cluster, url.rpartition("/")[2])
                    tasks.print_tasks(memory, url)
                prices[name] = cost.measure(memory, databases.ports, tenants=_TENANTS, rounds=asked.rounds)
        cost.print_prices(prices)
        floor.print_floor(asked.url)
    return 0


def _print_distribution(cluster: CitusDatabases, database: str) -> None:
    for name, kind, column, shards in cluster.psql(database, _TABLES):
        print(f"{name:26} {kind:12} {column:10} {shards} shards")
    for node, shards in cluster.psql(database, _NODES):
        print(f"{node} has {shards} shards")


if __name__ == "__main__":
    sys.exit(main())
