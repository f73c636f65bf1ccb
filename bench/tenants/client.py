"""CPU of this process for a search on PostgreSQL, by turns with its statements alone: what the driver costs of it."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any
from unittest import mock

from bench.speed import language
from engrain.storage.postgres.pipelines import PipelineTransaction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engrain import Memory

_ROUNDS = 3
_Sent = list[tuple[Any, Any]]


def report(memory: Memory, said: Sequence[language.SpokenTurn], *, questions: int) -> None:
    """Print the medians of one tenant's searches, each asked before, and of the same statements and all their rows."""
    agent = memory.agent("aide", tenant="tenant 0")
    took: dict[str, list[float]] = defaultdict(list)
    asked = language.questions(list(said), questions, naming=True)
    for question in asked:
        agent.recall(question)
    backend = memory.parts.store.backend
    for question in asked * _ROUNDS:
        trips = _record(lambda question=question: agent.recall(question))  # type: ignore[misc]  # called at once

        def send(trips: Sequence[_Sent] = trips) -> None:
            backend.read("tenant 0", lambda db: _read_all(db, trips))  # type: ignore[arg-type]  # PostgreSQL's

        took["its statements alone"].append(_timed(send))
        took["recall"].append(_timed(lambda question=question: agent.recall(question)))  # type: ignore[misc]  # likewise
    for name, seconds in took.items():
        ordered = sorted(seconds)
        low, middle = ordered[len(ordered) // 4], statistics.median(ordered)
        print(f"{name:26} p25 {low * 1e3:5.2f} ms   p50 {middle * 1e3:5.2f} ms of the client's CPU")


def _record(search: Callable[[], object]) -> list[_Sent]:
    """Run a search, and return its statements and their values by round trip."""
    trips: list[_Sent] = [[]]
    execute, flush = PipelineTransaction.execute, PipelineTransaction.flush

    def note(self: PipelineTransaction, text: Any, values: Any = None) -> Any:
        trips[-1].append((text, values))
        return execute(self, text, values)

    def end(self: PipelineTransaction) -> None:
        trips.append([])
        flush(self)

    with mock.patch.object(PipelineTransaction, "execute", note), mock.patch.object(PipelineTransaction, "flush", end):
        search()
    return [trip for trip in trips if trip]


def _read_all(db: PipelineTransaction, trips: Sequence[_Sent]) -> None:
    for trip in trips:
        if trip is trips[-1]:
            db.end_with_next()
        for statement in [db.execute(text, values) for text, values in trip]:
            statement.fetchall()


def _timed(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start
