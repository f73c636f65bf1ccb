"""Access control of the network interfaces: authentication by key, roles, and rate limits."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from engrain.domain.access.keys import KEY_PREFIX, Grant, Role, allows, hash_secret
from engrain.errors import Forbidden, RateLimited, Unauthenticated
from engrain.interfaces.rates import RateLimit

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.service import Memory

# How a header introduces a key; mem0's clients say the second.
_SCHEMES = frozenset({"bearer", "token"})
_MAX_VALID_KEYS = 10_000


class Gate:
    """Authenticates requests by key; where none is required, admits all as admin of the settings' tenant. Thread-safe.

    A key is looked up in the database at each request, so a revoked one is refused from the next request on.
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
        """Limit requests of one key and refused keys of one address; the settings' limits are the defaults."""
        chosen = memory.settings.server
        rate = chosen.rate_limit_per_minute if rate_limit_per_minute is None else rate_limit_per_minute
        failures = chosen.failures_per_minute if failures_per_minute is None else failures_per_minute
        self.keys_required = keys_required
        self._memory = memory
        self._requests = RateLimit(rate, clock=clock)
        self._failures = RateLimit(failures, clock=clock)
        self._valid_keys = _ValidKeys()

    def admit(self, authorization: str | None, *, address: str | None = None) -> Grant:
        """Return the grant of a request by its header `Authorization: Bearer <secret>`; blocks on the database.

        A key of engrain's is honoured even where none is required. An `address` that shows too many wrong ones is
        refused unread for a while; keys that were valid before still work.

        Raises:
            Unauthenticated: no key, or none that opens anything.
            RateLimited: too many requests of this key, or too many wrong keys from this address.
        """
        secret = secret_of_header(authorization)
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
        wait_s = 0.0 if digest in self._valid_keys else self._failures.wait(address)
        if wait_s:
            raise RateLimited(f"too many keys that open nothing; try again in {wait_s:.0f} s", retry_after_s=wait_s)
        try:
            grant = self._memory.keys.authenticate(secret)
        except Unauthenticated:
            self._valid_keys.remove(digest)
            self._failures.take(address)
            raise
        self._valid_keys.add(digest)
        return grant


def require(grant: Grant, needs: Role) -> None:
    """Check the role of a grant.

    Raises:
        Forbidden: the grant's role is below what is needed.
    """
    if not allows(grant.role, needs):
        raise Forbidden(f"this needs a key of role {needs}, and the one shown is of role {grant.role}")


def secret_of_header(authorization: str | None) -> str | None:
    """Return the key in a header; None where it has none."""
    scheme, _, secret = (authorization or "").strip().partition(" ")
    return secret.strip() or None if scheme.lower() in _SCHEMES else None


class _ValidKeys:
    """Digests of keys that were valid here: looked up again, however many wrong ones come from their address."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._digests: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, digest: str) -> bool:
        return digest in self._digests

    def add(self, digest: str) -> None:
        with self._lock:
            self._digests[digest] = None
            self._digests.move_to_end(digest)
            if len(self._digests) > _MAX_VALID_KEYS:
                self._digests.popitem(last=False)

    def remove(self, digest: str) -> None:
        with self._lock:
            self._digests.pop(digest, None)
