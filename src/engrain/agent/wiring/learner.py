"""Learner: one background thread that learns from sessions, started when it is needed and ended when it is done."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.log_events import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable

_LOG = get_logger(__name__)


class Learner:
    """Runs tasks one after another in the background. Thread-safe; close it when done.

    A task that fails is logged and counted (`background_learning_failures`): its caller has gone on long ago. Of
    several tasks submitted under one name while it is busy it runs the last.
    """

    def __init__(self) -> None:
        self._waiting: dict[object, Callable[[], object]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def submit(self, name: object, work: Callable[[], object]) -> None:
        """Run `work` soon; after `close` it is not run."""
        with self._lock:
            if self._is_closed:
                return
            self._waiting[name] = work
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="engrain-learner", daemon=True)
                self._thread.start()

    def is_open(self) -> bool:
        """Return whether the task that runs should go on: not once `close` was called."""
        return not self._is_closed

    def wait(self) -> None:
        """Wait until there is nothing left to do."""
        while (thread := self._thread) is not None:
            thread.join()

    def close(self) -> None:
        """Begin nothing more, and wait for the task that runs; a second call does nothing."""
        with self._lock:
            self._is_closed = True
            self._waiting.clear()
        self.wait()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return
                work = self._waiting.pop(next(iter(self._waiting)))
            try:
                work()
            except BaseException as error:  # noqa: BLE001  # no caller waits for it, and a model may call sys.exit
                metrics.count("background_learning_failures")
                _LOG.warning("learning in the background failed", extra={"code": getattr(error, "code", "unexpected")})
