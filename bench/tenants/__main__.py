"""`python -m bench.tenants`: 100,000 memories in 1,000 tenants on PostgreSQL, searched by one of them at a time.

A search without the embedding of its question, beside the bare SQL of the same work in the same run. Without --db it
starts a PostgreSQL of its own from the wheel that the tests use. With --cache-mb it is one process over one SQLite file
that keeps no more than that of its vectors: every tenant is searched in turn. With --footprint it prints what a
memory takes on the server, and what observes and recalls write to its log.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import sys
import time
from collections import defaultdict
from typing import TYPE_CHECKING

import psycopg
from pgvector.psycopg import register_vector

from bench.speed import language
from bench.speed.vectors import RandomVectors
from bench.tenants import bare, cached, client, footprint, scans
from engrain import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_QUESTIONS = 300
_OURS, _SAME = "engrain recall", "the same statements, bare"


def main(arguments: Sequence[str] | None = None) -> int:
    """Fill, search both ways by turns, print the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.tenants", description=__doc__)
    parser.add_argument("--db", metavar="URL", help="an empty database (default: a server of its own)")
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--tenants", type=int, default=1_000)
    parser.add_argument(
        "--cache-mb", type=int, metavar="MB", help="storage.cache_mb of one process over one SQLite file"
    )
    parser.add_argument("--footprint", action="store_true", help="bytes of a memory, and of the log that verbs write")
    parser.add_argument("--client", action="store_true", help="CPU of the client alone, for the first of the tenants")
    parser.add_argument("--scans", action="store_true", help="ways to compare the vectors of one of the tenants")
    asked = parser.parse_args(arguments)
    if asked.cache_mb is not None:
        cached.run(asked.tenants, asked.memories // asked.tenants, asked.cache_mb)
        return 0
    with contextlib.ExitStack() as stack:
        url = asked.db or stack.enter_context(_server(shared_buffers="512MB" if asked.scans else "32MB"))
        if asked.scans:
            scans.run(url, tenants=asked.tenants, memories=asked.memories)
            return 0
        embedder = RandomVectors()
        memory = stack.enter_context(Memory.open(url, embedder=embedder))
        said = language.talk(asked.memories)
        each = asked.memories // asked.tenants
        seconds = _timed(lambda: _fill(memory, said, each))
        print(f"{asked.memories:,} memories in {asked.tenants:,} tenants: {asked.memories / seconds:,.0f} a second")
        if asked.footprint:
            footprint.report(memory, url, tenants=asked.tenants, memories=asked.memories, rounds=_QUESTIONS)
        elif asked.client:
            client.report(memory, said[:each], questions=_QUESTIONS)
        else:
            _report(_searched(memory, url, said, each))
    return 0


@contextlib.contextmanager
def _server(**settings: str) -> Iterator[str]:
    from tests.support.postgres import PostgresServer

    with PostgresServer(**settings) as server:
        yield server.new_database()


def _fill(memory: Memory, said: list[language.SpokenTurn], each: int) -> None:
    """Every tenant its share of the talk, with vectors; then statistics, as a server keeps them by itself."""
    for place in range(0, len(said), each):
        agent = memory.agent("aide", tenant=f"tenant {place // each}")
        for turn in said[place : place + each]:
            agent.observe(turn.content, session=turn.session, speaker=turn.speaker, event_time=turn.said_at)
        if place // each % 100 == 99:
            print(f"{time.strftime('%H:%M:%S')}  {place + each:,} remembered", file=sys.stderr, flush=True)
    memory.flush()


def _searched(memory: Memory, url: str, said: list[language.SpokenTurn], each: int) -> dict[str, list[float]]:
    """Seconds of each search, ours and bare, on the wall: most of the work is another process's."""
    took: dict[str, list[float]] = defaultdict(list)
    embedder = RandomVectors()
    with psycopg.connect(url, autocommit=True, prepare_threshold=2) as db:
        register_vector(db)
        db.execute("ANALYZE")
        asked = language.questions(said, _QUESTIONS, naming=True)
        for number, question in enumerate(asked):
            tenant = f"tenant {number * 7 % (len(said) // each)}"
            agent = memory.agent("aide", tenant=tenant)
            [vector] = embedder.embed([question], role="query")
            db.execute("SELECT set_config('engrain.tenant_id', %s, false)", (tenant,))
            [(namespace,)] = db.execute(
                "SELECT namespace FROM namespaces WHERE tenant_id = %s AND kind = 'episode'", (tenant,)
            ).fetchall()

            with bare.recorded() as statements:
                agent.recall(question)

            def same(tenant: str = tenant, statements: list[tuple[object, object]] = statements) -> None:
                bare.replayed(db, statements, tenant=tenant)

            def ours(agent: object = agent, question: str = question) -> None:
                agent.recall(question)  # type: ignore[attr-defined]  # an Agent, kept from the loop

            def plain(tenant: str = tenant, space: int = namespace, question: str = question) -> None:
                bare.search(db, question, vector, tenant=tenant, namespace=space)  # noqa: B023  # called before the loop goes on

            for name, call in ((_OURS, ours), (_SAME, same), ("three statements by hand", plain)):
                took[name].append(_timed(call))
    return took


def _timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _report(took: dict[str, list[float]]) -> None:
    ours = statistics.median(took[_OURS])
    for name, seconds in took.items():
        ordered = sorted(seconds)
        middle, late = statistics.median(ordered), ordered[int(len(ordered) * 0.95)]
        print(
            f"{name:26} p50 {middle * 1e3:6.2f} ms   p95 {late * 1e3:6.2f} ms   recall is {ours / middle:.2f} times it"
        )


if __name__ == "__main__":
    sys.exit(main())
