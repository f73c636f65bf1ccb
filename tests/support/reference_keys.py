"""Keys as the reference store keeps them: a dictionary of them and their digests."""

from dataclasses import replace
from datetime import datetime

from engrain.domain import events
from engrain.domain.access.keys import AccessKey, StoredKey
from engrain.domain.records import Caller
from engrain.domain.requests import Act
from engrain.errors import InvalidInput
from tests.support.reference_records import ReferenceRecords


class ReferenceKeys(ReferenceRecords):
    """Who may come over a network, by tenant and id."""

    def __init__(self) -> None:
        super().__init__()
        self._keys: dict[tuple[str, str], StoredKey] = {}

    def put_key(self, act: Act, key: AccessKey, digest: str) -> None:
        place = key.tenant_id, key.id
        if key.tenant_id != act.caller.tenant_id or place in self._keys:
            raise InvalidInput(f"{key.id} cannot be put")
        self._keys[place] = StoredKey(key=key, digest=digest)
        self._events.append(events.key_changed(act, "key_created", key, self._ids))

    def keys(self, caller: Caller) -> list[AccessKey]:
        own = [held.key for (tenant_id, _), held in self._keys.items() if tenant_id == caller.tenant_id]
        return sorted(own, key=lambda key: (key.created_at, key.id), reverse=True)

    def find_key(self, caller: Caller, key_id: str) -> StoredKey | None:
        return self._keys.get((caller.tenant_id, key_id))

    def revoke_key(self, act: Act, key_id: str) -> AccessKey | None:
        held = self._keys.get((act.caller.tenant_id, key_id))
        if held is None or held.key.revoked_at is not None:
            return None if held is None else held.key
        revoked = replace(held.key, revoked_at=act.at)
        self._keys[revoked.tenant_id, key_id] = replace(held, key=revoked)
        self._events.append(events.key_changed(act, "key_revoked", revoked, self._ids))
        return revoked

    def use_key(self, act: Act, key_id: str, *, since: datetime) -> bool:
        held = self._keys.get((act.caller.tenant_id, key_id))
        if held is None or (held.key.last_used_at is not None and held.key.last_used_at >= since):
            return False
        self._keys[act.caller.tenant_id, key_id] = replace(held, key=replace(held.key, last_used_at=act.at))
        return True
