"""Deadlines for calls that cannot be interrupted: each runs in a thread of its own and is abandoned when time is up."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

_Answer = TypeVar("_Answer")


class DeadlineExceeded(EngineUnavailable):
    """A call took longer than it may."""


class DeadlineRunner:
    """Runs calls with a deadline. An abandoned call keeps its thread until it returns; their number is limited."""

    def __init__(self, label: str, *, thread_name: str, max_overdue: int) -> None:
        """Take the `label` that messages name, and the number of abandoned calls beyond which no other is made."""
        self._label = label
        self._thread_name = thread_name
        self._max_overdue = max_overdue
        self._overdue = 0
        self._lock = threading.Lock()

    def run(self, call: Callable[[], _Answer], timeout_s: float) -> _Answer:
        """Return what `call` returns, or raise what it raises; errors as for `begin` and what it returns."""
        return self.begin(call)(timeout_s)

    def begin(self, call: Callable[[], _Answer]) -> Callable[[float], _Answer]:
        """Begin a call, and return the function that waits for it: once, and for so many seconds at most.

        It returns what `call` returns, or raises what it raises; DeadlineExceeded where that takes longer, and the
        answer, should it come, is dropped then.

        Raises:
            EngineUnavailable: too many calls have not come back, and this one was not made.
        """
        if self._overdue >= self._max_overdue:
            raise EngineUnavailable(f"{self._overdue} calls of {self._label} have not come back")
        answers: list[_Answer] = []
        failures: list[BaseException] = []
        is_done, is_abandoned = threading.Event(), False

        def run() -> None:
            try:
                answers.append(call())
            except BaseException as error:  # noqa: BLE001  # raised again where it is waited for
                failures.append(error)
            with self._lock:
                is_done.set()
                self._overdue -= is_abandoned

        def wait(timeout_s: float) -> _Answer:
            nonlocal is_abandoned
            is_done.wait(timeout_s)
            with self._lock:
                is_abandoned = not is_done.is_set()
                self._overdue += is_abandoned
            if is_abandoned:
                raise DeadlineExceeded(f"{self._label} took longer than {timeout_s:g} s")
            if failures:
                raise failures[0]
            return answers[0]

        threading.Thread(target=run, name=self._thread_name, daemon=True).start()
        return wait
