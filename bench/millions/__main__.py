"""`python -m bench.millions`: one tenant of a million memories and many small ones on a PostgreSQL of its own.

Rows are made by SQL from those of one tenant, without vectors, which takes minutes and about 5 GB of disk; everything
is removed at the end. Each figure is the best of some rounds on the wall, with the server's CPU of that round.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from typing import TYPE_CHECKING, Any

import psycopg

from bench.millions import filling
from bench.scale.cost import cpu_seconds
from bench.speed import language
from engrain import Memory
from engrain.storage.postgres.backend import PostgresBackend
from engrain.storage.store import SqlStore
from tests.support.postgres import PostgresServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

_TURNS, _FACTS = 2_000, 200
_ERASED = 1_000
_SETTINGS = {"shared_buffers": "1GB", "work_mem": "16MB", "max_wal_size": "1GB"}


class _DiskServer(PostgresServer):  # type: ignore[misc]  # which has no types
    """A server whose files are where temporary files go, and not in memory."""

    def _roomiest(self) -> Path | None:
        return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Fill, measure, print the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.millions", description=__doc__)
    parser.add_argument("--copies", type=int, default=450, help=f"of {_TURNS + _FACTS:,} memories, in one tenant")
    parser.add_argument("--tenants", type=int, default=100, help=f"of {_TURNS + _FACTS:,} memories each")
    parser.add_argument("--turns", type=int, default=_TURNS, help="turns of the tenant that is copied")
    parser.add_argument("--facts", type=int, default=_FACTS, help="facts of the tenant that is copied")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--url-file", metavar="PATH", help="write the URL there, measure nothing and wait for input")
    asked = parser.parse_args(arguments)
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(_DiskServer(**_SETTINGS))
        url = server.new_database()
        said = _fill(url, turns=asked.turns, facts=asked.facts, copies=asked.copies, tenants=asked.tenants)
        with psycopg.connect(url) as db:
            [(size,)] = db.execute("SELECT pg_database_size(current_database())").fetchall()
        memories = (asked.turns + asked.facts) * (asked.copies + asked.tenants + 1)
        print(f"{memories:,} memories, {size / 1e9:.1f} GB")
        if asked.url_file is not None:
            with open(asked.url_file, "w", encoding="utf-8") as file:  # noqa: PTH123
                print(url, *server.ports, file=file)
            sys.stdin.readline()
        else:
            measure(url, server.ports, said, rounds=asked.rounds)
    return 0


def _fill(url: str, *, turns: int, facts: int, copies: int, tenants: int) -> list[language.SpokenTurn]:
    start = time.perf_counter()
    store = SqlStore(PostgresBackend(url, read_all=0))  # what is copied is in the keyword index, as in a large tenant
    with Memory(store, embedder=None) as memory:
        said = filling.fill_source(memory, turns=turns, facts=facts)
    filling.multiply(url, copies=copies, tenants=tenants)
    print(f"filled in {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    return said


def measure(url: str, ports: Sequence[int], said: list[language.SpokenTurn], *, rounds: int) -> None:
    """Print what each verb takes of the large tenant, and each report of the database."""
    with Memory.open(url, embedder="none") as memory:
        large = memory.agent("aide", tenant=filling.LARGE)
        asked = iter(language.questions(said, 4 * rounds, naming=True))
        figures: dict[str, Callable[[], Any]] = {
            "recall": lambda: large.recall(next(asked)),
            "stats": large.stats,
            "overview": large.overview,
            "cleanup": lambda: memory.cleanup(tenant=filling.LARGE, dry_run=True),
            "readiness": memory.readiness,
            "metrics": memory.metrics,
            "health": memory.health,
            "thorough": lambda: memory.health(thorough=True),
        }
        for name, call in figures.items():
            _print(name, [_timed(call, ports) for _ in range(1 if name == "thorough" else rounds)])
        with psycopg.connect(url) as db:
            db.execute("SELECT set_config('engrain.every_tenant', 'on', false)")
            ids = _sample(db, rounds=2)
        _print(f"erase {_ERASED:,}", [_timed(lambda some=some: large.erase(some), ports) for some in ids])  # type: ignore[misc]


def _sample(db: psycopg.Connection[Any], *, rounds: int) -> Iterator[list[str]]:
    """Lists of ids of episodes, spread over the large tenant."""
    rows = db.execute(
        "SELECT id FROM episodes TABLESAMPLE SYSTEM (5) REPEATABLE (1) WHERE tenant_id = %s LIMIT %s",
        (filling.LARGE, _ERASED * rounds),
    ).fetchall()
    ids = [id_ for (id_,) in rows]
    return iter([ids[number::rounds] for number in range(rounds)])


def _timed(call: Callable[[], object], ports: Sequence[int]) -> tuple[float, float]:
    """Seconds on the wall and of the server's CPU."""
    cpu, start = cpu_seconds(ports), time.perf_counter()
    call()
    return time.perf_counter() - start, cpu_seconds(ports) - cpu


def _print(name: str, took: Sequence[tuple[float, float]]) -> None:
    wall, cpu = min(took)
    print(f"{name:12} {wall * 1e3:9.1f} ms   server CPU {cpu * 1e3:9.0f} ms", flush=True)


if __name__ == "__main__":
    sys.exit(main())
