"""Arrival of memories: insertion, supersession and relations, each with its events."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from engrain.domain import checks, events
from engrain.domain.access.scopes import GLOBAL_SCOPE, USER_SCOPE
from engrain.domain.records import Episode, Fact, Link, MemoryRecord, Rule
from engrain.domain.text.dialogue.questions import question_share
from engrain.errors import InvalidInput
from engrain.storage import selection
from engrain.storage.access import membership
from engrain.storage.entities import registry
from engrain.storage.rows import KIND_TABLES
from engrain.storage.transaction import repeatable
from engrain.storage.write import batches, periods, updates

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from engrain.storage.unit_of_work import UnitOfWork


@repeatable
def put(work: UnitOfWork, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """Add memories; returns the new ones as stored.

    An id that is already there, or was erased, is left as it is (so a repeat adds nothing). An episode gets the next
    `turn` of its session: one more than the largest there, 0 without a session. An active fact supersedes the one in
    its `slot`: the old one is closed (`validity`, `invalidated_at`, and `valid_to`: where the new one begins at the
    latest, not before itself), the new one names it in `supersedes_id` and by a link `supersedes`, with an event
    `fact_superseded`. One whose period begins later closes nothing: the period of the one before it ends there, and its
    own ends where a later one begins. Searched by its own words once this is committed, by its neighbours' with the
    next search at the latest.

    Raises:
        InvalidInput: a memory of another tenant or of a scope the caller does not see; a new one whose `entity_id` the
            tenant does not know, or whose `source_episode_id` or `supersedes_id` names no episode, or fact, that the
            caller sees and that was there before it, if only in this call.
    """
    match memories:
        case [Episode() as turn]:
            stored = put_turn(work, turn)
            return [] if stored is None else [stored]
    facts = [memory for memory in memories if isinstance(memory, Fact)]
    if facts:
        work.backend.lock(work, (), facts)
    return _put(work, memories, facts)


def put_turn(work: UnitOfWork, turn: Episode) -> Episode | None:
    """Add one episode, which a host waits for, as `put` does; return it as stored, or None where its id is taken."""
    caller = work.identity
    if turn.scope != caller.agent or turn.tenant_id != caller.tenant_id or caller.user is not None:  # else its own
        _check_reach(work, (turn,))
    place = {"tenant_id": turn.tenant_id, "scope": turn.scope}
    session, speaker = turn.session, turn.speaker
    found = work.one(
        "prepare_episode",
        **place,
        id=turn.id,
        session=session,
        speaker=speaker,
        at=turn.created_at,  # of a server, which takes it as it is
        waits=turn.consolidation_status == "pending",
    )
    if found is None:
        return None
    doc, number, knows_speaker, is_reopened = found
    if doc is None:  # of a server, which numbers none
        [doc] = work.backend.number_docs(work, "episode", 1)
    if speaker is not None and not knows_speaker:
        work.run("add_speaker", **place, speaker=speaker)
    if is_reopened:
        work.run("reopen_session", **place, session=session)
    stored = turn.in_turn(number)
    work.add_episode(stored, doc, question_share(turn.content))
    if not work.index.defers_turns:
        work.index.add(work, {doc: stored})
    return stored


def put_unlocked(work: UnitOfWork, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """Add memories as `put` does, whose slots are locked already."""
    return _put(work, memories, [memory for memory in memories if isinstance(memory, Fact)])


def _put(work: UnitOfWork, memories: Sequence[MemoryRecord], facts: Sequence[Fact]) -> list[MemoryRecord]:
    """Add memories, of which some are facts."""
    if not memories:
        return []
    _check_reach(work, memories)
    if facts:
        about = {fact.entity_id for fact in facts if fact.entity_id is not None}
        # Before any fact is, as whoever merges them does.
        registry.lock_entities(work, work.tenant_id, about)
    added: dict[int, MemoryRecord] = {}
    for kind, group in groupby(memories, type):
        run = list(group)
        if kind is Episode:
            added |= batches.insert_episodes(work, [memory for memory in run if isinstance(memory, Episode)])
        else:
            added |= _add_all(work, [memory for memory in run if not isinstance(memory, Episode)])
    if facts:  # one may have been superseded by a later one of the same call
        found = selection.load_docs(work, added, [work.tenant_id])
        added = {doc: found[doc] for doc in added}
    work.index.add(work, added)
    return list(added.values())


def _add_all(work: UnitOfWork, memories: Sequence[Fact | Rule]) -> dict[int, MemoryRecord]:
    """Insert facts or rules in their order: together those that nothing is to be looked up for, the others alone."""
    plain = batches.find_plain(work, memories) if len(memories) > 1 else set()
    added: dict[int, MemoryRecord] = {}
    for is_plain, group in groupby(enumerate(memories), lambda numbered: numbered[0] in plain):
        if is_plain:
            added |= batches.insert_plain(work, [memory for _, memory in group])
            continue
        for _, memory in group:
            arrived = _add(work, memory)
            if arrived is not None:
                added[arrived[0]] = arrived[1]
                work.record(events.memory_created(work.act, arrived[1], work.ids, original=memory))
    return added


def put_related(work: UnitOfWork, fact: Fact, related: Mapping[str, float]) -> Fact | None:
    """Put an active fact whose slot is locked, with links `related_to` from it to `related`, by id with weight.

    Memories that the caller does not see are left out. The links `related_to` from the superseded fact are removed:
    they belonged to its content. Returns the fact as stored; None, and nothing was written, if its id is taken.

    Raises:
        InvalidInput: as `put`.
    """
    for stored in put_unlocked(work, [fact]):
        assert isinstance(stored, Fact)
        if stored.supersedes_id is not None:
            work.run("erase_relations", tenant_id=stored.tenant_id, id=stored.supersedes_id)
        for _, other in updates.lock_visible(work, list(related)):
            weight, at = related[other.id], work.act.at
            link = Link(source_id=fact.id, target_id=other.id, relation="related_to", weight=weight, created_at=at)
            updates.add_link(work, stored, other, link)
        return stored
    return None


def supersede(work: UnitOfWork, fact: Fact, ids: Sequence[str], *, derives: bool = True) -> Fact | None:
    """Put an active fact that supersedes these active ones, and no other: all or nothing.

    The facts of `ids` are closed as by `put`, whatever their slot; if the new fact `derives` from them it is linked
    `derived_from` to them. Each has an event `fact_superseded`. Returns the fact as stored. None, and nothing was
    written, if one of `ids` is no active fact that the caller sees, another fact is active in the new one's slot, or
    its id is taken.

    Raises:
        InvalidInput: as `put`.
    """
    _check_reach(work, [fact])
    old = lock_facts(work, ids, beside=[fact])
    if old.keys() != set(ids) or any(holder.id not in old for _, holder in lock_slot_holders(work, fact)):
        return None
    stored = next(iter(put_unlocked(work, [fact])), None)
    if not isinstance(stored, Fact):  # its id is taken, and nothing was written
        return None
    for id_, (doc, superseded) in old.items():
        if id_ != stored.supersedes_id:
            updates.close(work, doc, superseded, stored)
            periods.reopen(work, superseded)
        if derives:
            link = Link(source_id=fact.id, target_id=id_, relation="derived_from", created_at=work.act.at)
            updates.connect(work, stored, superseded, link)
    return stored


def supersede_from(work: UnitOfWork, doc: int, old: Fact, new: Fact) -> None:
    """Supersede an active fact that is locked by a stored one from another slot, with a link."""
    updates.close(work, doc, old, new)
    updates.connect_superseded(work, new, old)


def lock_slot(work: UnitOfWork, fact: Fact) -> Fact | None:
    """Lock the slot of a fact, and load the active fact in it: both stay what they are until this unit ends."""
    work.backend.lock(work, (), [fact])
    _check_reach(work, [fact])
    return next((holder for _, holder in lock_slot_holders(work, fact)), None)


def lock_slot_holders(work: UnitOfWork, fact: Fact) -> list[tuple[int, Fact]]:
    """Load the active facts in the slot of a new one as `find_slot_holders`; nobody else changes them."""
    return find_slot_holders(work, fact, lock=work.dialect.lock)


def find_slot_holders(work: UnitOfWork, fact: Fact, *, lock: str = "") -> list[tuple[int, Fact]]:
    """Load the active facts in the slot of a new one, the newest first: most often one, under one of the locks.

    The slot is that of all names of its subject, but for a note's. Those count whose periods have begun; for a fact of
    another time than now, those that begin with it.
    """
    return _choose_holders(fact, periods.find_slot_facts(work, fact, lock=lock), work.act.at)


def _choose_holders(fact: Fact, facts: list[tuple[int, Fact]], at: datetime) -> list[tuple[int, Fact]]:
    """Choose those facts of a slot that a new one supersedes."""
    if fact.is_pending:
        return facts
    if fact.is_live(at):
        return [(doc, old) for doc, old in facts if old.has_begun(at)]
    return [(doc, old) for doc, old in facts if old.is_bounded and old.happened_at == fact.happened_at]


def fit_into_slot(work: UnitOfWork, fact: Fact) -> tuple[Fact, list[tuple[int, Fact]], list[tuple[int, Fact]]]:
    """Fit a new active fact into its slot: return it with those that it supersedes, and those that it follows."""
    found, at = periods.find_rivals(work, fact, lock=work.dialect.lock), work.act.at
    holders = _choose_holders(fact, found, at)
    if holders:
        fact = replace(fact, supersedes_id=holders[0][1].id)
    if fact.has_ended(at):  # what was over before it is stored changes nothing
        return fact, holders, []
    others = [row for row in found if row not in holders and not row[1].is_pending]
    fitted, before = periods.fit_period(fact, others, at)
    return fitted, holders, before


def lock_facts(work: UnitOfWork, ids: Sequence[str], *, beside: Sequence[Fact] = ()) -> dict[str, tuple[int, Fact]]:
    """Lock facts, and before them their slots, those of new facts `beside` them, and whom all these are about.

    Returns docs and facts by id, as they stand once they are locked: those that the caller sees and that are active.
    """
    found = selection.load_visible(work, ids)
    if work.dialect.lock:  # else there is one writer at a time
        facts = [*beside, *(memory for _, memory in found if isinstance(memory, Fact))]
        work.backend.lock(work, (), facts)
        registry.lock_entities(work, work.tenant_id, {fact.entity_id for fact in facts if fact.entity_id is not None})
        found = selection.load_visible(work, ids, lock=work.dialect.lock)
    return {
        memory.id: (doc, memory) for doc, memory in found if isinstance(memory, Fact) and memory.validity == "active"
    }


def _check_reach(work: UnitOfWork, memories: Iterable[MemoryRecord]) -> None:
    """Check that the caller sees where memories go; it stays in pools that they go to until this unit ends."""
    caller, shared = work.act.caller, set()
    own = caller.own_scope
    for memory in memories:
        if memory.tenant_id != caller.tenant_id:
            raise InvalidInput(f"{memory.kind} {memory.id} is of another tenant than its caller; nothing was written")
        if caller.is_user_bound and memory.user_id != caller.user:
            raise InvalidInput(
                f"scope {memory.scope!r:.80} is not that of user {caller.user!r:.80}, and this caller is bound to that "
                f"user; choose {USER_SCOPE!r} or {caller.agent!r:.80}"
            )
        updates.check_publishing(caller, memory.scope, f"the scope {memory.scope!r:.80}")
        if memory.scope != own and memory.scope not in (GLOBAL_SCOPE, caller.agent, caller.shared_scope):
            shared.add(memory.scope)
    if not shared:
        return
    membership.hold_scopes(work, shared)
    for scope in shared:
        checks.choice(scope, work.caller.scopes, name="scope")


def _add(work: UnitOfWork, memory: Fact | Rule) -> tuple[int, Fact | Rule] | None:
    """Insert one memory; its doc, and itself as stored. None where its id is taken."""
    if work.one("has_memory", tenant_id=memory.tenant_id, id=memory.id) is not None:
        return None
    match memory:
        case Fact():
            _check_source(work, memory)
            _check_references(work, memory)
            holders: list[tuple[int, Fact]] = []
            before: list[tuple[int, Fact]] = []
            if memory.validity == "active":
                memory, holders, before = fit_into_slot(work, memory)
            for doc, old in holders:
                updates.close(work, doc, old, memory)
            inserted = _insert(work, memory)
            for _, old in holders:
                updates.connect_superseded(work, memory, old)
            periods.end_before(work, memory, before)
            periods.end_superseded(work, memory)
            return inserted, memory
        case Rule():
            _check_source(work, memory)
    return _insert(work, memory), memory


def _insert(work: UnitOfWork, memory: Fact | Rule) -> int:
    [doc] = work.backend.number_docs(work, memory.kind, 1)
    rows, table = work.statements.records.kinds[memory.kind], KIND_TABLES[memory.kind]
    further = batches.key_columns(memory) if isinstance(memory, Fact) else {}
    work.add(rows, table, memory, doc=doc, **further)
    return doc


def _check_source(work: UnitOfWork, memory: Fact | Rule) -> None:
    source = memory.source_episode_id
    if source is not None and not any(
        isinstance(memory, Episode) for _, memory in selection.load_visible(work, [source])
    ):
        raise InvalidInput(f"source_episode_id {source!r} names no episode that agent {work.agent} sees")


def _check_references(work: UnitOfWork, fact: Fact) -> None:
    superseded, entity = fact.supersedes_id, fact.entity_id
    if superseded is not None and not any(
        isinstance(memory, Fact) for _, memory in selection.load_visible(work, [superseded])
    ):
        raise InvalidInput(f"supersedes_id {superseded!r} names no fact that agent {work.agent} sees")
    if entity is not None:
        known = registry.lock_entities(work, fact.tenant_id, [entity])
        registry.check_unmerged([entity], known, of=fact.user_id, what="entity_id")
