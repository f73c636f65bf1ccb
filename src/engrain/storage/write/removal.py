"""Removal of memories: forgetting, erasing, and what hangs off a row that goes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engrain.domain import events
from engrain.domain.access.scopes import GLOBAL_SCOPE
from engrain.domain.filters import is_hidden
from engrain.domain.memories.erasure import Cascade, DerivedMemory, Erasure
from engrain.domain.records import KINDS, Episode, Fact, Kind, MemoryRecord, Rule
from engrain.storage import selection
from engrain.storage.dialects import as_json
from engrain.storage.transaction import repeatable
from engrain.storage.write import periods, updates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engrain.storage.unit_of_work import UnitOfWork

# Statements that clear what names memories of a kind.
_REFERENCES: Mapping[Kind, Sequence[str]] = {
    "episode": ("clear_fact_source", "clear_rule_source"),
    "fact": ("clear_supersedes",),
    "rule": ("erase_applications",),
}


@repeatable
def forget(work: UnitOfWork, id_: str) -> MemoryRecord | None:
    """Forget one memory: an episode expires now, a fact is retracted, a rule gets `metadata.forgotten`.

    Out of the searches when this is committed, and by `metadata.hidden` out of those of the past; what had ended
    before keeps the time of its end. Returns the memory as it is now, or None if the caller sees no such memory; one
    that was forgotten before stays as it is.
    """
    work.backend.lock(work, [id_], ())
    seen = updates.lock_one(work, id_)
    if seen is None:
        return None
    doc, memory = seen
    updates.check_change(work, memory)
    at = work.act.at
    if is_hidden(memory) and (not memory.is_active(at) or work.index.is_out(work, doc)):
        return memory  # if it is active, by a clock that is ahead of this one
    if not memory.is_active(at):
        at = (memory.expires_at if isinstance(memory, Episode) else memory.invalidated_at) or at
    metadata = {**memory.metadata, "hidden": True} | ({"forgotten": True} if memory.kind == "rule" else {})
    named = {"tenant_id": memory.tenant_id, "id": memory.id, "at": work.dialect.time(at)}
    work.run(f"forget_{memory.kind}", **named, metadata=work.dialect.json(metadata))
    forgotten: MemoryRecord
    match memory:
        case Episode():
            forgotten = replace(memory, metadata=metadata, expires_at=at)
        case Fact():
            forgotten = replace(memory, metadata=metadata, validity="retracted", invalidated_at=at)
            if memory.validity == "active":
                periods.reopen(work, memory)
        case Rule():
            forgotten = replace(memory, metadata=metadata, invalidated_at=at)
    updates.take_out(work, doc, memory)
    work.record(events.memory_forgotten(work.act, memory, work.ids))
    return forgotten


def erase(
    work: UnitOfWork, ids: Sequence[str], cascade: Cascade
) -> tuple[list[tuple[MemoryRecord, Erasure]], list[DerivedMemory]]:
    """Remove memories for good, with what was derived from them; returns what went, and what is left of it.

    Rows, vectors, words, links and the payloads of their events go; references to them in `source_episode_id` and
    `supersedes_id` become None. A tombstone with a digest stays, and the event `memory_erased`; the id is never used
    again. Locked whole before anything of them goes: whoever links them, or writes down what happened to one, has
    finished by then, or finds nothing.

    Derived from a memory is whatever is linked `derived_from` it, or names it in `source_episode_id`, and so on. Of
    what is left the caller is told what it sees alone; whoever may not change what is everybody's leaves it.
    """
    roots = [memory.id for memory in selection.load_memories(work, ids)]
    everywhere = cascade == "tenant"
    derived = find_derived(work, roots, everywhere=everywhere)
    while True:
        staying = [memory for memory in selection.load_memories(work, sorted(derived)) if _stays(work, memory, cascade)]
        going = sorted(derived.keys() - {memory.id for memory in staying})
        locked = lock_going(work, [*roots, *going], everywhere=everywhere)
        later = find_derived(work, roots, everywhere=everywhere)
        if later.keys() <= derived.keys():  # else somebody derived more before all was locked
            break
        derived |= later
    left = [
        DerivedMemory(id=memory.id, kind=memory.kind, scope=memory.scope, derived_from=derived[memory.id])
        for memory in staying
    ]
    return _erase_all(work, locked, derived), left


def _stays(work: UnitOfWork, memory: MemoryRecord, cascade: Cascade) -> bool:
    """Tell whether a derived memory stays: all do, or those of everybody where the caller may not change them."""
    caller = work.act.caller
    is_shared = caller.is_user_bound and memory.user_id is None
    return cascade == "none" or is_shared or not caller.may_change(memory.scope)


def find_derived(work: UnitOfWork, roots: Sequence[str], *, everywhere: bool) -> dict[str, str]:
    """Find what was derived from some memories, step by step, each with the one of them that it comes from."""
    origins: dict[str, str] = {}
    step = named = {id_: id_ for id_ in roots}
    while step:
        rows = work.rows("derived_of", tenant_id=work.tenant_id, ids=work.dialect.listed(sorted(step)))
        found = {id_: step[source] for id_, source in rows if id_ not in origins and id_ not in named}
        if not everywhere and found:
            visible = {memory.id for memory in selection.load_memories(work, sorted(found))}
            found = {id_: root for id_, root in found.items() if id_ in visible}
        origins |= found
        step = found
    return origins


def lock_going(work: UnitOfWork, ids: Sequence[str], *, everywhere: bool) -> list[tuple[int, MemoryRecord]]:
    """Lock what goes: what the caller sees of some ids, or whoever's they are."""
    work.backend.lock_removal(work, ids, everywhere=everywhere)
    work.backend.clear_log(work)
    if not everywhere:
        return selection.load_visible(work, ids, lock=work.dialect.lock_whole)
    kinds: Sequence[Kind] = KINDS if ids else ()
    lock = work.dialect.lock_whole
    return [row for kind in kinds for row in selection.load_by_ids(work, kind, work.tenant_id, ids, lock=lock)]


