"""Statements on a Citus cluster: those that PostgreSQL runs as one, in parts that one node can run.

A node runs what names one tenant. Citus runs a statement that writes twice part by part, in another order, and reads
what it has just written; rows that are given it writes only beside a row of the tenant's that is there.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from engrain.storage.named_sql import load_bodies
from engrain.storage.postgres.statements import STATEMENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from engrain.storage.transaction import Transaction

_Rows: TypeAlias = "list[Sequence[Any]]"


def _prepare_episode(tx: Transaction, **values: Any) -> _Rows:
    place = {name: values[name] for name in ("tenant_id", "scope")}
    if tx.one("has_memory", tenant_id=values["tenant_id"], id=values["id"]):
        return []
    turn, session, speaker = 0, values["session"], values["speaker"]
    if session is not None:
        taken = tx.one("take_turn", **place, session=session, turns=1, at=values["at"], waits=values["waits"])
        assert taken is not None
        turn = taken[0]
    knows = speaker is not None and tx.one("hold_speaker", **place, speaker=speaker) is not None
    return [(None, turn, knows, False)]


def _take_turns(tx: Transaction, *, tenant_id: str, sessions: str) -> _Rows:
    answers: _Rows = []
    for place, scope, session, turns, at, waits in json.loads(sessions):
        named = {"tenant_id": tenant_id, "scope": scope, "session": session}
        taken = tx.one("take_turn", **named, turns=turns, at=at, waits=waits)
        assert taken is not None
        answers.append((place, taken[0] - turns, False))
    return answers


def _add_events(tx: Transaction, *, rows: str, **values: Any) -> _Rows:
    names = ("id", "scope", "memory_id", "payload")
    given = (dict(zip(names, row, strict=True)) for row in json.loads(rows))
    tx.run_each("add_event_of", [{**values, **row, "payload": tx.dialect.json(row["payload"])} for row in given])
    return []


def _add_tombstones(tx: Transaction, *, rows: str, **values: Any) -> _Rows:
    names = ("id", "kind", "scope", "digest")
    tx.run_each("add_tombstone", [{**values, **dict(zip(names, row, strict=True))} for row in json.loads(rows)])
    return []


def _run_for_each(statement: str, column: str) -> Callable[..., _Rows]:
    """Make the function that runs a statement for each pair, given in JSON, of those that another takes at once."""

    def run(tx: Transaction, **values: Any) -> _Rows:
        given = json.loads(values.pop(f"{column}s"))
        tx.run_each(statement, [{**values, "scope": scope, column: name} for scope, name in given])
        return []

    return run


def _write_entries(tx: Transaction, **values: Any) -> _Rows:
    before = tx.rows("entries_before", tenant_id=values["tenant_id"], docs=values["docs"])
    tx.run("write_places", **values)
    return before


def _take_out(tx: Transaction, **named: Any) -> _Rows:
    totals: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for _, namespace, words in tx.rows("hold_entries", **named):
        totals[namespace][0] += 1
        totals[namespace][1] += words
    if totals:
        tx.run("drop_entries", **named)
    return [(namespace, memories, words) for namespace, (memories, words) in totals.items()]


def _by_tenant(values: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Values of rows of several tenants, each with its own: columns are lists as long as that of the tenants."""
    tenants = values["tenants"]
    columns = {name: column for name, column in values.items() if isinstance(column, list) and name != "tenants"}
    for tenant_id in sorted({*tenants}):
        of_tenant = {
            name: [value for value, owner in zip(column, tenants, strict=True) if owner == tenant_id]
            for name, column in columns.items()
        }
        yield {**{name: values[name] for name in values if name not in ("tenants", *columns)}, **of_tenant} | {
            "tenant_id": tenant_id
        }


def _add_vectors(tx: Transaction, **values: Any) -> _Rows:
    for named in _by_tenant(values):
        named.pop("namespaces")
        tx.run("add_vectors_of", **named)
    return []


def _lock_entries(tx: Transaction, **values: Any) -> _Rows:
    return [(doc, named["tenant_id"]) for named in _by_tenant(values) for doc, *_ in tx.rows("hold_entries", **named)]


