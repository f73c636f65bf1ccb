"""Schema of a database: create it, bring it up to date, or refuse it by name.

The tables stand in the connection's current schema (the first of its search_path), beside whatever a host keeps there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import psycopg

from engrain.errors import StorageError
from engrain.storage.migrations import HEAD, current_revision, scripts, single_statements, table_names
from engrain.storage.postgres.citus import distribution
from engrain.storage.postgres.statements import STATEMENTS
from engrain.storage.transaction import Transaction
from engrain.storage.write.leftovers import finish_upgrade

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engrain.storage.postgres.connections import Connection, Connections
    from engrain.storage.search.index import SearchIndex

_LOCK = 0x656E6772  # "engr": who holds it changes the schema of this database
_OLDEST_SERVER = 160000
_OLDEST_VECTOR = (0, 8)
OUR_TABLES = table_names("postgres", HEAD)
_SERVER = """
SELECT current_setting('server_version_num')::integer, current_setting('server_version'), current_schema(),
    (SELECT extversion FROM pg_extension WHERE extname = 'vector'), to_regtype('vector') IS NOT NULL
"""
_MAKES_EXTENSION = re.compile(r"^CREATE EXTENSION", re.MULTILINE)
_TABLES = "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')"


def prepare(connections: Connections, new_index: Callable[[], SearchIndex]) -> str:
    """Bring the database to the newest schema in one transaction; the revision it came from, "" for a new one.

    Raises:
        SchemaTooNew: its revision is unknown here.
        StorageError: the server or its `vector` extension is missing or too old, there is no schema to create tables
            in, tables of its revision are missing, or tables of ours stand there that no revision accounts for.
    """
    where = connections.location
    current = connections.read(None, lambda db: _inspect(db, where))
    if current != HEAD and connections.write(None, lambda db: _upgrade(db, where, new_index)):
        connections.join_cluster()
    connections.register_vectors()
    return current


def upgrade(db: Connection, current: str, revisions: Mapping[str, str]) -> None:
    """Run those of `revisions` (SQL by name, oldest first) that come after `current`, in the caller's transaction."""
    names, cursor = list(revisions), db.cursor()  # whose statements run one at a time
    for name in names if current == "" else names[names.index(current) + 1 :]:
        for statement in single_statements(revisions[name]):
            if not _MAKES_EXTENSION.search(statement):  # it is there; Citus asks for its owner all the same
                cursor.execute(statement.encode(), prepare=False)
    if current == "":
        db.execute(
            "CREATE TABLE IF NOT EXISTS alembic_version ("
            "version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
        )
        db.execute("INSERT INTO alembic_version (version_num) VALUES (%s)", (names[-1],))
    else:
        db.execute("UPDATE alembic_version SET version_num = %s WHERE version_num = %s", (names[-1], current))


def revision(db: Connection, location: str) -> str:
    """Read the database's revision, "" where it has none of our tables."""
    tables = {name for (name,) in db.execute(_TABLES)}
    recorded = db.execute("SELECT version_num FROM alembic_version") if "alembic_version" in tables else ()
    current = current_revision((name for (name,) in recorded), tables, "postgres", location)
    if not current:
        _refuse_strangers(tables, location)
    return current


def server_version(db: Connection) -> str:
    """Return the versions of the server and its extension, and whether it is a standby."""
    current, recovery = (db.execute(query).fetchone() for query in (_SERVER, "SELECT pg_is_in_recovery()"))
    assert current is not None
    standby = ", a standby, which is only read" if recovery == (True,) else ""
    return f"postgresql {current[1]}, pgvector {current[3]}{standby}"


def check_server(current: Sequence[Any], location: str) -> None:
    """Refuse a server that we cannot work with, as `_SERVER` describes it."""
    number, version, current_schema, vector, is_vector_visible = current
    if number < _OLDEST_SERVER:
        raise StorageError(f"{location} is PostgreSQL {version}; engrain needs 16 or newer: upgrade the server")
    if current_schema is None:
        raise StorageError(
            f"{location}: no schema of the role's search_path exists, so there is nowhere for tables: create one, "
            "or name one with ?options=-csearch_path%3Dname in the URL"
        )
    if vector is not None:
        _check_vector(vector, is_vector_visible=is_vector_visible, location=location)


def _inspect(db: Connection, location: str) -> str:
    """The revision, of a server that we can work with."""
    current = db.execute(_SERVER).fetchone()
    assert current is not None
    check_server(current, location)
    return revision(db, location)


def _check_vector(version: str, *, is_vector_visible: bool, location: str) -> None:
    if tuple(int(part) for part in version.split(".")[:2]) < _OLDEST_VECTOR:
        raise StorageError(
            f"{location} has pgvector {version}; engrain needs 0.8 or newer, whose indexes can be searched behind a "
            "filter: install it on the server and run, as a superuser: ALTER EXTENSION vector UPDATE"
        )
    if not is_vector_visible:
        raise StorageError(
            f"{location}: the extension vector is in a schema that the role's search_path does not name: add it there"
        )


def _upgrade(db: Connection, location: str, new_index: Callable[[], SearchIndex]) -> bool:
    """Run what revisions are missing; tells whether tables of ours were distributed over a cluster."""
    db.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    current = revision(db, location)  # another process may have been first
    if current == HEAD:
        return False
    _create_extension(db, location)
    upgrade(db, current, scripts("postgres"))
    is_on_cluster = distribution.count_nodes(db) > 0 and (not current or bool(distribution.list_distributed(db)))
    if is_on_cluster:
        distribution.distribute(db)
    finish_upgrade(Transaction(db, STATEMENTS), new_index)
    return is_on_cluster


def _create_extension(db: Connection, location: str) -> None:
    """Make the `vector` extension, which a plain role may do where an administrator has marked it as trusted."""
    needed = f"{location}: engrain needs the extension vector in this database"
    found = db.execute(_SERVER).fetchone()
    if found is not None and found[3] is not None:
        return
    try:
        db.execute("CREATE EXTENSION vector").fetchone()
    except psycopg.errors.InsufficientPrivilege as error:
        raise StorageError(
            f"{needed}, which this role may not create: run there, as a superuser: CREATE EXTENSION vector"
        ) from error
    except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile) as error:
        raise StorageError(f"{needed}, and the server has no pgvector: install pgvector 0.8 or newer there") from error
    current = db.execute(_SERVER).fetchone()
    assert current is not None
    _check_vector(current[3], is_vector_visible=current[4], location=location)


def _refuse_strangers(tables: set[str], location: str) -> None:
    """A table of the same name that is not ours, or that somebody has lost the revision of."""
    there = sorted(tables.intersection(OUR_TABLES))
    if there:
        raise StorageError(
            f"{location} has tables named as ours ({', '.join(there[:3])}) and no revision of ours in alembic_version, "
            "so nothing was changed: choose another database, or another schema by the role's search_path"
        )
