"""Access keys: roles, grants, and the secrets that prove them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from engrain.domain.ids import is_id
from engrain.domain.records import Record
from engrain.errors import Forbidden

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

Role = Literal["reader", "writer", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)  # a role may do what those before it may

KEY_PREFIX = "ek_"  # of every secret
LOCAL_CALLER = "local"  # in place of a key's id, for whoever showed the token of a loopback server
RANDOM_BYTES = 32
# Base32 in lower case: no character that a shell, a URL or a double click ends at.
_SECRET = re.compile(r"ek_([0-9a-f-]{36})_([a-z2-7]{1,3500})_([a-z2-7]{52})")


def allows(has: Role, needs: Role) -> bool:
    """True if a role may do what `needs` another."""
    return ROLES.index(has) >= ROLES.index(needs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant(Record):
    """The rights of a request; nothing in the request itself can widen them.

    Attributes:
        key_id: the key of the request, or LOCAL_CALLER; None where nothing is asked for.
        agent: the only agent it may act for; None for any agent of the tenant.
        user_id: the only end user it may act for; None for any user, or none.
    """

    key_id: str | None
    tenant_id: str
    agent: str | None
    user_id: str | None = None
    role: Role

    @property
    def is_bound(self) -> bool:
        """True if it acts for one agent or one user alone."""
        return self.agent is not None or self.user_id is not None

    @property
    def whole_tenant(self) -> str:
        """The tenant, for a verb on all of it.

        Raises:
            Forbidden: it acts for one agent or user alone.
        """
        self.check_every_user()
        if self.agent is not None:
            raise Forbidden(f"this is for the whole tenant, and the key speaks for the agent {self.agent!r:.80}")
        return self.tenant_id

    def check_every_user(self) -> None:
        """Check that a request may act on the memories of every user.

        Raises:
            Forbidden: it acts for one user alone.
        """
        if self.user_id is not None:
            speaker = "this server" if self.key_id is None else "the key"
            raise Forbidden(f"this is for every user, and {speaker} speaks for the user {self.user_id!r:.80} alone")

    def may_publish(self, needs: Role) -> bool:
        """True if it may write to everybody's scope: the key of one agent needs a role for that."""
        return self.agent is None or allows(self.role, needs)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessKey(Record):
    """An access key without its secret, which nobody can read again."""

    id: str
    tenant_id: str
    agent: str | None = None  # the only agent it acts for; None for any agent of the tenant
    user_id: str | None = None  # the only end user it acts for; None for any user, or none
    role: Role
    name: str | None = None
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None  # to the minute

    def is_valid(self, now: datetime) -> bool:
        """True if it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def successor(self, id_: str, now: datetime, *, ends: datetime | None) -> AccessKey:
        """A new key of the same rights and name, which lives as long as this one until its first end."""
        expires_at = None if ends is None else now + (ends - self.created_at)
        return replace(self, id=id_, created_at=now, expires_at=expires_at, last_used_at=None)

    @property
    def grant(self) -> Grant:
        """Rights of a request with this key, while it is valid."""
        return Grant(key_id=self.id, tenant_id=self.tenant_id, agent=self.agent, user_id=self.user_id, role=self.role)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedKey(Record):
    """A new key with its secret, which is here and nowhere else: store it now or create another key."""

    secret: str = field(repr=False)
    key: AccessKey


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKey(Record):
    """A key as a store has it: with the digest of its secret."""

    key: AccessKey
    digest: str = field(repr=False)


class ParsedSecret(NamedTuple):
    """Tenant and key id that a secret names; its digest must still be compared."""

    tenant_id: str
    key_id: str


def new_secret(key: AccessKey, random: Callable[[int], bytes]) -> str:
    """A secret for a key: `ek_<id>_<tenant>_<random>`, the last of 256 bits; `random` returns so many bytes.

    It names its tenant, so that a store looks for the key in that tenant and nowhere else.
    """
    return f"{KEY_PREFIX}{key.id}_{_base32(key.tenant_id.encode())}_{_base32(random(RANDOM_BYTES))}"


def parse_secret(secret: str) -> ParsedSecret | None:
    """Tenant and key id that a secret names; None for a text of another form."""
    match = _SECRET.fullmatch(secret)
    if match is None or not is_id(match[1]):
        return None
    try:
        tenant = base64.b32decode(match[2].upper() + "=" * (-len(match[2]) % 8)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return ParsedSecret(tenant, match[1]) if tenant and "\x00" not in tenant else None


def hash_secret(secret: str) -> str:
    """SHA-256 of the whole secret, hexadecimal. No slower hash is needed: 256 random bits cannot be guessed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _base32(value: bytes) -> str:
    return base64.b32encode(value).decode().rstrip("=").lower()
