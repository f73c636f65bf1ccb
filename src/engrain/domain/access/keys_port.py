"""Access keys: their part of the Store port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from engrain.domain.access.keys import AccessKey, StoredKey
    from engrain.domain.records import Caller
    from engrain.domain.requests import Act


class AccessKeys(Protocol):
    """Keys of a tenant, for all of its agents. A store never has a secret, only its digest.

    The events `key_created` and `key_revoked` are in the scope of the agent that the key acts for, in `global` where
    that is any agent.
    """

    def put_key(self, act: Act, key: AccessKey, digest: str) -> None:
        """Store a new key of the acting tenant, and the digest of its secret.

        Raises:
            InvalidInput: it is of another tenant, or its id is taken; nothing was written.
        """

    def keys(self, caller: Caller) -> list[AccessKey]:
        """The tenant's keys, revoked and expired ones too, newest first (then the larger id)."""

    def find_key(self, caller: Caller, key_id: str) -> StoredKey | None:
        """One key of the tenant, read in one statement: a revocation in any process takes effect at once."""

    def revoke_key(self, act: Act, key_id: str) -> AccessKey | None:
        """Revoke a key; a revoked one stays as it is. None if the tenant has no such key."""

    def use_key(self, act: Act, key_id: str, *, since: datetime) -> bool:
        """Record a use of a key; False, and nothing is written, if a use since then is recorded already."""
