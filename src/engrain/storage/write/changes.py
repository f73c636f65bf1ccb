"""Changes of stored memories: references, confirmations, aging, marks and links, each with its events."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from engrain.domain import events
from engrain.domain.memories import decay
from engrain.domain.memories.trust import with_trust
from engrain.domain.records import Episode, Kind, Link, MemoryRecord, Rule
from engrain.domain.rules import maturity
from engrain.domain.rules.maturity import Application, Outcome, Thresholds
from engrain.errors import InvalidInput, NotFound
from engrain.storage import selection
from engrain.storage.rows import KIND_TABLES
from engrain.storage.write import updates

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from engrain.storage.unit_of_work import UnitOfWork

    # Of an answer to one of its memories: kind and id of that, and when.
    Reference: TypeAlias = tuple[Kind, str, datetime]


def touch(work: UnitOfWork, ids: Sequence[str]) -> list[MemoryRecord]:
    """Count a reference to memories, one statement a kind and no event; those the caller sees, in the order asked."""
    found: dict[str, MemoryRecord] = {}
    bound = {**work.bindings(), "ids": work.dialect.listed(ids), "at": work.at}
    for kind, table in KIND_TABLES.items():
        rows = work.statements.records.kinds[kind]
        statement = (
            f"UPDATE {table} SET reference_count = reference_count + 1, last_referenced_at = :at "  # noqa: S608  # names of the schema
            f"WHERE tenant_id = :tenant_id AND id IN :ids AND +scope IN :scopes RETURNING {rows.columns}"
        )
        found |= {memory.id: memory for memory in map(rows.record, work.ask(statement, bound))}
    return [found[id_] for id_ in dict.fromkeys(ids) if id_ in found]


def count_references(work: UnitOfWork, references: Sequence[Reference]) -> None:
    """Count references of several answers to memories the caller sees; the last one of a memory sets its time."""
    counts, last = Counter((kind, id_) for kind, id_, _ in references), {id_: at for _, id_, at in references}
    bound = work.bindings()
    for kind in KIND_TABLES:  # memories are locked by kind, then id
        ids = sorted(id_ for kind_of_id, id_ in counts if kind_of_id == kind)
        values = [{**bound, "id": id_, "count": counts[kind, id_], "at": work.dialect.time(last[id_])} for id_ in ids]
        if values:
            work.run_each(f"count_references_to_{kind}", values)


def confirm(work: UnitOfWork, id_: str, *, event_id: str | None = None, accepts: bool = False) -> MemoryRecord | None:
    """Set the confirmation of a fact or rule to now and end its fading (`metadata.status`); None if there is none.

    `event_id` is the id of its event, if that is to be known: it cannot happen twice. With `accepts` it is trusted as
    what a user said.

    Raises:
        InvalidInput: it is an episode, or no longer active.
    """
    seen = updates.lock_one(work, id_)
    if seen is None:
        return None
    _, memory = seen
    updates.check_change(work, memory)
    if isinstance(memory, Episode):
        raise InvalidInput(f"{id_} is an episode; only facts and rules can be confirmed")
    if not memory.is_active(work.act.at):
        raise InvalidInput(f"{memory.kind} {id_} is no longer active; store it again instead of confirming it")
    metadata = decay.without_fading(memory.metadata)
    metadata = dict(with_trust(metadata, "user")) if accepts else metadata
    updates.update_row(work, f"confirm_{memory.kind}", memory, metadata=work.dialect.json(metadata))
    ids = work.ids if event_id is None else lambda: event_id
    work.record(events.memory_confirmed(work.act, memory, ids, accepts=accepts))
    return replace(memory, last_confirmed_at=work.act.at, metadata=metadata)


def load_changed(work: UnitOfWork, event_id: str) -> MemoryRecord | None:
    """Load the memory that an event is about; None where there is no such event, or the caller sees no such memory."""
    found = work.one("memory_of_event", tenant_id=work.tenant_id, id=event_id)
    return None if found is None else next(iter(selection.load_memories(work, [found[0]])), None)


def mark(
    work: UnitOfWork,
    id_: str,
    outcome: Outcome,
    *,
    reason: str | None = None,
    thresholds: Thresholds = maturity.DEFAULT_THRESHOLDS,
) -> Rule | None:
    """Record the outcome of a rule by `maturity.apply_outcome`, with these `thresholds`; None if there is none.

    No mark is lost, however many callers mark at once. Each is an `Application` with the reason as its context, and an
    event. A rule that became a warning is searched by its new words, and waits for a vector of them; its old ref is no
    longer valid.

    Raises:
        InvalidInput: it is no rule, or forgotten; nothing was written.
    """
    seen = updates.lock_one(work, id_)
    if seen is None:
        return None
    doc, memory = seen
    if not isinstance(memory, Rule):
        raise InvalidInput(f"{id_} is of kind {memory.kind}; only a rule can be marked {outcome}")
    updates.check_change(work, memory, says=reason is not None)
    if memory.is_forgotten:
        raise InvalidInput(f"rule {id_} is forgotten; add it again before marking it {outcome}")
    marked = maturity.apply_outcome(memory, outcome, reason=reason, at=work.act.at, thresholds=thresholds)
    updates.update_row(work, "mark_rule", marked, **_outcome(work, marked))
    work.add(work.statements.records.applications, "rule_applications", _application(work, marked, outcome, reason))
    work.record(events.rule_marked(work.act, memory, marked, work.ids, outcome=outcome))
    if marked.content != memory.content:
        _move(work, doc, memory, marked)
        work.record(events.rule_inverted(work.act, memory, work.ids))
    return marked


def link(work: UnitOfWork, link: Link) -> Link:
    """Add a link between two memories the caller sees; return it, or the one that is there already.

    It says something of its source, and is seen by those who see both ends.

    Raises:
        NotFound: one of them is not visible.
        InvalidInput, Forbidden: the caller may not change the source.
    """
    ends = {memory.id: memory for _, memory in updates.lock_visible(work, [link.source_id, link.target_id])}
    for id_ in (link.source_id, link.target_id):
        if id_ not in ends:
            raise NotFound(f"no memory {id_} is visible to agent {work.agent}; a link needs both ends")
    source, target = ends[link.source_id], ends[link.target_id]
    updates.check_change(work, source)
    if updates.add_link(work, source, target, link):
        return link
    ends_of = {"source_kind": source.kind, "source_id": source.id, "target_kind": target.kind, "target_id": target.id}
    for weight, at in work.rows("link", tenant_id=work.tenant_id, **ends_of, relation=link.relation):
        return replace(link, weight=weight, created_at=work.dialect.moment(at))
    return link  # it was there, and is gone


def _outcome(work: UnitOfWork, rule: Rule) -> dict[str, Any]:
    """The columns that a mark changes."""
    names = "content maturity effectiveness_score applied_count success_count harmful_count".split()
    return {name: getattr(rule, name) for name in names} | {"metadata": work.dialect.json(rule.metadata)}


def _application(work: UnitOfWork, rule: Rule, outcome: Outcome, context: str | None) -> Application:
    return Application(
        id=work.ids(),
        tenant_id=rule.tenant_id,
        rule_id=rule.id,
        agent=work.agent,
        outcome=outcome,
        context=context,
        created_at=work.act.at,
    )


def _move(work: UnitOfWork, doc: int, before: Rule, after: Rule) -> None:
    """Search a rule by what it says now: under a new doc, as a vector of its old words may be on its way."""
    [fresh] = work.backend.number_docs(work, "rule", 1)
    work.index.erase(work, before.tenant_id, {doc: before}, work.act.at)
    work.run("move_rule", tenant_id=after.tenant_id, id=after.id, doc=fresh)
    work.index.add(work, {fresh: after})
