"""Actions of a plan, carried out in a savepoint each, so that one that fails stops no other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engrain.domain import events
from engrain.domain.faults import describe_fault
from engrain.domain.filters import is_hidden
from engrain.domain.memories.lineage import inherit_trust
from engrain.domain.records import Fact, Link, MemoryRecord, Relation, Rule
from engrain.domain.runs.plans import DOUBTED_CONFIDENCE, Action, ActionResult
from engrain.errors import InvalidInput, NotFound
from engrain.storage import selection
from engrain.storage.write import arrivals, changes, updates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.storage.unit_of_work import UnitOfWork


def carry_out_actions(work: UnitOfWork, actions: Sequence[Action]) -> list[ActionResult]:
    """Carry out actions in order, and return their outcomes; later actions use the new id of a renamed memory."""
    done: list[ActionResult] = []
    renamed: dict[str, str] = {}
    for action in actions:
        tried = _try_action(work, action.with_ids(renamed))
        if action.memory is not None and tried.memory_id is not None:
            renamed[action.memory.id] = tried.memory_id
        done.append(tried)
    return done


def _try_action(work: UnitOfWork, action: Action) -> ActionResult:
    """Carry out one action; where it fails, or the database refuses what it writes, nothing of it is left."""
    try:
        memory_id = work.savepoint(lambda: _carry_out(work, action))
    except (InvalidInput, NotFound) as error:
        return ActionResult(kind=action.kind, memory_id=None, error=describe_fault(error))
    except Exception as error:
        refusal = work.statements.refusal(error)
        if refusal is None:
            raise
        return ActionResult(kind=action.kind, memory_id=None, error=describe_fault(refusal))
    return ActionResult(kind=action.kind, memory_id=memory_id)


def doubt_fact(work: UnitOfWork, id_: str, by_id: str) -> Fact | None:
    """Lower the confidence of a fact that another contradicts, as the doubts of a plan; returns it as it is now.

    None if the caller does not see both. A fact that is no longer active stays as it is, and a second call changes
    nothing.

    Raises:
        InvalidInput: one of them is no fact, or both are one; nothing was written.
        InvalidInput, Forbidden: the caller may not change the doubted one; likewise.
    """
    if id_ == by_id:
        raise InvalidInput(f"fact {id_} cannot doubt itself; name two")
    there = [memory for _, memory in selection.load_visible(work, [id_, by_id])]
    work.backend.lock(work, (), [memory for memory in there if isinstance(memory, Fact)])
    locked = selection.load_visible(work, [id_, by_id], lock=work.dialect.lock)
    found = {memory.id: memory for _, memory in locked}
    if len(found) < len({id_, by_id}):
        return None
    updates.check_change(work, found[id_])
    _lower_confidence(work, found[by_id], found[id_])
    [(_, after)] = selection.load_visible(work, [id_])
    return after if isinstance(after, Fact) else None


def _carry_out(work: UnitOfWork, action: Action) -> str:
    """Do it; the id of the memory that was made or confirmed."""
    match action.kind:
        case "confirmation":
            return _confirm(work, action)
        case "new_fact" | "updated_fact" | "new_rule":
            return _learn(work, action)


def _confirm(work: UnitOfWork, action: Action) -> str:
    target_id = action.target_id
    if target_id is None:
        raise InvalidInput("a confirmation names no target_id; say which fact or rule is confirmed")
    if changes.confirm(work, target_id) is None:
        raise NotFound(f"no memory {target_id} is visible to agent {work.agent}; nothing was confirmed")
    return target_id


def _learn(work: UnitOfWork, action: Action) -> str:
    memory = action.memory
    if memory is None:
        raise InvalidInput(f"a {action.kind} brings no memory; say what is to be stored")
    memory = _renew_id(work, memory)
    target = _lock_target(work, action)
    if target is not None and isinstance(memory, Fact):
        memory = replace(memory, supersedes_id=target[1].id)
    sources = [source for _, source in _load_all(work, action.sources, "source", lock=work.dialect.hold)]
    forgotten = next((source.id for source in sources if is_hidden(source)), None)
    if forgotten is not None:
        raise NotFound(f"source {forgotten} was forgotten meanwhile; nothing of this action was written")
    memory = inherit_trust(memory, sources)
    added = arrivals.put_unlocked(work, [memory])
    if not added:
        return memory.id
    [stored] = added
    if target is not None and isinstance(stored, Fact) and stored.slot != target[1].slot:
        arrivals.supersede_from(work, *target, stored)  # which one in its own place is already
    for source in sources:
        link = Link(source_id=stored.id, target_id=source.id, relation="derived_from", created_at=work.act.at)
        updates.add_link(work, stored, source, link)
    for _, doubted in _load_all(work, action.doubts, "doubted fact", lock=work.dialect.lock):
        _lower_confidence(work, stored, doubted)
    return stored.id


def _renew_id(work: UnitOfWork, memory: Fact | Rule) -> Fact | Rule:
    """The memory, under a new id where an undo took back the one it would have."""
    named = {"tenant_id": work.tenant_id, "id": memory.id}
    is_taken_back = work.one("was_taken_back", **named) is not None
    return replace(memory, id=work.ids()) if is_taken_back else memory


def _lock_target(work: UnitOfWork, action: Action) -> tuple[int, Fact] | None:
    """The doc and the fact that an update takes the place of; None for something new.

    Raises:
        InvalidInput, NotFound: an update names none, or none that is still believed.
    """
    if action.kind != "updated_fact":
        return None
    if action.target_id is None:
        raise InvalidInput("an updated_fact names no target_id; say which fact it takes the place of")
    [(doc, target)] = _load_all(work, [action.target_id], "fact to update", lock=work.dialect.lock)
    if not isinstance(target, Fact) or target.validity != "active":
        raise InvalidInput(f"{target.kind} {target.id} is no active fact any more; nothing takes its place")
    return doc, target


def _load_all(work: UnitOfWork, ids: Sequence[str], what: str, *, lock: str) -> list[tuple[int, MemoryRecord]]:
    """Docs and memories, all of them, each once, under one of the dialect's locks.

    Raises:
        NotFound: the caller does not see one.
    """
    if not ids:
        return []
    caller = work.act.caller
    found = selection.load_visible(work, ids, lock=lock)
    there = {memory.id for _, memory in found}
    for id_ in ids:
        if id_ not in there:
            raise NotFound(f"no {what} {id_} is visible to agent {caller.agent}; nothing of this action was written")
    return found


def _lower_confidence(work: UnitOfWork, by: MemoryRecord, seen: MemoryRecord) -> None:
    """Let a fact that is locked be worth less, now that another speaks against it; one no longer believed stays."""
    if not isinstance(by, Fact) or not isinstance(seen, Fact):
        raise InvalidInput(f"{by.kind} {by.id} cannot doubt {seen.kind} {seen.id}; only facts speak against facts")
    [(_, before)] = selection.load_visible(work, [seen.id])  # an action before may have changed it
    if not isinstance(before, Fact) or before.validity != "active" or before.id == by.id:
        return
    after = replace(before, confidence=min(before.confidence, DOUBTED_CONFIDENCE))
    work.run("doubt_fact", tenant_id=after.tenant_id, id=after.id, confidence=after.confidence)
    linked = _connect(work, by, after, "supersedes") is not None
    work.record(events.fact_doubted(work.act, before, after, work.ids, by=by, linked=linked))


def _connect(work: UnitOfWork, source: MemoryRecord, target: MemoryRecord, relation: Relation) -> Link | None:
    """The edge, where it was not there before."""
    link = Link(source_id=source.id, target_id=target.id, relation=relation, created_at=work.act.at)
    return link if updates.connect(work, source, target, link) else None
