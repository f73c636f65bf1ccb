"""Problems: every fault as an HTTP status and a problem document (RFC 9457) with the error's stable code.

| status | codes |
|---|---|
| 400 | malformed_request |
| 401 | unauthenticated |
| 403 | forbidden |
| 404 | not_found, no_such_route |
| 405 | method_not_allowed |
| 408 | request_timeout |
| 409 | integrity_violated, version_conflict |
| 412 | precondition_failed |
| 413 | content_too_large |
| 415 | unsupported_media_type |
| 421 | misdirected_request |
| 422 | invalid_input, unreadable_import, unusable_backup |
| 429 | rate_limited |
| 500 | internal_error, engrain_error, storage_error, database_damaged, database_read_only, schema_too_new, ... |
| 503 | database_busy, database_unreachable, outcome_unknown, engine_unavailable, memory_closed |
| 507 | database_full |
"""

import json
import logging
import math
import re
import traceback
from collections.abc import Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engrain import errors
from engrain.domain.faults import is_of_the_request, public_message
from engrain.errors import EngrainError

_LOG = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
MALFORMED, INTERNAL, NO_ROUTE = "malformed_request", "internal_error", "no_such_route"
_MOST_SHOWN = 5
# Types of refusals of a body that is not there or is no object, in pydantic's words.
_NO_OBJECT = frozenset({"missing", "model_attributes_type", "model_type", "dict_type"})

# The nearest class wins, as it does for exit codes.
STATUSES: Mapping[type[EngrainError], HTTPStatus] = {
    EngrainError: HTTPStatus.INTERNAL_SERVER_ERROR,
    errors.InvalidInput: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.NotFound: HTTPStatus.NOT_FOUND,
    errors.VersionConflict: HTTPStatus.CONFLICT,
    errors.Unauthenticated: HTTPStatus.UNAUTHORIZED,
    errors.Forbidden: HTTPStatus.FORBIDDEN,
    errors.RateLimited: HTTPStatus.TOO_MANY_REQUESTS,
    errors.MemoryClosed: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.EngineUnavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.StorageError: HTTPStatus.INTERNAL_SERVER_ERROR,
    errors.DatabaseBusy: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.DatabaseUnreachable: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.OutcomeUnknown: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.DatabaseFull: HTTPStatus.INSUFFICIENT_STORAGE,
    errors.IntegrityViolated: HTTPStatus.CONFLICT,
}
_CODES: Mapping[int, str] = {
    HTTPStatus.BAD_REQUEST: MALFORMED,
    HTTPStatus.NOT_FOUND: NO_ROUTE,
    HTTPStatus.METHOD_NOT_ALLOWED: "method_not_allowed",
    HTTPStatus.PRECONDITION_FAILED: "precondition_failed",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "content_too_large",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "unsupported_media_type",
}


# Where clients look for OAuth after a 401, as the authorization of MCP has it.
_OAUTH = re.compile(r"/\.well-known/(oauth-|openid-configuration).*|/authorize|/register|/token")


class Refused(HTTPException):
    """A request that HTTP itself has a status for: malformed, of another media type, of another version."""


def status_of(error: EngrainError) -> HTTPStatus:
    """Return the HTTP status of an error of ours."""
    return next(STATUSES[class_] for class_ in type(error).__mro__ if class_ in STATUSES)


def problem(
    request: Request,
    status: int,
    *,
    code: str,
    detail: str,
    headers: Mapping[str, str] | None = None,
    more: Mapping[str, str] | None = None,
) -> Response:
    """Make a problem document as an answer; `more` are members beside those of every problem."""
    document = {
        "type": f"urn:engrain:error:{code}",
        "title": HTTPStatus(status).phrase,
        "status": int(status),
        "detail": detail,
        "code": code,
        "request_id": request_id(request),
        **(more or {}),
    }
    body = json.dumps(document, ensure_ascii=False).encode(errors="backslashreplace")
    return Response(body, status_code=status, media_type=MEDIA_TYPE, headers=dict(headers or {}))


def request_id(request: Request) -> str | None:
    """Return the id of a request, as its answer and the events of its changes name it."""
    id_: str | None = request.scope.get("state", {}).get("request_id")
    return id_


def install(app: FastAPI, routes: Sequence[Route]) -> None:
    """Answer every fault in an application of these routes, and in what is added to it, with a problem."""
    app.add_exception_handler(EngrainError, _engrain_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, partial(_http_error, routes))
    app.add_middleware(Unforeseen)


def problem_of(request: Request, error: EngrainError) -> Response:
    """Make the answer for an error of ours; the server's own failures are logged, and answered without details."""
    status = status_of(error)
    detail = detail_of(error, request_id(request))
    return problem(request, status, code=error.code, detail=detail, headers=_headers(error, status))


def detail_of(error: EngrainError, request_id: str | None = None) -> str:
    """Return the public message of an error of ours; the server's own failures are logged in full instead."""
    if not is_of_the_request(error):
        _LOG.warning("a request failed: %s", error, extra={"code": error.code, "request_id": request_id})
    return public_message(error)


