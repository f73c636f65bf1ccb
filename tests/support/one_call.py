"""One call, one transaction: functions of the storage rooms as methods of a store, for tests that call one by one.

A caller that names pools is in these pools: the adapter writes its memberships before the call.
"""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from engrain.domain.entities.registry import merged_into
from engrain.domain.records import Caller, Fact
from engrain.storage import jobs, selection
from engrain.storage.access import keys, pools
from engrain.storage.entities import entity_merges, lookup, mentions, registry, subjects
from engrain.storage.entities import removal as entity_removal
from engrain.storage.exact import items, logs
from engrain.storage.reports import overviews, stats, surveys, tenants
from engrain.storage.runs import actions, claims, undo
from engrain.storage.search import entity_mentions, history, matching, namespaces, recency
from engrain.storage.search.candidates import RankedDocs
from engrain.storage.transaction import for_every_user
from engrain.storage.unit_of_work import Snapshot, UnitOfWork
from engrain.storage.write import arrivals, changes, cleanup, embedding_versions, removal, sweeps
from tests.support.aging import age
from tests.support.traits import read_traits, recall_traits

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.storage.store import SqlStore


def _introduce(work: UnitOfWork, entities: Any, memories: Any) -> Any:
    for entity in entities:
        registry.put_entity(work, entity)
    return arrivals.put(work, memories)


def _put_mentioning(work: UnitOfWork, memories: Any, names: Any, choose: Any) -> Any:
    work.backend.lock(work, (), [memory for memory in memories if isinstance(memory, Fact)])
    chosen = choose(lookup.find_named(work, names)) if names else choose([])
    known = registry.lock_entities(work, work.tenant_id, {id_ for ids in chosen.values() for id_ in ids})
    standing = {id_ for id_, entity in known.items() if merged_into(entity) is None}
    mentioned = {id_: standing & set(ids) for id_, ids in chosen.items()}
    return mentions.put_with_mentions(work, memories, mentioned)


def _put_related(work: UnitOfWork, fact: Any, related: Any) -> Any:
    arrivals.lock_slot(work, fact)
    return arrivals.put_related(work, fact, related)


@for_every_user
def _erase(work: UnitOfWork, ids: Any) -> list[str]:
    return [memory.id for memory, _ in removal.erase(work, ids, "none")[0]]


def _search_vectors(snapshot: Snapshot, request: Any, vector: Any, limit: int, *, also: Any = ()) -> RankedDocs:
    return snapshot.search_vectors(request, vector, limit, also=np.array(sorted(set(also)), np.int64))


READS: dict[str, Callable[..., Any]] = {
    "get": selection.load_memories,
    "find_active_fact": selection.find_active_fact,
    "is_active_fact": selection.is_active_fact,
    "find_erased": selection.find_erased,
    "load_learned": selection.load_learned,
    "load_forgotten": history.load_forgotten,
    "namesakes": subjects.find_namesakes,
    "applications": history.load_applications,
    "history": history.load_history,
    "links": history.load_links,
    "events": history.load_events,
    "entities": lookup.load_entities,
    "stats": stats.count_memories,
    "waiting": namespaces.count_waiting,
    "links_from": history.load_links_from,
    "vectors_of": surveys.load_vectors,
    "unmentioned": surveys.find_unmentioned,
    "find_entities": lookup.list_entities,
    "entities_named": lookup.find_named,
    "resembling": lookup.find_resembling,
    "facts_about": lookup.load_facts_about,
    "pending_sessions": claims.list_pending_sessions,
    "is_session_consolidated": claims.is_session_consolidated,
    "pending_of_session": claims.count_pending,
    "runs": claims.list_runs,
    "keys": keys.list_keys,
    "read_log": logs.read,
    "count_log": logs.count_entries,
    "log_sessions": logs.list_sessions,
    "log_subkeys": logs.list_subkeys,
    "find_item": items.find,
    "item_versions": items.list_versions,
    "list_items": items.list_items,
    "indexed_items": items.list_indexed,
    "unindexed_items": items.list_unindexed,
    "item_namespaces": items.count_namespaces,
    "find_key": keys.find_key,
    "activity": overviews.count_activity,
    "latest_reflection": recency.load_latest_reflection,
    "newest_turn": recency.find_newest_turn,
}
SEARCHES: dict[str, Callable[..., Any]] = {
    "keyword": Snapshot.search_words,
    "nearest": _search_vectors,
    "newest": recency.find_newest,
    "important": recency.find_important,
    "mentioning": entity_mentions.find_mentioning,
    "traits": read_traits,
    "recalled_traits": recall_traits,
    "load": matching.load_matching,
    "recent": recency.load_newest,
    "newest_rules": recency.load_newest_rules,
    "neighbours": matching.load_neighbours,
    "page": surveys.load_page,
    "mentions_of": entity_mentions.load_mentions,
    "unenriched": lookup.find_unenriched,
    "standouts": overviews.find_standouts,
}
WRITES: dict[str, Callable[..., Any]] = {
    "put": arrivals.put,
    "put_related": _put_related,
    "supersede": arrivals.supersede,
    "touch": changes.touch,
    "count_references": changes.count_references,
    "confirm": changes.confirm,
    "age": age,
    "mark": changes.mark,
    "forget": removal.forget,
    "erase": _erase,
    "link": lambda work, link: changes.link(work, link) is link,
    "mention": mentions.mention,
    "put_entity": registry.put_entity,
    "put_mentioning": _put_mentioning,
    "introduce": _introduce,
    "remove_entities": entity_removal.remove_entities,
    "change_entity": registry.change_entity,
    "merge_entities": entity_merges.merge_entities,
    "unmerge_entities": entity_merges.unmerge_entities,
    "enrich": mentions.enrich,
    "claim": claims.claim_run,
    "renew": claims.renew_run,
    "carry_out": claims.carry_out,
    "doubt": actions.doubt_fact,
    "give_up": claims.give_up,
    "undo": undo.undo_run,
    "create_pool": pools.create_pool,
    "join_pool": pools.join_pool,
    "leave_pool": pools.leave_pool,
    "delete_pool": pools.delete_pool,
    "put_key": keys.put_key,
    "append_log": logs.append,
    "pop_log": logs.pop,
    "delete_log": logs.delete,
    "write_items": items.write,
    "revoke_key": keys.revoke_key,
    "use_key": keys.use_key,
    "limit_key": keys.limit_key,
}
INSPECTIONS: dict[str, Callable[..., Any]] = {
    "tenants": tenants.list_tenants,
    "embedding_versions": embedding_versions.load_versions,
    "unembedded": embedding_versions.find_unembedded,
    "jobs": jobs.list_jobs,
    "last_firing": jobs.find_last_firing,
}
TENANT_INSPECTIONS: dict[str, Callable[..., Any]] = {
    "agents": tenants.list_agents,
    "agent_counts": tenants.load_agent_counts,
    "learners": tenants.list_learners,
}
MAINTENANCE: dict[str, Callable[..., Any]] = {
    "add_job": jobs.add_job,
    "take_job": jobs.take_job,
    "renew_job": jobs.renew_job,
    "end_job": jobs.end_job,
    "retry_job": jobs.retry_job,
    "prune_jobs": jobs.prune_jobs,
}


