"""Distribution of our tables over a Citus cluster: every one by tenant, so that all rows of a tenant are on one node.

https://docs.citusdata.com/en/stable/develop/api_udf.html#create-distributed-table
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg import Cursor, sql

from engrain.storage.migrations import HEAD, table_names

if TYPE_CHECKING:
    from engrain.storage.postgres.connections import Connection

# Others refer to these, or they to themselves: each foreign key finds its table distributed already.
_FIRST = ("episodes", "entities", "pools")
# Read beside the rows of every tenant, and written once in the life of an embedder: whole on every node.
REFERENCE = frozenset({"embedding_versions"})
_NODES = "SELECT count(*) FROM pg_dist_node WHERE shouldhaveshards AND isactive"
_DISTRIBUTED = """
SELECT CAST(relname AS text) FROM pg_dist_partition JOIN pg_class ON pg_class.oid = logicalrelid
WHERE relnamespace = current_schema()::regnamespace
"""

# Citus makes a restrictive policy of a table a permissive one of its shards: beside another that forbids nothing.
_RESTRICTIVE = """
SELECT CAST(wall.tablename AS text), CAST(wall.policyname AS text), wall.qual, tenant.qual
FROM pg_policies AS wall JOIN pg_policies AS tenant USING (schemaname, tablename)
WHERE schemaname = current_schema() AND tablename = ANY(%s) AND wall.permissive = 'RESTRICTIVE'
    AND tenant.policyname = 'tenant_wall'
"""


def count_nodes(db: Connection) -> int:
    """Count the nodes that take shards; 0 in a database without the extension `citus`."""
    found = db.execute("SELECT to_regclass('pg_dist_node')").fetchone()
    if found is None or found[0] is None:
        return 0
    [(nodes,)] = db.execute(_NODES).fetchall()
    return int(nodes)


def list_distributed(db: Connection) -> set[str]:
    """List those of our tables that are distributed; the database has the extension `citus`."""
    return {name for (name,) in db.execute(_DISTRIBUTED)}.intersection(table_names("postgres", HEAD))


def distribute(db: Connection) -> list[str]:
    """Distribute the tables that are not distributed yet, in the caller's transaction; returns their names.

    Rows that are there move along, while nobody else reads or writes them.
    """
    done, cursor = list_distributed(db), db.cursor()  # whose statements run one at a time
    tables = [name for name in (*_FIRST, *table_names("postgres", HEAD)) if name not in done]
    missing = list(dict.fromkeys(tables))
    _join_walls(cursor, list(table_names("postgres", HEAD)))
    # Foreign keys have it so: what one connection to a node did, the others do not see yet.
    cursor.execute("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'")
    for name in missing:
        if name in REFERENCE:
            cursor.execute("SELECT create_reference_table(%s)", (name,))
        else:
            beside = "none" if name == _FIRST[0] else _FIRST[0]
            cursor.execute("SELECT create_distributed_table(%s, 'tenant_id', colocate_with => %s)", (name, beside))
    # Nodes must hear whose rows a transaction may see, or their row-level security shows it none.
    database = sql.Identifier(cursor.connection.info.dbname)
    cursor.execute(sql.SQL("ALTER DATABASE {} SET citus.propagate_set_commands TO 'local'").format(database))
    return missing


def _join_walls(cursor: Cursor[Any], tables: list[str]) -> None:
    """Make one permissive policy of a table's policy of tenants and its restrictive one of users."""
    for table, wall, users, tenants in cursor.execute(_RESTRICTIVE, (tables,)).fetchall():
        on = sql.Identifier(table)
        cursor.execute(sql.SQL("DROP POLICY {} ON {}").format(sql.Identifier(wall), on))
        both = sql.SQL(f"({tenants}) AND ({users})")
        cursor.execute(sql.SQL("ALTER POLICY tenant_wall ON {} USING ({})").format(on, both))
