"""Who is let in, for whom and how often: the same for every interface that others reach over a network."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from engrain.domain.access.keys import KEY_PREFIX, Grant, Role, allows, hash_secret
from engrain.errors import Forbidden, RateLimited, Unauthenticated
from engrain.interfaces.rates import Rate

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.service import Memory

# How a header introduces a key; mem0's clients say the second.
_SCHEMES = frozenset({"bearer", "token"})
_MOST_FRIENDS = 10_000


class Gate:
    """Lets in who shows a key; where none is required everybody, as an admin of the settings' tenant. Thread-safe.

    A key is asked of the database at each request, so one that is revoked opens nothing from the next request on.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        keys_required: bool,
        rate_limit_per_minute: int | None = None,
        failures_per_minute: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """The limits are the settings' where none is given: requests of one key, and refused keys of one address."""
        chosen = memory.settings.server
        rate = chosen.rate_limit_per_minute if rate_limit_per_minute is None else rate_limit_per_minute
        failures = chosen.failures_per_minute if failures_per_minute is None else failures_per_minute
        self.keys_required = keys_required
        self._memory = memory
        self._requests = Rate(rate, clock=clock)
        self._failures = Rate(failures, clock=clock)
        self._friends = _Friends()

    def admit(self, authorization: str | None, *, address: str | None = None) -> Grant:
        """Whom a request speaks for, from its header `Authorization: Bearer <secret>`; asks the database, so it blocks.

        A key of engrain's is honoured even where none is required. Who shows too many wrong ones from one `address` is
        refused unread for a while; keys that opened before go on.

        Raises:
            Unauthenticated: no key, or none that opens anything.
            RateLimited: too many requests of this key, or too many wrong keys from this address.
        """
        secret = secret_in(authorization)
        if not self.keys_required and not (secret or "").startswith(KEY_PREFIX):
            return Grant(key_id=None, tenant_id=self._memory.settings.tenant, agent=None, role="admin")
        if secret is None:
            raise Unauthenticated("this memory asks for a key: send the header Authorization: Bearer <key>")
        grant = self._authenticated(secret, address or "")
        wait_s = self._requests.take(str(grant.key_id))
        if wait_s:
            raise RateLimited(f"too many requests of this key; try again in {wait_s:.1f} s", retry_after_s=wait_s)
        return grant

    def _authenticated(self, secret: str, address: str) -> Grant:
        digest = hash_secret(secret)
        wait_s = 0.0 if digest in self._friends else self._failures.wait(address)
        if wait_s:
            raise RateLimited(f"too many keys that open nothing; try again in {wait_s:.0f} s", retry_after_s=wait_s)
        try:
            grant = self._memory.keys.authenticate(secret)
        except Unauthenticated:
            self._friends.remove(digest)
            self._failures.take(address)
            raise
        self._friends.add(digest)
        return grant


def require(grant: Grant, needs: Role) -> None:
    """Say no to who may not.

    Raises:
        Forbidden: the grant's role is below what is needed.
    """
    if not allows(grant.role, needs):
        raise Forbidden(f"this needs a key of role {needs}, and the one shown is of role {grant.role}")


def secret_in(authorization: str | None) -> str | None:
    """The key that a header shows; None where it shows none."""
    scheme, _, secret = (authorization or "").strip().partition(" ")
    return secret.strip() or None if scheme.lower() in _SCHEMES else None


class _Friends:
    """Digests of keys that opened here: whoever shows one is asked about again, however many others guess beside it."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._digests: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, digest: str) -> bool:
        return digest in self._digests

    def add(self, digest: str) -> None:
        with self._changing:
            self._digests[digest] = None
            self._digests.move_to_end(digest)
            if len(self._digests) > _MOST_FRIENDS:
                self._digests.popitem(last=False)

    def remove(self, digest: str) -> None:
        with self._changing:
            self._digests.pop(digest, None)
