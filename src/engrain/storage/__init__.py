"""Memories kept and found: one Store port, a folder for each database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain import checks
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

    from engrain.domain.ports import Store

IN_MEMORY = ":memory:"


def open_store(location: str | Path, *, busy_timeout_s: float = 5.0, synchronous: str = "normal") -> Store:
    """The store at a path, a `sqlite:///` URL or ":memory:", created where there is none.

    Raises:
        InvalidInput: a URL of a database that engrain does not speak.
        StorageError: the leaf that says what is wrong with the file.
    """
    from engrain.storage.sqlite.store import SqliteStore

    path = checks.path(location, what="location").removeprefix("sqlite:///")
    if "://" in path:
        raise InvalidInput(f"{location!r}: engrain opens a path, sqlite:///path or :memory:")
    if not path.strip():
        raise InvalidInput("the path of the memory is empty; name a file such as agent.db")
    where = path if path == IN_MEMORY else checks.path(path, what="location")
    return SqliteStore(where, busy_timeout_s=busy_timeout_s, synchronous=synchronous)