def _remove_vectors(tx: Transaction, **values: Any) -> _Rows:
    for named in _by_tenant(values):
        tx.run("remove_vectors_of", **named)
    return []


def _mark_as_embedded(tx: Transaction, **values: Any) -> _Rows:
    for named in _by_tenant(values):
        tx.run("are_embedded_of", **named)
    return []


def _prune_vectors(tx: Transaction, *, limit: int) -> _Rows:
    found = tx.rows("retired_vectors", limit=limit)
    docs: dict[tuple[str, int], list[int]] = defaultdict(list)
    for tenant_id, version, doc in found:
        docs[tenant_id, version].append(doc)
    for (tenant_id, version), those in sorted(docs.items()):
        tx.run("remove_vectors_of", tenant_id=tenant_id, version=version, docs=those)
    return found


def _prune_jobs(tx: Transaction, **values: Any) -> _Rows:
    found = tx.rows("old_jobs", **values)
    tx.run_each("drop_job", [{"tenant_id": tenant_id, "id": id_} for tenant_id, id_ in found])
    return found


def _put_back(tx: Transaction, **named: Any) -> _Rows:
    tx.run("put_back_as", **named, state=1 if tx.one("has_active_vector", **named) is None else 2)
    return []


def _read_searched(tx: Transaction, **values: Any) -> _Rows:
    """In statements of one table each, whose plans a node keeps: to plan their join takes it 3 ms every time.

    What one namespace holds is said of all, which costs a search a look that it need not have taken.
    """
    [version] = tx.rows("searched_version")
    tenant_id = values["tenant_id"]
    found = tx.rows("searched_namespaces", tenant_id=tenant_id, scopes=values["scopes"])
    if not found:
        return [(*version, 0, 0, False, None)]
    those = {"tenant_id": tenant_id, "namespaces": [row[2] for row in found]}
    expired = tx.one("has_expired", **those, now=values["now"]) is not None
    waiting = tx.one("has_waiting", **those) is not None
    return [(*version, 0, 0, False, *row, expired, waiting, 0, has_words) for *row, has_words in found]


def _set_walk(tx: Transaction, *, looked_at: str) -> _Rows:
    for setting in (f"hnsw.ef_search = {int(looked_at)}", "hnsw.iterative_scan = relaxed_order", "enable_sort = off"):
        tx.db.execute(f"SET LOCAL {setting}")
    return []


def _set_index_memory(tx: Transaction, *, memory: str) -> _Rows:
    for setting in (f"maintenance_work_mem = '{memory}'", "max_parallel_maintenance_workers = 0"):
        tx.db.execute(f"SET LOCAL {setting}")
    return []


def _set_nothing(tx: Transaction) -> _Rows:  # noqa: ARG001
    """Nodes read along no index in the order of the coordinator's: it sorts what they answer."""
    return []


_SHARED = load_bodies()
# Counts of the shared statements: those of PostgreSQL join what one node cannot.
_COUNTS = {name: _SHARED[name] for name in ("episode_stats", "fact_stats", "episode_counts")}
_OWN = load_bodies("postgres/citus")
CITUS_STATEMENTS = replace(
    STATEMENTS,
    named=STATEMENTS.named.replace(_COUNTS | _OWN),
    dialect=replace(STATEMENTS.dialect, json_rows=""),
    composed={
        "prepare_episode": _prepare_episode,
        "add_events": _add_events,
        "add_tombstones": _add_tombstones,
        "erase_speakers": _run_for_each("erase_speaker", "speaker"),
        "erase_sessions": _run_for_each("erase_session", "session"),
        "recount_turns": _run_for_each("recount_turns_of", "session"),
        "take_turns": _take_turns,
        "write_entries": _write_entries,
        "take_out": _take_out,
        "add_vectors": _add_vectors,
        "lock_entries": _lock_entries,
        "remove_vectors": _remove_vectors,
        "are_embedded": _mark_as_embedded,
        "prune_vectors": _prune_vectors,
        "prune_jobs": _prune_jobs,
        "put_back": _put_back,
        "searched": _read_searched,
        "walk_settings": _set_walk,
        "index_settings": _set_index_memory,
        "along_indexes": _set_nothing,
    },
)
