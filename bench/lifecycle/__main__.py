"""`python -m bench.lifecycle`: a simulated year on SQLite and PostgreSQL, and a daily sweep beside one bare UPDATE.

Days pass by an injected clock: each has confirmations, marks and a sweep. What is left in the end is the same on both
databases, and what the closed form says. Without --db it starts a PostgreSQL of its own from the wheel that the tests
use.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.lifecycle import cost, year

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Live the year on both, compare, then time sweeps; 1 where anything differs."""
    parser = argparse.ArgumentParser(prog="python -m bench.lifecycle", description=__doc__)
    parser.add_argument("--db", metavar="URL", help="an empty PostgreSQL database (default: a server of its own)")
    parser.add_argument("--facts", type=int, default=300)
    parser.add_argument("--rules", type=int, default=30)
    parser.add_argument("--days", type=int, default=120)
    parser.add_argument("--swept", type=int, default=5_000, help="facts of the sweep that is timed")
    asked = parser.parse_args(arguments)
    size = year.Size(facts=asked.facts, rules=asked.rules, days=asked.days)
    differs = False
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        places = {"sqlite": str(folder / "year.db"), "postgres": asked.db or stack.enter_context(_server())}
        expected = year.closed_form(size)
        for name, place in places.items():
            lived = year.live(place, size)
            wrong = year.differences(expected, lived.states)
            differs |= bool(wrong)
            print(f"{name:9} {size.days} days, {size.facts:,} facts, {size.rules:,} rules: {lived.describe()}")
            print(f"{name:9} {year.summary(lived.states)}; {len(wrong):,} differ from the closed form", flush=True)
        places["sqlite"] = str(folder / "swept.db")
        for name, place in places.items():
            for line in cost.measured(place, asked.swept):
                print(f"{name:9} {line}", flush=True)
    return int(differs)


@contextlib.contextmanager
def _server() -> Iterator[str]:
    from tests.support.postgres import PostgresServer

    with PostgresServer() as server:
        yield server.new_database()


if __name__ == "__main__":
    sys.exit(main())
