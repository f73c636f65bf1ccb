"""Embedding queue: one background thread that makes the vectors of new memories in batches."""

from __future__ import annotations

import atexit
import logging
import threading
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.errors import EngineUnavailable, EngrainError, MemoryClosed
from engrain.log_events import get_logger
from engrain.storage.write.embedding_versions import find_unembedded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.ports import Embedder
    from engrain.domain.requests import Ref, Unembedded
    from engrain.storage.store import SqlStore

BATCH = 64  # made in one call and stored in one transaction: the loss by a crash

_LOG = get_logger(__name__)
# Writes come in bursts: a batch of eight costs little more than one, and the work is not done between two writes.
_GATHER_S, _MOST_GATHER_S = 0.02, 0.16
_PAUSE_AFTER_FAILURE_S = 5.0
_LAST_BATCH_S = 10.0  # how long the end of the process waits for one
_MAX_NAMED = 5
_HARMLESS = "Is anybody there?"


class EmbeddingQueue:
    """Queue of the memories that wait for their index entries and vectors, of this process or another.

    The queue is the store itself, so nothing is lost with the process. A failing engine or a busy database is counted,
    logged and tried again; writers never wait for it. A text that the engine refuses is left out until `drain`, or the
    next process, tries it again.
    """

    def __init__(
        self, store: SqlStore, embedder: Embedder | None, *, pause_after_failure_s: float = _PAUSE_AFTER_FAILURE_S
    ) -> None:
        self._store = store
        self._missing = None if embedder is None else BisectingEmbedder(store, embedder)
        self._pause_after_failure_s = pause_after_failure_s
        self._stepping = threading.Lock()  # or the thread and a flush would embed the same memories
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._announced = 0  # the number of announcements, and of those whose work is done
        self._done = 0
        self._readers = 0  # who wait for the vectors, so that no burst is waited for
        self._failure: BaseException | None = None
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

    def use_embedder(self, embedder: Embedder) -> None:
        """Make vectors with this embedder from now on, where there was none before."""
        with self._stepping:
            self._missing = BisectingEmbedder(self._store, embedder)
        self.announce()

    @property
    def failure(self) -> BaseException | None:
        """The error of the last batch if it failed; it is retried."""
        return self._failure

    @property
    def is_idle(self) -> bool:
        """True if all announced work is done."""
        with self._changed:
            return self._done >= self._announced

    def count_refused(self, tenant_id: str) -> int:
        """Count the memories of a tenant that wait in vain: their texts were refused."""
        refused = () if self._missing is None else tuple(self._missing.refused)
        return sum(owner == tenant_id for owner, _ in refused)

    def wait(self, timeout_s: float | None) -> bool:
        """Wait until all that was announced so far is done; False where time ran out or the engine fails."""
        with self._changed:
            goal = self._announced
            self._readers += 1
            self._changed.notify_all()
            try:
                self._changed.wait_for(
                    lambda: self._done >= goal or self._closing or self._failure is not None, timeout_s
                )
            finally:
                self._readers -= 1
            return self._done >= goal

    def drain(self, progress: Callable[[int], None] | None = None) -> None:
        """Do all the waiting work in the caller's thread, calling `progress` with the size of each batch.

        Raises:
            EngineUnavailable: the engine cannot embed, or refuses the texts that the message names once all others have
                their vectors; what is left stays queued in the store.
        """
        with self._stepping:
            if self._missing is not None:
                self._missing.refused.clear()
        is_done = False
        while not is_done:
            is_done, embedded = self._step()
            if progress is not None and embedded:
                progress(embedded)
        if self._missing is not None and (refused := self._missing.list_refused()):
            raise EngineUnavailable(describe_refusal(self._missing.name, refused))

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
                while not self._step()[0] and not self._closing:
                    pass
            except MemoryClosed:
                return
            except BaseException as error:  # noqa: BLE001  # nothing an engine does may end the thread: it tries again
                self._log_failure(error)
                with self._changed:
                    self._failure = error
                    self._changed.notify_all()
                    self._changed.wait_for(lambda: self._closing, self._pause_after_failure_s)
                continue
            with self._changed:
                self._failure = None
                self._done = goal
                self._changed.notify_all()

    def _gather(self) -> None:
        """Wait for the end of a burst of writes, but not for long, and not while somebody waits for the vectors."""
        pause, announced = _GATHER_S, -1
        while not self._is_hurried() and pause <= _MOST_GATHER_S and self._announced > announced:
            announced = self._announced
            self._changed.wait_for(self._is_hurried, pause)
            pause *= 2

    def _is_hurried(self) -> bool:
        return self._closing or self._readers > 0

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

    def _step(self) -> tuple[bool, int]:
        """Index up to a thousand memories and embed one batch; return if nothing waited, and the number embedded."""
        with self._stepping:
            settled = self._store.flush_index()
            waiting = [] if self._missing is None else self._missing.find_missing(BATCH)
            if self._missing is None or not waiting:
                return not settled, 0
            with metrics.timed("embed_seconds"):
                return False, self._missing.make_vectors(waiting)

    def _log_failure(self, error: BaseException) -> None:
        metrics.count("embedding_failures")
        is_expected = isinstance(error, EngrainError)
        # Messages of others may quote a memory.
        reason = str(error) if is_expected else f"unforeseen: {type(error).__name__}"
        fields = {
            "error": type(error).__name__,
            "embedder": None if self._missing is None else self._missing.name,
            "reason": reason,
        }
        _LOG.log(logging.WARNING if is_expected else logging.ERROR, "embedding stopped", extra=fields)
        _LOG.debug("embedding stopped", exc_info=error)  # its message may quote what was to be embedded


