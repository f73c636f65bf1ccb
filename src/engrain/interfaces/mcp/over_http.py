"""MCP over HTTP: every message is answered under the identity of its own request.

Streamable HTTP of both eras of the protocol without sessions: an answer is one JSON document. The server sends nothing
unasked, so there is no stream to listen to. The guards of the server check Host and Origin before.
"""

from typing import TYPE_CHECKING, Any

from mcp.server.context import ServerRequestContext
from starlette.requests import Request
from starlette.responses import Response

from engrain.domain import checks
from engrain.errors import EngrainError, Unauthenticated
from engrain.interfaces.http.problems import detail_of, problem, problem_of
from engrain.interfaces.http.request_identity import identify_for
from engrain.interfaces.mcp.identity import Identity
from engrain.interfaces.mcp.instructions import PROFILES
from engrain.interfaces.mcp.profiles import profile_of
from engrain.interfaces.mcp.server import MemoryServer

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from engrain.interfaces.access import Gate
    from engrain.service import Memory

PATH = "/mcp"
_IDENTITY = "engrain.identity"
# One memory may have 10 MB, and JSON escapes of it are longer; the server's guards may allow less.
_MOST_BYTES = 64 * 1024 * 1024


class McpApp:
    """An ASGI application that serves the tools of a profile at whatever path it is mounted on."""

    def __init__(self, memory: "Memory", gate: "Gate", *, profile: str = "butler") -> None:
        """Set up the tools of a profile; `gate` admits requests by their keys.

        Raises:
            InvalidInput: an unknown profile.
        """
        self._memory = memory
        self._gate = gate
        chosen = profile_of(checks.choice(profile, PROFILES, name="profile"))
        self._server = MemoryServer(chosen, _identity, describe=detail_of)

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        request = Request(scope, receive)
        answer = await self._admit(request)
        if answer is not None:
            await answer(scope, receive, send)
            return
        # One for each request: it needs no start and end around it, and nothing can be shared by two.
        self._server.streamable_http_app(
            stateless_http=True, json_response=True, host="", max_request_body_size=_MOST_BYTES
        )
        manager = self._server.session_manager
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    async def _admit(self, request: Request) -> Response | None:
        """Return the refusal of a request; None where it is admitted, with its identity in the scope."""
        if request.method != "POST":
            detail = "messages are posted here; there is no stream to listen to and no session to end"
            return problem(request, 405, code="method_not_allowed", detail=detail, headers={"Allow": "POST"})
        try:
            caller = await identify_for(request, "reader", memory=self._memory, gate=self._gate)
            request.scope[_IDENTITY] = Identity(
                memory=self._memory,
                rights=caller.grant,
                agent_name=caller.agent().caller.agent,
                user=caller.user,
                is_operator=False,
                session=caller.session,
                request_id=caller.request_id,
            )
        except EngrainError as error:
            return problem_of(request, error)
        return None


def _identity(ctx: ServerRequestContext[Any, Any]) -> Identity:
    """Return the identity of a message: that of its own request.

    Raises:
        Unauthenticated: it came on no request.
    """
    identity = ctx.request.scope.get(_IDENTITY) if isinstance(ctx.request, Request) else None
    if not isinstance(identity, Identity):
        raise Unauthenticated("this message came on no request of its own; post it")
    return identity
