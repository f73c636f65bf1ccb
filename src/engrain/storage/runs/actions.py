"""Actions of a plan, carried out in a savepoint each, so that one that fails stops no other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from engrain.domain import events
from engrain.domain.faults import describe_fault
from engrain.domain.records import Fact, Link, MemoryRecord, Rule
from engrain.domain.runs.plans import DOUBTED_CONFIDENCE, ActionResult
from engrain.errors import EngrainError, InvalidInput, NotFound, StorageError
from engrain.storage import selection

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engrain.domain.records import Relation
    from engrain.domain.runs.plans import Action
    from engrain.storage.write.memories import MemoryWrites

_Answer = TypeVar("_Answer")
# Somebody else may take an id or a place between our look and our write; the next try sees what they did.
_MOST_TRIES = 3


def carry_out_actions(unit: MemoryWrites, actions: Sequence[Action]) -> list[ActionResult]:
    """Carry out actions in order, and return their outcomes; later actions use the new id of a renamed memory."""
    done: list[ActionResult] = []
    renamed: dict[str, str] = {}
    for action in actions:
        tried = _try_action(unit, action.with_ids(renamed))
        if action.memory is not None and tried.memory_id is not None:
            renamed[action.memory.id] = tried.memory_id
        done.append(tried)
    return done


def _try_action(unit: MemoryWrites, action: Action) -> ActionResult:
    """What came of one action; where it failed, nothing of it is left."""
    try:
        memory_id = _retry_refusals(unit, lambda: _carry_out(unit, action))
    except (InvalidInput, NotFound, StorageError) as error:
        return ActionResult(kind=action.kind, memory_id=None, error=describe_fault(error))
    return ActionResult(kind=action.kind, memory_id=memory_id)


def doubt_fact(unit: MemoryWrites, id_: str, by_id: str) -> Fact | None:
    """Let one fact cast doubt on another; the other as it is now, None where the caller does not see both."""
    if id_ == by_id:
        raise InvalidInput(f"fact {id_} cannot doubt itself; name two")
    locked = selection.load_visible(unit.tx, unit.act.caller, [id_, by_id], lock=unit.tx.dialect.lock)
    found = {memory.id: memory for _, memory in locked}
    if len(found) < len({id_, by_id}):
        return None
    _lower_confidence(unit, found[by_id], found[id_])
    [(_, after)] = selection.load_visible(unit.tx, unit.act.caller, [id_])
    return after if isinstance(after, Fact) else None


def _retry_refusals(unit: MemoryWrites, work: Callable[[], _Answer]) -> _Answer:
    """What `work` returns; what the database refuses of it alone leaves as an error of ours.

    Raises:
        StorageError: a value or an invariant; the transaction can go on.
    """
    for left in reversed(range(_MOST_TRIES)):
        try:
            return unit.savepoint(work)
        except EngrainError:
            raise
        except Exception as error:
            refusal = unit.tx.statements.refusal(error)
            if refusal is None:
                raise
            if not left:
                raise refusal from error
    raise AssertionError("unreachable: the last try returns or raises")


def _carry_out(unit: MemoryWrites, action: Action) -> str:
    """Do it; the id of the memory that was made or confirmed."""
    match action.kind:
        case "confirmation":
            return _confirm(unit, action)
        case "new_fact" | "updated_fact" | "new_rule":
            return _learn(unit, action)


def _confirm(unit: MemoryWrites, action: Action) -> str:
    target_id = action.target_id
    if target_id is None:
        raise InvalidInput("a confirmation names no target_id; say which fact or rule is confirmed")
    if unit.confirm(target_id) is None:
        raise NotFound(f"no memory {target_id} is visible to agent {unit.act.caller.agent}; nothing was confirmed")
    return target_id


def _learn(unit: MemoryWrites, action: Action) -> str:
    memory = action.memory
    if memory is None:
        raise InvalidInput(f"a {action.kind} brings no memory; say what is to be stored")
    memory = _renew_id(unit, memory)
    target = _lock_target(unit, action)
    if target is not None and isinstance(memory, Fact):
        memory = replace(memory, supersedes_id=target[1].id)
    sources = [source for _, source in _load_all(unit, action.sources, "source", lock=unit.tx.dialect.hold)]
    added = unit.add([memory])
    if not added:
        return memory.id
    [stored] = added
    if target is not None and isinstance(stored, Fact) and stored.slot != target[1].slot:
        unit.close(*target, stored)  # which one in its own place is already
        _connect(unit, stored, target[1], "supersedes")
    for source in sources:
        link = _connect(unit, stored, source, "derived_from")
        if link is not None:
            unit.record(events.link_created(unit.act, link, unit.ids, ends=(stored, source)))
    for _, doubted in _load_all(unit, action.doubts, "doubted fact", lock=unit.tx.dialect.lock):
        _lower_confidence(unit, stored, doubted)
    return stored.id


def _renew_id(unit: MemoryWrites, memory: Fact | Rule) -> Fact | Rule:
    """The memory, under a new id where an undo took back the one it would have."""
    named = {"tenant_id": unit.act.caller.tenant_id, "id": memory.id}
    is_taken_back = unit.tx.one("was_taken_back", **named) is not None
    return replace(memory, id=unit.ids()) if is_taken_back else memory


def _lock_target(unit: MemoryWrites, action: Action) -> tuple[int, Fact] | None:
    """The doc and the fact that an update takes the place of; None for something new.

    Raises:
        InvalidInput, NotFound: an update names none, or none that is still believed.
    """
    if action.kind != "updated_fact":
        return None
    if action.target_id is None:
        raise InvalidInput("an updated_fact names no target_id; say which fact it takes the place of")
    [(doc, target)] = _load_all(unit, [action.target_id], "fact to update", lock=unit.tx.dialect.lock)
    if not isinstance(target, Fact) or target.validity != "active":
        raise InvalidInput(f"{target.kind} {target.id} is no active fact any more; nothing takes its place")
    return doc, target


def _load_all(unit: MemoryWrites, ids: Sequence[str], what: str, *, lock: str) -> list[tuple[int, MemoryRecord]]:
    """Docs and memories, all of them, each once, under one of the dialect's locks.

    Raises:
        NotFound: the caller does not see one.
    """
    if not ids:
        return []
    caller = unit.act.caller
    found = selection.load_visible(unit.tx, caller, ids, lock=lock)
    there = {memory.id for _, memory in found}
    for id_ in ids:
        if id_ not in there:
            raise NotFound(f"no {what} {id_} is visible to agent {caller.agent}; nothing of this action was written")
    return found


def _lower_confidence(unit: MemoryWrites, by: MemoryRecord, seen: MemoryRecord) -> None:
    """Let a fact that is locked be worth less, now that another speaks against it; one no longer believed stays."""
    if not isinstance(by, Fact) or not isinstance(seen, Fact):
        raise InvalidInput(f"{by.kind} {by.id} cannot doubt {seen.kind} {seen.id}; only facts speak against facts")
    [(_, before)] = selection.load_visible(unit.tx, unit.act.caller, [seen.id])  # an action before may have changed it
    if not isinstance(before, Fact) or before.validity != "active" or before.id == by.id:
        return
    after = replace(before, confidence=min(before.confidence, DOUBTED_CONFIDENCE))
    unit.tx.run("doubt_fact", tenant_id=after.tenant_id, id=after.id, confidence=after.confidence)
    linked = _connect(unit, by, after, "supersedes") is not None
    unit.record(events.fact_doubted(unit.act, before, after, unit.ids, by=by, linked=linked))


def _connect(unit: MemoryWrites, source: MemoryRecord, target: MemoryRecord, relation: Relation) -> Link | None:
    """The edge, where it was not there before."""
    link = Link(source_id=source.id, target_id=target.id, relation=relation, created_at=unit.act.at)
    return link if unit.connect(source, target, link) else None
