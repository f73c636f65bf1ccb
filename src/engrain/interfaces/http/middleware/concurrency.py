"""Concurrency limit of the server: excess requests get 503 with Retry-After."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request

from engrain import metrics
from engrain.interfaces.http.problems import problem

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Monitoring has to reach a server when it is busiest.
_ALWAYS_ADMITTED = frozenset({"/healthz", "/readyz", "/metrics"})
_RETRY_AFTER_S = 1


class ConcurrencyLimit:
    """ASGI middleware that limits concurrent requests; excess ones get 503 with Retry-After.

    A stream of events counts until it begins: it may stay open for hours while nothing is done for it.
    """

    def __init__(self, app: ASGIApp, *, max_requests: int) -> None:
        self._app = app
        self._max_requests = max_requests
        self._active = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in _ALWAYS_ADMITTED:
            await self._app(scope, receive, send)
        elif self._active >= self._max_requests:
            metrics.count("requests_refused_busy")
            await _refusal(scope, self._max_requests)(scope, receive, send)
        else:
            await self._admit(scope, receive, send)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._active += 1
        counts = True

        async def count_until_stream(message: Message) -> None:
            nonlocal counts
            if counts and message["type"] == "http.response.start" and _is_event_stream(message):
                self._active -= 1
                counts = False
            await send(message)

        try:
            await self._app(scope, receive, count_until_stream)
        finally:
            if counts:
                self._active -= 1


def _is_event_stream(start: Message) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(b"text/event-stream")
        for name, value in start.get("headers", ())
    )


def _refusal(scope: Scope, max_requests: int) -> Response:
    limit = f"the server answers {max_requests} requests at once (server.max_requests)"
    message = f"{limit}; try again in {_RETRY_AFTER_S} s"
    return problem(Request(scope), 503, code="busy", detail=message, headers={"Retry-After": str(_RETRY_AFTER_S)})
