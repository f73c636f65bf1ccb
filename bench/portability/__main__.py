"""`python -m bench.portability`: backups from one database restored into the other, there and back.

Every step is a process of its own, so that its peak memory is its own. The tables of the last backup are those of the
first, but for one event of each restore (the exit code is 1 where they are not). Without --db it starts a PostgreSQL of
its own from the wheel that the tests use.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Fill, back up and restore for each size; 1 where any table differs."""
    parser = argparse.ArgumentParser(prog="python -m bench.portability", description=__doc__)
    parser.add_argument(
        "--db", metavar="URL", help="an empty PostgreSQL database, for one size (default: a server of its own)"
    )
    parser.add_argument("--memories", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--no-vectors", action="store_true", help="leave vectors out of the backups")
    asked = parser.parse_args(arguments)
    differs = False
    with contextlib.ExitStack() as stack:
        new_database = (lambda: asked.db) if asked.db else stack.enter_context(_server()).new_database
        for count in asked.memories:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            url = new_database()
            differs |= _there_and_back(folder, url, count, vectors=not asked.no_vectors)
    return int(differs)


def _there_and_back(folder: Path, url: str, count: int, *, vectors: bool) -> bool:
    """SQLite to PostgreSQL to a second SQLite, a line for each step; whether anything differs."""
    first, second = str(folder / "first.db"), str(folder / "second.db")
    print(f"{count:,} memories{'' if vectors else ' without vectors'}", flush=True)
    _step("filled sqlite", "fill", first, str(count))
    backups = []
    for number, (place, name) in enumerate(((first, "sqlite"), (url, "postgres"), (second, "sqlite"))):
        file = str(folder / f"{number}.backup")
        if number:
            _step(f"restored into {name}", "restore", place, str(folder / f"{number - 1}.backup"))
        backups.append(_step(f"backed up {name}", "backup", place, file, *([] if vectors else ["--no-vectors"])))
    again = _step("restored again, nothing to add", "restore", second, str(folder / "1.backup"))
    cleared = _step("restored in place of all", "replace", second, str(folder / "1.backup"))
    tables = [
        {name: value for name, value in backup["tables"].items() if name != "memory_events"} for backup in backups
    ]
    wrong = sorted({name for table in tables for name in table if table[name] != tables[0][name]})
    print(
        f"  the tables of all three backups {'differ: ' + ', '.join(wrong) if wrong else 'have the same digests'}",
        flush=True,
    )
    return bool(wrong) or again["memories"] != 0 or cleared["cleared"] != count


def _step(title: str, *arguments: str) -> dict[str, Any]:
    ran = subprocess.run(  # this interpreter, with our own arguments
        [sys.executable, "-m", "bench.portability.step", *arguments], check=True, stdout=subprocess.PIPE
    )
    found: dict[str, Any] = json.loads(ran.stdout)
    size = f", {found['bytes'] / 1e6:,.1f} MB" if "bytes" in found else ""
    print(
        f"  {title}: {found['seconds']:.1f} s, CPU {found['cpu']:.1f} s, peak {found['peak_mb']:,.0f} MB{size}",
        flush=True,
    )
    return found


@contextlib.contextmanager
def _server() -> Iterator[Any]:
    from tests.support.postgres import PostgresServer

    with PostgresServer() as server:
        yield server


if __name__ == "__main__":
    sys.exit(main())
