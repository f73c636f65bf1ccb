"""Calls that nobody can tell when to stop: each in a thread of its own, and left alone when its time is up."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

_Answer = TypeVar("_Answer")


class InTime:
    """Asks within a time. A call that was given up on holds its thread until it comes back; of those there are few."""

    def __init__(self, who: str, *, thread_name: str, most_overdue: int) -> None:
        """Speak for `who`, the engine that messages name."""
        self._who = who
        self._thread_name = thread_name
        self._most_overdue = most_overdue
        self._overdue = 0
        self._counting = threading.Lock()

    def ask(self, call: Callable[[], _Answer], timeout_s: float) -> _Answer:
        """What `call` returns; what it raises is raised here.

        Raises:
            EngineUnavailable: it took longer, and its answer, should it come, is not used; or too many calls have not
                come back, and nobody was asked.
        """
        if self._overdue >= self._most_overdue:
            raise EngineUnavailable(f"{self._overdue} calls of {self._who} have not come back")
        answers: list[_Answer] = []
        failures: list[BaseException] = []
        is_done, is_given_up = threading.Event(), False

        def run() -> None:
            try:
                answers.append(call())
            except BaseException as error:  # noqa: BLE001  # raised again where it is waited for
                failures.append(error)
            with self._counting:
                is_done.set()
                self._overdue -= is_given_up

        threading.Thread(target=run, name=self._thread_name, daemon=True).start()
        is_done.wait(timeout_s)
        with self._counting:
            is_given_up = not is_done.is_set()
            self._overdue += is_given_up
        if is_given_up:
            raise EngineUnavailable(f"{self._who} took longer than {timeout_s:g} s")
        if failures:
            raise failures[0]
        return answers[0]
