"""Databases with our schema for one store at a time: used again and emptied, as making one takes 200 times as long.

`ENGRAIN_TEST_DATABASES` names some that somebody else has set up, on a cluster say: every store in turn is in one of
them. Their URLs stand between spaces; two are enough for every test, in a run of one process.
"""

import atexit
import functools
import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import quote

import psycopg
from psycopg.conninfo import conninfo_to_dict

from engrain.storage.postgres.common_words import CommonWords
from engrain.storage.postgres.forecasts import SearchForecasts
from engrain.storage.postgres.schema import OUR_TABLES
from engrain.storage.postgres.table_maintenance import PlannerStatistics
from engrain.storage.search.turn_cache import TurnCache
from tests.support.postgres import server
from tests.support.stores import PostgresStore

# Deleting from tables of a few rows takes 2 ms and truncating them 40, but nothing collects what was deleted.
_TRUNCATE_EVERY = 50
_ALL = ", ".join(OUR_TABLES)
_INDEXES_OF_VERSIONS = r"""
SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND indexname LIKE 'memory\_vectors\_version\_%'
"""

_CONNECTIONS_ENDED = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()
"""

# What refers to others is emptied before them.
_REFERRING = ("facts", "rules", "memory_entities", "entity_names", "entity_trigrams", "pool_members")

_prepared = os.environ.get("ENGRAIN_TEST_DATABASES", "").split()
_free: list[str] = list(_prepared)
_uses = itertools.count(1)


@dataclass(frozen=True)
class _Opened:
    """A store, where its database is, and what the store knew before anybody used it."""

    store: PostgresStore
    url: str
    state: dict[str, Any]

    @classmethod
    def new(cls, options: dict[str, Any], settings: str) -> Self:
        assert _free or not _prepared, "ENGRAIN_TEST_DATABASES are all in use"
        url = _free.pop() if _free else server().new_database(has_schema=True)
        store = PostgresStore(f"{url}?options={quote(settings)}" if settings else url, **options)
        atexit.register(store.close)
        return cls(store, url, _copied(vars(store.store.backend)))

    @property
    def is_reusable(self) -> bool:
        """Whether nobody has closed it or is at work in it; a prepared database is left to stores of other options."""
        pool = self.store._connections._pool
        return not _prepared and not pool.closed and self.store._connections.vitals().in_use == 0

    def renew(self) -> None:
        """Empty the database and forget what was in it."""
        _wipe(self.url)
        self.store.forget_pools()
        vars(self.store.store.backend).clear()
        vars(self.store.store.backend).update(_copied(self.state))

    def close(self) -> None:
        self.store.close()
        _wipe(self.url)
        _free.append(self.url)


def _copied(state: dict[str, Any]) -> dict[str, Any]:
    """Attributes of a store: its own are copied, its cache of turns emptied, connections and locals of threads kept."""
    return {name: _copied_value(value) for name, value in state.items()}


def _copied_value(value: Any) -> Any:
    match value:
        case PlannerStatistics():
            return copy(value)
        case TurnCache():
            return TurnCache(value._most)
        case SearchForecasts():
            return SearchForecasts(read_all=value._read_all, scan_all=value._scan_all, common=value._common)
        case CommonWords():
            return CommonWords(value.least)
    return value


_idle: dict[tuple[Any, ...], list[_Opened]] = {}  # by settings and options


@contextmanager
def fresh_store(*, settings: str = "", **options: Any) -> Iterator[PostgresStore]:
    """A store of an empty database, which nobody else has meanwhile; `settings` are of its sessions: "-c name=value".

    Its connections may have served another store before: to connect and learn the tables takes 20 ms of CPU.
    """
    idle = _idle.setdefault((settings, *sorted(options.items())), [])
    opened = idle.pop() if idle else _Opened.new(options, settings)
    try:
        yield opened.store
    finally:
        if opened.is_reusable:
            opened.renew()
            idle.append(opened)
        else:
            opened.close()


@contextmanager
def fresh_url() -> Iterator[str]:
    """The URL of an empty database with our schema, for a test that opens and closes it as it likes.

    To make a database for it and to drop that takes 30 ms of CPU, to empty one 4.
    """
    if _prepared:  # which stores may need, all of them
        url = server().new_database(has_schema=True)
        yield url
        server().drop_database(url)
        return
    url = _free.pop() if _free else server().new_database(has_schema=True)
    yield url
    _cut(url)
    _wipe(url)
    _free.append(url)


def _cut(url: str) -> None:
    """End the connections that somebody has left open."""
    name = conninfo_to_dict(url)["dbname"]
    _superuser(name).execute(_CONNECTIONS_ENDED, [name])


def _wipe(url: str) -> None:
    """Leave the schema alone."""
    if _prepared:
        _wipe_as_owner(url)
    else:
        _wipe_as_superuser(url)


def _wipe_as_owner(url: str) -> None:
    """As nobody's superuser: past the walls by the way of housekeeping, and in the order of the foreign keys."""
    tables = [*_REFERRING, *(table for table in OUR_TABLES if table not in _REFERRING)]
    with psycopg.connect(url, autocommit=True) as connection:
        with connection.transaction():
            for statement in ("SET LOCAL engrain.every_tenant = 'on'", *map(deletion_of, tables)):
                connection.execute(statement)  # one at a time: a cluster forwards what stands beside a setting
        for (index,) in connection.execute(_INDEXES_OF_VERSIONS).fetchall():
            connection.execute(f"DROP INDEX {index}")


def deletion_of(table: str) -> str:
    """Empties a table or a shard of it; of vectors nothing may be left: an index of another version's length met it."""
    return f"TRUNCATE {table}" if "memory_vectors" in table else f"DELETE FROM {table}"


def _wipe_as_superuser(url: str) -> None:
    """Quickly: neither the walls nor the order of foreign keys bind a superuser."""
    connection = _superuser(conninfo_to_dict(url)["dbname"])
    if hasattr(server(), "empty"):  # a cluster
        server().empty(url)
    elif next(_uses) % _TRUNCATE_EVERY == 0:
        connection.execute(f"TRUNCATE {_ALL}")
    else:
        deletions = "; ".join(map(deletion_of, OUR_TABLES))
        connection.execute(f"BEGIN; SET LOCAL session_replication_role = replica; {deletions}; COMMIT")
    for (index,) in connection.execute(_INDEXES_OF_VERSIONS).fetchall():
        connection.execute(f"DROP INDEX {index}")


@functools.cache
def _superuser(name: str) -> psycopg.Connection[tuple[Any, ...]]:
    """A connection for as long as the tests run: most of what emptying takes is learning the tables anew."""
    connection = psycopg.connect(server().url, dbname=name, autocommit=True)
    atexit.register(connection.close)
    return connection
