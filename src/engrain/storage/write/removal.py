"""Removal of memories: forgetting, erasing, and what hangs off a row that goes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engrain.domain import events
from engrain.domain.records import Episode, Fact, MemoryRecord, Rule
from engrain.storage import selection
from engrain.storage.transaction import for_every_user, repeatable
from engrain.storage.write import updates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.storage.unit_of_work import UnitOfWork


@repeatable
def forget(work: UnitOfWork, id_: str) -> MemoryRecord | None:
    """Forget one memory: an episode expires now, a fact is retracted, a rule gets `metadata.forgotten`.

    Out of the searches when this is committed, and by `metadata.hidden` out of those of the past. Returns the memory as
    it is now, or None if the caller sees no such memory; one that is no longer live stays as it is.
    """
    work.backend.lock(work, [id_], ())
    seen = updates.lock_one(work, id_)
    if seen is not None:
        updates.check_change(work, seen[1])
    if seen is None or not seen[1].is_live(work.act.at):
        return None if seen is None else seen[1]
    doc, memory = seen
    if work.index.is_out(work, doc):
        return memory  # forgotten before, by a clock that is ahead of this one
    at = work.act.at
    metadata = {**memory.metadata, "hidden": True} | ({"forgotten": True} if memory.kind == "rule" else {})
    noted = work.dialect.json(metadata)
    forgotten: MemoryRecord
    match memory:
        case Episode():
            updates.update_row(work, "forget_episode", memory, metadata=noted)
            forgotten = replace(memory, metadata=metadata, expires_at=at)
        case Fact():
            updates.update_row(work, "forget_fact", memory, metadata=noted)
            forgotten = replace(memory, metadata=metadata, validity="retracted", invalidated_at=at)
        case Rule():
            updates.update_row(work, "forget_rule", memory, metadata=noted)
            forgotten = replace(memory, metadata=metadata, invalidated_at=at)
    updates.take_out(work, doc, memory)
    work.record(events.memory_forgotten(work.act, memory, work.ids))
    return forgotten


@for_every_user
def erase(work: UnitOfWork, ids: Sequence[str]) -> list[str]:
    """Remove memories for good: rows, vectors, words, links, the payloads of their events; returns the ids removed.

    References to them in `source_episode_id` and `supersedes_id` become None. A tombstone with a digest stays, and the
    event `memory_erased`; the id is never used again. Locked whole before anything of them goes: whoever links them, or
    writes down what happened to one, has finished by then, or finds nothing.
    """
    work.backend.lock_removal(work, ids)
    work.backend.clear_log(work)
    found = selection.load_visible(work, ids, lock=work.dialect.lock_whole)
    for doc, memory in found:
        updates.check_change(work, memory)
        _erase(work, doc, memory)
    return [memory.id for _, memory in found]


def remove(work: UnitOfWork, doc: int, memory: MemoryRecord) -> None:
    """Take away a row, its place in the searches, its links and mentions; what named it names nothing."""
    named = {"tenant_id": memory.tenant_id, "id": memory.id}
    work.run("erase_links_out", **named, kind=memory.kind)
    work.run("erase_links_in", **named, kind=memory.kind)
    match memory:
        case Episode():
            work.run("clear_fact_source", **named)
            work.run("clear_rule_source", **named)
        case Fact():
            work.run("clear_supersedes", **named)
        case Rule():
            work.run("erase_applications", **named)
    work.run(f"erase_{memory.kind}", **named)
    # Whoever noted a mention held the row: now that it is gone, all are there.
    work.run("erase_mentions", **named, kind=memory.kind)
    if isinstance(memory, Episode):
        place = {"tenant_id": memory.tenant_id, "scope": memory.scope}
        work.run("erase_speaker", **place, speaker=memory.speaker or "")
        work.run("erase_session", **place, session=memory.session or "")
    work.index.erase(work, doc, memory, work.act.at)


def _erase(work: UnitOfWork, doc: int, memory: MemoryRecord) -> None:
    named = {"tenant_id": memory.tenant_id, "id": memory.id}
    work.run("erase_event_payloads", **named, payload=work.dialect.json({}))
    remove(work, doc, memory)
    tombstone = {"kind": memory.kind, "scope": memory.scope, "digest": events.digest_memory(memory)}
    work.run("add_tombstone", **named, **tombstone, erased_at=work.at)
    work.record(events.memory_erased(work.act, memory, work.ids))
