"""On whose behalf one request is served: what its key grants, and what its headers say within that."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from engrain.domain.access.keys import Grant, Role
from engrain.errors import Forbidden, InvalidInput
from engrain.interfaces.access import Gate, require
from engrain.interfaces.http.problems import request_id

if TYPE_CHECKING:
    from engrain.agent import Agent
    from engrain.service import Memory

AGENT, SESSION = "Engrain-Agent", "Engrain-Session"
REQUEST_ID = re.compile(r"[!-~]{1,128}")  # what comes back in a header, and stands in events and logs


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One request: the memory it is about, what it may do, and as whom."""

    memory: "Memory"
    grant: Grant
    agent_name: str | None
    session: str | None
    request_id: str | None

    @property
    def tenant(self) -> str:
        return self.grant.tenant_id

    @property
    def whole_tenant(self) -> str:
        """The tenant, for what is done to all of it.

        Raises:
            Forbidden: the key speaks for one agent alone.
        """
        if self.grant.agent is not None:
            raise Forbidden(f"this is for the whole tenant, and the key speaks for the agent {self.grant.agent!r:.80}")
        return self.grant.tenant_id

    def agent(self) -> "Agent":
        """The memory as the agent sees it that the request speaks for."""
        return self.memory.agent(self.agent_name, tenant=self.tenant, session=self.session, request_id=self.request_id)

    def extent(self, agent: str | None) -> str | None:
        """The agent that a verb for a whole tenant is narrowed to; None: all of the tenant.

        Raises:
            Forbidden: the key speaks for another one.
        """
        return _within(self.grant, agent)


async def asking(request: Request) -> Asking:
    """What the route has found out about the request before it looked at anything else of it."""
    found: Asking = request.state.asking
    return found


Asked = Annotated[Asking, Depends(asking)]


async def identified(request: Request, needs: Role) -> Asking:
    """Who asks, if whoever it is may do what needs a role.

    Raises:
        Unauthenticated, RateLimited: as the gate says.
        Forbidden: the key's role does not allow it, or the key is another agent's.
        InvalidInput: a header that is no UTF-8.
    """
    return await admitted(request, needs, memory=request.app.state.memory, gate=request.app.state.gate)


async def admitted(request: Request, needs: Role, *, memory: "Memory", gate: "Gate") -> Asking:
    """`identified`, of an application that is not this one."""
    shown, address = request.headers.get("authorization"), request.client and request.client.host
    if gate.keys_required or shown:  # else nothing is looked up
        grant = await run_in_threadpool(gate.admit, shown, address=address)
    else:
        grant = gate.admit(None, address=address)
    require(grant, needs)
    return Asking(
        memory=memory,
        grant=grant,
        agent_name=_within(grant, _said(request, AGENT)),
        session=_said(request, SESSION),
        request_id=request_id(request),
    )


def _within(grant: Grant, agent: str | None) -> str | None:
    if agent is not None and grant.agent not in (None, agent):
        raise Forbidden(f"the key speaks for the agent {grant.agent!r:.80} alone; leave {AGENT} out")
    return grant.agent if agent is None else agent


def _said(request: Request, header: str) -> str | None:
    """A header as text; names are UTF-8, which HTTP hands on byte by byte."""
    value = request.headers.get(header)
    if value is None:
        return None
    try:
        return value.encode("latin-1").decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"header {header} is not UTF-8 ({error.reason} at byte {error.start})") from error
