"""Races: threads that begin together, and a SQLite file that another connection writes to."""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

import apsw

Argument = TypeVar("Argument")
Result = TypeVar("Result")


def run_together(work: Callable[[Argument], Result], arguments: Iterable[Argument]) -> list[Result]:
    """Runs `work` in one thread for each argument, all begun together; the results in order, or the first error."""
    arguments = list(arguments)
    barrier = threading.Barrier(len(arguments))

    def begin(argument: Argument) -> Result:
        barrier.wait()
        return work(argument)

    with ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(begin, arguments))


@contextmanager
def locked(path: Path | str) -> Iterator[None]:
    """Holds the write lock of a SQLite file on a connection of its own, once nobody else writes."""
    with closing(apsw.Connection(str(path))) as other:
        other.set_busy_timeout(60_000)
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")
