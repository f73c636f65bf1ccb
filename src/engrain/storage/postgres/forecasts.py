"""Forecasts of searches: an agent's next search starts with what its last one has read."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from engrain.storage.postgres import keywords, vectors
from engrain.storage.search import namespaces
from engrain.storage.search.matching import MOST_SPEAKERS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.requests import Request
    from engrain.storage.postgres.common_words import CommonWords
    from engrain.storage.postgres.pipelines import PipelineTransaction
    from engrain.storage.search.namespaces import SearchSpace
    from engrain.storage.unit_of_work import Snapshot

_MOST_AGENTS = 1_000
_MOST_REMEMBERED_SPEAKERS = 100


@dataclass(frozen=True, slots=True)
class _Search:
    """Scopes and namespaces of a search, and the speakers that it weighed; None for none."""

    scopes: tuple[str, ...]
    where: SearchSpace
    speakers: tuple[str, ...] | None


class SearchForecasts:
    """The last search of each agent for a user. Thread-safe.

    A forecast that is wrong costs the server some work and changes no answer: a search takes the answer to a statement
    that was started only where it asks the same of the same rows, by the pools that the agent is in by now.
    """

    def __init__(self, *, read_all: int, scan_all: int, common: CommonWords) -> None:
        self._read_all = read_all
        self._common = common
        self._scan_all = scan_all
        self._last: OrderedDict[tuple[str, str, str], _Search] = OrderedDict()
        self._lock = threading.Lock()

    def start(
        self,
        snapshot: Snapshot,
        request: Request,
        terms: Collection[str],
        find_vector: Callable[[Sequence[str]], NDArray[np.float32] | None],
    ) -> None:
        """Start the statements of a search, as far as the last one tells which these are."""
        last = self._last.get(_key_of(snapshot))
        if last is None:
            return
        tenant_id, listed = snapshot.tenant_id, snapshot.dialect.listed
        snapshot.start("pools_of", tenant_id=tenant_id, agent=snapshot.agent)
        now = snapshot.dialect.time(request.now)
        snapshot.start("searched", tenant_id=tenant_id, scopes=listed(last.scopes), now=now)
        if last.speakers is not None:
            snapshot.start("speakers", tenant_id=tenant_id, scopes=listed(last.scopes), limit=MOST_SPEAKERS)
        where = namespaces.narrow(last.where, request)
        if not where.spaces:
            return
        if terms:
            keywords.start_search(snapshot, request, where, terms, read_all=self._read_all, common=self._common)
        vector = None if last.speakers is None else find_vector(last.speakers)
        if vector is not None and not request.filter.is_narrow:
            vectors.start_search(snapshot, where, vector, scan_all=self._scan_all)

    def note(self, snapshot: Snapshot, request: Request, speakers: Sequence[str]) -> None:
        """Remember a search for the next one."""
        if snapshot.known is None:  # a unit of work may yet be rolled back
            return
        where = namespaces.load_caller_space(snapshot, request.now)
        known = tuple(speakers) if len(speakers) <= _MOST_REMEMBERED_SPEAKERS else None
        with self._lock:
            self._last[_key_of(snapshot)] = _Search(snapshot.caller.scopes, where, known)
            self._last.move_to_end(_key_of(snapshot))
            if len(self._last) > _MOST_AGENTS:
                self._last.popitem(last=False)

    def end_with_next(self, snapshot: Snapshot) -> None:
        """End a snapshot with the statements that were started last: nothing is read after them."""
        if snapshot.known is not None:
            cast("PipelineTransaction", snapshot.db).end_with_next()


def _key_of(snapshot: Snapshot) -> tuple[str, str, str]:
    return snapshot.tenant_id, snapshot.agent, snapshot.user_id
