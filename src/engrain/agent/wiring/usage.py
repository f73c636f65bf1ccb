"""Usage: references of memories and uses of access keys, written in the background so that no caller waits."""

from __future__ import annotations

import atexit
import os
import threading
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from engrain import metrics
from engrain.domain.records import Caller, MemoryRecord
from engrain.domain.requests import Act
from engrain.errors import EngrainError
from engrain.log_events import get_logger
from engrain.storage.write import changes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engrain.agent.wiring.workers import Workers
    from engrain.domain.access.keys import AccessKey
    from engrain.storage.store import SqlStore
    from engrain.storage.unit_of_work import UnitOfWork
    from engrain.storage.write.changes import Reference

_Item = TypeVar("_Item")
_KeyUse: TypeAlias = "tuple[str, datetime]"
"""The id of a key, and when it was used."""

_LOG = get_logger(__name__)
# A write drops what every connection has cached of the file: one a second costs a row of recalls next to nothing. On a
# server each memory is written once for all answers of that second.
_GATHER_S = 1.0
_WRITE_EVERY = timedelta(minutes=1)
_MOST_KEYS = 10_000


class _Usage(Generic[_Item]):
    """Queue of what was used, written together a second after the first, one transaction a caller. Thread-safe.

    `flush` writes what waits at once, and so does the end of the process. A process that is killed loses its last
    second. What the database cannot write is lost, and `counter` says how much.
    """

    def __init__(
        self,
        store: SqlStore,
        workers: Workers,
        write: Callable[[UnitOfWork, Sequence[_Item]], None],
        *,
        counter: str,
    ) -> None:
        self._write = write
        self._counter = counter
        self._store = store
        self._workers = workers
        self._adding = threading.Lock()
        self._writing = threading.Lock()
        self._waiting: list[tuple[Act, Sequence[_Item]]] = []
        self._process = os.getpid()
        self._is_registered = False

    def flush(self, tenant_id: str | None = None) -> None:
        """Write what waits, of one tenant or of all, and wait for what is being written."""
        if not self._waiting and not self._writing.locked():
            return
        with self._writing:
            with self._adding:
                before = self._waiting
                self._waiting = [part for part in before if tenant_id not in (None, part[0].caller.tenant_id)]
                waiting = [part for part in before if tenant_id in (None, part[0].caller.tenant_id)]
            of_callers: dict[Caller, tuple[Act, list[_Item]]] = {}
            for act, items in waiting:
                caller = replace(act.caller, session=None, request_id=None)
                of_callers.setdefault(caller, (act, []))[1].extend(items)
            for act, items in of_callers.values():
                try:
                    self._store.write(act, self._write, items)
                except EngrainError as error:
                    metrics.count(self._counter, len(items))
                    _LOG.debug("usage not written", extra={"counter": self._counter, "code": error.code})

    def close(self) -> None:
        """Write what waits, for the last time."""
        atexit.unregister(self._end_with_process)
        self.flush()

    def _register(self) -> None:
        self._is_registered = True
        atexit.register(self._end_with_process)

    def _end_with_process(self) -> None:
        if os.getpid() == self._process:  # a fork's are its parent's, who writes them
            self.flush()


class References(_Usage["Reference"]):
    """Queue of references to count: one for each memory of an answer."""

    def __init__(self, store: SqlStore, workers: Workers) -> None:
        super().__init__(store, workers, changes.count_references, counter="references_not_counted")

    def add(self, act: Act, memories: Sequence[MemoryRecord]) -> None:
        """Add one reference to each of these memories, at the time of `act`."""
        if not memories:
            return
        references: list[Reference] = [(memory.kind, memory.id, act.at) for memory in memories]
        with self._adding:
            is_first = not self._waiting
            self._waiting.append((act, references))
            if not self._is_registered:
                self._register()
        if is_first:
            self._workers.run_after(_GATHER_S, self.flush)


class KeyUses(_Usage[_KeyUse]):
    """Queue of uses of access keys, each at most once a minute.

    What is remembered here spares writes and decides nothing.
    """

    def __init__(self, store: SqlStore, workers: Workers) -> None:
        super().__init__(store, workers, _write_key_uses, counter="key_uses_not_noted")
        self._added_at: dict[str, datetime] = {}

    def add(self, key: AccessKey, at: datetime) -> None:
        """Add a use of a key at a time."""
        act = Act(caller=Caller(tenant_id=key.tenant_id, agent="any"), at=at)
        with self._adding:
            before = self._added_at.get(key.id)
            if before is not None and before <= at < before + _WRITE_EVERY:
                return
            if len(self._added_at) >= _MOST_KEYS:
                self._added_at.clear()
            self._added_at[key.id] = at
            is_first = not self._waiting
            self._waiting.append((act, [(key.id, at)]))
            if not self._is_registered:
                self._register()
        if is_first:
            self._workers.run_after(_GATHER_S, self.flush)


def _write_key_uses(work: UnitOfWork, uses: Sequence[_KeyUse]) -> None:
    from engrain.storage.access.keys import use_key

    for key_id, at in sorted(uses):  # in one order, or two processes could wait for each other
        use_key(work, key_id, since=at - _WRITE_EVERY)
