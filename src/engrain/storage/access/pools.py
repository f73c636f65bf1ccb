"""Pools and who is in them, on either database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.domain import events
from engrain.domain.access.pools import Pool, pool_scope
from engrain.errors import InvalidInput
from engrain.storage.transactions import Transactions

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from engrain.domain.records import Caller
    from engrain.domain.requests import Act
    from engrain.storage.transaction import Transaction
    from engrain.storage.write.ledger import Ledger


_PREFIX = pool_scope("")


class SqlPools(Transactions):
    """`domain.access.pools.Pools`."""

    def pools_of(self, caller: Caller) -> tuple[str, ...]:
        return self._ask(caller, lambda tx: _list_names(tx, caller))

    def pools(self, caller: Caller) -> list[Pool]:
        return self._ask(caller, lambda tx: [_load_pool(tx, caller, name) for name in _list_names(tx, caller)])

    def create_pool(self, act: Act, name: str, members: Sequence[str], metadata: Mapping[str, Any]) -> Pool:
        return self._do(act, lambda ledger: _create_pool(ledger, name, members, metadata))

    def join_pool(self, act: Act, name: str, member: str) -> Pool | None:
        return self._do(act, lambda ledger: _join_pool(ledger, name, member))

    def leave_pool(self, act: Act, name: str, member: str) -> Pool | None:
        return self._do(act, lambda ledger: _leave_pool(ledger, name, member))

    def delete_pool(self, act: Act, name: str) -> bool:
        return self._do(act, lambda ledger: _delete_pool(ledger, name))


def _create_pool(ledger: Ledger, name: str, members: Sequence[str], metadata: Mapping[str, Any]) -> Pool:
    tx, caller, at = ledger.tx, ledger.act.caller, ledger.tx.dialect.time(ledger.act.at)
    made = tx.one("add_pool", tenant_id=caller.tenant_id, name=name, at=at, metadata=tx.dialect.json(metadata))
    if made is None:
        raise InvalidInput(f"the name {name!r:.80} is taken by another pool; choose another")
    joined = sorted({caller.agent, *members})
    for member in joined:
        tx.run("add_member", tenant_id=caller.tenant_id, pool=name, agent=member, at=at)
    ledger.write_down(events.pool_changed(ledger.act, "pool_created", name, ledger.ids, members=joined))
    return _load_pool(tx, caller, name)


def _join_pool(ledger: Ledger, name: str, member: str) -> Pool | None:
    caller = ledger.act.caller
    if not _lock_membership(ledger, name):
        return None
    at = ledger.tx.dialect.time(ledger.act.at)
    if ledger.tx.one("add_member", tenant_id=caller.tenant_id, pool=name, agent=member, at=at) is not None:
        ledger.write_down(events.pool_changed(ledger.act, "pool_joined", name, ledger.ids, members=[member]))
    return _load_pool(ledger.tx, caller, name)


def _leave_pool(ledger: Ledger, name: str, member: str) -> Pool | None:
    caller = ledger.act.caller
    if not _lock_membership(ledger, name):
        return None
    pool = _load_pool(ledger.tx, caller, name)
    left = tuple(each for each in pool.members if each != member)
    if not left:
        raise InvalidInput(
            f"{member} is the last member of pool {name!r:.80}: nobody could reach what it holds; "
            "add another member first, or erase what it holds and delete the pool"
        )
    if left != pool.members:
        ledger.tx.run("remove_member", tenant_id=caller.tenant_id, pool=name, agent=member)
        ledger.write_down(events.pool_changed(ledger.act, "pool_left", name, ledger.ids, members=[member]))
    return _load_pool(ledger.tx, caller, name)


def _delete_pool(ledger: Ledger, name: str) -> bool:
    tx, caller = ledger.tx, ledger.act.caller
    if not _lock_membership(ledger, name):
        return False
    [(held,)] = tx.rows("count_in_scope", tenant_id=caller.tenant_id, scope=pool_scope(name))
    if held:
        raise InvalidInput(f"pool {name!r:.80} holds {held:,} memories, live or not; erase them first")
    ledger.write_down(events.pool_changed(ledger.act, "pool_deleted", name, ledger.ids, members=[]))
    tx.run("remove_members", tenant_id=caller.tenant_id, pool=name)
    tx.run("remove_pool", tenant_id=caller.tenant_id, pool=name)
    return True


def _lock_membership(ledger: Ledger, name: str, *, lock: str | None = None) -> bool:
    """Whether the acting agent is in a pool; nobody else changes who is, until the end of the transaction."""
    tx, caller = ledger.tx, ledger.act.caller
    by = tx.dialect.lock_whole if lock is None else lock
    locked = f"SELECT name FROM pools WHERE tenant_id = :tenant_id AND name = :pool {by}"  # noqa: S608  # the dialect's own words
    return bool(tx.ask(locked, {"tenant_id": caller.tenant_id, "pool": name})) and name in _list_names(tx, caller)


def check_membership(ledger: Ledger, scopes: Collection[str]) -> None:
    """Whether the acting agent is still in the pools that it writes to; nobody deletes them until it has.

    Raises:
        InvalidInput: it is not; nothing was written.
    """
    lock = ledger.tx.dialect.hold
    for scope in sorted(scope for scope in scopes if scope.startswith(_PREFIX)):
        if not _lock_membership(ledger, scope.removeprefix(_PREFIX), lock=lock):
            said = f"agent {ledger.act.caller.agent} is in no pool {scope.removeprefix(_PREFIX)!r:.80} any more"
            raise InvalidInput(f"{said}; nothing was written")


def _list_names(tx: Transaction, caller: Caller) -> tuple[str, ...]:
    return tuple(name for (name,) in tx.rows("pools_of", tenant_id=caller.tenant_id, agent=caller.agent))


def _load_pool(tx: Transaction, caller: Caller, name: str) -> Pool:
    [(created_at, metadata)] = tx.rows("pool", tenant_id=caller.tenant_id, pool=name)
    return Pool(
        name=name,
        tenant_id=caller.tenant_id,
        members=tuple(agent for (agent,) in tx.rows("members", tenant_id=caller.tenant_id, pool=name)),
        created_at=tx.dialect.moment(created_at),
        metadata=tx.dialect.parsed(metadata),
    )
