"""Usage: references of memories and uses of access keys, written in the background so that no caller waits."""

from __future__ import annotations

import atexit
import logging
import os
import threading
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.domain.records import Caller
from engrain.domain.requests import Act
from engrain.errors import EngrainError
from engrain.storage.write import changes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from engrain.agent.wiring.workers import Workers
    from engrain.domain.access.keys import AccessKey
    from engrain.domain.records import MemoryRecord
    from engrain.storage.store import SqlStore
    from engrain.storage.write.changes import Reference

_LOG = logging.getLogger(__name__)
# A write drops what every connection has cached of the file: one a second costs a row of recalls next to nothing. On a
# server each memory is written once for all answers of that second.
_GATHER_S = 1.0
_WRITE_EVERY = timedelta(minutes=1)
_MOST_KEYS = 10_000


class References:
    """Queue of references to count: one for each memory of an answer. Thread-safe.

    They are written together, a second after the first; `flush` writes them at once, and so does the end of the
    process. A process that is killed loses those of its last second. Where the database cannot be written they are
    lost, and `references_not_counted` says how many.
    """

    def __init__(self, store: SqlStore, workers: Workers) -> None:
        self._store = store
        self._workers = workers
        self._adding = threading.Lock()
        self._writing = threading.Lock()
        self._waiting: list[tuple[Act, Sequence[Reference]]] = []
        self._process = os.getpid()
        self._is_registered = False

    def add(self, act: Act, memories: Sequence[MemoryRecord]) -> None:
        """Add one reference to each of these memories, at the time of `act`."""
        if not memories:
            return
        references: list[Reference] = [(memory.kind, memory.id, act.at) for memory in memories]
        with self._adding:
            is_first = not self._waiting
            self._waiting.append((act, references))
            if not self._is_registered:
                self._is_registered = True
                atexit.register(self._end_with_process)
        if is_first:
            self._workers.run_after(_GATHER_S, self.flush)

    def flush(self, tenant_id: str | None = None) -> None:
        """Write what waits, of one tenant or of all, and wait for what is being written: one transaction a caller."""
        if not self._waiting and not self._writing.locked():
            return
        with self._writing:
            with self._adding:
                before = self._waiting
                self._waiting = [part for part in before if tenant_id not in (None, part[0].caller.tenant_id)]
                waiting = [part for part in before if tenant_id in (None, part[0].caller.tenant_id)]
            of_callers: dict[Caller, tuple[Act, list[Reference]]] = {}
            for act, references in waiting:
                caller = replace(act.caller, session=None, request_id=None)
                of_callers.setdefault(caller, (act, []))[1].extend(references)
            for act, references in of_callers.values():
                self._write(act, references)

    def close(self) -> None:
        """Write what waits, for the last time."""
        atexit.unregister(self._end_with_process)
        self.flush()

    def _write(self, act: Act, references: Sequence[Reference]) -> None:
        try:
            self._store.write(act, changes.count_references, references)
        except EngrainError as error:
            metrics.count("references_not_counted", len(references))
            _LOG.debug("references not counted", extra={"code": error.code})

    def _end_with_process(self) -> None:
        if os.getpid() == self._process:  # a fork's are its parent's, who writes them
            self.flush()


class KeyUses:
    """Writes the last use of access keys in the background, after the request that used one. Thread-safe.

    Where the database cannot be written a use is lost, and `key_uses_not_noted` counts it. What is remembered here
    spares writes and decides nothing.
    """

    def __init__(self, store: SqlStore, workers: Workers) -> None:
        self._store = store
        self._workers = workers
        self._lock = threading.Lock()
        self._written_at: dict[str, datetime] = {}

    def add(self, key: AccessKey, at: datetime) -> None:
        """Add a use of a key at a time."""
        with self._lock:
            before = self._written_at.get(key.id)
            if before is not None and before <= at < before + _WRITE_EVERY:
                return
            if len(self._written_at) >= _MOST_KEYS:
                self._written_at.clear()
            self._written_at[key.id] = at
        self._workers.run_later(lambda: self._write(key, at))

    def _write(self, key: AccessKey, at: datetime) -> None:
        from engrain.storage.access.keys import use_key

        act = Act(caller=Caller(tenant_id=key.tenant_id, agent=key.agent or "any"), at=at)
        try:
            self._store.write(act, use_key, key.id, since=at - _WRITE_EVERY)
        except EngrainError as error:
            metrics.count("key_uses_not_noted")
            _LOG.debug("use of a key not noted", extra={"code": error.code})
