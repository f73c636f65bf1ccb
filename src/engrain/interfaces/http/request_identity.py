"""Identity of one request: the grant of its key, narrowed by its headers."""

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from engrain.domain.access.keys import Grant, Role
from engrain.domain.records import Caller
from engrain.errors import Forbidden, InvalidInput
from engrain.interfaces.access import Gate, narrow, require
from engrain.interfaces.http.problems import request_id

if TYPE_CHECKING:
    from engrain.agent.agent import Agent
    from engrain.service import Memory

AGENT, SESSION = "Engrain-Agent", "Engrain-Session"
USER, USER_TOO = "Engrain-User", "X-Engrain-User"
REQUEST_ID = re.compile(r"[!-~]{1,128}")  # what comes back in a header, and stands in events and logs


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedCaller(Caller):
    """Identity of a request with the role of its key, and the agent and the user it is bound to."""

    key_role: Role
    key_agent: str | None = None
    key_user: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestIdentity:
    """The memory, grant, agent, user, session and id of one request."""

    memory: "Memory"
    grant: Grant
    agent_name: str | None
    user: str | None
    session: str | None
    request_id: str | None

    @property
    def tenant(self) -> str:
        return self.grant.tenant_id

    def admitted(self) -> AdmittedCaller:
        """Return the caller with the rights of its key."""
        caller = self.agent().caller
        values = {field.name: getattr(caller, field.name) for field in fields(caller)}
        grant = self.grant
        return AdmittedCaller(**values, key_role=grant.role, key_agent=grant.agent, key_user=grant.user_id)

    def agent(self) -> "Agent":
        """Return the memory as the request's agent sees it."""
        return self.agent_named(self.agent_name, user=self.user, session=self.session)

    def agent_named(self, name: str | None, *, user: str | None, session: str | None = None) -> "Agent":
        """Return the memory as an agent sees it that acts for a user, under the rights of the request."""
        return self.memory.agent(
            name,
            user=user,
            tenant=self.tenant,
            session=session,
            request_id=self.request_id,
            is_user_bound=self.grant.user_id is not None,
            may_publish=self.grant.may_publish(self.memory.settings.server.publishing_role),
        )


async def request_identity(request: Request) -> RequestIdentity:
    """Return the identity that the route established before it read anything else of the request."""
    identity: RequestIdentity = request.state.identity
    return identity


Identified = Annotated[RequestIdentity, Depends(request_identity)]


async def identify(request: Request, needs: Role) -> RequestIdentity:
    """Identify a request whose key has at least a role.

    Raises:
        Unauthenticated, RateLimited: as the gate says.
        Forbidden: the key's role does not allow it, or the key is another agent's or user's.
        InvalidInput: a header that is no UTF-8, or two that differ.
    """
    return await identify_for(request, needs, memory=request.app.state.memory, gate=request.app.state.gate)


async def identify_for(request: Request, needs: Role, *, memory: "Memory", gate: "Gate") -> RequestIdentity:
    """Identify a request to another application than this one, as `identify` does."""
    authorization, address = request.headers.get("authorization"), request.client and request.client.host
    if authorization:  # else nothing is looked up
        grant = await run_in_threadpool(gate.admit, authorization, address=address)
    else:
        grant = gate.admit(None, address=address)
    require(grant, needs)
    return RequestIdentity(
        memory=memory,
        grant=grant,
        agent_name=narrow(grant, _header(request, AGENT), name=AGENT),
        user=_user(grant, _header(request, USER), _header(request, USER_TOO)),
        session=_header(request, SESSION),
        request_id=request_id(request),
    )


def _user(grant: Grant, user: str | None, also: str | None) -> str | None:
    """Return the end user that a request acts for: the key's, or the one of its headers."""
    if user is not None and also is not None and user != also:
        raise InvalidInput(f"{USER} {user!r:.80} and {USER_TOO} {also!r:.80} differ; send one of them")
    user = also if user is None else user
    if user is not None and grant.user_id not in (None, user):
        raise Forbidden(f"the key speaks for the user {grant.user_id!r:.80} alone; leave {USER} out")
    return grant.user_id if user is None else user


def _header(request: Request, header: str) -> str | None:
    value = request.headers.get(header)
    return None if value is None else decode_header(value, header=header)


def decode_header(value: str, *, header: str) -> str:
    """Return the text of a header, whose UTF-8 HTTP transports byte by byte.

    Raises:
        InvalidInput: it is no UTF-8.
    """
    try:
        return value.encode("latin-1").decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"header {header} is not UTF-8 ({error.reason} at byte {error.start})") from error
