"""Keys: access keys of a tenant, which say for whom a caller over a network acts and what it may do."""

from __future__ import annotations

import hmac
import os
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.agent.operations.instrumentation import instrument
from engrain.agent.wiring.arguments import parse_agent, parse_end
from engrain.agent.wiring.view import View
from engrain.domain import checks
from engrain.domain.access.keys import (
    RANDOM_BYTES,
    ROLES,
    AccessKey,
    CreatedKey,
    Grant,
    StoredKey,
    hash_secret,
    new_secret,
    parse_secret,
)
from engrain.domain.requests import Act
from engrain.errors import InvalidInput, NotFound, Unauthenticated
from engrain.storage.access import keys
from engrain.storage.transaction import for_every_user

if TYPE_CHECKING:
    from engrain.domain.records import Caller
    from engrain.storage.unit_of_work import UnitOfWork
    from engrain.verbs import words

_MOST_DAYS = 36_500
_NO_DIGEST = "0" * 64  # what a secret of no key is compared with; the digest of nothing that is known


@instrument("keys")
class Keys(View):
    """Access keys of a tenant: for one of its agents or for all, with a role."""

    __slots__ = ()

    def create(
        self,
        *,
        role: words.KeyRole,
        tenant: words.Tenant | None = None,
        agent: words.OfAgent | None = None,
        user: words.OfUser | None = None,
        name: words.KeyName | None = None,
        expires_at: words.ExpiresAt | None = None,
    ) -> CreatedKey:
        """Create a key; its secret is in this answer and nowhere else, as only a digest is stored.

        Without `tenant` it opens the settings' tenant; without `agent` any agent of it. With `user` it acts for this
        end user alone, and writes nothing that others see.

        Raises:
            InvalidInput: an unknown role, a scope's name, or a time that has passed; nothing was written.
        """
        act = self._act(tenant)
        ends = parse_end(expires_at, name="expires_at", now=act.at, after=act.at)
        if ends is not None and ends <= act.at:
            raise InvalidInput(f"expires_at {ends:%Y-%m-%d %H:%M} UTC has passed; name a time to come")
        key = AccessKey(
            id=self._parts().ids(),
            tenant_id=act.caller.tenant_id,
            agent=None if agent is None else parse_agent(agent),
            user_id=checks.optional_identity(user, name="user"),
            role=checks.choice(role, ROLES, name="role"),
            name=checks.optional_name(name, name="name"),
            created_at=act.at,
            expires_at=ends,
        )
        secret = new_secret(key, os.urandom)
        self._parts().store.write(act, keys.put_key, key, hash_secret(secret))
        return CreatedKey(secret=secret, key=key)

    def list(
        self,
        *,
        tenant: words.Tenant | None = None,
        agent: words.OfAgent | None = None,
        user: words.OfUser | None = None,
    ) -> list[AccessKey]:
        """List the keys of a tenant, or of one of its agents or users, newest first.

        Revoked and expired ones too; of one time the larger id comes first.
        """
        found = self._parts().store.read(self._of(tenant), keys.list_keys)
        return [key for key in found if agent in (None, key.agent) and user in (None, key.user_id)]

    def revoke(
        self, key_id: words.KeyId, *, tenant: words.Tenant | None = None, agent: words.BoundAgent | None = None
    ) -> AccessKey:
        """Revoke a key of a tenant, or of one of its agents, in any process. Twice is once.

        Raises:
            NotFound: the tenant, or its agent, has no such key.
        """
        id_ = checks.name(key_id, name="key_id")
        owner = f"tenant {self._of(tenant).tenant_id}" if agent is None else f"agent {agent!r:.80}"
        revoked = self._parts().store.write(self._act(tenant), _revoke, id_, agent)
        if revoked is None:
            raise NotFound(f"{owner} has no key {id_}; list the keys to see those it has")
        return revoked

    def rotate(
        self,
        key_id: words.KeyId,
        *,
        overlap_days: words.OverlapDays = 7.0,
        tenant: words.Tenant | None = None,
        agent: words.BoundAgent | None = None,
    ) -> CreatedKey:
        """Create a key in place of another, which opens for some days more, so that clients change over meanwhile.

        The new one has the rights and the name of the old one, and lives as long as that was meant to when it was
        created, be it rotated once more.

        Raises:
            NotFound: the tenant, or its agent, has no such key.
            InvalidInput: it is revoked or has expired, so that there is nothing to take over.
        """
        id_ = checks.name(key_id, name="key_id")
        act, new_id, random = self._act(tenant), self._parts().ids(), os.urandom(RANDOM_BYTES)
        until = act.at + timedelta(days=checks.number(overlap_days, name="overlap_days", low=0, high=_MOST_DAYS))

        @for_every_user
        def rotate(work: UnitOfWork) -> CreatedKey | None:
            stored = keys.find_key(work, id_)
            if stored is None or agent not in (None, stored.key.agent):
                return None
            if not stored.key.is_valid(act.at):
                raise InvalidInput(f"key {id_} is revoked or has expired; create a new one instead")
            key = stored.key.successor(new_id, act.at, ends=keys.load_first_end(work, stored.key))
            secret = new_secret(key, lambda _: random)
            keys.put_key(work, key, hash_secret(secret))
            keys.limit_key(work, stored.key, until)
            return CreatedKey(secret=secret, key=key)

        created = self._parts().store.write(act, rotate)
        if created is None:
            owner = f"tenant {act.caller.tenant_id}" if agent is None else f"agent {agent!r:.80}"
            raise NotFound(f"{owner} has no key {id_}; list the keys to see those it has")
        return created

    def authenticate(self, secret: words.Secret) -> Grant:
        """Return the tenant, agent, user and role of a key's secret; its use is written to the minute.

        Raises:
            Unauthenticated: it is of no key, or of one that has expired or was revoked; which of these is not said.
        """
        parts, text, stored = self._parts(), str(secret), None
        if (parsed := parse_secret(text)) is not None:
            stored = parts.store.read(replace(self._caller, tenant_id=parsed.tenant_id), keys.find_key, parsed.key_id)
        now = parts.clock()
        if not _is_right(text, stored) or stored is None or not stored.key.is_valid(now):
            metrics.count("keys_refused")
            raise Unauthenticated("this key opens nothing here: check it, or ask whoever runs this memory for another")
        parts.key_uses.add(stored.key, now)
        return stored.key.grant

    def _of(self, tenant: str | None) -> Caller:
        return (
            self._caller if tenant is None else replace(self._caller, tenant_id=checks.identity(tenant, name="tenant"))
        )

    def _act(self, tenant: str | None) -> Act:
        return Act(caller=self._of(tenant), at=self._parts().clock())


@for_every_user
def _revoke(work: UnitOfWork, key_id: str, agent: str | None) -> AccessKey | None:
    """Revoke a key of the tenant, or of one of its agents; None if it has no such key."""
    stored = None if agent is None else keys.find_key(work, key_id)
    is_anothers = agent is not None and (stored is None or stored.key.agent != agent)
    return None if is_anothers else keys.revoke_key(work, key_id)


def _is_right(secret: str, stored: StoredKey | None) -> bool:
    """Return whether the secret is the key's; without a key it is compared all the same, and takes as long."""
    return hmac.compare_digest(hash_secret(secret), _NO_DIGEST if stored is None else stored.digest)
