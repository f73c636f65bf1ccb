"""Footprint of memories in PostgreSQL: bytes of tables and indexes, and bytes of its log an observe and a recall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg

from bench.speed import language

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain import Memory

_SIZES = """
SELECT CAST(relname AS text), pg_table_size(oid), pg_indexes_size(oid) FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'm') ORDER BY pg_total_relation_size(oid) DESC
"""
_INDEXES = """
SELECT CAST(relname AS text), pg_relation_size(oid) FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind = 'i' ORDER BY pg_relation_size(oid) DESC
"""
_SHOWN = 16
_TURNS = 10  # of a session, one after the other


def report(memory: Memory, url: str, *, tenants: int, memories: int, rounds: int) -> None:
    """Print what a memory of a filled database takes, then what `rounds` of observes and recalls write to the log."""
    said = language.talk(2 * rounds)
    questions = language.questions(said, rounds, naming=True)
    agents = [memory.agent("aide", tenant=f"tenant {number}") for number in range(tenants)]

    def observe(number: int) -> None:
        turn = said[number % len(said)]
        agents[number // _TURNS % tenants].observe(
            turn.content, session=f"more {number // _TURNS}", speaker=turn.speaker, event_time=turn.said_at
        )

    def recall(number: int) -> None:
        agents[number % tenants].recall(questions[number % len(questions)])

    def recall_and_flush(number: int) -> None:
        recall(number)
        memory.parts.references.flush()

    with psycopg.connect(url, autocommit=True) as db:
        _print_sizes(db, memories)
        print("bytes of the log, a call (without images of whole pages where full_page_writes is off)")
        for name, call in (
            ("observe, with its vector", observe),
            ("recall, counted alone", recall_and_flush),
            ("recall, counted with others", recall),
        ):
            print(f"{name:34} {measure_log(db, memory, call, rounds):9,.0f}", flush=True)


def _print_sizes(db: psycopg.Connection[Any], memories: int) -> None:
    db.execute("VACUUM ANALYZE")
    sizes = db.execute(_SIZES).fetchall()
    whole = sum(table + indexes for _, table, indexes in sizes)
    print(f"{whole / memories:,.0f} bytes a memory, tables and indexes:")
    for name, table, indexes in sizes[:_SHOWN]:
        print(f"  {name:26} {table / memories:8,.0f} {indexes / memories:8,.0f}")
    for name, size in db.execute(_INDEXES).fetchall()[:_SHOWN]:
        print(f"  {name:34} {size / memories:8,.0f}")


def measure_log(db: psycopg.Connection[Any], memory: Memory, call: Callable[[int], None], rounds: int) -> float:
    """Measure the bytes of the server's log that a call writes: of the server as a whole, which does nothing else."""
    for number in range(rounds // 10):
        call(number)
    _flush(memory)
    before = _read_position(db)
    for number in range(rounds):
        call(number)
    _flush(memory)
    return (_read_position(db) - before) / rounds


def _flush(memory: Memory) -> None:
    """Write all vectors and references that wait."""
    memory.flush()
    memory.parts.references.flush()


def _read_position(db: psycopg.Connection[Any]) -> int:
    [(position,)] = db.execute("SELECT CAST(pg_current_wal_insert_lsn() - '0/0' AS bigint)").fetchall()
    return int(position)