def _erase_all(
    work: UnitOfWork, going: Sequence[tuple[int, MemoryRecord]], origins: Mapping[str, str]
) -> list[tuple[MemoryRecord, Erasure]]:
    """Erase memories that are locked; `origins` has those that went for the sake of another.

    Raises:
        InvalidInput, Forbidden: the caller may not change one that was named; nothing was erased.
    """
    for _, memory in going:
        if memory.id not in origins:
            updates.check_change(work, memory)
    scopes = {memory.id: memory.scope for _, memory in going}
    digests = erase_locked(
        work, going, {memory.id: _origin(memory, origins.get(memory.id), scopes) for _, memory in going}
    )
    return [
        (
            memory,
            Erasure(
                id=memory.id,
                kind=memory.kind,
                scope=memory.scope,
                digest=digests[memory.id],
                erased_at=work.act.at,
                derived_from=origins.get(memory.id),
            ),
        )
        for _, memory in going
    ]


def _origin(memory: MemoryRecord, origin: str | None, scopes: Mapping[str, str]) -> str | None:
    """Return the origin of a memory for its event, where whoever sees the event could see the origin."""
    return origin if origin is not None and scopes.get(origin) in {memory.scope, GLOBAL_SCOPE} else None


def remove(work: UnitOfWork, going: Sequence[tuple[int, MemoryRecord]]) -> None:
    """Take away rows of a tenant, their places in the searches, links and mentions; what named them names nothing."""
    by_kind: dict[Kind, list[str]] = {}
    for _, memory in going:
        by_kind.setdefault(memory.kind, []).append(memory.id)
    for kind, ids in by_kind.items():
        named = {"tenant_id": work.tenant_id, "ids": work.dialect.listed(ids)}
        for statement in ("erase_links_out", "erase_links_in"):
            work.run(statement, **named, kind=kind)
        for statement in (*_REFERENCES[kind], f"erase_{kind}s"):
            work.run(statement, **named)
        # Whoever noted a mention held the row: now that it is gone, all are there.
        work.run("erase_mentions", **named, kind=kind)
    episodes = [memory for _, memory in going if isinstance(memory, Episode)]
    speakers = sorted({(turn.scope, turn.speaker) for turn in episodes if turn.speaker is not None})
    if speakers:
        work.run("erase_speakers", tenant_id=work.tenant_id, speakers=as_json(speakers))
    sessions = sorted({(turn.scope, turn.session) for turn in episodes if turn.session is not None})
    if sessions:
        work.run("erase_sessions", tenant_id=work.tenant_id, sessions=as_json(sessions))
    if going:
        work.index.erase(work, work.tenant_id, dict(going), work.act.at)
        work.backend.turns.drop([doc for doc, _ in going])


def erase_locked(
    work: UnitOfWork,
    going: Sequence[tuple[int, MemoryRecord]],
    origins: Mapping[str, str | None],
    digests: Mapping[str, str] | None = None,
) -> Mapping[str, str]:
    """Erase memories that are locked, with the payloads of their events; their tombstones stay.

    Their number changes nothing about that of the statements. `origins` has what some were derived from, `digests` all
    that goes in this transaction, where these are a part of it. Returns the digests by id.
    """
    if not going:
        return {}
    digests = digests or {memory.id: events.digest_memory(memory) for _, memory in going}
    for _, memory in going:
        if isinstance(memory, Fact) and memory.validity == "active":
            periods.reopen(work, memory, gone=digests.keys())
    tenant = {"tenant_id": work.tenant_id}
    ids = work.dialect.listed([memory.id for _, memory in going])
    work.run("erase_event_payloads", **tenant, ids=ids, payload=work.dialect.json({}))
    remove(work, going)
    work.record_each(
        [
            events.memory_erased(work.act, memory, work.ids, digest=digests[memory.id], origin=origins.get(memory.id))
            for _, memory in going
        ]
    )
    leave_tombstones(work, [memory for _, memory in going], digests)
    return digests


def leave_tombstones(work: UnitOfWork, memories: Sequence[MemoryRecord], digests: Mapping[str, str]) -> None:
    """Leave a tombstone of each memory that was removed: no backup or export brings it back."""
    if memories:
        rows = [(memory.id, memory.kind, memory.scope, digests[memory.id]) for memory in memories]
        work.run("add_tombstones", tenant_id=work.tenant_id, rows=as_json(rows), erased_at=work.at)
