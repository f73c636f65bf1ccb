"""New SQLite databases with our schema, copied: to make the schema takes 3 ms of CPU, to copy it 0.6."""

import functools
import tempfile
import threading
from pathlib import Path

from tests.support.stores import InMemoryStore, SqliteStore

_OWNER_ONLY = 0o600
_copying = threading.RLock()
_originals = []


def copy_schema(connection):
    """Give a new database in memory the schema; a file gets its own from whoever opens it."""
    if connection.filename or connection.pragma("journal_mode") != "memory":  # a temporary one has a journal
        return
    with _copying:
        if not _originals:
            _originals.append(None)  # the original's own connection comes here too
            _originals[:] = [InMemoryStore()]
        [original] = _originals
        if original is not None:
            with connection.backup("main", original._connections._writer, "main") as copy:
                copy.step()


def new_file(path, content=None):
    """The path of a new file with the content, or as a store leaves it that has just made and closed it."""
    path.touch(_OWNER_ONLY)
    path.write_bytes(_original_file() if content is None else content)
    return path


@functools.cache
def _original_file():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        SqliteStore(str(path)).close()
        return path.read_bytes()
