"""`make fuzz`: worlds made at random until their callers have read so many answers, on each database.

`python -m tests.servers.leaks.fuzz --reads 100000 --first-seed 0`. Nothing in an answer may come from what its reader
does not see. It ends with 1, and prints seed, caller and question, where something does.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from engrain.domain.records import Caller
from tests.servers.leaks.agent_probes import READS, Asker, agent_of, memory_of
from tests.servers.leaks.hearing import said, secrets_in, strangers_in
from tests.servers.leaks.world import World, live
from tests.servers.leaks.worlds import make_world
from tests.support.backends import BACKENDS, Backend

_DATABASES = ("sqlite-file", "postgres")
_MOST_SHOWN = 20


@dataclass(frozen=True)
class Reading:
    """One answer: who asked what by which verb, whether there was an answer, and what leaked into it."""

    caller: Caller
    verb: str
    question: str
    has_answer: bool
    leaked: list[str]

    def __str__(self) -> str:
        return f"{self.caller} asked {self.verb}({self.question}): {self.leaked}"


def read_world(backend: Backend, world: World, callers: Iterable[Caller]) -> Iterator[Reading]:
    """Read everything that an agent can read in a world, as each of some callers."""
    with backend.fresh() as store:
        live(store, world)
        with memory_of(store) as memory:
            memory.flush()
            for caller in callers:
                asker = Asker(agent_of(memory, caller), world)
                for verb, probe in READS.items():
                    for question, answer in probe(asker):
                        secrets = secrets_in(said(answer, {}), world, caller, echoes=[question])
                        strangers = [memory.id for memory in strangers_in(answer, caller)]
                        yield Reading(caller, verb, question, bool(answer), [*sorted(secrets), *strangers])


def fuzz(backend: Backend, reads: int, first_seed: int) -> list[str]:
    """Read worlds of one seed after the other until there were enough answers; returns the leaks."""
    leaks: list[str] = []
    answers = 0
    for seed in count(first_seed):
        world = make_world(seed)
        for reading in read_world(backend, world, world.callers):
            answers += 1
            if reading.leaked:
                leaks.append(f"seed {seed}: {reading}")
        print(f"{backend.name}: seed {seed}, {answers:,} of {reads:,} reads, {len(leaks)} leaks", flush=True)
        if answers >= reads:
            return leaks
    raise AssertionError("there is always another seed")


def main() -> int:
    """Read the command line, fuzz each database, and print the leaks."""
    parser = argparse.ArgumentParser(prog="python -m tests.servers.leaks.fuzz", description=__doc__)
    parser.add_argument("--reads", type=int, default=100_000, help="answers to read on each database (100000)")
    parser.add_argument("--first-seed", type=int, default=0, help="seed of the first world (0)")
    asked = parser.parse_args()
    leaks = []
    for name in _DATABASES:
        with tempfile.TemporaryDirectory() as folder:
            leaks += fuzz(Backend(name, BACKENDS[name], Path(folder)), asked.reads, asked.first_seed)
    for leak in leaks[:_MOST_SHOWN]:
        print(leak, file=sys.stderr)
    return 1 if leaks else 0


if __name__ == "__main__":
    sys.exit(main())
