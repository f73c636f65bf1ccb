"""Databases as an older engrain, a host application and a stranger find and leave them; by raw SQL, of either kind."""

import json
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import apsw
import psycopg
import sqlalchemy

from engrain.storage.dialects import micros
from engrain.storage.postgres import schema as postgres_schema
from engrain.storage.sqlite import schema as sqlite_schema
from tests.support import apsw_dbapi
from tests.support.one_call import OneCall
from tests.support.postgres import server
from tests.support.stores import PostgresStore, SqliteStore

EXPRESSION = "(expression)"  # what stands for a column that an index computes
DATABASES: tuple[Literal["sqlite", "postgres"], ...] = ("sqlite", "postgres")
# information_schema has the same, and takes the server five times as long.
_PG_ATTRIBUTES = (
    "FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid "
    "WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped"
)
_PG_COLUMNS = f"SELECT relname, attname {_PG_ATTRIBUTES} ORDER BY relname, attnum"
_PG_DEFINITIONS = f"""
SELECT relname || '.' || attname, concat_ws(' ', format_type(atttypid, atttypmod), attcollation::regcollation,
    attnotnull, attgenerated,
    (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE (adrelid, adnum) = (attrelid, attnum)))
{_PG_ATTRIBUTES}
UNION ALL SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema()
UNION ALL SELECT conrelid::regclass || '.' || conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = current_schema()::regnamespace
UNION ALL SELECT tablename || '.' || policyname, cmd || qual FROM pg_policies WHERE schemaname = current_schema()
UNION ALL SELECT relname, concat(relkind, relrowsecurity, relforcerowsecurity) FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind <> 'i'
"""
_PG_INDEXES = (
    "SELECT indexrelid::regclass::text, indrelid::regclass::text, indisunique, "
    "ARRAY(SELECT pg_get_indexdef(indexrelid, key, true) FROM generate_series(1, indnatts) AS key ORDER BY key), "
    "coalesce(pg_get_expr(indpred, indrelid), ''), amname "
    "FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam "
    "WHERE relnamespace = current_schema()::regnamespace"
)


class Vector(tuple[float, ...]):
    """Numbers as an embedder made them."""

    __slots__ = ()


@dataclass(frozen=True)
class Index:
    """What an index is made of, in words that are the same for both databases."""

    table: str
    columns: tuple[str, ...]
    is_unique: bool
    is_partial: bool


