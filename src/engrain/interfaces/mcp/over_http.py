"""The tools over HTTP: each message is answered for whom its own request speaks, whatever came before it.

Streamable HTTP of both eras of the protocol without sessions: an answer is one JSON document. Nothing is sent that
nobody asked for, so there is no stream to listen to. Whoever serves this checks Host and Origin before.
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
from engrain.interfaces.mcp.profiles import PROFILES, profile_of
from engrain.interfaces.mcp.server import MemoryServer

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from engrain.interfaces.access import Gate
    from engrain.service import Memory

PATH = "/mcp"
_IDENTITY = "engrain.identity"
# One memory may have 10 MB, and JSON escapes of it are longer; whoever serves this may allow less.
_MOST_BYTES = 64 * 1024 * 1024


class McpApp:
    """An ASGI application that serves the tools of a profile at whatever path it is mounted on."""

    def __init__(self, memory: "Memory", gate: "Gate", *, profile: str = "butler") -> None:
        """`gate` says whom a request speaks for.

        Raises:
            InvalidInput: an unknown profile.
        """
        self._memory = memory
        self._gate = gate
        chosen = profile_of(checks.choice(profile, PROFILES, name="profile"))
        self._server = MemoryServer(chosen, _identity, tell=detail_of)

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer one request."""
        request = Request(scope, receive)
        answer = await self._refused(request)
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

    async def _refused(self, request: Request) -> Response | None:
        """Why a request gets no answer of the protocol; None where it does, and its scope says on whose behalf."""
        if request.method != "POST":
            said = "messages are posted here; there is no stream to listen to and no session to end"
            return problem(request, 405, code="method_not_allowed", detail=said, headers={"Allow": "POST"})
        try:
            asking = await identify_for(request, "reader", memory=self._memory, gate=self._gate)
            request.scope[_IDENTITY] = Identity(
                memory=self._memory,
                tenant=asking.tenant,
                agent_name=asking.agent().caller.agent,
                role=asking.grant.role,
                is_bound=asking.grant.agent is not None,
                runs_it=False,
                session=asking.session,
                request_id=asking.request_id,
            )
        except EngrainError as error:
            return problem_of(request, error)
        return None


def _identity(ctx: ServerRequestContext[Any, Any]) -> Identity:
    """On whose behalf a message is answered: what its own request was let in as.

    Raises:
        Unauthenticated: it came on no request.
    """
    found = ctx.request.scope.get(_IDENTITY) if isinstance(ctx.request, Request) else None
    if not isinstance(found, Identity):
        raise Unauthenticated("this message came on no request of its own; post it")
    return found
