"""The part of the Store port that keeps keys: what proves for whom a request over a network speaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from engrain.domain.access.keys import AccessKey, StoredKey
    from engrain.domain.records import Caller
    from engrain.domain.requests import Act


class AccessKeys(Protocol):
    """Keys of a tenant, whichever of its agents asks. No store ever holds a secret: only its digest.

    The events `key_created` and `key_revoked` are in the scope of the agent that the key speaks for, in `global` where
    that is any.
    """

    def put_key(self, act: Act, key: AccessKey, digest: str) -> None:
        """Keep a new key of the acting tenant, and the digest of its secret.

        Raises:
            InvalidInput: it is of another tenant, or its id is taken; nothing was written.
        """

    def keys(self, caller: Caller) -> list[AccessKey]:
        """The tenant's keys, revoked and expired ones too, newest first (then the larger id)."""

    def find_key(self, caller: Caller, key_id: str) -> StoredKey | None:
        """One key of the tenant as it stands now, in one statement: whoever revoked it, in whatever process, did so."""

    def revoke_key(self, act: Act, key_id: str) -> AccessKey | None:
        """The key, revoked from now on; one that was stays as it is. None where the tenant has no such key."""

    def use_key(self, act: Act, key_id: str, *, since: datetime) -> bool:
        """Note that a key was used now; False, and nothing is written, where a use since then is noted already."""
