"""Merges of entities as rows, and their reversal: facts and mentions move, and what fills one slot is settled.

Locks as `storage.entities.registry`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from engrain.domain import events
from engrain.domain.access.scopes import audience_of
from engrain.domain.entities import merges
from engrain.domain.entities.registry import EntityMerge, merged_into
from engrain.domain.memories.fact_keys import subject_key
from engrain.domain.records import Entity, Fact, format_time
from engrain.errors import InvalidInput, NotFound
from engrain.storage import selection
from engrain.storage.entities import registry
from engrain.storage.write import periods, updates

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from engrain.storage.transaction import Transaction
    from engrain.storage.unit_of_work import UnitOfWork


def merge_entities(work: UnitOfWork, source_id: str, target_id: str) -> EntityMerge:
    """Merge one entity into another, as `entities.merges` decides; facts and mentions of every scope move.

    The source becomes a tombstone. An event `entity_merge` of the target has what the reversal needs, one in each scope
    of what moved there; each superseded fact has its own event.

    Raises:
        InvalidInput: they are the same, one is unknown or was merged already; nothing was written.
    """
    act = work.act
    tenant_id = act.caller.tenant_id
    known = registry.lock_known(work, [source_id, target_id], work.dialect.lock_whole)
    registry.check_own(work, known.values())
    merges.check_merge(source_id, target_id, known)
    source, target = known[source_id], known[target_id]
    facts = registry.lock_facts_about(work, tenant_id, [source_id, target_id])
    facts |= _lock_facts_named(work, source, target)
    sides = {id_: merges.find_side(fact, source, target) for id_, (_, fact) in facts.items()}
    settled = _supersede_losers(work, facts, sides, source_id)
    moved = [fact for _, fact in facts.values() if fact.entity_id == source_id]
    _repoint_facts(work, tenant_id, [fact.id for fact in moved], from_id=source_id, to_id=target_id)
    mentions = work.rows("mentions_of", tenant_id=tenant_id, entity_id=source_id)
    lent = _move_mentions(work, tenant_id, [row[0] for row in mentions], from_id=source_id, to_id=target_id)
    tombstone, united = merges.unite(source, target, act.at)
    registry.write_entity(work, tombstone, source)
    registry.write_entity(work, united, target)

    scopes: defaultdict[str, dict[str, Any]] = defaultdict(_empty_report)
    number = 1 + max((payload["number"] for payload in registry.load_merges(work, tenant_id, target_id)), default=0)
    for fact in moved:
        scopes[fact.scope]["facts_repointed"].append(fact.id)
    for scope, conflict in settled:
        scopes[scope]["facts_superseded"].append(conflict[0])
        scopes[scope]["conflicts"].append(conflict)
    for scope, ended in _end_overlaps(work, facts, sides):
        scopes[scope]["periods_ended"].append(ended)
    for memory_id, scope, created_at in mentions:
        report = scopes[scope]
        if memory_id in lent:
            report["mentions_moved"].append(memory_id)
        else:
            report["mentions_shared"][memory_id] = format_time(work.dialect.moment(created_at))
    added = merges.aliases_added(source, target)
    _record_merge(
        work,
        "entity_merge",
        scopes,
        {
            "number": number,
            "merged_at": format_time(act.at),
            "source_entity_id": source_id,
            "target_entity_id": target_id,
            "aliases_added": list(added),
            "metadata_added": merges.metadata_added(source, target),
        },
        of=target,
    )
    return _visible_merge(work, tombstone, united, scopes=scopes, added=added)


def _supersede_losers(
    work: UnitOfWork, facts: Mapping[str, tuple[int, Fact]], sides: Mapping[str, str], source_id: str
) -> list[tuple[str, list[Any]]]:
    """Supersede the losers of the facts that fill one slot; of each its scope, and what the reversal needs of it.

    That are the ids of the loser, of the winner and of the link between them, and the time at which the loser ended.
    """
    conflicts = merges.find_conflicts([fact for _, fact in facts.values()], sides, source_id, work.act.at)
    ends = [format_time(periods.load_own_end(work, conflict.loser)) for conflict in conflicts]
    settled = []
    for conflict, end in zip(conflicts, ends, strict=True):
        loser, winner = conflict.loser, conflict.winner
        link_id = registry.supersede_loser(work, facts[loser.id][0], conflict)
        settled.append((loser.scope, [loser.id, winner.id, link_id, end]))
    return settled


def unmerge_entities(work: UnitOfWork, source_id: str) -> EntityMerge:
    """Undo the merge of an entity, the last one of its target; changes since the merge stay.

    Raises:
        NotFound: there is no such entity.
        InvalidInput: it was not merged, or another merge has to be undone first; nothing was written.
    """
    act = work.act
    tenant_id = act.caller.tenant_id
    source, target = _lock_merged(work, source_id)
    registry.check_own(work, [source, target])
    payloads = registry.load_merges(work, tenant_id, target.id)
    number = merges.last_merge(payloads, source_id, target.id)
    parts = [payload for payload in payloads if payload["number"] == number]
    gave = parts[0]
    facts = registry.lock_facts_about(work, tenant_id, [target.id])
    back = [id_ for part in parts for id_ in part["facts_repointed"] if id_ in facts]
    _repoint_facts(work, tenant_id, back, from_id=target.id, to_id=source_id)
    _return_mentions(work, tenant_id, parts, source_id=source_id, target_id=target.id)
    apart, left = merges.separate(source, target, gave=gave, at=act.at)
    registry.write_entity(work, apart, source)
    registry.write_entity(work, left, target)
    at = datetime.fromisoformat(gave["merged_at"])
    conflicts = [conflict for part in parts for conflict in part["conflicts"]]
    restored = [fact for conflict in conflicts if (fact := _restore_loser(work, conflict, at)) is not None]
    periods.restore_periods(work, [change for part in parts for change in part.get("periods_ended", ())])

    scopes: defaultdict[str, dict[str, Any]] = defaultdict(_empty_report)
    for id_ in back:
        scopes[facts[id_][1].scope]["facts_repointed"].append(id_)
    for fact in restored:
        scopes[fact.scope]["facts_restored"].append(fact.id)
    same = {"number": number, "undone": True, "source_entity_id": source_id, "target_entity_id": target.id}
    _record_merge(work, "entity_unmerge", scopes, {**same, "aliases_removed": gave["aliases_added"]}, of=target)
    return _visible_merge(work, apart, left, scopes=scopes, added=())


def _lock_facts_named(work: UnitOfWork, source: Entity, target: Entity) -> dict[str, tuple[int, Fact]]:
    """Load and lock the facts that name no entity and whose subject is a name of one of two, and of no other.

    Notes have subjects of their own.
    """
    keys = work.dialect.listed(sorted(merges.subject_keys(source) | merges.subject_keys(target)))
    named = "tenant_id = :tenant_id AND entity_id IS NULL AND subject_key IN :keys"
    bound, order = {"tenant_id": work.tenant_id, "keys": keys}, f"ORDER BY id {work.dialect.lock}"
    found = selection.select_facts(work, named, bound, order=order, by="INDEXED BY facts_subject")
    own = [(doc, fact) for doc, fact in found if fact.subject != audience_of(fact.scope)]
    users = {fact.user_id or "" for _, fact in own if target.user_id in ("", fact.user_id)}
    shared = {user: _find_shared(work, user, source, target) for user in users}
    return {
        fact.id: (doc, fact)
        for doc, fact in own
        if (fact.user_id or "") in shared and fact.key.subject not in shared[fact.user_id or ""]
    }


def _find_shared(work: UnitOfWork, user: str, source: Entity, target: Entity) -> set[str]:
    """Find the keys of the names of two entities that stand for another one, too, where an agent acts for a user."""
    names = Counter([*registry.name_keys(source), *registry.name_keys(target)])
    listed = {"users": work.dialect.listed(["", user]), "names": work.dialect.listed(sorted(names))}
    counted = work.rows("count_bearers", tenant_id=work.tenant_id, **listed)
    return {subject_key(name) for name, bearers in counted if bearers > names[name]}


def _end_overlaps(
    work: UnitOfWork, facts: Mapping[str, tuple[int, Fact]], sides: Mapping[str, str]
) -> Iterator[tuple[str, list[Any]]]:
    """End periods that overlap now that two slots are one; yields their scopes, and what the reversal needs."""
    there = [fact for _, fact in selection.load_by_ids(work, "fact", work.tenant_id, facts) if isinstance(fact, Fact)]
    for overlap in merges.find_overlaps(there, sides, work.act.at):
        fact, doc = overlap.fact, facts[overlap.fact.id][0]
        if fact.is_open(work.act.at):
            yield fact.scope, updates.end_period(work, doc, fact, overlap.follower)
        else:
            updates.change_end(work, doc, fact, overlap.end, by=overlap.follower)
            ends = [format_time(fact.valid_to), format_time(overlap.end)]
            yield fact.scope, [fact.id, overlap.follower.id, False, *ends]


def _lock_merged(work: UnitOfWork, source_id: str) -> tuple[Entity, Entity]:
    """A tombstone and the entity that took it in, both locked.

    Raises:
        NotFound: there is no such entity.
        InvalidInput: it was not merged, or the other has been merged itself.
    """
    seen = registry.lock_known(work, [source_id], "")
    target_id = merged_into(seen[source_id]) if seen else None
    both = seen if target_id is None else registry.lock_known(work, [source_id, target_id], work.dialect.lock_whole)
    if source_id not in both:  # or it was removed between the two looks
        raise NotFound(f"no entity {source_id} is known to tenant {work.tenant_id}; entities.find shows ids")
    if target_id is None or merged_into(both[source_id]) != target_id:
        raise InvalidInput(f"entity {source_id} was not merged into another; there is nothing to undo")
    into = merged_into(both[target_id])
    if into is not None:
        raise InvalidInput(f"entity {target_id} was itself merged into {into}; unmerge {target_id} first")
    return both[source_id], both[target_id]


def _restore_loser(work: UnitOfWork, conflict: Sequence[Any], merged_at: datetime) -> Fact | None:
    """Believe the loser of a conflict again, unless something else has been decided of it or of its place since."""
    loser_id, winner_id, was_linked, *ends = conflict
    tenant_id = work.tenant_id
    if was_linked:
        work.run("drop_supersedes", tenant_id=tenant_id, source_id=winner_id, target_id=loser_id)
    for doc, fact in selection.load_by_ids(work, "fact", tenant_id, [loser_id]):
        assert isinstance(fact, Fact)
        own = periods.load_own_end(work, fact)
        if ends:  # which is there when the events are gone
            own = None if ends[0] is None else datetime.fromisoformat(ends[0])
        believed = replace(fact, validity="active", invalidated_at=None, valid_to=own)
        is_taken = periods.find_holder(work, believed) is not None
        if fact.validity != "superseded" or fact.invalidated_at != merged_at or is_taken:
            return None
        fitted, before = periods.fit_again(work, believed)
        end = None if fitted.valid_to is None else work.dialect.time(fitted.valid_to)
        work.run("reactivate_fact", tenant_id=tenant_id, id=loser_id, valid_to=end)
        work.index.put_back(work, doc, fitted)
        work.record(events.fact_restored(work.act, fact, fitted, work.ids))
        periods.end_before(work, fitted, before)
        return fitted
    return None


def _repoint_facts(tx: Transaction, tenant_id: str, ids: Collection[str], *, from_id: str, to_id: str) -> None:
    if ids:
        listed = tx.dialect.listed(ids)
        tx.run("repoint_facts", tenant_id=tenant_id, ids=listed, source_id=from_id, target_id=to_id)


def _move_mentions(tx: Transaction, tenant_id: str, ids: Collection[str], *, from_id: str, to_id: str) -> set[str]:
    """Let memories that mention one entity mention another instead; those that did not mention it yet."""
    if not ids:
        return set()
    which = {"tenant_id": tenant_id, "ids": tx.dialect.listed(selection.lock_ids(tx, tenant_id, ids))}
    lent = {id_ for (id_,) in tx.rows("copy_mentions", **which, from_id=from_id, to_id=to_id)}
    tx.run("drop_mentions", **which, entity_id=from_id)
    return lent


def _return_mentions(
    tx: Transaction, tenant_id: str, parts: Sequence[Mapping[str, Any]], *, source_id: str, target_id: str
) -> None:
    """Return to the source entity the mentions that a merge moved, and copy those that both had."""
    moved = [id_ for part in parts for id_ in part["mentions_moved"]]
    _move_mentions(tx, tenant_id, moved, from_id=target_id, to_id=source_id)
    shared = {id_: at for part in parts for id_, at in part["mentions_shared"].items()}
    if not shared:
        return
    there = tx.dialect.listed(selection.lock_ids(tx, tenant_id, shared))
    tx.run("copy_mentions", tenant_id=tenant_id, ids=there, from_id=target_id, to_id=source_id)
    tx.run_each(
        "set_mentioned_at",
        [
            {
                "tenant_id": tenant_id,
                "entity_id": source_id,
                "memory_id": id_,
                "at": tx.dialect.time(datetime.fromisoformat(at)),
            }
            for id_, at in shared.items()
        ],
    )


def _empty_report() -> dict[str, Any]:
    lists = "facts_repointed facts_superseded facts_restored conflicts periods_ended mentions_moved".split()
    return {**{name: [] for name in lists}, "mentions_shared": {}}


def _record_merge(
    work: UnitOfWork,
    event_type: str,
    scopes: defaultdict[str, dict[str, Any]],
    everywhere: Mapping[str, Any],
    *,
    of: Entity,
) -> None:
    """One event for those who see the entity, and one for each narrower scope it touched: each tells of its own."""
    for scope in sorted({of.scope, *scopes}):
        report = {**everywhere, **scopes[scope]}
        whom = {"entity_id": everywhere["target_entity_id"], "scope": scope}
        work.record(events.registry_event(work.act, event_type, report, work.ids, **whom))


def _visible_merge(
    work: UnitOfWork, source: Entity, target: Entity, *, scopes: Mapping[str, Mapping[str, Any]], added: Sequence[str]
) -> EntityMerge:
    """As much of it as the caller sees."""
    seen = [scopes[scope] for scope in work.caller.scopes if scope in scopes]
    return EntityMerge(
        source=source,
        target=target,
        facts_repointed=tuple(sorted(id_ for report in seen for id_ in report["facts_repointed"])),
        facts_superseded=tuple(sorted(id_ for report in seen for id_ in report["facts_superseded"])),
        aliases_added=tuple(added),
    )
