"""What is learned when nobody waits for it: one thread, that begins where it is needed and ends when it is done."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from engrain import metrics

if TYPE_CHECKING:
    from collections.abc import Callable

_LOG = logging.getLogger(__name__)


class Learner:
    """Does what it is told, one thing after another, in the background. Thread-safe; close it when done.

    What fails is logged and counted (`background_learning_failures`): whoever told it has gone on long ago. Of several
    that are told under one name while it is busy it does the last.
    """

    def __init__(self) -> None:
        self._waiting: dict[object, Callable[[], object]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False

    def later(self, name: object, work: Callable[[], object]) -> None:
        """Do `work` soon; after `close` it is not done."""
        with self._lock:
            if self._closed:
                return
            self._waiting[name] = work
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="engrain-learner", daemon=True)
                self._thread.start()

    def goes_on(self) -> bool:
        """Whether what is being done should go on: not once `close` was called."""
        return not self._closed

    def wait(self) -> None:
        """Until there is nothing left to do."""
        while (thread := self._thread) is not None:
            thread.join()

    def close(self) -> None:
        """Begin nothing more, and wait for what is being done; a second call does nothing."""
        with self._lock:
            self._closed = True
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
            except Exception as error:  # noqa: BLE001  # nobody waits for it who could be told
                metrics.count("background_learning_failures")
                _LOG.warning("learning in the background failed", extra={"code": getattr(error, "code", "unexpected")})