def _headers(error: EngrainError, status: HTTPStatus) -> dict[str, str]:
    match error:
        case errors.RateLimited():
            return {"Retry-After": str(max(1, math.ceil(error.retry_after_s)))}
        case errors.Unauthenticated():
            return {"WWW-Authenticate": 'Bearer realm="engrain"'}
        case _ if status == HTTPStatus.SERVICE_UNAVAILABLE:
            return {"Retry-After": "1"}
        case _:
            return {}


async def _engrain_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, EngrainError)
    return problem_of(request, error)


async def _http_error(routes: Sequence[Route], request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status, headers, path = error.status_code, dict(error.headers or {}), request.url.path
    match status:
        case HTTPStatus.NOT_FOUND if _OAUTH.fullmatch(path):
            return _no_oauth(request)
        case HTTPStatus.NOT_FOUND:
            if _has_slash_in_id(routes, request):
                return problem_of(request, errors.NotFound(f"nothing has an id with a slash, as {path:.200} says"))
            detail = f"there is no {path:.200}; /openapi.json names all that there is"
        case HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = _allowed(routes, path) or headers.get("Allow", "")
            detail = f"{path:.200} takes {headers['Allow']} alone; /openapi.json names all that there is"
        case HTTPStatus.BAD_REQUEST if not isinstance(error, Refused):
            detail = "the body is no JSON that can be read: no UTF-8, nested too deeply, or with a number too long"
        case _:
            detail = str(error.detail)
    code = _CODES.get(status, HTTPStatus(status).phrase.lower().replace(" ", "_"))
    return problem(request, status, code=code, detail=detail, headers=headers)


def _has_slash_in_id(routes: Sequence[Route], request: Request) -> bool:
    """Tell whether an address is that of a route but for an escaped slash in an id, which routing takes for a slash."""
    path = unquote(re.sub("%2F", "-", request.scope.get("raw_path", b"").decode("latin-1"), flags=re.IGNORECASE))
    return any(route.path_regex.match(path) for route in routes)


def _no_oauth(request: Request) -> Response:
    """Tell a client that looks for OAuth, as many do after 401, how it is let in; in OAuth's own words for an error."""
    detail = "this memory has no OAuth: send a key with each request, in the header Authorization: Bearer <key>"
    oauth = {"error": "invalid_request", "error_description": detail}
    return problem(request, HTTPStatus.NOT_FOUND, code=NO_ROUTE, detail=detail, more=oauth)


def _allowed(routes: Sequence[Route], path: str) -> str:
    """List the methods of the address that matches a path most exactly; the framework names those of one route."""
    matching = [route.path for route in routes if route.path_regex.match(path)]
    address = min(matching, key=lambda template: template.count("{"), default=None)
    return ", ".join(sorted(method for route in routes if route.path == address for method in route.methods or ()))


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    refusals = error.errors()
    if any(refusal["type"] == "json_invalid" for refusal in refusals):
        position = refusals[0]["loc"][-1]
        detail = f"the body is no JSON ({refusals[0]['ctx']['error']} at character {position})"
        return problem(request, HTTPStatus.BAD_REQUEST, code=MALFORMED, detail=detail)
    code = errors.InvalidInput.code
    return problem(request, HTTPStatus.UNPROCESSABLE_ENTITY, code=code, detail=_describe(refusals))


def _describe(refusals: Sequence[Mapping[str, Any]]) -> str:
    """Name the values that are wrong, and the reasons; never quote the values."""
    if any(refusal["loc"] == ("body",) and refusal["type"] in _NO_OBJECT for refusal in refusals):
        return "the body must be a JSON object; /openapi.json names its fields"
    shown = [f"{'.'.join(map(str, refusal['loc']))}: {refusal['msg']}"[:300] for refusal in refusals[:_MOST_SHOWN]]
    more = len(refusals) - _MOST_SHOWN
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")


class Unforeseen:
    """ASGI middleware that answers 500 to an unforeseen error and logs its frames, without values.

    A handler of the framework would raise it again, for the server to log with its message.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False

        async def answer(message: Message) -> None:
            nonlocal has_begun
            has_begun = has_begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except Exception as error:
            if scope["type"] != "http":
                raise
            request = Request(scope)
            _log(request, error)
            if has_begun:
                raise RuntimeError("an answer broke off; the log above says where") from None
            code, status = INTERNAL, HTTPStatus.INTERNAL_SERVER_ERROR
            await problem(request, status, code=code, detail=public_message(error))(scope, receive, send)


def _log(request: Request, error: Exception) -> None:
    frames = "".join(traceback.format_tb(error.__traceback__))
    extra = {"error": type(error).__name__, "request_id": request_id(request)}
    _LOG.error("a request failed unforeseen: %s\n%s", type(error).__name__, frames, extra=extra)
