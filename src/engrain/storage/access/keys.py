"""Access keys of network clients as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain import events
from engrain.domain.access.keys import StoredKey
from engrain.errors import InvalidInput
from engrain.storage.transactions import Transactions

if TYPE_CHECKING:
    from datetime import datetime

    from engrain.domain.access.keys import AccessKey
    from engrain.domain.records import Caller
    from engrain.domain.requests import Act
    from engrain.storage.transaction import Transaction
    from engrain.storage.write.unit_of_work import UnitOfWork


class SqlAccessKeys(Transactions):
    """Implements `domain.access.keys_port.AccessKeys`."""

    def put_key(self, act: Act, key: AccessKey, digest: str) -> None:
        return self._write(act, lambda unit: _put_key(unit, key, digest))

    def keys(self, caller: Caller) -> list[AccessKey]:
        def work(tx: Transaction) -> list[AccessKey]:
            return [tx.statements.records.keys.record(row) for row in tx.rows("keys_of", tenant_id=caller.tenant_id)]

        return self._read(caller, work)

    def find_key(self, caller: Caller, key_id: str) -> StoredKey | None:
        return self._read(caller, lambda tx: _load_key(tx, caller.tenant_id, key_id))

    def revoke_key(self, act: Act, key_id: str) -> AccessKey | None:
        return self._write(act, lambda unit: _revoke_key(unit, key_id))

    def use_key(self, act: Act, key_id: str, *, since: datetime) -> bool:
        return self._write(act, lambda unit: _use_key(unit, key_id, since))


def _put_key(unit: UnitOfWork, key: AccessKey, digest: str) -> None:
    if key.tenant_id != unit.act.caller.tenant_id:
        raise InvalidInput(f"key {key.id} is of another tenant than its caller; nothing was written")
    if _load_key(unit.tx, key.tenant_id, key.id) is not None:
        raise InvalidInput(f"id {key.id} is taken and nothing was written; the source of ids repeats itself")
    unit.tx.add(unit.tx.statements.records.keys, "access_keys", key, digest=digest)
    unit.record(events.key_changed(unit.act, "key_created", key, unit.ids))


def _load_key(tx: Transaction, tenant_id: str, key_id: str) -> StoredKey | None:
    found = tx.one("find_key", tenant_id=tenant_id, id=key_id)
    return None if found is None else StoredKey(key=tx.statements.records.keys.record(found[1:]), digest=found[0])


def _revoke_key(unit: UnitOfWork, key_id: str) -> AccessKey | None:
    tx, tenant_id = unit.tx, unit.act.caller.tenant_id
    is_new = tx.one("revoke_key", tenant_id=tenant_id, id=key_id, at=tx.dialect.time(unit.act.at)) is not None
    stored = _load_key(tx, tenant_id, key_id)
    if stored is None:
        return None
    if is_new:
        unit.record(events.key_changed(unit.act, "key_revoked", stored.key, unit.ids))
    return stored.key


def _use_key(unit: UnitOfWork, key_id: str, since: datetime) -> bool:
    tx = unit.tx
    used = {"tenant_id": unit.act.caller.tenant_id, "id": key_id, "at": tx.dialect.time(unit.act.at)}
    return tx.one("use_key", **used, since=tx.dialect.time(since)) is not None
