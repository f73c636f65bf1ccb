"""Access keys of a tenant as rows, for all of its agents. Their events are in the scope of the agent, or global."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from engrain.domain import events
from engrain.domain.access.keys import AccessKey, StoredKey
from engrain.errors import InvalidInput
from engrain.storage.transaction import for_every_user

if TYPE_CHECKING:
    from engrain.storage.unit_of_work import Snapshot, UnitOfWork


def list_keys(snapshot: Snapshot) -> list[AccessKey]:
    """List the tenant's keys, revoked and expired ones too, newest first (then the larger id)."""
    rows = snapshot.statements.records.keys
    return [rows.record(row) for row in snapshot.rows("keys_of", tenant_id=snapshot.tenant_id)]


@for_every_user
def put_key(work: UnitOfWork, key: AccessKey, digest: str) -> None:
    """Store a new key of the acting tenant, and the digest of its secret, which no store ever has.

    Raises:
        InvalidInput: it is of another tenant, or its id is taken; nothing was written.
    """
    if key.tenant_id != work.tenant_id:
        raise InvalidInput(f"key {key.id} is of another tenant than its caller; nothing was written")
    if find_key(work, key.id) is not None:
        raise InvalidInput(f"id {key.id} is taken and nothing was written; the source of ids repeats itself")
    work.add(work.statements.records.keys, "access_keys", key, digest=digest)
    work.record(events.key_changed(work.act, "key_created", key, work.ids))


def find_key(snapshot: Snapshot, key_id: str) -> StoredKey | None:
    """Find one key of the tenant, in one statement: a revocation in any process takes effect at once."""
    found = snapshot.one("find_key", tenant_id=snapshot.tenant_id, id=key_id)
    return None if found is None else StoredKey(key=snapshot.statements.records.keys.record(found[1:]), digest=found[0])


@for_every_user
def revoke_key(work: UnitOfWork, key_id: str) -> AccessKey | None:
    """Revoke a key; a revoked one stays as it is. None if the tenant has no such key."""
    is_new = work.one("revoke_key", tenant_id=work.tenant_id, id=key_id, at=work.at) is not None
    stored = find_key(work, key_id)
    if stored is None:
        return None
    if is_new:
        work.record(events.key_changed(work.act, "key_revoked", stored.key, work.ids))
    return stored.key


def limit_key(work: UnitOfWork, key: AccessKey, expires_at: datetime) -> None:
    """Let a key that was replaced expire at a time, unless it does so before."""
    if key.expires_at is not None and key.expires_at <= expires_at:
        expires_at = key.expires_at
    work.run("limit_key", tenant_id=work.tenant_id, id=key.id, expires_at=work.dialect.time(expires_at))
    work.record(events.key_changed(work.act, "key_rotated", replace(key, expires_at=expires_at), work.ids))


def load_first_end(work: UnitOfWork, key: AccessKey) -> datetime | None:
    """Load the end that a key was created with, before a rotation gave it another; where its event is gone, its end."""
    types = work.dialect.listed(["key_created"])
    for (payload,) in work.rows("payloads_of", tenant_id=work.tenant_id, id=key.id, types=types):
        ends = work.dialect.parsed(payload)["expires_at"]
        return None if ends is None else datetime.fromisoformat(ends)
    return key.expires_at


def use_key(work: UnitOfWork, key_id: str, *, since: datetime) -> bool:
    """Record a use of a key; False, and nothing is written, if a use since then is recorded already."""
    used = {"tenant_id": work.tenant_id, "id": key_id, "at": work.at}
    return work.one("use_key", **used, since=work.dialect.time(since)) is not None
