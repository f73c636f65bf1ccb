"""One step of `bench.portability` in a process of its own; what it took, as one line of JSON on stdout."""

from __future__ import annotations

import json
import random
import resource
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engrain import Memory, config
from engrain.domain.ids import derived_id
from engrain.domain.records import Caller, Episode, Fact
from engrain.domain.requests import Act
from engrain.storage import open_store
from engrain.storage.write import arrivals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from engrain.domain.ports import EmbedRole

_CALLER = Caller(agent="aide")
_DIMS = 384
_AT_ONCE = 1_000
_NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
_WORDS = tuple(
    f"{start}{end}"
    for start in "bar cor dun fal gir hol jun kes lam mor".split()
    for end in "a e i o u ing ed er s y".split()
)


class Seeded:
    """Vectors of the length that the default embedder makes, by no model."""

    name = "bench:seeded"
    dims = _DIMS

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> NDArray[np.float32]:  # noqa: ARG002  # one for both
        rows = np.random.default_rng(len(texts)).standard_normal((len(texts), _DIMS)).astype(np.float32)
        norms: NDArray[np.float32] = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, norms, dtype=np.float32)


def main(step: str, place: str, *arguments: str) -> None:
    """Do it and say what it took."""
    memory = Memory(open_store(place), embedder=Seeded(), settings=config.load())
    before_s, cpu_s = time.perf_counter(), time.process_time()
    match step:
        case "fill":
            found = fill(memory, int(arguments[0]))
        case "backup":
            report = memory.backup(arguments[0], agent=_CALLER.agent, vectors="--no-vectors" not in arguments)
            found = {
                "bytes": report.bytes,
                "tables": {table.table: [table.rows, table.sha256] for table in report.tables},
            }
        case _:
            restored = memory.restore(Path(arguments[0]), replace=step == "replace", untrusted=True)
            found = {"memories": restored.memories, "cleared": restored.cleared}
    taken = {"seconds": time.perf_counter() - before_s, "cpu": time.process_time() - cpu_s}
    memory.close(flush=False)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # kB on Linux; a mapped SQLite file counts too
    print(json.dumps({**found, **taken, "peak_mb": peak}))


def fill(memory: Memory, count: int) -> dict[str, Any]:
    """Nine turns of conversation for each fact, with vectors."""
    numbers = random.Random(3)  # made-up talk
    for start in range(0, count, _AT_ONCE):
        made = [memory_of(place, numbers) for place in range(start, min(start + _AT_ONCE, count))]
        memory.parts.store.write(Act(caller=_CALLER, at=_NOON), arrivals.put, made)
        memory.flush()
    return {}


def memory_of(place: int, numbers: random.Random) -> Episode | Fact:
    """The memory with a number."""
    said = " ".join(numbers.choices(_WORDS, k=numbers.randint(8, 40)))
    at = _NOON + timedelta(seconds=place)
    id_ = derived_id("bench", "portability", str(place), at=at)
    if place % 10 == 0:
        return Fact(
            id=id_,
            agent=_CALLER.agent,
            subject=f"subject {place // 90}",
            predicate=f"predicate {place % 90}",
            content=said,
            created_at=at,
        )
    return Episode(
        id=id_,
        agent=_CALLER.agent,
        scope=_CALLER.agent,
        session=f"session {place // 40}",
        speaker=f"speaker {place % 3}",
        content=said,
        event_time=at,
        created_at=at,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
