"""Updates of stored memories that several writes share: locks, changed columns, edges, ends of intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.domain import events
from engrain.domain.records import Caller, Episode, Fact, Link, MemoryRecord, format_time
from engrain.errors import Forbidden, InvalidInput
from engrain.storage import selection

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from engrain.storage.unit_of_work import UnitOfWork


def update_row(work: UnitOfWork, statement: str, memory: MemoryRecord, **values: Any) -> None:
    """Run a named statement that changes columns of one memory at the time of the act."""
    work.run(statement, tenant_id=memory.tenant_id, id=memory.id, at=work.at, **values)


def take_out(work: UnitOfWork, doc: int, memory: MemoryRecord) -> None:
    """Take a memory out of the searches."""
    turns = [memory] if isinstance(memory, Episode) else []
    work.index.take_out(work, memory.tenant_id, [doc], turns=turns, at=work.act.at)


def lock_visible(work: UnitOfWork, ids: Sequence[str]) -> list[tuple[int, MemoryRecord]]:
    """Lock the ones that the caller sees until the end of the transaction: an edge may lead to them."""
    return selection.load_visible(work, ids, lock=work.dialect.hold)


def lock_one(work: UnitOfWork, id_: str) -> tuple[int, MemoryRecord] | None:
    """One memory the caller sees, which nobody else changes until the end of the transaction."""
    found = selection.load_visible(work, [id_], lock=work.dialect.lock)
    return found[0] if found else None


def check_change(work: UnitOfWork, memory: MemoryRecord, *, says: bool = False) -> None:
    """Check that the caller may change a memory: acting for a user it may not put words into everybody's.

    Raises:
        InvalidInput: the memory is of no user, and the caller is bound to one, or the change `says` something.
        Forbidden: as `check_publishing`.
    """
    caller = work.act.caller
    if caller.user is not None and memory.user_id is None and (caller.is_user_bound or says):
        raise InvalidInput(
            f"{memory.kind} {memory.id} is everybody's, and this agent acts for user {caller.user!r:.80}; change it "
            "without a user, or remember it anew for this user"
        )
    check_publishing(caller, memory.scope, f"{memory.kind} {memory.id}")


def check_publishing(caller: Caller, scope: str, what: str) -> None:
    """Check that a caller may add, change or remove something of a scope that it sees.

    Raises:
        Forbidden: it is every agent's, and the key of the caller speaks for one; `what` names it.
    """
    if not caller.may_change(scope):
        raise Forbidden(
            f"{what} is every agent's, and the key speaks for the agent {caller.agent!r:.80}; nothing was written: "
            "keep to the agent's own memories, or let an administrator set server.publishing_role"
        )


def connect(work: UnitOfWork, source: MemoryRecord, target: MemoryRecord, link: Link) -> bool:
    """Add an edge, without an event; False where it is there already."""
    added = work.one(
        "add_link",
        tenant_id=work.tenant_id,
        source_kind=source.kind,
        source_id=source.id,
        target_kind=target.kind,
        target_id=target.id,
        relation=link.relation,
        weight=link.weight,
        created_at=work.dialect.time(link.created_at),
    )
    return added is not None


def add_link(work: UnitOfWork, source: MemoryRecord, target: MemoryRecord, link: Link) -> bool:
    """Add a link between two memories that stay, with its event; False where it is there already."""
    is_new = connect(work, source, target, link)
    if is_new:
        work.record(events.link_created(work.act, link, work.ids, ends=(source, target)))
    return is_new


def connect_superseded(work: UnitOfWork, new: Fact, old: Fact) -> bool:
    """Add the edge from a fact to one that it supersedes, without an event; False where it is there already."""
    link = Link(source_id=new.id, target_id=old.id, relation="supersedes", created_at=work.act.at)
    return connect(work, new, old, link)


def set_end(work: UnitOfWork, doc: int, fact: Fact, end: datetime | None) -> None:
    """Set the end of the period of a fact, or none, without an event."""
    bound = None if end is None else work.dialect.time(end)
    work.run("set_fact_end", tenant_id=fact.tenant_id, id=fact.id, valid_to=bound)
    work.run("set_expiry", tenant_id=fact.tenant_id, doc=doc, expires_at=bound)


def change_end(work: UnitOfWork, doc: int, fact: Fact, end: datetime | None, *, by: Fact) -> None:
    """Set the end of the period of a fact for the sake of another, with its event; nothing if it ends there."""
    if fact.valid_to != end:
        set_end(work, doc, fact, end)
        work.record(events.fact_period_changed(work.act, fact, work.ids, end=end, by=by))


def end_period(work: UnitOfWork, doc: int, fact: Fact, follower: Fact) -> list[Any]:
    """End the period of a fact where its follower begins, and link the two; returns what `restore_periods` reads."""
    change_end(work, doc, fact, follower.happened_at, by=follower)
    is_linked = connect_superseded(work, follower, fact)
    return [fact.id, follower.id, is_linked, format_time(fact.valid_to), format_time(follower.happened_at)]


def close(work: UnitOfWork, doc: int, old: Fact, new: Fact, *, was_never: bool = False) -> None:
    """End the period of a fact where the new one begins, if it has not ended before.

    It is empty if the fact has not begun, or never was true.
    """
    ends = old.happened_at
    if old.has_begun(work.act.at) and not was_never:
        ends = max(ends, new.happened_at)
        ends = ends if old.valid_to is None else min(ends, old.valid_to)
    update_row(work, "supersede_fact", old, valid_to=work.dialect.time(ends))
    take_out(work, doc, old)
    work.record(events.fact_superseded(work.act, old, new, work.ids, end=ends))
