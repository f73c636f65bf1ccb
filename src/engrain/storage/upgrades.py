"""Schema upgrades: inspect the revision of a database without opening it as a memory, and upgrade it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engrain.domain import checks
from engrain.storage import IN_MEMORY, has_keywords, is_server, open_store
from engrain.storage.migrations import HEAD

_SQLITE = "sqlite:///"


@dataclass(frozen=True, slots=True)
class SchemaState:
    """Location of a database, without a password, and its schema's revision, "" where there is no memory yet."""

    location: str
    revision: str

    @property
    def is_behind(self) -> bool:
        """True where the revision is not the newest."""
        return self.revision != HEAD


def inspect_schema(location: str | Path, *, busy_timeout_s: float = 5.0) -> SchemaState:
    """Inspect the schema of the database at a path or URL; nothing is written, and no file is made.

    Raises:
        InvalidInput: a URL of a database that engrain does not speak.
        StorageError: the leaf that says what is wrong: another program's file, a newer schema, a server out of reach.
    """
    path = checks.path(location, name="location")
    if is_server(path):
        return _inspect_server(path, busy_timeout_s)
    name = path.removeprefix(_SQLITE)
    file = Path(name).expanduser()
    if "://" in name or path == IN_MEMORY or not name.strip() or has_keywords(name):
        open_store(path).close()  # which says what is wrong with it
        return SchemaState(path, "")
    if file.exists() and (file.is_dir() or file.stat().st_size > 0):
        return _inspect_file(file.resolve(), busy_timeout_s)
    return SchemaState(str(file.resolve()), "")


def upgrade_schema(location: str | Path, *, busy_timeout_s: float = 5.0, synchronous: str = "normal") -> SchemaState:
    """Bring the database to the newest schema, made where there is none, and return its state before."""
    before = inspect_schema(location, busy_timeout_s=busy_timeout_s)
    open_store(location, busy_timeout_s=busy_timeout_s, synchronous=synchronous).close()
    return before


def _inspect_file(file: Path, busy_timeout_s: float) -> SchemaState:
    from engrain.storage.sqlite import schema
    from engrain.storage.sqlite.connections import Connections

    connections = Connections(str(file), busy_timeout_s=busy_timeout_s)
    try:
        with connections.snapshot() as db:
            return SchemaState(str(file), schema.revision(db, str(file)))
    finally:
        connections.close()


def _inspect_server(url: str, timeout_s: float) -> SchemaState:
    from engrain.storage.postgres import schema
    from engrain.storage.postgres.connections import Connections

    connections = Connections(url, timeout_s=timeout_s)
    try:
        where = connections.location
        return SchemaState(where, connections.read(None, lambda db: schema.revision(db, where)))
    finally:
        connections.close()