class Sqlite:
    """A file, asked by a connection that knows nothing of engrain."""

    name = "sqlite"
    refusal: type[Exception] = apsw.ConstraintError

    _connection: Any = None

    def __init__(self, folder: Any) -> None:
        self.location = str(folder / "memory.db")

    def open(self) -> OneCall:
        return SqliteStore(self.location)

    @contextmanager
    def raw(self) -> Iterator[Any]:
        """A transaction; a log that a killed process left stays as it is."""
        with closing(apsw.Connection(self.location)) as db:
            db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            with db:
                yield db

    @contextmanager
    def guarded(self) -> Iterator[Any]:
        """A transaction that minds what refers to what, as engrain's own do."""
        with closing(apsw.Connection(self.location)) as db:
            db.execute("PRAGMA foreign_keys = on")
            with db:
                yield db

    @contextmanager
    def using(self, connection: Any) -> Iterator[None]:
        """Ask by a connection that is open, instead of one for each question."""
        self._connection = connection
        try:
            yield
        finally:
            self._connection = None

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        with self.raw() if self._connection is None else nullcontext(self._connection) as db:
            return db.execute(statement).fetchall()

    def upgrade(self, db: Any, found: str, revisions: dict[str, str]) -> None:
        sqlite_schema.upgrade(db, found, revisions)

    def keep(self) -> Any:
        """What `restore` makes another database the same by; nobody is connected to this one."""
        return Path(self.location).read_bytes()

    def restore(self, kept: Any) -> None:
        Path(self.location).write_bytes(kept)

    def engine(self) -> sqlalchemy.Engine:
        """What a host application works with."""
        return sqlalchemy.create_engine(f"sqlite:///{self.location}", module=apsw_dbapi)

    def definitions(self) -> dict[str, str]:
        """All that the schema is made of, by name, in one spelling."""
        found = self.rows("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
        return {name: "".join(_without_comments(sql).split()) for name, sql in found}

    def columns(self) -> dict[str, list[str]]:
        tables = self.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        return {table: [row[1] for row in self.rows(f"PRAGMA table_xinfo({table})")] for (table,) in tables}

    def indexes(self) -> dict[str, Index]:
        made = (
            "SELECT name, tbl_name, sql LIKE '%UNIQUE%', sql LIKE '%WHERE%' FROM sqlite_schema "
            "WHERE type = 'index' AND sql IS NOT NULL"
        )
        return {
            name: Index(table, self._indexed(name), is_unique=bool(unique), is_partial=bool(partial))
            for name, table, unique, partial in self.rows(made)
        }

    def _indexed(self, index: str) -> tuple[str, ...]:
        return tuple(row[2] or EXPRESSION for row in self.rows(f"PRAGMA index_info({index})"))

    def literal(self, value: Any) -> str:
        match value:
            case datetime():
                return str(micros(value))
            case bytes():
                return f"x'{value.hex()}'"
            case Vector():
                return self.literal(struct.pack(f"{len(value)}f", *value))
            case _:
                return _literal(value)


class Postgres(Sqlite):
    """A database of its own on the tests' server, asked by a connection that knows nothing of engrain."""

    name = "postgres"
    refusal = psycopg.IntegrityError

    def __init__(self, url: str) -> None:
        self.location = url

    def open(self) -> OneCall:
        return PostgresStore(self.location)

    @contextmanager
    def raw(self) -> Iterator[Any]:
        with psycopg.connect(self.location) as db:
            db.execute("SELECT set_config('engrain.every_tenant', 'on', true)")  # past the wall, as housekeeping is
            yield db

    def guarded(self) -> Any:
        return self.raw()

    def upgrade(self, db: Any, found: str, revisions: dict[str, str]) -> None:
        postgres_schema.upgrade(db, found, revisions)

    def keep(self) -> Any:
        return server().copy_database(self.location)

    def restore(self, kept: Any) -> None:
        server().copy_database(kept, over=self.location)

    def engine(self) -> sqlalchemy.Engine:
        return sqlalchemy.create_engine(self.location.replace("postgresql://", "postgresql+psycopg://"))

    def definitions(self) -> dict[str, str]:
        return dict(self.rows(_PG_DEFINITIONS))

    def columns(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for table, column in self.rows(_PG_COLUMNS):
            found.setdefault(table, []).append(column)
        return found

    def indexes(self) -> dict[str, Index]:
        return {
            name: Index(table, tuple(map(_column, columns)), is_unique=unique, is_partial=bool(condition))
            for name, table, unique, columns, condition, _ in self.rows(_PG_INDEXES)
        }

    def methods(self) -> dict[str, str]:
        """How each index works."""
        return {name: method for name, *_, method in self.rows(_PG_INDEXES)}

    def literal(self, value: Any) -> str:
        match value:
            case datetime():
                return f"'{value.isoformat()}'"
            case bytes():
                return f"'\\x{value.hex()}'"
            case Vector():
                return f"'{list(value)}'"
            case [str(), *_]:
                return "'{" + ",".join(value) + "}'"
            case _:
                return _literal(value)


@contextmanager
def empty_database(name: str, folder: Any) -> Iterator[Sqlite]:
    """A database of either kind without tables."""
    if name == "sqlite":
        yield Sqlite(folder)
        return
    url = server().new_database()
    yield Postgres(url)
    server().drop_database(url)


def dump(database: Sqlite) -> dict[str, Any]:
    """All that the schema is made of, by name, and the rows of every table; by one connection."""
    with database.raw() as db, database.using(db):
        rows = {
            table: sorted(map(repr, db.execute(f"SELECT * FROM {table}").fetchall())) for table in database.columns()
        }
        return {"schema": database.definitions(), "rows": rows}


def _without_comments(sql: str) -> str:
    return " ".join(line.split("--")[0] for line in sql.splitlines())


def _column(definition: str) -> str:
    return definition if definition.isidentifier() else EXPRESSION


def _literal(value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case str():
            return f"'{value}'"
        case dict() | list():
            return f"'{json.dumps(value)}'"
        case _:
            return str(value)
