"""Many small writes as few transactions: a memory is acknowledged when the transaction it went with is durable."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.errors import InvalidInput, MemoryClosed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engrain.domain.records import Caller, MemoryRecord
    from engrain.domain.requests import Act


@dataclass(frozen=True, slots=True)
class _Waiting:
    act: Act
    memory: MemoryRecord
    future: Future[MemoryRecord]


class BatchWriter:
    """Gathers memories and puts up to `most` of them at once, at the latest `wait_s` after the first came.

    `add` returns at once with a future: its result, the memory as stored, is the acknowledgement. Whoever does not
    wait for it has been promised nothing. Memories of an agent, acting for a user or for none, are stored in the order
    they came. Those of several requests have no request id in their events. Thread-safe; close it when done.
    """

    def __init__(
        self,
        put: Callable[[Act, Sequence[MemoryRecord]], list[MemoryRecord]],
        *,
        most: int = 100,
        wait_s: float = 1.0,
        capacity: int = 10_000,
    ) -> None:
        """Write with `put`, one transaction of `arrivals.put`; with `capacity` memories waiting, `add` waits too."""
        self._put_all = put
        self._most = most
        self._wait_s = wait_s
        self._capacity = capacity
        self._changed = threading.Condition()
        self._waiting: list[_Waiting] = []
        self._added = 0  # entries so far, and those that are durable or have failed
        self._done = 0
        self._urgent = 0  # the number of the last entry that somebody waits for
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="engrain-batch-writer", daemon=True)
        self._thread.start()

    def add(self, act: Act, memory: MemoryRecord) -> Future[MemoryRecord]:
        """Have a memory stored. The future fails as `arrivals.put` would, and with InvalidInput where its id is taken.

        Raises:
            MemoryClosed: after `close`.
        """
        future: Future[MemoryRecord] = Future()
        with self._changed:
            self._changed.wait_for(lambda: self._is_closing or len(self._waiting) < self._capacity)
            if self._is_closing:
                raise MemoryClosed("this batch writer is closed; nothing was written")
            self._waiting.append(_Waiting(act, memory, future))
            self._added += 1
            self._changed.notify_all()
        return future

    def flush(self) -> None:
        """Wait until everything added so far is durable, or has failed."""
        with self._changed:
            goal = self._urgent = self._added
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._done >= goal)

    def close(self) -> None:
        """Store what waits and stop; a second call does nothing."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._is_closing)
                self._changed.wait_for(self._is_due, self._wait_s)
                batch, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                if not batch:
                    return
                self._changed.notify_all()
            of_callers: dict[Caller, list[_Waiting]] = {}
            for entry in batch:
                caller = replace(entry.act.caller, session=None, request_id=None)
                of_callers.setdefault(caller, []).append(entry)
            for caller, entries in of_callers.items():
                self._put(caller, entries)
            with self._changed:
                self._done += len(batch)
                self._changed.notify_all()

    def _is_due(self) -> bool:
        return self._is_closing or self._done < self._urgent or len(self._waiting) >= self._most

    def _put(self, caller: Caller, batch: Sequence[_Waiting]) -> None:
        """Store the memories of one caller in one transaction; where it is refused, each in its own."""
        act = batch[-1].act
        if any(entry.act.caller != act.caller for entry in batch):
            act = replace(act, caller=caller)
        try:
            stored = self._put_all(act, [entry.memory for entry in batch])
        except BaseException as error:  # noqa: BLE001  # whatever it is, it is told to those who wait for it
            if len(batch) == 1:
                batch[0].future.set_exception(error)
            else:
                for entry in batch:
                    self._put(caller, [entry])
            return
        metrics.count("batches_written")
        found = {memory.id: memory for memory in stored}
        for entry in batch:
            memory = found.pop(entry.memory.id, None)
            if memory is None:
                taken = InvalidInput(f"id {entry.memory.id} is taken; what is stored under it stays as it is")
                entry.future.set_exception(taken)
            else:
                entry.future.set_result(memory)
