"""Owners of a transaction: the tenant and user whose rows row-level security lets it see."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from psycopg.pq import Escaping

from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from engrain.storage.postgres.pipelines import Opening, Session

Owner: TypeAlias = tuple[str | None, str | None]  # tenant and user; None for every one

# Servers with LLVM compile plans that they reckon to be dear, and so a large search anew each time: up to four times
# as long for it.
_UNCOMPILED = b"set_config('jit', 'off', true)"
_OF_EVERY_TENANT = b"SELECT set_config('engrain.every_tenant', 'on', true), " + _UNCOMPILED
_OF_NO_USER = b"SELECT set_config('engrain.tenant_id', $1, true), " + _UNCOMPILED
_OF_USER = b"SELECT set_config('engrain.tenant_id', $1, true), set_config('engrain.user_id', $2, true), " + _UNCOMPILED
_OF_EVERY_USER = (
    b"SELECT set_config('engrain.tenant_id', $1, true), set_config('engrain.every_user', 'on', true), " + _UNCOMPILED
)


def check_owner(owner: Owner) -> None:
    """Refuse what can be nobody's name, with InvalidInput."""
    tenant, user = owner
    if tenant is not None and (not tenant or "\x00" in tenant):
        raise InvalidInput(f"tenant {tenant!r} is no name; use text without NUL")
    if tenant is not None and user is not None and "\x00" in user:
        raise InvalidInput(f"user {user!r} is no name; use text without NUL")


def set_owner(owner: Owner) -> Opening:
    """Return the statement that sets what row-level security reads, until the end of the transaction."""
    tenant, user = owner
    if tenant is None:
        return _OF_EVERY_TENANT, ()
    if user is None:
        return _OF_EVERY_USER, (tenant.encode(),)
    return (_OF_USER, (tenant.encode(), user.encode())) if user else (_OF_NO_USER, (tenant.encode(),))


def name_settings(owner: Owner, session: Session) -> list[Opening]:
    """Return commands that set the same, for a cluster: with literals, since SET takes no values."""
    tenant, user = owner
    uncompiled: Opening = b"SET LOCAL jit = off", ()
    if tenant is None:
        return [uncompiled, (b"SET LOCAL engrain.every_tenant = 'on'", ())]
    escape = Escaping(session.pgconn).escape_literal
    settings = [uncompiled, (b"SET LOCAL engrain.tenant_id = " + bytes(escape(tenant.encode())), ())]
    if user is None:
        return [*settings, (b"SET LOCAL engrain.every_user = 'on'", ())]
    return [*settings, (b"SET LOCAL engrain.user_id = " + bytes(escape(user.encode())), ())] if user else settings
