"""Spreading our tables over a Citus cluster: every one by tenant_id, all of a tenant's rows on one node.

https://docs.citusdata.com/en/stable/develop/api_udf.html#create-distributed-table
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg

from engrain.storage.postgres.schema import OUR_TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

# Referenced by others, or by themselves: these go first, so that each foreign key finds its table spread already.
_FIRST = ("episodes", "entities", "pools")


class NotACluster(Exception):
    """The database is plain PostgreSQL."""


def statements(database: str) -> Iterator[str]:
    """The statements that distribute a database with our schema, in order."""
    # The workers must hear which tenant a transaction is of, or their row-level security shows them nothing.
    yield f"ALTER DATABASE \"{database}\" SET citus.propagate_set_commands = 'local'"
    tables = [*_FIRST, *(name for name in OUR_TABLES if name not in _FIRST)]
    for name in tables:
        together = "'none'" if name == tables[0] else f"'{tables[0]}'"
        yield f"SELECT create_distributed_table('{name}', 'tenant_id', colocate_with => {together})"


def distribute(url: str) -> tuple[int, int]:
    """Spread the tables of the database at `url` that are not spread yet: how many there are, over how many nodes.

    Raises:
        NotACluster: the extension citus is not there.
    """
    with psycopg.connect(url, autocommit=True) as db:
        installed = db.execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'").fetchone()
        if installed is None:
            raise NotACluster("the database has no extension citus: CREATE EXTENSION citus on every node first")
        spread = {str(name) for (name,) in db.execute("SELECT logicalrelid::text FROM pg_dist_partition")}
        for statement in statements(db.info.dbname):
            if not any(f"'{name}'" in statement.split(",", 1)[0] for name in spread):
                db.execute(statement.encode())
        nodes = db.execute("SELECT count(*) FROM pg_dist_node WHERE shouldhaveshards").fetchone()
        assert nodes is not None
        return len(OUR_TABLES), int(nodes[0])
