"""Writes of memories with the parts of one Memory, and the work that each sets going: vectors, names, caches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from engrain.agent.reads.lookups import find_memory, get_active_fact
from engrain.agent.writes import linking
from engrain.domain.records import DECAY_RATES, Episode, Fact, MemoryRecord, Rule
from engrain.errors import InvalidInput
from engrain.storage.entities.mentions import put_with_mentions
from engrain.storage.transaction import repeatable
from engrain.storage.write import arrivals, updates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.records import Caller, Permanence
    from engrain.domain.requests import Act
    from engrain.storage.unit_of_work import UnitOfWork

_Memory = TypeVar("_Memory", Episode, Fact, Rule)


def new_fact(parts: Parts, act: Act, *, permanence: Permanence = "standard", **values: Any) -> Fact:
    """Return a fact of the caller made now, with these values, not stored yet."""
    return Fact(
        id=parts.ids(),
        tenant_id=act.caller.tenant_id,
        agent=act.caller.agent,
        permanence=permanence,
        decay_rate=DECAY_RATES[permanence],
        created_at=act.at,
        last_confirmed_at=act.at,
        **values,
    )


def store_memory(parts: Parts, act: Act, memory: _Memory, *, idempotency_key: str | None = None) -> _Memory:
    """Store one memory and announce it to the background work; return it as stored, now or when the key was first used.

    Raises:
        InvalidInput: the caller does not see its scope, the key was used for something else, or the source of ids
            repeats itself; nothing was written.
    """
    try:
        stored = store_memories(parts, act, [memory])
    finally:
        parts.note_cache.drop(memory)
    if not stored:
        return _stored_before(parts, act.caller, memory, idempotency_key)
    assert isinstance(stored[0], type(memory))
    return stored[0]


def store_memories(parts: Parts, act: Act, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """Store memories as `linking.put` does, in one transaction, and announce them to the background work."""
    stored = parts.store.write(act, linking.put, parts, memories)
    parts.queue.announce()
    parts.buffers.add_recent(stored)
    return stored


def replace_fact(parts: Parts, act: Act, id_: str, **changes: Any) -> Fact:
    """Supersede an active fact by one with `changes`, which is as the old one stands when this is written otherwise.

    The new fact is the caller's, of now, and has no references.

    Raises:
        NotFound, InvalidInput: as `get_active_fact`, or of the changes; nothing was written.
    """
    anew = {"id": parts.ids(), "agent": act.caller.agent, "created_at": act.at, "last_confirmed_at": act.at}
    fresh = {"supersedes_id": None, "reference_count": 0, "last_referenced_at": None}
    try:
        stored = parts.store.write(act, _replace_fact, parts, id_, {**anew, **fresh, **changes})
    finally:
        parts.note_cache.drop_agent(act.caller)
    parts.queue.announce()
    return stored


@repeatable
def _replace_fact(work: UnitOfWork, parts: Parts, id_: str, changes: Mapping[str, Any]) -> Fact:
    new = replace(get_active_fact(work, id_), **changes)
    work.backend.lock(work, (), [new])
    mentioned = linking.find_mentioned(work, parts, [new])
    locked = arrivals.lock_facts(work, [id_])
    old = locked[id_][1] if locked else get_active_fact(work, id_)  # which says what became of it
    updates.check_change(work, old, says=True)
    for stored in put_with_mentions(work, [replace(old, **changes)], mentioned):
        if isinstance(stored, Fact):
            return stored
    raise InvalidInput(f"id {changes['id']} is taken and nothing was written; the source of ids repeats itself")


def _stored_before(parts: Parts, caller: Caller, memory: _Memory, key: str | None) -> _Memory:
    """Return the memory that a key was first used for.

    Raises:
        InvalidInput: it is another one, or gone.
    """
    if key is None:
        raise InvalidInput(f"id {memory.id} is taken and nothing was written; the source of ids repeats itself")
    stored = parts.store.read(caller, find_memory, memory.id)
    if isinstance(stored, type(memory)) and _statement(stored) == _statement(memory):
        return stored
    other = "a memory that is gone" if stored is None else f"another {stored.kind}"
    raise InvalidInput(f"idempotency_key {key!r} was used for {other} and nothing was written; use a fresh key")


def _statement(memory: MemoryRecord) -> tuple[str, ...]:
    return (memory.subject, memory.predicate, memory.content) if isinstance(memory, Fact) else (memory.content,)
