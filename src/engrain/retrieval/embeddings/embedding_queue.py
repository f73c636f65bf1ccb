"""Embedding queue: one background thread that makes the vectors of new memories in batches."""

from __future__ import annotations

import atexit
import logging
import threading
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.errors import EngrainError, MemoryClosed
from engrain.storage.write.embedding_versions import find_unembedded

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.domain.ports import Embedder
    from engrain.storage.store import SqlStore

_LOG = logging.getLogger(__name__)
_BATCH = 64
# Writes come in bursts: a batch of eight costs little more than one, and the work is not done between two writes.
_GATHER_S, _MOST_GATHER_S = 0.02, 0.16
_PAUSE_AFTER_FAILURE_S = 5.0
_LAST_BATCH_S = 10.0  # how long the end of the process waits for one


class EmbeddingQueue:
    """Queue of the memories that wait for their index entries and vectors, of this process or another.

    The queue is the store itself, so nothing is lost with the process. A failing engine or a busy database is counted,
    logged and tried again; writers never wait for it.
    """

    def __init__(
        self, store: SqlStore, embedder: Embedder | None, *, pause_after_failure_s: float = _PAUSE_AFTER_FAILURE_S
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._pause_after_failure_s = pause_after_failure_s
        self._stepping = threading.Lock()  # or the thread and a flush would embed the same memories
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._announced = 0  # the number of announcements, and of those whose work is done
        self._done = 0
        self._has_failed = False
        self._closing = False
        self._thread: threading.Thread | None = None

    def announce(self) -> None:
        """Wake the thread after a write; it starts with the first call."""
        with self._lock:  # of `_changed`, taken without three calls
            if self._closing:
                return
            was_idle = self._done >= self._announced
            self._announced += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="engrain-embedding", daemon=True)
                self._thread.start()
                atexit.register(self._end_with_process)
            if was_idle:  # a thread at work looks again by itself, and waking it costs the writer as much as its write
                self._changed.notify_all()

    @property
    def has_failed(self) -> bool:
        """True if the last batch failed; it is retried."""
        return self._has_failed

    @property
    def is_idle(self) -> bool:
        """True if all announced work is done."""
        with self._changed:
            return self._done >= self._announced

    def wait(self, timeout_s: float | None) -> bool:
        """Wait until all that was announced so far is done; False where time ran out or the engine fails."""
        with self._changed:
            goal = self._announced
            self._changed.wait_for(lambda: self._done >= goal or self._closing or self._has_failed, timeout_s)
            return self._done >= goal

    def drain(self, progress: Callable[[int], None] | None = None) -> None:
        """Do all the waiting work in the caller's thread, calling `progress` with the size of each batch.

        Raises:
            EngineUnavailable: the engine cannot embed; what is left stays queued in the store.
        """
        while True:
            settled, embedded = self._step()
            if progress is not None and embedded:
                progress(embedded)
            if not settled and not embedded:
                return

    def close(self, *, flush: bool) -> None:
        """Stop the thread after its current batch; with `flush`, first finish what waits."""
        self._stop()
        atexit.unregister(self._end_with_process)
        if flush:
            try:
                self.drain()
            except EngrainError as error:
                self._log_failure(error)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closing or self._announced > self._done)
                self._gather()
                if self._closing:
                    return
                goal = self._announced
            try:
                while any(self._step()) and not self._closing:
                    pass
            except MemoryClosed:
                return
            except Exception as error:  # noqa: BLE001  # nothing an engine does may end the thread: it tries again
                self._log_failure(error)
                with self._changed:
                    self._has_failed = True
                    self._changed.notify_all()
                    self._changed.wait_for(lambda: self._closing, self._pause_after_failure_s)
                continue
            with self._changed:
                self._has_failed = False
                self._done = goal
                self._changed.notify_all()

    def _gather(self) -> None:
        """Wait for the end of a burst of writes, but not for long."""
        pause, announced = _GATHER_S, -1
        while not self._closing and pause <= _MOST_GATHER_S and self._announced > announced:
            announced = self._announced
            self._changed.wait_for(lambda: self._closing, pause)
            pause *= 2

    def _stop(self, timeout_s: float | None = None) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout_s)

    def _end_with_process(self) -> None:
        """Wait for the current batch of a Memory that was not closed; the rest stays queued.

        A thread that is inside onnxruntime when Python goes away takes the process with it: "terminate called without
        an active exception", exit code 134 (onnxruntime 1.31.1 on Python 3.11).
        """
        self._stop(_LAST_BATCH_S)

    def _step(self) -> tuple[int, int]:
        """Index up to a thousand memories and embed one batch; returns both numbers."""
        with self._stepping:
            settled = self._store.flush_index()
            if self._embedder is None:
                return settled, 0
            waiting = self._store.inspect(None, find_unembedded, _BATCH)
            if waiting:
                with metrics.timed("embed_seconds"):
                    vectors = self._embedder.embed([memory.text for memory in waiting], role="document")
                self._store.attach(
                    [memory.ref for memory in waiting], vectors, tenants=[memory.tenant_id for memory in waiting]
                )
                metrics.count("memories_embedded", len(waiting))
            return settled, len(waiting)

    def _log_failure(self, error: Exception) -> None:
        metrics.count("embedding_failures")
        is_expected = isinstance(error, EngrainError)
        # Messages of others may quote a memory.
        reason = str(error) if is_expected else f"unforeseen: {type(error).__name__}"
        fields = {"error": type(error).__name__, "embedder": getattr(self._embedder, "name", None), "reason": reason}
        _LOG.log(logging.WARNING if is_expected else logging.ERROR, "embedding stopped", extra=fields)
        _LOG.debug("embedding stopped", exc_info=error)  # its message may quote what was to be embedded
