"""A few threads of one Memory, for what can be done while its caller does something else."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Result = TypeVar("_Result")

# More searches at once than this make their vectors in their own threads; one more thread is for what nobody waits for.
_AT_ONCE = 2


class Workers:
    """Threads that start when they are first needed. Thread-safe; close it when done."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_AT_ONCE + 1, thread_name_prefix="engrain-worker")
        self._free = threading.BoundedSemaphore(_AT_ONCE)

    def start(self, work: Callable[[], _Result]) -> Callable[[], _Result]:
        """Begin `work`; what is returned waits for its result, or raises what it raised, as often as it is called.

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

    def later(self, work: Callable[[], object]) -> None:
        """Do `work` soon; nobody waits for it, and after `close` it is not done."""
        try:
            self._threads.submit(work)
        except RuntimeError:  # closed meanwhile
            return

    def close(self) -> None:
        """Wait for what was begun; a second call does nothing."""
        self._threads.shutdown(wait=True)

    def _run(self, work: Callable[[], _Result]) -> _Result:
        try:
            return work()
        finally:
            self._free.release()


def _once(work: Callable[[], _Result]) -> Callable[[], _Result]:
    """`work`, done at the first call."""
    done: list[_Result] = []

    def result() -> _Result:
        if not done:
            done.append(work())
        return done[0]

    return result
