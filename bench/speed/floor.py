"""The floor of an import: the statements that it runs, with their values, run again without anything around them.

What an import takes beyond them is the reading, checking, naming and stemming of its lines. What they take beyond the
bare inserts is the schema: seven indexes of turns, events, the words of neighbours, and the counts of words.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from itertools import groupby
from operator import itemgetter
from statistics import median
from typing import TYPE_CHECKING, Any

import apsw

from bench.speed.limits import PlainTables
from bench.speed.operations import line
from bench.speed.stopwatch import per_call, total
from engrain import Memory
from engrain.storage.sqlite.connections import Connections

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from bench.speed.language import SpokenTurn
    from bench.speed.operations import Figures

Ran = tuple[str, Any]
"""A statement, and what it was bound to."""

_ROUNDS = 3
_SHOWN = 8
_CHARACTERS_SHOWN = 44


def measure(said: Sequence[SpokenTurn], folder: Path) -> tuple[Figures, Figures]:
    """CPU microseconds a turn of an import, of its statements alone and of bare inserts, medians of rounds by turns.

    And those of each statement.
    """
    path = folder / "talk.jsonl"
    path.write_text("".join(json.dumps(line(turn)) + "\n" for turn in said), encoding="utf-8")
    ran = list(_split(_record(path, folder / "recorded.db")))
    took: dict[str, list[float]] = {"import_us": [], "statements_us": [], "plain_bulk_us": []}
    spent: Figures = defaultdict(float)
    for number in range(_ROUNDS):
        tables = PlainTables(folder / f"plain {number}.db")
        took["plain_bulk_us"].append(tables.fill(said))
        tables.close()
        with Memory.open(folder / f"import {number}.db", embedder="none") as memory:
            agent = memory.agent("assistant")
            took["import_us"].append(total(lambda: agent.import_file(path, format="jsonl")))  # noqa: B023  # called here
        took["statements_us"].append(replay(ran, folder / f"replay {number}.db", spent))
    scale = 1e6 / len(said)
    by_statement = {name: seconds * scale / _ROUNDS for name, seconds in spent.items()}
    return {name: median(seconds) * scale for name, seconds in took.items()}, by_statement


def replay(ran: Sequence[Sequence[Ran]], path: Path, spent: Figures) -> float:
    """CPU seconds of running transactions of statements on a new file; each statement's are added to `spent`."""
    Memory.open(path, embedder="none").close()
    connections = Connections(str(path))

    def run(transaction: Sequence[Ran]) -> None:
        with connections.writing() as db:
            cursor = db.cursor()
            for sql, several in groupby(transaction, itemgetter(0)):
                values = [bound for _, bound in several]
                start = time.process_time()
                if len(values) > 1:
                    cursor.executemany(sql, values)
                else:
                    cursor.execute(sql, values[0]).fetchall()
                spent[sql] += time.process_time() - start

    before = sum(spent.values())
    try:
        seconds = sum(per_call(run, ran))
    finally:
        connections.close()
    spent["COMMIT"] += seconds - (sum(spent.values()) - before)
    return seconds


def report(size: int, figures: Figures, by_statement: Figures) -> Iterator[str]:
    """The floor of one size as a table."""
    yield f"IMPORT OF {size:,} TURNS, us of CPU a turn, and times the bare inserts"
    plain = figures["plain_bulk_us"]
    titles = {"plain_bulk_us": "bare inserts", "statements_us": "its statements alone", "import_us": "import of a file"}
    for name, title in titles.items():
        yield f"{title:<{_CHARACTERS_SHOWN}}{figures[name]:>8.1f}{figures[name] / plain:>8.2f}"
    for sql, taken in sorted(by_statement.items(), key=itemgetter(1), reverse=True)[:_SHOWN]:
        yield f"  {' '.join(sql.split())[: _CHARACTERS_SHOWN - 3]:<{_CHARACTERS_SHOWN - 2}}{taken:>8.1f}"


def _record(path: Path, database: Path) -> list[Ran]:
    """Import a file, and return the statements of its writer."""
    ran: list[Ran] = []

    def note(_: object, sql: str, bound: Any) -> bool:
        ran.append((sql, bound))
        return True

    def watch(connection: apsw.Connection) -> None:
        connection.exec_trace = note

    apsw.connection_hooks.append(watch)
    try:
        with Memory.open(database, embedder="none") as memory:
            agent = memory.agent("assistant")
            ran.clear()
            agent.import_file(path, format="jsonl")
            return list(ran)
    finally:
        apsw.connection_hooks.remove(watch)


def _split(ran: Sequence[Ran]) -> Iterator[list[Ran]]:
    """Split statements into transactions, without those that begin and end them."""
    transaction: list[Ran] = []
    for sql, bound in ran:
        if sql == "COMMIT":
            yield transaction
        if sql in {"BEGIN IMMEDIATE", "COMMIT"}:
            transaction = []
        else:
            transaction.append((sql, bound))
