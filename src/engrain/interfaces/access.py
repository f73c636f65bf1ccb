"""Access control of the network interfaces: authentication by key, roles, and rate limits."""

from __future__ import annotations

import hmac
import time
from typing import TYPE_CHECKING, Any

from engrain.domain.access.keys import KEY_PREFIX, LOCAL_CALLER, Grant, Role, allows
from engrain.errors import Forbidden, RateLimited, Unauthenticated
from engrain.interfaces.rates import RateLimit

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.service import Memory
    from engrain.verbs.signatures import Signature

# How a header introduces a key; mem0's clients say the second.
_SCHEMES = frozenset({"bearer", "token"})


class Gate:
    """Authenticates requests by key; where none is required, by a local token, or not at all. Thread-safe.

    Whoever shows the token, or comes where neither is asked for, is admin of the settings' tenant. A key is looked up
    in the database at each request, so a revoked one is refused from the next request on.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        keys_required: bool,
        token: str | None = None,
        rate_limit_per_minute: int | None = None,
        failures_per_minute: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Limit requests of one key and refused keys of one address; the settings' limits are the defaults."""
        chosen = memory.settings.server
        rate = chosen.rate_limit_per_minute if rate_limit_per_minute is None else rate_limit_per_minute
        failures = chosen.failures_per_minute if failures_per_minute is None else failures_per_minute
        self.keys_required = keys_required
        self.is_open = not keys_required and token is None
        self._token = (token or "").encode()
        self._memory = memory
        self._requests = RateLimit(rate, clock=clock)
        self._failures = RateLimit(failures, clock=clock)

    def admit(self, authorization: str | None, *, address: str | None = None) -> Grant:
        """Return the grant of a request by its header `Authorization: Bearer <secret>`; blocks on the database.

        A key of engrain's is honoured even where none is required. An `address` that shows too many wrong ones is told
        to wait; a valid key is let in all the same, whoever guesses beside it.

        Raises:
            Unauthenticated: neither a key nor the token, or none that opens anything.
            RateLimited: too many requests of this key, or too many wrong keys from this address.
        """
        secret = secret_of_header(authorization)
        if not (self.keys_required or (secret or "").startswith(KEY_PREFIX)):
            return self._admit_local(secret)
        if secret is None:
            raise Unauthenticated("this memory asks for a key: send the header Authorization: Bearer <key>")
        grant = self._authenticated(secret, address or "")
        wait_s = self._requests.take(str(grant.key_id))
        if wait_s:
            raise RateLimited(f"too many requests of this key; try again in {wait_s:.1f} s", retry_after_s=wait_s)
        return grant

    def _admit_local(self, secret: str | None) -> Grant:
        if not self.is_open and not hmac.compare_digest((secret or "").encode(), self._token):
            raise Unauthenticated(
                "this memory asks for the token of the user who serves it: engrain token shows it to that user; "
                "send the header Authorization: Bearer <token>, or a key"
            )
        key_id = None if self.is_open else LOCAL_CALLER
        return Grant(key_id=key_id, tenant_id=self._memory.settings.tenant, agent=None, role="admin")

    def _authenticated(self, secret: str, address: str) -> Grant:
        """The grant of a key; it is looked up even while its address must wait, as others may share that."""
        try:
            return self._memory.keys.authenticate(secret)
        except Unauthenticated:
            wait_s = self._failures.take(address)
            if not wait_s:
                raise
        raise RateLimited(f"too many keys that open nothing; try again in {wait_s:.0f} s", retry_after_s=wait_s)


def require(grant: Grant, needs: Role) -> None:
    """Check the role of a grant.

    Raises:
        Forbidden: the grant's role is below what is needed.
    """
    if not allows(grant.role, needs):
        raise Forbidden(f"this needs a key of role {needs}, and the one shown is of role {grant.role}")


def caller_arguments(
    signature: Signature, rights: Grant, *, grant: Grant | None, agent: str | None, extent: str | None, user: str | None
) -> dict[str, Any]:
    """Return the arguments of a verb that the identity of a request gives: never wider than its rights.

    `agent` is who asks; `extent` is the agent to which a verb of a whole tenant is narrowed, None for all of them.
    """
    given, made, is_of_memory = signature.caller_parameters, dict[str, Any](), signature.verb.owner == "memory"
    if "user" in given:
        made["user"] = user
    elif is_of_memory and given:
        rights.check_every_user()
    if is_of_memory and "agent" in signature.by_name:
        made["agent"] = narrow(rights, extent, name="agent")
    elif "agent" in given:
        made["agent"] = rights.agent if given["agent"] == "key" else agent
    if "grant" in given:
        made["grant"] = grant
    if "tenant" in given:
        made["tenant"] = rights.tenant_id if "agent" in made else rights.whole_tenant
    return made


def narrow(grant: Grant, agent: str | None, *, name: str) -> str | None:
    """Return the agent that a grant acts for where a request names one or none; None for any.

    Raises:
        Forbidden: the key speaks for another one.
    """
    if agent is not None and grant.agent not in (None, agent):
        raise Forbidden(f"the key speaks for the agent {grant.agent!r:.80} alone; leave {name} out")
    return grant.agent if agent is None else agent


def secret_of_header(authorization: str | None) -> str | None:
    """Return the key in a header; None where it has none."""
    scheme, _, secret = (authorization or "").strip().partition(" ")
    return secret.strip() or None if scheme.lower() in _SCHEMES else None
