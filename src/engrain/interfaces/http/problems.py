"""What every fault looks like over HTTP: a status, and a problem document (RFC 9457) with the error's stable code.

| status | codes |
|---|---|
| 400 | malformed_request |
| 401 | unauthenticated |
| 403 | forbidden |
| 404 | not_found |
| 405 | method_not_allowed |
| 408 | request_timeout |
| 409 | integrity_violated |
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
import traceback
from collections.abc import Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any

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
MALFORMED, INTERNAL = "malformed_request", "internal_error"
_MOST_SHOWN = 5

# The nearest class wins, as it does for exit codes.
STATUSES: Mapping[type[EngrainError], HTTPStatus] = {
    EngrainError: HTTPStatus.INTERNAL_SERVER_ERROR,
    errors.InvalidInput: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.NotFound: HTTPStatus.NOT_FOUND,
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
    HTTPStatus.NOT_FOUND: "not_found",
    HTTPStatus.METHOD_NOT_ALLOWED: "method_not_allowed",
    HTTPStatus.PRECONDITION_FAILED: "precondition_failed",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "content_too_large",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "unsupported_media_type",
}


class Refused(HTTPException):
    """A request that HTTP itself has a status for: malformed, of another media type, of another version."""

    def __init__(self, status: HTTPStatus, detail: str) -> None:
        super().__init__(status, detail)


def status_of(error: EngrainError) -> HTTPStatus:
    """The status of an error of ours."""
    return next(STATUSES[each] for each in type(error).__mro__ if each in STATUSES)


def problem(
    request: Request, status: int, *, code: str, detail: str, headers: Mapping[str, str] | None = None
) -> Response:
    """A problem document as an answer."""
    document = {
        "type": f"urn:engrain:error:{code}",
        "title": HTTPStatus(status).phrase,
        "status": int(status),
        "detail": detail,
        "code": code,
        "request_id": request_id(request),
    }
    said = json.dumps(document, ensure_ascii=False).encode(errors="backslashreplace")
    return Response(said, status_code=status, media_type=MEDIA_TYPE, headers=dict(headers or {}))


def request_id(request: Request) -> str | None:
    """What the request is called, in its answer and in the events of what it does."""
    found: str | None = request.scope.get("state", {}).get("request_id")
    return found


def install(app: FastAPI, routes: Sequence[Route]) -> None:
    """Let every fault in an application of these routes, and whatever is added to it, be told as a problem."""
    app.add_exception_handler(EngrainError, _engrain_error)
    app.add_exception_handler(RequestValidationError, _refused_values)
    app.add_exception_handler(HTTPException, partial(_http_error, routes))
    app.add_middleware(Unforeseen)


def problem_of(request: Request, error: EngrainError) -> Response:
    """An error of ours as an answer; what is the server's own affair is logged, and told without its details."""
    status = status_of(error)
    detail = detail_of(error, request_id(request))
    return problem(request, status, code=error.code, detail=detail, headers=_headers(error, status))


def detail_of(error: EngrainError, request_id: str | None = None) -> str:
    """What whoever asks is told of an error of ours; what is the server's own affair is logged in its place."""
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
        case HTTPStatus.NOT_FOUND:
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


def _allowed(routes: Sequence[Route], path: str) -> str:
    """Every method of a path, where the framework names those of the first route alone."""
    methods = {each for route in routes if route.path_regex.match(path) for each in route.methods or ()}
    return ", ".join(sorted(methods))


async def _refused_values(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    if any(each["type"] == "json_invalid" for each in found):
        position = found[0]["loc"][-1]
        said = f"the body is no JSON ({found[0]['ctx']['error']} at character {position})"
        return problem(request, HTTPStatus.BAD_REQUEST, code=MALFORMED, detail=said)
    code = errors.InvalidInput.code
    return problem(request, HTTPStatus.UNPROCESSABLE_ENTITY, code=code, detail=_refusals(found))


def _refusals(found: Sequence[Mapping[str, Any]]) -> str:
    """Which values are wrong, and how; not what they said."""
    said = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}"[:300] for each in found[:_MOST_SHOWN]]
    more = len(found) - _MOST_SHOWN
    return "; ".join(said) + (f"; and {more} more" if more > 0 else "")


class Unforeseen:
    """Says nothing of an error that nobody foresaw; the log has where it came from, and no values.

    A handler of the framework would raise it again, for the server to log with all its words.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
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
