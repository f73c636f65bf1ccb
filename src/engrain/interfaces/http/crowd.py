"""How many requests are answered at once; who comes beyond that is told when to come again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request

from engrain import metrics
from engrain.interfaces.http.problems import problem

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Who watches a server has to reach it when it is busiest.
_ALWAYS_ADMITTED = frozenset({"/healthz", "/readyz", "/metrics"})
_RETRY_AFTER_S = 1


class Crowd:
    """An ASGI application behind a limit of requests at once; above it the answer is 503 with Retry-After.

    A stream of events counts until it begins: it may stay open for hours while nothing is done for it.
    """

    def __init__(self, app: ASGIApp, *, most: int) -> None:
        self._app = app
        self._most = most
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] != "http" or scope["path"] in _ALWAYS_ADMITTED:
            await self._app(scope, receive, send)
        elif self._inside >= self._most:
            metrics.count("requests_refused_busy")
            await _refusal(scope, self._most)(scope, receive, send)
        else:
            await self._admit(scope, receive, send)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._inside += 1
        counts = True

        async def sending(message: Message) -> None:
            nonlocal counts
            if counts and message["type"] == "http.response.start" and _is_event_stream(message):
                self._inside -= 1
                counts = False
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            if counts:
                self._inside -= 1


def _is_event_stream(start: Message) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(b"text/event-stream")
        for name, value in start.get("headers", ())
    )


def _refusal(scope: Scope, most: int) -> Response:
    said = f"the server answers {most} requests at once (server.max_requests); try again in {_RETRY_AFTER_S} s"
    return problem(Request(scope), 503, code="busy", detail=said, headers={"Retry-After": str(_RETRY_AFTER_S)})
