"""10,000 namespaces of 100 memories each in one process, over one SQLite file: what it holds, and what a search costs.

Every tenant is searched in turn, so that each search reads its namespace from the file; then the last ones again, whose
namespaces are at hand as far as the cache holds them.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.retrieval.measures import percentile
from bench.speed import language
from bench.speed.vectors import RandomVectors
from engrain import Memory

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = 10  # lines of the first round
_AGAIN = 200


def run(tenants: int, each: int, cache_mb: int) -> None:
    """Fill a file, search every tenant in a fresh Memory, print bytes and times."""
    with tempfile.TemporaryDirectory(prefix="engrain-bench-") as folder:
        file = Path(folder) / "tenants.db"
        said = language.talk(each * 10)
        start = time.process_time()
        _fill(file, said, tenants, each)
        seconds = time.process_time() - start
        print(f"{tenants * each:,} memories in {tenants:,} tenants: {tenants * each / seconds:,.0f} a second of CPU")
        questions = language.questions(said, 50, naming=False)
        with Memory.open(file, embedder=RandomVectors(), settings={"storage": {"cache_mb": cache_mb}}) as memory:
            _search(memory, questions, tenants, cache_mb)


def _fill(file: Path, said: Sequence[language.SpokenTurn], tenants: int, each: int) -> None:
    path = file.with_suffix(".jsonl")
    with Memory.open(file, embedder=RandomVectors()) as memory:
        for number in range(tenants):
            at = number % 10 * each
            lines = (
                {"session": turn.session, "role": "user", "speaker": turn.speaker, "content": turn.content}
                for turn in said[at : at + each]
            )
            path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            memory.agent("aide", tenant=f"tenant {number}").import_file(path, format="jsonl")
        memory.flush()


def _search(memory: Memory, questions: Sequence[str], tenants: int, cache_mb: int) -> None:
    def ask(number: int) -> float:
        agent = memory.agent("aide", tenant=f"tenant {number}")
        start = time.process_time()
        assert agent.recall(questions[number % len(questions)])
        return time.process_time() - start

    ask(0)
    print(f"{resident_mb():.0f} MB resident before")
    first: list[float] = []
    print(f"cache_mb = {cache_mb}: at most {cache_mb * 5 / 4:,.0f} MB of vectors, turns and words")
    for number in range(tenants):
        first.append(ask(number))
        if (number + 1) % max(1, tenants // _SHOWN) == 0:
            print(f"{number + 1:7,} tenants searched   {resident_mb():6,.0f} MB resident", flush=True)
    last = [ask(number) for number in range(tenants - min(_AGAIN, tenants), tenants)]
    for name, took in (("first search of a tenant", first), ("the latest tenants again", last)):
        print(
            f"{name:26} p50 {percentile(took, 0.5) * 1e3:6.2f} ms   p95 {percentile(took, 0.95) * 1e3:6.2f} ms of CPU"
        )


def resident_mb() -> float:
    """What this process holds resident, without pages of files."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("RssAnon:")[2].split()[0]) * 1024 / 1e6
