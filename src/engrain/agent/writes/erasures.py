"""Erasures: memories that go for good from the database, the queues and the caches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.agent.wiring.acts import new_act
from engrain.domain.memories.erasure import Cascade, DerivedMemory, Erasure, ErasureReport
from engrain.storage.transaction import for_every_user
from engrain.storage.write import removal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.records import Caller, MemoryRecord
    from engrain.storage.unit_of_work import UnitOfWork


def erase_memories(parts: Parts, caller: Caller, ids: Sequence[str], cascade: Cascade) -> ErasureReport:
    """Erase memories, with messages that wait and what was derived from them."""
    if not ids:
        return ErasureReport()
    going: list[MemoryRecord] = []

    @for_every_user  # what was learned from them, by whomever, loses its source
    def erase(work: UnitOfWork) -> tuple[list[Erasure], list[DerivedMemory]]:
        gone, left = removal.erase(work, ids, cascade)
        going[:] = [memory for memory, _ in gone]
        return [erasure for _, erasure in gone], left

    waiting = parts.buffers.erase(caller, ids)
    try:
        erased, derived = parts.store.write(new_act(parts, caller), erase)
    finally:
        if cascade == "tenant":
            parts.note_cache.clear()
        else:
            parts.note_cache.drop_agent(caller)
        parts.buffers.drop_recent(going)
    found = {erasure.id for erasure in erased}
    kept = tuple(id_ for id_ in waiting if id_ not in found)
    return ErasureReport(erased=tuple(erased), waiting=kept, derived=tuple(derived))
