"""Pools as rows: create, join, leave and delete them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.domain import events
from engrain.domain.access.pools import Pool, pool_scope
from engrain.errors import InvalidInput
from engrain.storage.access import membership
from engrain.storage.transactions import Transactions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engrain.domain.records import Caller
    from engrain.domain.requests import Act
    from engrain.storage.transaction import Transaction
    from engrain.storage.write.unit_of_work import UnitOfWork


class SqlPools(Transactions):
    """Implements `domain.access.pools.Pools`."""

    def pools_of(self, caller: Caller) -> tuple[str, ...]:
        return self._read(caller, lambda tx: membership.list_pools(tx, caller))

    def pools(self, caller: Caller) -> list[Pool]:
        return self._read(
            caller, lambda tx: [_load_pool(tx, caller, name) for name in membership.list_pools(tx, caller)]
        )

    def create_pool(self, act: Act, name: str, members: Sequence[str], metadata: Mapping[str, Any]) -> Pool:
        return self._write(act, lambda unit: _create_pool(unit, name, members, metadata))

    def join_pool(self, act: Act, name: str, member: str) -> Pool | None:
        return self._write(act, lambda unit: _join_pool(unit, name, member))

    def leave_pool(self, act: Act, name: str, member: str) -> Pool | None:
        return self._write(act, lambda unit: _leave_pool(unit, name, member))

    def delete_pool(self, act: Act, name: str) -> bool:
        return self._write(act, lambda unit: _delete_pool(unit, name))


def _create_pool(unit: UnitOfWork, name: str, members: Sequence[str], metadata: Mapping[str, Any]) -> Pool:
    tx, caller, at = unit.tx, unit.act.caller, unit.tx.dialect.time(unit.act.at)
    made = tx.one("add_pool", tenant_id=caller.tenant_id, name=name, at=at, metadata=tx.dialect.json(metadata))
    if made is None:
        raise InvalidInput(f"the name {name!r:.80} is taken by another pool; choose another")
    joined = sorted({caller.agent, *members})
    for member in joined:
        tx.run("add_member", tenant_id=caller.tenant_id, pool=name, agent=member, at=at)
    unit.record(events.pool_changed(unit.act, "pool_created", name, unit.ids, members=joined))
    return _load_pool(tx, caller, name)


def _join_pool(unit: UnitOfWork, name: str, member: str) -> Pool | None:
    caller = unit.act.caller
    if not membership.lock_membership(unit, name):
        return None
    at = unit.tx.dialect.time(unit.act.at)
    if unit.tx.one("add_member", tenant_id=caller.tenant_id, pool=name, agent=member, at=at) is not None:
        unit.record(events.pool_changed(unit.act, "pool_joined", name, unit.ids, members=[member]))
    return _load_pool(unit.tx, caller, name)


def _leave_pool(unit: UnitOfWork, name: str, member: str) -> Pool | None:
    caller = unit.act.caller
    if not membership.lock_membership(unit, name):
        return None
    pool = _load_pool(unit.tx, caller, name)
    left = tuple(agent for agent in pool.members if agent != member)
    if not left:
        raise InvalidInput(
            f"{member} is the last member of pool {name!r:.80}: nobody could reach what it holds; "
            "add another member first, or erase what it holds and delete the pool"
        )
    if left != pool.members:
        unit.tx.run("remove_member", tenant_id=caller.tenant_id, pool=name, agent=member)
        unit.record(events.pool_changed(unit.act, "pool_left", name, unit.ids, members=[member]))
    return _load_pool(unit.tx, caller, name)


def _delete_pool(unit: UnitOfWork, name: str) -> bool:
    tx, caller = unit.tx, unit.act.caller
    if not membership.lock_membership(unit, name):
        return False
    [(count,)] = tx.rows("count_in_scope", tenant_id=caller.tenant_id, scope=pool_scope(name))
    if count:
        raise InvalidInput(f"pool {name!r:.80} holds {count:,} memories, live or not; erase them first")
    unit.record(events.pool_changed(unit.act, "pool_deleted", name, unit.ids, members=[]))
    tx.run("remove_members", tenant_id=caller.tenant_id, pool=name)
    tx.run("remove_pool", tenant_id=caller.tenant_id, pool=name)
    return True


def _load_pool(tx: Transaction, caller: Caller, name: str) -> Pool:
    [(created_at, metadata)] = tx.rows("pool", tenant_id=caller.tenant_id, pool=name)
    return Pool(
        name=name,
        tenant_id=caller.tenant_id,
        members=tuple(agent for (agent,) in tx.rows("members", tenant_id=caller.tenant_id, pool=name)),
        created_at=tx.dialect.moment(created_at),
        metadata=tx.dialect.parsed(metadata),
    )
