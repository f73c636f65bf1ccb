"""Pools as rows: create, join, leave and delete them. To agents that are no members a pool does not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.domain import events
from engrain.domain.access.pools import Pool
from engrain.domain.access.scopes import pool_scope
from engrain.errors import Forbidden, InvalidInput
from engrain.storage.access import membership
from engrain.storage.transaction import for_every_user

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engrain.storage.unit_of_work import Snapshot, UnitOfWork


def list_pools(snapshot: Snapshot) -> list[Pool]:
    """List the pools the caller's agent is in, by name."""
    return [_load_pool(snapshot, name) for name in snapshot.caller.pools]


def create_pool(work: UnitOfWork, name: str, members: Sequence[str], metadata: Mapping[str, Any]) -> Pool:
    """Create a pool of the acting agent and `members`.

    Raises:
        InvalidInput: the tenant has a pool of this name, or the caller is bound to a user; nothing was written.
        Forbidden: another member, and the key of the caller speaks for one agent without the right to publish.
    """
    _check_unbound(work, name)
    _check_invitation(work, members)
    made = work.one("add_pool", tenant_id=work.tenant_id, name=name, at=work.at, metadata=work.dialect.json(metadata))
    if made is None:
        raise InvalidInput(f"the name {name!r:.80} is taken by another pool; choose another")
    joined = sorted({work.agent, *members})
    for member in joined:
        work.run("add_member", tenant_id=work.tenant_id, pool=name, agent=member, at=work.at)
    work.record(events.pool_changed(work.act, "pool_created", name, work.ids, members=joined))
    return _load_pool(work, name)


def join_pool(work: UnitOfWork, name: str, member: str) -> Pool | None:
    """Add a member, who may be in the pool already; None if the acting agent is in no such pool.

    Raises:
        InvalidInput: the caller is bound to a user; nothing was written.
        Forbidden: as `create_pool`.
    """
    _check_unbound(work, name)
    _check_invitation(work, [member])
    if name not in membership.lock_pools(work, [name], work.dialect.lock_whole):
        return None
    if work.one("add_member", tenant_id=work.tenant_id, pool=name, agent=member, at=work.at) is not None:
        work.record(events.pool_changed(work.act, "pool_joined", name, work.ids, members=[member]))
    return _load_pool(work, name)


def leave_pool(work: UnitOfWork, name: str, member: str) -> Pool | None:
    """Remove a member, who may have left already; None if the acting agent is in no such pool.

    Raises:
        InvalidInput: it is the last member, or the caller is bound to a user; nothing was written.
    """
    _check_unbound(work, name)
    if name not in membership.lock_pools(work, [name], work.dialect.lock_whole):
        return None
    pool = _load_pool(work, name)
    left = tuple(agent for agent in pool.members if agent != member)
    if not left:
        raise InvalidInput(
            f"{member} is the last member of pool {name!r:.80}: nobody could reach what it holds; "
            "add another member first, or erase what it holds and delete the pool"
        )
    if left != pool.members:
        work.run("remove_member", tenant_id=work.tenant_id, pool=name, agent=member)
        work.record(events.pool_changed(work.act, "pool_left", name, work.ids, members=[member]))
    return _load_pool(work, name)


@for_every_user  # whoever makes a pool of this name anew would see what is left of any of them
def delete_pool(work: UnitOfWork, name: str) -> bool:
    """Delete a pool without memories; False if the acting agent is in no such pool.

    Raises:
        InvalidInput: it has memories of any user, live or not, or the caller is bound to a user; nothing was written.
    """
    _check_unbound(work, name)
    if name not in membership.lock_pools(work, [name], work.dialect.lock_whole):
        return False
    scopes = [scope for (scope,) in work.rows("scopes_of_pool", tenant_id=work.tenant_id, scope=pool_scope(name))]
    [(count,)] = work.rows("count_in_scopes", tenant_id=work.tenant_id, scopes=work.dialect.listed(scopes))
    if count:
        raise InvalidInput(
            f"pool {name!r:.80} holds {count:,} memories, live or not, of all users together; erase them first, "
            "those of a user as an agent that acts for the user"
        )
    work.record(events.pool_changed(work.act, "pool_deleted", name, work.ids, members=[]))
    work.run("remove_members", tenant_id=work.tenant_id, pool=name)
    work.run("remove_pool", tenant_id=work.tenant_id, pool=name)
    return True


def _check_unbound(work: UnitOfWork, name: str) -> None:
    """Refuse a caller that is bound to its user: a pool is a list of agents, and they have it for whomever they act."""
    caller = work.act.caller
    if caller.is_user_bound:
        raise InvalidInput(
            f"a pool is everybody's, and this caller is bound to user {caller.user!r:.80}; make, change or delete pool "
            f"{name!r:.80} with an agent or a key that is bound to no user"
        )


def _check_invitation(work: UnitOfWork, members: Sequence[str]) -> None:
    """Refuse the key of one agent that brings in another one, unless it may publish: a member reads all of a pool."""
    caller = work.act.caller
    invited = next((member for member in members if member != caller.agent), None)
    if invited is not None and not caller.may_publish:
        raise Forbidden(
            f"agent {invited!r:.80} would read what others write to the pool, and the key speaks for the agent "
            f"{caller.agent!r:.80}; nothing was written: let an administrator add it, or set server.publishing_role"
        )


def _load_pool(snapshot: Snapshot, name: str) -> Pool:
    [(created_at, metadata)] = snapshot.rows("pool", tenant_id=snapshot.tenant_id, pool=name)
    return Pool(
        name=name,
        tenant_id=snapshot.tenant_id,
        members=tuple(agent for (agent,) in snapshot.rows("members", tenant_id=snapshot.tenant_id, pool=name)),
        created_at=snapshot.dialect.moment(created_at),
        metadata=snapshot.dialect.parsed(metadata),
    )
