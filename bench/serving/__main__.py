"""`python -m bench.serving`: clients of one `engrain serve`, four recalls to an observe, beside the same in process.

On a SQLite file and on a PostgreSQL of its own from the wheel that the tests use, or on the empty database of --db.
With --chaos that PostgreSQL is restarted and an `engrain worker` killed meanwhile.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.serving import chaos
from bench.serving.clients import Seen, Work, in_process, over_http
from bench.serving.served import Server, fill, opened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SHOWN = (50, 95, 99)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and end with 1 where a client saw an error."""
    parser = argparse.ArgumentParser(prog="python -m bench.serving", description=__doc__)
    parser.add_argument("--db", metavar="URL", help="an empty PostgreSQL database (default: a server of its own)")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--memories", type=int, default=2_000, help="what the agents remember before")
    parser.add_argument("--embedding", default="minilm", help="the embedder of both sides; none for keywords alone")
    parser.add_argument("--only", choices=["sqlite", "postgres"])
    parser.add_argument("--chaos", action="store_true", help="restart PostgreSQL and kill a worker meanwhile")
    parser.add_argument("--json", metavar="FILE", help="every figure")
    asked = parser.parse_args(arguments)
    work = Work(clients=asked.clients, seconds=asked.seconds, talk=asked.memories, retries=asked.chaos)
    settings = {"EMBEDDING__MODEL": asked.embedding}
    if asked.chaos:
        report = chaos.report(work, settings)
        print(json.dumps(report, indent=2))
        return 0 if report["is_sound"] else 1
    figures: dict[str, Any] = {}
    for name in ("sqlite", "postgres"):
        if asked.only in (None, name):
            figures[name] = _measured(name, asked.db, work, settings)
            _print(name, figures[name])
    if asked.json:
        Path(asked.json).write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 1 if any(figure["http"]["errors"] for figure in figures.values()) else 0


def _measured(name: str, url: str | None, work: Work, settings: dict[str, str]) -> dict[str, Any]:
    """Both ways on databases of the same content, one after the other."""
    with _database(name, url) as db:
        with opened(db, settings) as memory:
            fill(memory, work.talk)
        with Server(db, "--no-worker", **settings) as server:
            over_http(Work(clients=work.clients, calls=3, talk=work.talk), server.address)
            megabytes = [server.megabytes]
            middle = threading.Timer(work.seconds / 2, lambda: megabytes.append(server.megabytes))
            middle.start()
            seen = over_http(work, server.address)
            middle.join()
            megabytes.append(server.megabytes)
    with _database(name, None if url is None else f"{url}") as db, opened(db, settings) as memory:
        if url is None:
            fill(memory, work.talk)
        in_process(Work(clients=work.clients, calls=3, talk=work.talk), memory)
        beside = in_process(work, memory)
    return {"http": _figures(seen, work), "in_process": _figures(beside, work), "server_megabytes": megabytes}


@contextlib.contextmanager
def _database(name: str, url: str | None) -> Iterator[str]:
    if name == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield str(Path(folder) / "memory.db")
    elif url is not None:
        yield url
    else:
        from tests.support.postgres import PostgresServer

        with PostgresServer() as server:
            yield server.new_database()


def _figures(seen: Seen, work: Work) -> dict[str, Any]:
    verbs = {
        verb: {"calls": len(took), **{f"p{part}_ms": float(np.percentile(took, part)) * 1e3 for part in _SHOWN}}
        for verb, took in seen.seconds.items()
        if took
    }
    return {"calls_a_second": seen.calls / work.seconds, "errors": seen.errors, **verbs}


def _print(database: str, found: dict[str, Any]) -> None:
    http, beside = found["http"], found["in_process"]
    start, middle, end = found["server_megabytes"]
    print(
        f"{database}: {http['calls_a_second']:.0f} calls a second over HTTP, {beside['calls_a_second']:.0f} in process"
    )
    print(f"  errors: {http['errors'] or 'none'}   server: {start:.0f}, {middle:.0f}, {end:.0f} MB")
    for verb in ("recall", "observe"):
        shown = []
        for name in (f"p{part}_ms" for part in _SHOWN):
            ours, bare = http[verb][name], beside[verb][name]
            shown.append(f"{name.removesuffix('_ms')} {ours:7.1f} ms ({ours / bare:.2f} x)")
        print(f"  {verb:8} {'   '.join(shown)}")


if __name__ == "__main__":
    sys.exit(main())
