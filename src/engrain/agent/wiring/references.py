"""References: counted uses of the memories in answers, written after the answer so that no search waits for a write."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.errors import EngrainError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.agent.wiring.workers import Workers
    from engrain.domain.ports import Store
    from engrain.domain.requests import Act

_LOG = logging.getLogger(__name__)


class References:
    """Queue of references to count: one for each memory of an answer. Thread-safe.

    A worker writes them soon after the answer; `flush` writes those it has not come to. Where the database cannot be
    written they are lost, and `references_not_counted` says how many.
    """

    def __init__(self, store: Store, workers: Workers) -> None:
        self._store = store
        self._workers = workers
        self._adding = threading.Lock()
        self._writing = threading.Lock()
        self._waiting: list[tuple[Act, Sequence[str]]] = []

    def add(self, act: Act, ids: Sequence[str]) -> None:
        """Add one reference to each of `ids`, at the time of `act`."""
        if not ids:
            return
        with self._adding:
            is_first = not self._waiting
            self._waiting.append((act, ids))
        if is_first:
            self._workers.run_later(self.flush)

    def flush(self) -> None:
        """Write what waits, and wait for what is being written: one statement a kind for each answer."""
        with self._writing:
            with self._adding:
                waiting, self._waiting = self._waiting, []
            for act, ids in waiting:
                try:
                    self._store.touch(act, ids)
                except EngrainError as error:
                    metrics.count("references_not_counted", len(ids))
                    _LOG.debug("references not counted", extra={"code": error.code})