_OF_POOLS = (pools.create_pool, pools.join_pool, pools.leave_pool, pools.delete_pool)


class _Snapshots(threading.local):
    """The snapshot that a thread is in."""

    snapshot: Any = None
    tenant_id: str | None = None


class OneCall:
    """A store whose every verb is a method of one transaction."""

    def __init__(self, store: SqlStore) -> None:
        self.store = store
        self._inside = _Snapshots()
        self._joined: dict[tuple[str, str], set[str]] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in {"attach", "prune_vectors", "switch_version", "begin_version"}:
            self._refuse_inside()
        return getattr(self.store, name) if hasattr(self.store, name) else getattr(self.store.backend, name)

    def read(self, caller: Caller, work: Callable[..., Any], *a: Any, **k: Any) -> Any:
        self._join_pools(caller)
        return self.store.read(caller, work, *a, **k)

    def search(self, caller: Caller, work: Callable[..., Any], *a: Any, **k: Any) -> Any:
        self._join_pools(caller)
        return self.store.search(caller, work, *a, **k)

    def write(self, act: Any, work: Callable[..., Any], *a: Any, **k: Any) -> Any:
        self._join_pools(act.caller)
        return self.store.write(act, work, *a, **k)

    @property
    def _connections(self) -> Any:
        return self.store.backend._connections  # type: ignore[attr-defined]

    @_connections.setter
    def _connections(self, connections: Any) -> None:
        self.store.backend._connections = connections  # type: ignore[attr-defined]

    def pools(self, caller: Caller) -> Any:
        return self._look_up(caller, pools.list_pools)

    def pools_of(self, caller: Caller) -> Any:
        return self._look_up(caller, lambda snapshot: snapshot.caller.pools)

    def _look_up(self, caller: Caller, work: Callable[..., Any]) -> Any:
        bare = Caller(tenant_id=caller.tenant_id, agent=caller.agent)
        outer = self._inside.snapshot
        if outer is not None and (outer.dialect.name == "sqlite" or self._inside.tenant_id == caller.tenant_id):
            return work(Snapshot(outer.db, bare, outer.backend, outer.known))
        return self.store.read(bare, work)

    def put(self, act: Any, memories: Any) -> Any:
        return self._write(act, WRITES["put"], memories) if memories else []

    def speakers(self, request: Any) -> Any:
        return self._read(request.caller, matching.list_speakers)

    def sweep(self, act: Any, kind: Any, policy: Any, *, after: str, limit: int, dry_run: bool = False) -> Any:
        look = sweeps.preview_sweep if dry_run else sweeps.find_due
        seen = self._read(act.caller, look, act, kind, policy, after=after, limit=limit)
        return seen if dry_run else self._write(act, sweeps.sweep, kind, policy, seen)

    def clean(self, act: Any, retention: Any, *, limit: int, dry_run: bool = False) -> Any:
        if dry_run:
            return self._read(act.caller, cleanup.preview_cleanup, act, retention)
        plan = self._read(act.caller, cleanup.plan_cleanup, act, retention, limit)
        return self._write(act, cleanup.clean_up, retention, plan)

    def list_ended(self, act: Any, kind: Any, retention: Any, *, after: str = "", limit: int = 1_000) -> Any:
        return self._read(act.caller, cleanup.list_ended, act, kind, retention, after=after, limit=limit)

    def erase_ended(self, act: Any, retention: Any, ids: Any) -> Any:
        return self._write(act, cleanup.erase_ended, retention, ids)

    def backlogs(self, now: Any, *, tenant_id: str | None = None) -> Any:
        return self._inspect(tenant_id, claims.list_backlogs, now, tenant_id=tenant_id)

    def flush_index(self) -> int:
        return 0 if self._inside.snapshot is not None else self.store.flush_index()

    def in_one_snapshot(self, caller: Caller, work: Callable[[], Any]) -> Any:
        def inside(snapshot: Snapshot) -> Any:
            before = self._inside.snapshot, self._inside.tenant_id
            self._inside.snapshot, self._inside.tenant_id = snapshot, caller.tenant_id
            try:
                return work()
            finally:
                self._inside.snapshot, self._inside.tenant_id = before

        return self._read(caller, inside)

    def _read(self, caller: Caller, work: Callable[..., Any], *a: Any, **k: Any) -> Any:
        outer = self._inside.snapshot
        if outer is not None and (outer.dialect.name == "sqlite" or self._inside.tenant_id == caller.tenant_id):
            return work(Snapshot(outer.db, caller, outer.backend, outer.known), *a, **k)
        self._join_pools(caller)
        return self.store.read(caller, work, *a, **k)

    def _inspect(self, tenant: str | None, work: Callable[..., Any], *a: Any, **k: Any) -> Any:
        outer = self._inside.snapshot
        if outer is not None and outer.dialect.name == "sqlite":
            return work(outer, *a, **k)
        return self.store.inspect(tenant, work, *a, **k)

    def _refuse_inside(self) -> None:
        if self._inside.snapshot is not None:
            raise RuntimeError("a write inside in_one_snapshot, whose work only reads: write before it, or after")

    def _write(self, act: Any, work: Callable[..., Any], *a: Any, **k: Any) -> Any:
        self._refuse_inside()
        if work not in _OF_POOLS:
            self._join_pools(act.caller)
        return self.store.write(act, work, *a, **k)

    def forget_pools(self) -> None:
        """Forget what agents were let be in, of which nothing is left."""
        self._joined.clear()

    def _join_pools(self, caller: Caller) -> None:
        """Let the caller's agent be in the pools that it names, of those that it was ever given here."""
        key, wanted = (caller.tenant_id, caller.agent), set(caller.pools)
        joined = self._joined.get(key, set())
        if joined != wanted:
            self.store.maintain(caller.tenant_id, _change_pools, caller, joined - wanted)
            self._joined[key] = wanted


