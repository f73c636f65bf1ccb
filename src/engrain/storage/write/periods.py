"""Periods of the facts of one slot: each ends where the next one begins, and goes on where that one goes."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from engrain.domain.memories.trust import with_trust
from engrain.domain.records import Fact, format_time
from engrain.storage import selection
from engrain.storage.entities.subjects import find_slot
from engrain.storage.filters import holds_value
from engrain.storage.write import updates

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from engrain.storage.unit_of_work import UnitOfWork

_NEWEST_FIRST = "ORDER BY created_at DESC, id DESC"
# Events with a change `valid_to`: of the first one, the end before it is the fact's own.
_CHANGES = ("fact_created", "fact_period_changed", "fact_superseded", "fact_restored")


def find_slot_facts(work: UnitOfWork, fact: Fact, *, lock: str = "") -> list[tuple[int, Fact]]:
    """Load the active facts in the slot of a fact, of whatever period, the newest first."""
    active = "validity = 'active'"
    where, bound = find_slot(work, fact, where=active)
    # Once more, for one that was not locked when it was found.
    found = selection.select_facts(work, f"{where} AND {active}", bound, order=f"{_NEWEST_FIRST} {lock}")
    return [(doc, old) for doc, old in found if old.key.value == fact.key.value]


def find_rivals(work: UnitOfWork, fact: Fact, *, lock: str) -> list[tuple[int, Fact]]:
    """Load what a new fact may supersede: as `find_slot_facts`, then those that say the same and are pending."""
    waiting = replace(fact, metadata=with_trust(fact.metadata, "tool")).key.value
    of_value = f"validity = 'active' AND value_key >= '' AND ({holds_value(fact.key)} OR value_key = :waiting)"
    where, bound = find_slot(work, fact, where=of_value, is_any_value=True)
    bound |= {"value": fact.key.value, "waiting": waiting}
    found = selection.select_facts(work, f"{where} AND {of_value}", bound, order=f"{_NEWEST_FIRST} {lock}")
    values = {fact.key.value, waiting}
    rivals = [(doc, old) for doc, old in found if old.id != fact.id and old.key.value in values]
    return sorted(rivals, key=lambda row: row[1].is_pending)


def fit_period(fact: Fact, others: list[tuple[int, Fact]], at: datetime) -> tuple[Fact, list[tuple[int, Fact]]]:
    """Let the period of a fact end where the next one of its slot begins; return it with those that end where it does.

    One that is pending changes nothing.
    """
    if fact.is_pending:
        return fact, []
    begins = fact.happened_at
    is_planned = not fact.has_begun(at)
    before = [
        (doc, old)
        for doc, old in others
        if is_planned and old.is_open(at) and old.is_true_until(begins) and old.valid_to != begins
    ]
    return replace(fact, valid_to=fact.end_among([other for _, other in others], at)), before


def reopen(work: UnitOfWork, going: Fact, *, gone: Collection[str] = ()) -> None:
    """Let those go on that end where a fact begins which has not begun and goes, unless they are `gone`, too."""
    if going.has_begun(work.act.at):
        return
    for doc, fact, end in find_reopened(work, going, gone=gone):
        updates.change_end(work, doc, fact, end, by=going)


def find_reopened(
    work: UnitOfWork, going: Fact, *, gone: Collection[str] = ()
) -> list[tuple[int, Fact, datetime | None]]:
    """Find the facts that end because another one begins, which goes: with their own end, or where the next begins."""
    if going.valid_from is None or going.is_pending:
        return []
    slot = find_slot_facts(work, going, lock=work.dialect.lock)
    left = [(doc, fact) for doc, fact in slot if fact.id not in {going.id, *gone}]
    found = []
    for doc, fact in left:
        if fact.valid_to == going.valid_from:
            own, others = load_own_end(work, fact, by=going), [row for row in left if row[1].id != fact.id]
            end = fit_period(replace(fact, valid_to=own), others, work.act.at)[0].valid_to
            found += [(doc, fact, end)] if end != fact.valid_to else []
    return found


def fit_again(work: UnitOfWork, fact: Fact) -> tuple[Fact, list[tuple[int, Fact]]]:
    """Fit a fact that is active again into its slot: return it with its end, and those that end where it begins.

    One that was stored since would have superseded it, and be it over by now.
    """
    at, history = work.act.at, find_slot_history(work, fact)
    over = [other for _, other in history if not other.is_open(at)]
    end = replace(fact, validity="superseded").end_among(over, at)
    return fit_period(replace(fact, valid_to=end), history, at)


def find_slot_history(work: UnitOfWork, fact: Fact) -> list[tuple[int, Fact]]:
    """Load the other facts in the slot of one, active or superseded."""
    where, bound = find_slot(work, fact, where="validity IN ('active', 'superseded')", is_any_value=True)
    found = selection.select_facts(work, where, bound, order=f"{_NEWEST_FIRST} {work.dialect.lock}")
    dated = [row for row in found if row[1].valid_to is not None or row[1].validity == "active"]
    return [(doc, old) for doc, old in dated if old.key.value == fact.key.value and old.id != fact.id]


def find_holder(work: UnitOfWork, fact: Fact) -> Fact | None:
    """Find the fact that has the place of one that would be active again: that is true now, or begins with it."""
    at = work.act.at
    if not fact.is_open(at):
        return None
    others = [other for _, other in find_slot_facts(work, fact) if other.id != fact.id and other.is_open(at)]
    return next((other for other in others if other.later_begin(at) == fact.later_begin(at)), None)


def fit_among(work: UnitOfWork, doc: int, fact: Fact, others: list[tuple[int, Fact]]) -> None:
    """Fit a stored fact among others whose slot it has come to."""
    fitted, before = fit_period(fact, others, work.act.at)
    if fitted.valid_to != fact.valid_to:
        follower = next(other for _, other in others if other.happened_at == fitted.valid_to)
        updates.change_end(work, doc, fact, fitted.valid_to, by=follower)
    end_before(work, fitted, before)


def end_superseded(work: UnitOfWork, fact: Fact) -> None:
    """End the periods of superseded facts where a newer one of their slot begins that is stored later: it knows better.

    The one that it supersedes itself is closed before.
    """
    if fact.valid_from is None or fact.is_pending or not fact.is_live(work.act.at):
        return
    where, bound = find_slot(work, fact, where="validity = 'superseded' AND valid_to > :begins", is_any_value=True)
    bound["begins"] = work.dialect.time(fact.valid_from)
    for doc, old in selection.select_facts(work, where, bound, order=f"ORDER BY id {work.dialect.lock}"):
        if old.key.value == fact.key.value and old.valid_to is not None:
            ends = min(old.valid_to, max(old.happened_at, fact.valid_from))
            updates.change_end(work, doc, old, ends, by=fact)


def end_before(work: UnitOfWork, follower: Fact, before: Iterable[tuple[int, Fact]]) -> None:
    """End the periods of facts where another begins, each with a link from it."""
    for doc, fact in before:
        updates.end_period(work, doc, fact, follower)


def load_own_end(work: UnitOfWork, fact: Fact, *, by: Fact | None = None) -> datetime | None:
    """Load the end that a fact has without any other of its slot, from its events.

    Where these are gone, it has none if its end is told by a link from the one that it ends by.
    """
    types = work.dialect.listed(_CHANGES)
    for (payload,) in work.rows("payloads_of", tenant_id=fact.tenant_id, id=fact.id, types=types):
        told = work.dialect.parsed(payload)
        match told.get("valid_to"):
            case [before, _]:
                return None if before is None else datetime.fromisoformat(before)
            case str() if told.get("was_open"):  # as events had it once: of a fact without an end, the one that it got
                return None
    linked = set() if by is None else {id_ for (id_,) in work.rows("superseded_by", tenant_id=by.tenant_id, id=by.id)}
    return None if fact.id in linked else fact.valid_to


def restore_periods(work: UnitOfWork, changes: Sequence[Sequence[Any]]) -> None:
    """Restore the periods that a merge ended, unless one has changed since or its follower is retracted."""
    ids = {id_ for change in changes for id_ in change[:2]}
    found = selection.load_by_ids(work, "fact", work.tenant_id, ids, lock=work.dialect.lock) if ids else []
    believed = [(doc, fact) for doc, fact in found if isinstance(fact, Fact)]
    facts = {fact.id: (doc, fact) for doc, fact in believed if fact.validity in ("active", "superseded")}
    for id_, follower_id, was_linked, before, after in changes:
        if was_linked:
            work.run("drop_supersedes", tenant_id=work.tenant_id, source_id=follower_id, target_id=id_)
        if id_ not in facts or follower_id not in facts:
            continue
        (doc, fact), (_, follower) = facts[id_], facts[follower_id]
        if format_time(fact.valid_to) == after:
            own = replace(fact, valid_to=None if before is None else datetime.fromisoformat(before))
            end = fit_again(work, own)[0].valid_to
            if end is not None or fact.validity == "active":
                updates.change_end(work, doc, fact, end, by=follower)
