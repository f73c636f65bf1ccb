"""Tasks that Citus makes of each statement: one for a statement that one node runs by itself."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import psycopg
from pgvector.psycopg import register_vector

from bench.tenants import bare

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain import Memory

_TASKS = re.compile(r"Task Count: (\d+)")
_PLANNED = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")


def print_tasks(memory: Memory, url: str) -> None:
    """Print how many statements a recall and an observe send, and how many tasks these are."""
    agent = memory.agent("aide", tenant="tenant 1")
    verbs: dict[str, Callable[[], Any]] = {
        "recall": lambda: agent.recall("Who went to Lisbon in the spring?"),
        "observe": lambda: agent.observe("We moved to Lisbon in May.", session="tasks", speaker="Ana"),
        "remember": lambda: agent.remember("Lisbon", subject="Ana", predicate="lives in"),
    }
    with psycopg.connect(url, autocommit=True) as db:
        register_vector(db)
        for verb, call in verbs.items():
            with bare.recorded() as statements:
                call()
            counts = Counter(_count_tasks(db, *statement) for statement in statements if _is_planned(*statement))
            spread = ", ".join(f"{count} of {tasks}" for tasks, count in sorted(counts.items()))
            print(f"{verb}: {counts.total()} statements by number of tasks: {spread}")


def _is_planned(statement: Any, _: Any) -> bool:
    return isinstance(statement, str) and statement.startswith(_PLANNED)


def _count_tasks(db: psycopg.Connection[Any], statement: str, values: Any) -> int:
    """Count the tasks of one statement; 0 for what the coordinator does alone."""
    with db.transaction(force_rollback=True):
        db.execute("SET LOCAL engrain.tenant_id = 'tenant 1'")
        db.execute("SET LOCAL engrain.every_user = 'on'")
        plan = db.execute(f"EXPLAIN (COSTS OFF) {statement}".encode(), values, prepare=False).fetchall()
    tasks = sum(map(int, _TASKS.findall("\n".join(line for (line,) in plan))))
    if tasks > 1:
        print(f"  {tasks} tasks: {statement[:150]}")
    return tasks
