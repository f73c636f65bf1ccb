"""Stores on a file or a server as the tests open them, with every verb of storage as a method of one transaction."""

from engrain.storage import open_store
from engrain.storage.postgres.backend import PostgresBackend
from engrain.storage.sqlite.backend import SqliteBackend
from engrain.storage.store import SqlStore
from tests.support.one_call import OneCall


def open_verbs(location, **options):
    """The store at a location, whose functions are methods."""
    return OneCall(open_store(location, **options))


class SqliteStore(OneCall):
    """A store on a SQLite file, or in memory."""

    def __init__(self, location, **options):
        super().__init__(SqlStore(SqliteBackend(location, **options)))


class InMemoryStore(SqliteStore):
    """A store in this process's memory, empty."""

    def __init__(self, **options):
        super().__init__(":memory:", **options)


class PostgresStore(OneCall):
    """A store on a PostgreSQL database."""

    def __init__(self, url, **options):
        super().__init__(SqlStore(PostgresBackend(url, **options)))
