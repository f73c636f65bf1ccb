"""Request guards: refuse bodies that are too large or too slow, unknown host names and pages of other sites.

Pure ASGI middleware, so that it works with any application; it reads nothing of a body but its length.
"""

import asyncio
import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engrain import metrics
from engrain.config.server import Server
from engrain.interfaces.http.problems import problem

_LOOPBACK = "localhost"
# Sec-Fetch-Site of requests that no page of another site made, by a link, an image or a form; only browsers send it.
_OWN_PAGES = frozenset({"none", "same-origin"})
_ANY = "*"
_PAGE = "/"
# Headers of every answer that does not set them itself: nothing here is a page, a script or worth caching.
_HEADERS: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_CORS_HEADERS: Mapping[str, str] = {
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Access-Control-Expose-Headers": "ETag, Engrain-Report, Location, Mcp-Session-Id, Retry-After, X-Request-ID",
}
# Headers that say who asks: a gateway that adds its own to a client's must not leave it to us which one counts.
_IDENTITY_HEADERS = frozenset(
    {b"authorization", b"x-api-key", b"engrain-agent", b"engrain-user", b"x-engrain-user", b"engrain-session"}
)
_PREFLIGHT_HEADERS: Mapping[str, str] = {
    "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
    "Access-Control-Allow-Headers": (
        "Authorization, Content-Type, Engrain-Agent, Engrain-Session, Engrain-User, Idempotency-Key, If-Match, "
        "If-None-Match, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id, X-Request-ID"
    ),
    "Access-Control-Max-Age": "600",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Limits of the size and time of a request, and the hosts and origins that are allowed.

    Attributes:
        files: paths whose body is a file that goes to disk as it comes: `max_file_bytes`, and `body_timeout_s` for each
            piece of it instead of all.
        allowed_hosts: names it is reached by besides `localhost` and addresses; `*` for any.
        allowed_origins: web pages of other sites that may ask, as `https://app.example`.
    """

    max_body_bytes: int
    max_file_bytes: int
    body_timeout_s: float
    allowed_hosts: frozenset[str] = frozenset()
    allowed_origins: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()

    @classmethod
    def of(cls, settings: Server, *, files: Iterable[str] = ()) -> "Bounds":
        """Read the limits from the settings."""
        return cls(
            max_body_bytes=settings.max_body_bytes,
            max_file_bytes=settings.max_file_bytes,
            body_timeout_s=settings.body_timeout_s,
            allowed_hosts=frozenset(host.lower() for host in settings.allowed_hosts),
            allowed_origins=frozenset(origin.lower().rstrip("/") for origin in settings.allowed_origins),
            files=frozenset(files),
        )


class Guards:
    """ASGI middleware that enforces `Bounds`; refusals are problem documents, and every answer has security headers."""

    def __init__(self, app: ASGIApp, bounds: Bounds) -> None:
        self._app = app
        self._bounds = bounds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "http":
                await self._serve(scope, receive, send)
            case "websocket":  # nothing here speaks it
                await receive()
                await send({"type": "websocket.close", "code": 1008})
            case _:
                await self._app(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        is_from_other_site = origin is not None and not _is_own_origin(origin, headers.get("host"))
        guarded_send = _GuardedSend(send, self._cors_headers(origin) if is_from_other_site else {})
        request = Request(scope)
        refusal = self._refusal(request, headers, origin if is_from_other_site else None)
        if refusal is not None:
            await refusal(scope, receive, guarded_send)
        elif is_from_other_site and scope["method"] == "OPTIONS":
            preflight = Response(status_code=HTTPStatus.NO_CONTENT, headers=dict(_PREFLIGHT_HEADERS))
            await preflight(scope, receive, guarded_send)
        else:
            await self._app(scope, _Body(request, receive, guarded_send, self._bounds), guarded_send)

    def _refusal(self, request: Request, headers: Headers, other_site: str | None) -> Response | None:
        """Return the refusal of a request by its head; None where it is served."""
        bounds = self._bounds
        if not is_own_host(headers.get("host"), bounds.allowed_hosts):
            metrics.count("requests_refused_host")
            detail = "this server does not go by the name in the header Host; the setting server.allowed_hosts adds it"
            return problem(request, HTTPStatus.MISDIRECTED_REQUEST, code="misdirected_request", detail=detail)
        if any(len(headers.getlist(name)) > 1 for name in ("host", "origin")):
            metrics.count("requests_refused_origin")
            detail = "the header Host or Origin is there twice; which one is meant nobody can tell"
            return problem(request, HTTPStatus.FORBIDDEN, code="forbidden", detail=detail)
        if (name := _find_ambiguous_header(request)) is not None:
            detail = f"the header {name} is there more than once, with different values; send one"
            return problem(request, HTTPStatus.UNPROCESSABLE_ENTITY, code="invalid_input", detail=detail)
        is_of_other_page = _is_asked_by_other_page(request, headers)
        if is_of_other_page or (other_site is not None and other_site.lower() not in bounds.allowed_origins):
            metrics.count("requests_refused_origin")
            detail = "pages of other sites may not ask here; the setting server.allowed_origins lets one in"
            return problem(request, HTTPStatus.FORBIDDEN, code="forbidden", detail=detail)
        declared = headers.get("content-length", "")
        if declared.isdecimal() and int(declared[:20]) > _max_bytes(request, bounds):
            return _refuse_as_too_large(request, bounds)
        return None

    def _cors_headers(self, origin: str | None) -> Mapping[str, str]:
        """Return the CORS headers for an origin; none where it is not allowed."""
        if origin is None or origin.lower() not in self._bounds.allowed_origins:
            return {}
        return {**_CORS_HEADERS, "Access-Control-Allow-Origin": origin, "Vary": "Origin"}


class _GuardedSend:
    """Sends one answer with the security headers; drops an application's answer once its request is refused."""

    def __init__(self, send: Send, more: Mapping[str, str]) -> None:
        self._send = send
        self._headers = {**_HEADERS, **more}
        self.has_begun = False
        self.is_refused = False

    async def __call__(self, message: Message) -> None:
        if not self.is_refused:
            await self._send_with_headers(message)

    async def refuse(self, request: Request, refusal: Response) -> None:
        """Answer for the application, if it has not begun to."""
        self.is_refused = True
        if not self.has_begun:
            await refusal(request.scope, request.receive, self._send_with_headers)

    async def _send_with_headers(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            message = {**message, "headers": list(message.get("headers", ()))}
            headers = MutableHeaders(scope=message)
            for name, value in self._headers.items():
                headers.setdefault(name, value)
        await self._send(message)


class _Body:
    """Passes on the body of one request while it is within the bounds; beyond them, reports a disconnected client."""

    def __init__(self, request: Request, receive: Receive, guarded_send: _GuardedSend, bounds: Bounds) -> None:
        self._request = request
        self._receive = receive
        self._guarded_send = guarded_send
        self._bounds = bounds
        self._is_file = request.scope["path"] in bounds.files
        self._until: float | None = None
        self._bytes = 0
        self._is_whole = False

    async def __call__(self) -> Message:
        """Return the next message; once the body is complete, without any bound."""
        if self._guarded_send.is_refused:
            return {"type": "http.disconnect"}
        if self._is_whole:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline()):
                message = await self._receive()
        except TimeoutError:
            metrics.count("requests_refused_slow")
            return await self._refuse(_refuse_as_too_slow(self._request, self._bounds))
        self._bytes += len(message.get("body", b""))
        if self._bytes > _max_bytes(self._request, self._bounds):
            return await self._refuse(_refuse_as_too_large(self._request, self._bounds))
        self._is_whole = not message.get("more_body", False)
        return message

    def _deadline(self) -> float:
        now = asyncio.get_running_loop().time()
        if self._until is None or self._is_file:
            self._until = now + self._bounds.body_timeout_s
        return self._until

    async def _refuse(self, refusal: Response) -> Message:
        await self._guarded_send.refuse(self._request, refusal)
        return {"type": "http.disconnect"}


def is_own_host(host: str | None, allowed: frozenset[str]) -> bool:
    """Tell whether a server answers to a host name: an address, `localhost`, or one that is allowed.

    A page that makes its own name point here (DNS rebinding) still sends that name; an address cannot be made to point
    elsewhere. A client that sends no name is no browser.
    """
    if host is None or _ANY in allowed:
        return True
    name = _host_name(host)
    return name == _LOOPBACK or name in allowed or host.lower() in allowed or _is_address(name)


def _is_own_origin(origin: str, host: str | None) -> bool:
    """Tell whether a page is of the server itself."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and host is not None and parts.netloc.lower() == host.lower()


def _find_ambiguous_header(request: Request) -> str | None:
    """Find a header that says in two ways who asks."""
    values: dict[bytes, bytes] = {}
    for name, value in request.scope["headers"]:
        if name in _IDENTITY_HEADERS and values.setdefault(name, value) != value:
            return str(name.decode())
    return None


def _is_asked_by_other_page(request: Request, headers: Headers) -> bool:
    """Tell whether a page of another site asks without saying so in Origin: by an image, a frame, a form or a link.

    A link to the page of this server may be followed: it opens in a tab of its own, holds no memory and asks for a key.
    """
    if headers.get("origin") is not None or headers.get("sec-fetch-site", "none") in _OWN_PAGES:
        return False
    is_link = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return not (is_link and request.method in {"GET", "HEAD"} and request.url.path == _PAGE)


def _host_name(host: str) -> str:
    """A host without its port, in lower case."""
    name, bracket, _ = host.lower().partition("]")
    return name.removeprefix("[") if bracket else name.partition(":")[0].rstrip(".")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _max_bytes(request: Request, bounds: Bounds) -> int:
    return bounds.max_file_bytes if request.scope["path"] in bounds.files else bounds.max_body_bytes


def _refuse_as_too_large(request: Request, bounds: Bounds) -> Response:
    metrics.count("requests_refused_size")
    detail = f"the body is larger than {_max_bytes(request, bounds):,} bytes; send less at once"
    return _refuse_and_close(request, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, code="content_too_large", detail=detail)


def _refuse_as_too_slow(request: Request, bounds: Bounds) -> Response:
    detail = f"the body did not arrive within {bounds.body_timeout_s:g} s; send it at once, or less of it"
    return _refuse_and_close(request, HTTPStatus.REQUEST_TIMEOUT, code="request_timeout", detail=detail)


def _refuse_and_close(request: Request, status: HTTPStatus, *, code: str, detail: str) -> Response:
    """A refusal after which the connection ends: what is left of the body is not read."""
    return problem(request, status, code=code, detail=detail, headers={"Connection": "close"})