class BisectingEmbedder:
    """Makes the vectors that memories lack of one version, or of the active one, and skips texts that were refused."""

    def __init__(self, store: SqlStore, embedder: Embedder, version: int | None = None) -> None:
        """Skip nothing yet."""
        self.name = embedder.name
        self.refused: dict[tuple[str, Ref], str] = {}  # ids of memories, by tenant and handle
        self._store = store
        self._embedder = embedder
        self._version = version
        self._takeover: EngineUnavailable | None = None  # by another embedder, which the store refused vectors for

    def find_missing(self, limit: int) -> list[Unembedded]:
        """Find memories that lack their vector and were not refused."""
        return self._store.inspect(None, find_unembedded, limit, self._version, skipped=frozenset(self.refused))

    def list_refused(self) -> list[str]:
        """List the ids of refused memories that are still there and lack their vector."""
        missing = self._store.inspect(None, find_unembedded, len(self.refused), self._version) if self.refused else []
        return [memory.id for memory in missing if (memory.tenant_id, memory.ref) in self.refused]

    def make_vectors(self, batch: Sequence[Unembedded]) -> int:
        """Make and store the vectors of memories; return how many the engine did not refuse.

        Once the store has refused vectors, as the searches use another embedder by now, none are made in vain: the
        engine is asked again when the searches use it again.

        Raises:
            EngineUnavailable: it would fail with any text, or another embedder has taken over.
        """
        import numpy as np  # not by `import engrain`

        if self._takeover is not None and self._store.use_embedder(self.name, self._embedder.dims) is not None:
            raise EngineUnavailable(str(self._takeover))
        self._takeover = None
        made = self._embed(batch)
        if made:
            try:
                self._store.attach(
                    [memory.ref for memory, _ in made],
                    np.array([row for _, row in made], np.float32),
                    version=self._version,
                    tenants=[memory.tenant_id for memory, _ in made],
                )
            except EngineUnavailable as error:
                self._takeover = error
                raise
        metrics.count("memories_embedded", len(made))
        return len(made)

    def _embed(self, batch: Sequence[Unembedded]) -> list[tuple[Unembedded, NDArray[np.float32]]]:
        try:
            rows = self._embedder.embed([memory.text for memory in batch], role="document")
        except EngineUnavailable:
            self._embedder.embed([_HARMLESS], role="document")
            if len(batch) > 1:
                half = len(batch) // 2
                return self._embed(batch[:half]) + self._embed(batch[half:])
            [memory] = batch
            self.refused[memory.tenant_id, memory.ref] = memory.id
            metrics.count("embeddings_refused")
            _LOG.warning("text refused by the embedder", extra={"memory": memory.id, "embedder": self.name})
            return []
        return list(zip(batch, rows, strict=True))


def describe_refusal(embedder: str, ids: Sequence[str], *, until_then: str = "are by words alone for it") -> str:
    """Describe the refusal of the texts of some memories, and what to do."""
    named = ", ".join(ids[:_MAX_NAMED])
    rest = f" and {len(ids) - _MAX_NAMED:,} more" if len(ids) > _MAX_NAMED else ""
    texts = "the text of 1 memory" if len(ids) == 1 else f"the texts of {len(ids):,} memories"
    return (
        f"the embedder {embedder} refuses {texts} ({named}{rest}): searches {until_then}, nothing is lost, and the "
        "vectors that were made are kept; run it again when the embedder takes them, or forget those first"
    )