def _change_pools(tx: Any, caller: Caller, left: set[str]) -> None:
    member = {"tenant_id": caller.tenant_id, "agent": caller.agent}
    at = tx.dialect.time(datetime(2026, 1, 1, tzinfo=UTC))
    for name in left:
        tx.run("remove_member", **member, pool=name)
    for name in caller.pools:
        tx.rows("add_pool", tenant_id=caller.tenant_id, name=name, at=at, metadata=tx.dialect.json({}))
        tx.rows("add_member", **member, pool=name, at=at)


def _read_method(work: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, caller, *a, **k: self._read(caller, work, *a, **k)


def _search_method(work: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, request, *a, **k: _as_list(self._read(request.caller, work, request, *a, **k))


def _as_list(answer: Any) -> Any:
    """An answer, its columns as a list of candidates."""
    return list(answer) if isinstance(answer, RankedDocs) else answer


def _write_method(work: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, act, *a, **k: self._write(act, work, *a, **k)


def _inspect_method(work: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *a, **k: self._inspect(None, work, *a, **k)


def _tenant_method(work: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, tenant, *a, **k: self._inspect(tenant, work, tenant, *a, **k)


def _maintain_method(work: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *a, **k: (self._refuse_inside(), self.store.maintain(None, work, *a, **k))[1]


for _table, _method in (
    (READS, _read_method),
    (SEARCHES, _search_method),
    (WRITES, _write_method),
    (INSPECTIONS, _inspect_method),
    (TENANT_INSPECTIONS, _tenant_method),
    (MAINTENANCE, _maintain_method),
):
    for _name, _work in _table.items():
        if _name not in vars(OneCall):
            setattr(OneCall, _name, _method(_work))
