"""Late store: a server that was away when its memory was opened, and is opened by the first call that it answers."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from engrain.domain.ids import fresh_id
from engrain.errors import DatabaseBusy, DatabaseUnreachable, MemoryClosed
from engrain.log_events import get_logger
from engrain.storage.store import SqlStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.storage.backend import Backend

AWAY = (DatabaseUnreachable, DatabaseBusy)
_NO_VERSION = -1  # of vectors that no question is compared with
_LOG = get_logger(__name__)


class LateStore(SqlStore):
    """One of several servers, not open yet. Thread-safe.

    Its calls raise what opening it raises, until one of them succeeds; from then on they are those of any store.
    """

    def __init__(self, location: str, open_: Callable[[], SqlStore]) -> None:  # no backend yet
        """Take the location, without a password, and what opens the store there."""
        self._location = location
        self._opening = _Opening(location, open_)
        self.check_tenant = None
        self._ids = fresh_id

    def __getattr__(self, name: str) -> Any:
        """Open the store where its backend is asked for, and has not been there yet."""
        if name != "backend":
            raise AttributeError(name)
        self.backend = self._opening.find_backend()
        return self.backend

    @property
    def location(self) -> str:
        return self._location

    def use_embedder(self, name: str, dims: int) -> str | None:
        """`SqlStore.use_embedder`; while the server is away None, and once it answers its vectors are used if they can.

        Its tenants are searched by words alone where they turn out to be of another embedder.
        """
        self._opening.embedder = name, dims
        try:
            return super().use_embedder(name, dims)
        except AWAY:
            return None

    def close(self) -> None:
        self._opening.close()


class _Opening:
    """The backend of a server, opened once for a store and its copies."""

    def __init__(self, location: str, open_: Callable[[], SqlStore]) -> None:
        self.embedder: tuple[str, int] | None = None
        self._location = location
        self._open = open_
        self._lock = threading.Lock()
        self._store: SqlStore | None = None
        self._is_closed = False

    def find_backend(self) -> Backend:
        with self._lock:
            if self._is_closed:
                raise MemoryClosed(f"{self._location} is closed; open it again")
            if self._store is None:
                self._store = self._open_to_search()
                _LOG.info("server answers", extra={"location": self._location})
            return self._store.backend

    def _open_to_search(self) -> SqlStore:
        """Open the store with the embedder, or not at all: without it, vectors of another one would be compared."""
        store = self._open()
        try:
            if self.embedder is not None and store.use_embedder(*self.embedder) is not None:
                store.backend.version = _NO_VERSION
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            if self._store is not None:
                self._store.close()
