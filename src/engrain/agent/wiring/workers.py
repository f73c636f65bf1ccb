"""Workers: a few threads of one Memory, for work that its callers need not wait for."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakSet

from engrain.errors import MemoryClosed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

# More searches at once than this make their vectors in their own threads.
_AT_ONCE = 2


class Workers:
    """Threads that start when they are first needed. Thread-safe; close it when done."""

    def __init__(self, *, max_parallel: int = 4) -> None:
        """Let `map_bounded` work on `max_parallel` items at once, in threads that nothing else uses."""
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="engrain-worker")
        self._free = threading.BoundedSemaphore(_AT_ONCE)
        self._mapping = ThreadPoolExecutor(max_parallel, thread_name_prefix="engrain-fan-out")
        self._thread = threading.local()
        self._timers: WeakSet[threading.Timer] = WeakSet()
        self._is_closed = False

    def start(self, work: Callable[[], _Result]) -> Callable[[], _Result]:
        """Begin `work`; return a function that waits for its result, or raises its error, as often as it is called.

        Nothing ever queues: where every thread is busy, `work` runs in the thread that asks for the result.
        """
        if not self._free.acquire(blocking=False):
            return _once(work)
        try:
            begun = self._threads.submit(self._run, work)
        except RuntimeError:  # closed meanwhile
            self._free.release()
            return _once(work)
        return begun.result

    def run_after(self, seconds: float, work: Callable[[], object]) -> None:
        """Run `work` in a thread of its own when so many seconds have passed; after `close` it is not run."""
        if self._is_closed:
            return
        timer = threading.Timer(seconds, work)
        timer.daemon = True  # the end of a process waits for no timer
        self._timers.add(timer)
        timer.start()

    def map_bounded(self, work: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
        """Return the results of `work` for all items, in their order; `max_parallel` run at once in this Memory.

        The first error, by the order of the items, is raised when nothing of this call runs any more; items that had
        not begun by then are left. Within `work` another call does its items one by one, in the same thread.

        Raises:
            MemoryClosed: `close` came before all was begun; what was begun is done.
        """
        if getattr(self._thread, "is_mapping", False):
            return [work(item) for item in items]
        begun: list[Future[_Result]] = []
        try:
            self._submit(work, list(items), begun)
            return [future.result() for future in begun]
        except CancelledError as error:
            raise _closed() from error
        finally:
            for future in reversed(begun):
                future.cancel()
            for future in begun:
                if not future.cancelled():
                    future.exception()

    def close(self) -> None:
        """Wait for what runs, and leave items of `map_bounded` that have not begun; a second call does nothing."""
        self._is_closed = True
        for timer in list(self._timers):
            timer.cancel()
        self._mapping.shutdown(wait=True, cancel_futures=True)
        self._threads.shutdown(wait=True)

    def _submit(self, work: Callable[[_Item], _Result], items: Sequence[_Item], begun: list[Future[_Result]]) -> None:
        try:
            begun.extend(self._mapping.submit(self._map, work, item) for item in items)
        except RuntimeError as error:
            raise _closed() from error

    def _map(self, work: Callable[[_Item], _Result], item: _Item) -> _Result:
        self._thread.is_mapping = True
        return work(item)

    def _run(self, work: Callable[[], _Result]) -> _Result:
        try:
            return work()
        finally:
            self._free.release()


def _closed() -> MemoryClosed:
    return MemoryClosed("this Memory was closed before all was done; open it again and repeat")


def _once(work: Callable[[], _Result]) -> Callable[[], _Result]:
    """`work`, done at the first call."""
    done: list[_Result] = []

    def result() -> _Result:
        if not done:
            done.append(work())
        return done[0]

    return result
