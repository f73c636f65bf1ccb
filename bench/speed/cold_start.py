"""One process from nothing to its first answer, or to what that needs at least; run by the bench as a child.

`python -m bench.speed.cold_start engrain FILE EMBEDDER QUESTION` or `... bare FILE`; prints what it took as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.speed.vectors import RandomVectors, RealQuestions


def main(kind: str, location: str, *rest: str) -> None:
    """Do one of the two, and print its CPU seconds by step and the most memory the process held."""
    steps = bare(location) if kind == "bare" else first_answer(location, *rest)
    print(json.dumps({**steps, "peak_bytes": peak_bytes()}))


def first_answer(location: str, embedder: str, question: str) -> dict[str, float]:
    """Import engrain, open the file, recall once."""
    start = time.process_time()
    import engrain

    memory_class = engrain.Memory
    imported = time.process_time() - start
    chosen = _embedder(embedder)
    start = time.process_time()
    memory = memory_class.open(location, embedder=chosen)
    opened = time.process_time() - start
    start = time.process_time()
    answer = memory.agent().recall(question)
    answered = time.process_time() - start
    assert len(answer)
    memory.close()
    return {"import": imported, "open": opened, "recall": answered}


def bare(location: str) -> dict[str, float]:
    """Import the two libraries that no exact search does without, and read every vector of the file."""
    start = time.process_time()
    import apsw
    import numpy as np

    db = apsw.Connection(location, flags=apsw.SQLITE_OPEN_READONLY)
    rows = db.execute("SELECT embedding FROM memory_vectors WHERE NOT gone")
    vectors = np.frombuffer(b"".join(vector for (vector,) in rows), np.float32)
    assert len(vectors)
    db.close()
    return {"bare": time.process_time() - start}


def peak_bytes() -> int:
    """The most memory this process held resident.

    Not getrusage where Linux says it itself: a child inherits the peak of the process that started it.
    """
    status = Path("/proc/self/status")
    if status.exists():
        found = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM:"))
        return int(found.split()[1]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _embedder(name: str) -> RandomVectors | RealQuestions:
    from bench.speed.vectors import RandomVectors, RealQuestions, real

    return RandomVectors() if name == RandomVectors.name else RealQuestions(real(name))


if __name__ == "__main__":
    main(*sys.argv[1:])
