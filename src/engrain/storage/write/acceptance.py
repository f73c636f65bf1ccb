"""Acceptance of pending facts: a confirmed one is trusted like what a user said, and takes its slot."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engrain.domain.memories.trust import TRUST
from engrain.domain.records import Fact, MemoryRecord
from engrain.storage import selection
from engrain.storage.write import arrivals, batches, changes, periods, updates

if TYPE_CHECKING:
    from engrain.storage.unit_of_work import UnitOfWork


def accept(work: UnitOfWork, id_: str) -> MemoryRecord | None:
    """Confirm a fact or rule as `changes.confirm`, for a user: it is trusted from now as what the user said.

    A fact that was pending supersedes the one in its slot. None if the caller sees no such memory.

    Raises:
        InvalidInput: it is an episode, or no longer active.
    """
    seen = [memory for _, memory in selection.load_visible(work, [id_]) if isinstance(memory, Fact)]
    pending = next((fact for fact in seen if fact.is_pending), None)
    if pending is not None:
        trusted = replace(pending, metadata={**pending.metadata, TRUST: "user"})
        arrivals.lock_facts(work, [id_], beside=[trusted])
    accepted = changes.confirm(work, id_, accepts=True)
    if pending is None or not isinstance(accepted, Fact):
        return accepted
    fitted, holders, before = arrivals.fit_into_slot(work, accepted)
    for doc, holder in holders:
        updates.close(work, doc, holder, accepted)
    value = batches.key_columns(fitted)["value_key"]
    work.run("fill_slot", tenant_id=accepted.tenant_id, id=id_, value=value, older=fitted.supersedes_id)
    periods.end_before(work, fitted, before)
    periods.end_superseded(work, fitted)
    for _, holder in holders:
        updates.connect_superseded(work, accepted, holder)
    [(doc, stored)] = [(doc, fact) for doc, fact in selection.load_visible(work, [id_]) if isinstance(fact, Fact)]
    updates.change_end(work, doc, stored, fitted.valid_to, by=fitted)
    return fitted
