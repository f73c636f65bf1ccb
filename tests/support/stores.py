"""Stores on a file or a server as the tests open them, with every verb of storage as a method of one transaction."""

from engrain.storage.one_call import OneCall
from engrain.storage.postgres.backend import PostgresBackend
from engrain.storage.sqlite.backend import SqliteBackend
from engrain.storage.store import SqlStore


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
