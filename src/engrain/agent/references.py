"""Which memories were found how often: counted after the answer, so that no search waits for a write."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.errors import EngrainError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.agent.workers import Workers
    from engrain.domain.ports import Store
    from engrain.domain.requests import Act

_LOG = logging.getLogger(__name__)


class References:
    """The references that recalls left to count: one each for the memories of one answer. Thread-safe.

    A worker counts them soon after the answer; `settle` counts what it has not come to. Where the database cannot be
    written they are lost, and `references_not_counted` says how many.
    """

    def __init__(self, store: Store, workers: Workers) -> None:
        self._store = store
        self._workers = workers
        self._noting = threading.Lock()
        self._counting = threading.Lock()
        self._left: list[tuple[Act, Sequence[str]]] = []

    def note(self, act: Act, ids: Sequence[str]) -> None:
        """One reference more for each of `ids`, at the time of `act`."""
        if not ids:
            return
        with self._noting:
            is_first = not self._left
            self._left.append((act, ids))
        if is_first:
            self._workers.later(self.settle)

    def settle(self) -> None:
        """Count what is left, and wait for what is being counted: one statement a kind for each answer."""
        with self._counting:
            with self._noting:
                left, self._left = self._left, []
            for act, ids in left:
                try:
                    self._store.touch(act, ids)
                except EngrainError as error:
                    metrics.count("references_not_counted", len(ids))
                    _LOG.debug("references not counted", extra={"code": error.code})
