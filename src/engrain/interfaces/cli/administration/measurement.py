"""`engrain bench`: what this machine does, in under 20 seconds, over made-up memories in a temporary file."""

import contextlib
import itertools
import os
import platform
import random
import statistics
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engrain import __version__
from engrain.interfaces.cli import output, progress
from engrain.interfaces.cli.invocation import Invocation
from engrain.service import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

MEMORIES = 2_000
# Seconds after the start at which a slow machine leaves each phase as it is, so that all of it takes under 20.
_EMBED_UNTIL_S = 13.0
_SEARCH_UNTIL_S = 17.0
_FEWEST_SEARCHES = 10
_TURNS_IN_A_SESSION = 20
_PEOPLE = "Amira Bruno Chidi Dalia Edvin Farah Goran Hana".split()
_ACTS = "bought lost repaired painted borrowed sold found cleaned measured photographed".split()
_THINGS = "kettle bicycle violin ladder tent carpet lantern compass rucksack mirror telescope wheelbarrow".split()
_PLACES = "Antwerp Bergen Cork Dresden Evora Florence Galway Haarlem Izmir Krakow Lyon Malmo".split()
_REASONS = "for the wedding,because it rained,after the exam,before the move,on a whim,as a present".split(",")


class _EnoughError(Exception):
    """Time is up for the vectors; those that were made are kept."""


def bench(invocation: Invocation) -> None:
    """Measure this machine, in under 20 seconds.

    Embeddings, writes and searches over 2,000 made-up memories in a temporary file.
    """
    measured = measure(invocation)
    invocation.answer(measured, output.pairs(measured))


def measure(invocation: Invocation, *, memories: int = MEMORIES) -> dict[str, Any]:
    """Rates and times of this machine with the settings in force; the memories of the user are not touched."""
    start = time.perf_counter()
    settings = invocation.settings()
    with tempfile.TemporaryDirectory(prefix="engrain-bench-", ignore_cleanup_errors=True) as folder:
        file = str(Path(folder) / "bench.db")
        observe_per_s = _observe(file, memories)
        with Memory.open(file, settings=invocation.replaced_settings, config=invocation.config) as memory:
            embedded, seconds = _embed(memory, memories, until=start + _EMBED_UNTIL_S, visible=not invocation.as_json)
            first_ms, times_ms = _search(memory, until=start + _SEARCH_UNTIL_S)
            memory.close(flush=False)
    return {
        "engrain": __version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "embedder": settings.embedding.model,
        "embedding_threads": settings.embedding.threads,
        "memories": memories,
        "observe_per_s": round(observe_per_s),
        "embedded": embedded,
        "embed_per_s": round(embedded / seconds) if embedded else None,
        "searches": len(times_ms),
        "recall_first_ms": round(first_ms, 1),
        "recall_median_ms": round(statistics.median(times_ms), 2),
        "recall_p95_ms": round(statistics.quantiles(times_ms, n=20)[-1], 2),
        "seconds": round(time.perf_counter() - start, 1),
    }


def turns(count: int) -> "Iterator[tuple[str, str]]":
    """Speaker and sentence of each made-up turn, the same ones at every call, hardly two alike."""
    dice = random.Random(7)  # noqa: S311  # sentences, not secrets
    for number in range(count):
        act, thing, place, reason = (dice.choice(words) for words in (_ACTS, _THINGS, _PLACES, _REASONS))
        yield dice.choice(_PEOPLE), f"I {act} a {thing} in {place} {reason}, and paid {number % 97 + 3} euros."


def _observe(file: str, memories: int) -> float:
    """Single durable writes a second, no vectors being made meanwhile."""
    began = datetime(2026, 1, 1, tzinfo=UTC)
    with Memory.open(file, embedder="none") as memory:
        agent = memory.agent("bench")
        start = time.perf_counter()
        for number, (speaker, text) in enumerate(turns(memories)):
            session = f"session-{number // _TURNS_IN_A_SESSION}"
            agent.observe(text, speaker=speaker, session=session, event_time=began + timedelta(minutes=number))
        return memories / (time.perf_counter() - start)


def _embed(memory: Memory, total: int, *, until: float, visible: bool) -> tuple[int, float]:
    """Count the vectors made and their seconds, the engine's start left out; all of them, if time allows."""
    if memory.embedder is None:
        return 0, 0.0
    memory.embedder.embed(["A first one."], role="document")
    made = 0
    start = time.perf_counter()
    with progress.counting("making vectors", total=total, visible=visible) as done:

        def count(batch: int) -> None:
            nonlocal made
            made += batch
            done(made)
            if time.perf_counter() > until:
                raise _EnoughError

        with contextlib.suppress(_EnoughError):
            memory.flush(count)
    return made, time.perf_counter() - start


def _search(memory: Memory, *, until: float) -> tuple[float, list[float]]:
    """Milliseconds of the first search, which reads the vectors, and of each one after it."""
    agent = memory.agent("bench")
    times_ms: list[float] = []
    for person, thing in itertools.product(_PEOPLE, _THINGS):
        start = time.perf_counter()
        if start > until and len(times_ms) > _FEWEST_SEARCHES:
            break
        agent.recall(f"Where did {person} get the {thing}?", limit=10)
        times_ms.append((time.perf_counter() - start) * 1000)
    return times_ms[0], times_ms[1:]
