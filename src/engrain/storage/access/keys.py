"""Keys of whoever comes over a network, on either database."""

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
    from engrain.storage.write.ledger import Ledger


class SqlAccessKeys(Transactions):
    """`domain.access.keys_port.AccessKeys`."""

    def put_key(self, act: Act, key: AccessKey, digest: str) -> None:
        return self._do(act, lambda ledger: _put_key(ledger, key, digest))

    def keys(self, caller: Caller) -> list[AccessKey]:
        def work(tx: Transaction) -> list[AccessKey]:
            return [tx.statements.records.keys.record(row) for row in tx.rows("keys_of", tenant_id=caller.tenant_id)]

        return self._ask(caller, work)

    def held_key(self, caller: Caller, key_id: str) -> StoredKey | None:
        return self._ask(caller, lambda tx: _load_key(tx, caller.tenant_id, key_id))

    def revoke_key(self, act: Act, key_id: str) -> AccessKey | None:
        return self._do(act, lambda ledger: _revoke_key(ledger, key_id))

    def use_key(self, act: Act, key_id: str, *, since: datetime) -> bool:
        return self._do(act, lambda ledger: _use_key(ledger, key_id, since))


def _put_key(ledger: Ledger, key: AccessKey, digest: str) -> None:
    if key.tenant_id != ledger.act.caller.tenant_id:
        raise InvalidInput(f"key {key.id} is of another tenant than its caller; nothing was written")
    if _load_key(ledger.tx, key.tenant_id, key.id) is not None:
        raise InvalidInput(f"id {key.id} is taken and nothing was written; the source of ids repeats itself")
    ledger.tx.add(ledger.tx.statements.records.keys, "access_keys", key, digest=digest)
    ledger.write_down(events.key_changed(ledger.act, "key_created", key, ledger.ids))


def _load_key(tx: Transaction, tenant_id: str, key_id: str) -> StoredKey | None:
    found = tx.one("held_key", tenant_id=tenant_id, id=key_id)
    return None if found is None else StoredKey(key=tx.statements.records.keys.record(found[1:]), digest=found[0])


def _revoke_key(ledger: Ledger, key_id: str) -> AccessKey | None:
    tx, tenant_id = ledger.tx, ledger.act.caller.tenant_id
    is_new = tx.one("revoke_key", tenant_id=tenant_id, id=key_id, at=tx.dialect.time(ledger.act.at)) is not None
    held = _load_key(tx, tenant_id, key_id)
    if held is None:
        return None
    if is_new:
        ledger.write_down(events.key_changed(ledger.act, "key_revoked", held.key, ledger.ids))
    return held.key


def _use_key(ledger: Ledger, key_id: str, since: datetime) -> bool:
    tx = ledger.tx
    used = {"tenant_id": ledger.act.caller.tenant_id, "id": key_id, "at": tx.dialect.time(ledger.act.at)}
    return tx.one("use_key", **used, since=tx.dialect.time(since)) is not None
