"""Access log: a metric and a log line for each request, with its duration and status."""

import logging
import time
from typing import TYPE_CHECKING

from engrain import metrics

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LOG = logging.getLogger(__name__)
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))  # others are anybody's text
_REJECTED = {401: "unauthenticated", 403: "forbidden", 429: "rate_limited"}
_QUIET = frozenset(("/healthz", "/readyz", "/metrics"))
_WHOLE = frozenset(("/mcp",))  # what FastAPI did not route, and has no names in its path
_FAILED = 500


class AccessLog:
    """ASGI middleware that counts and logs requests by their route; a path or a query may hold anything."""

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = time.perf_counter(), _FAILED

        async def send_and_note(message: "Message") -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_and_note)
        finally:
            _log(scope, status, time.perf_counter() - start)


def _log(scope: "Scope", status: int, seconds: float) -> None:
    method = scope["method"] if scope["method"] in _METHODS else "other"
    metrics.durations("http_seconds", method=method, status=str(status)).add(seconds)
    if status in _REJECTED:
        metrics.count("rejected_requests", reason=_REJECTED[status])
    route = getattr(scope.get("route"), "path", scope["path"] if scope["path"] in _WHOLE else None)
    fields = {
        "method": method,
        "route": route,
        "status": status,
        "duration_ms": round(seconds * 1000, 3),
        "request_id": scope.get("state", {}).get("request_id"),
    }
    _LOG.log(logging.DEBUG if route in _QUIET else logging.INFO, "request", extra=fields)
