"""Acts: the caller, time and ids of a write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.ids import keyed_id
from engrain.domain.requests import Act, make_act

if TYPE_CHECKING:
    from engrain.agent.wiring.parts import Parts
    from engrain.domain.records import Caller


def new_act(parts: Parts, caller: Caller) -> Act:
    """Return a write by `caller` at this time; references that its tenant's recalls have left are counted before it."""
    parts.references.flush(caller.tenant_id)
    return make_act(caller=caller, at=parts.clock())


def new_id(parts: Parts, caller: Caller, idempotency_key: str | None) -> str:
    """Return a fresh id; with a key the one that it always gets from this agent for this user.

    It has the time of a key that is a UUIDv7, as clients make them, so that it sorts among fresh ids; else it is the
    smallest.
    """
    if idempotency_key is None:
        return parts.ids()
    return keyed_id(idempotency_key, tenant_id=caller.tenant_id, scope=caller.own_scope)
