"""The description of the API: what FastAPI reads off the routes, with the values' schemas and every fault."""

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from engrain.interfaces.http.asking import AGENT, SESSION
from engrain.interfaces.http.examples import example
from engrain.interfaces.http.problems import MEDIA_TYPE
from engrain.interfaces.http.schemas import REF, File, Schema, components
from engrain.interfaces.http.verbs import Room, Verb

_PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "What went wrong (RFC 9457). `code` is stable across releases.",
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What, which value and what to do."},
        "code": {"type": "string"},
        "request_id": {"type": ["string", "null"], "description": "As in X-Request-ID; the server's log has it."},
    },
    "required": ["type", "title", "status", "detail", "code", "request_id"],
    "additionalProperties": False,
}
_FAULTS = {
    HTTPStatus.BAD_REQUEST: "The body is no JSON.",
    HTTPStatus.UNAUTHORIZED: "No key was shown, or none that opens anything.",
    HTTPStatus.FORBIDDEN: "The key may not do this.",
    HTTPStatus.NOT_FOUND: "Nothing of that name is there for this agent.",
    HTTPStatus.REQUEST_TIMEOUT: "The body did not arrive in time.",
    HTTPStatus.CONFLICT: "It broke an invariant of the database, and was rolled back.",
    HTTPStatus.PRECONDITION_FAILED: "If-Match was sent, and nothing here is done on a condition.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is too large.",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "The body is of another media type.",
    HTTPStatus.MISDIRECTED_REQUEST: "The server does not go by the name in the header Host.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "A value was refused; nothing was written.",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests; Retry-After says when to try again.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Something failed; the server's log says what.",
    HTTPStatus.SERVICE_UNAVAILABLE: "The database or an engine cannot answer now; Retry-After says when to try again.",
    HTTPStatus.INSUFFICIENT_STORAGE: "No room is left; nothing was written.",
}
_ALWAYS = (
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.MISDIRECTED_REQUEST,
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.SERVICE_UNAVAILABLE,
)
_WITH_BODY = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
)
_WRITING = (HTTPStatus.CONFLICT, HTTPStatus.PRECONDITION_FAILED, HTTPStatus.INSUFFICIENT_STORAGE)
_HEADERS = {
    AGENT: "Agent to speak for, where the key names none; the settings' agent if left out.",
    SESSION: "Conversation that is going on.",
    "X-Request-ID": "Comes back in the answer, and stands in the events of what it does; made where there is none.",
}


def of(app: FastAPI, rooms: Iterable[Room]) -> Callable[[], dict[str, Any]]:
    """What makes the description of an application, once."""
    verbs = {verb.name: verb for room in rooms for verb in room.verbs}

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _described(app, verbs)
        return app.openapi_schema

    return described


def _described(app: FastAPI, verbs: dict[str, Verb]) -> dict[str, Any]:
    whole = get_openapi(
        title=app.title,
        version=app.version,
        description="A long-term memory for AI agents. The words are those of the library (docs/library.md).",
        routes=app.routes,
        tags=app.openapi_tags,
    )
    parts = whole.setdefault("components", {})
    parts.setdefault("schemas", {}).update(
        components(each.answers for each in verbs.values() if each.answers and not isinstance(each.answers, File))
    )
    parts["schemas"]["Problem"] = _PROBLEM
    for unused in ("HTTPValidationError", "ValidationError"):
        parts["schemas"].pop(unused, None)
    parts["responses"] = {status.name.title().replace("_", ""): _fault(status) for status in _FAULTS}
    parts["parameters"] = {name: _header(name, said) for name, said in _HEADERS.items()}
    parts["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer", "description": "A key of the server."}}
    security: list[dict[str, Any]] = [{"key": []}] if app.state.gate.keys_required else [{}, {"key": []}]
    for operations in whole["paths"].values():
        for operation in operations.values():
            verb = verbs.get(operation.get("operationId", ""))
            if verb is not None:
                _complete(operation, verb, security)
                _exemplify(operation, parts["schemas"])
    return whole


def _complete(operation: dict[str, Any], verb: Verb, security: list[dict[str, Any]]) -> None:
    """Add to one operation what holds for all: who may, on whose behalf, and what can go wrong."""
    operation["security"] = security
    names = [{"$ref": f"#/components/parameters/{name}"} for name in _HEADERS]
    operation["parameters"] = [*operation.get("parameters", ()), *names]
    if any(each.get("name") == "If-None-Match" for each in operation["parameters"]):
        operation["responses"]["304"] = {"description": "The version that If-None-Match names is the newest."}
    for status in _faults(operation, verb):
        name = status.name.title().replace("_", "")
        operation["responses"][str(int(status))] = {"$ref": f"#/components/responses/{name}"}


def _exemplify(operation: dict[str, Any], schemas: dict[str, Schema]) -> None:
    """Add to one operation what its body and its answer look like."""
    answers = [each for status, each in operation["responses"].items() if status in ("200", "201")]
    for told in (operation.get("requestBody", {}), *answers):
        for media_type, content in told.get("content", {}).items():
            if media_type == "application/json":
                content["example"] = example(content["schema"], schemas)


def _faults(operation: dict[str, Any], verb: Verb) -> list[HTTPStatus]:
    found = [*_ALWAYS]
    found += _WITH_BODY if "requestBody" in operation else ()
    found += _WRITING if verb.needs != "reader" else ()
    may_be_missing = any(word in (verb.calls.__doc__ or "") for word in ("NotFound", "None where", "None before"))
    found += [HTTPStatus.NOT_FOUND] if may_be_missing else []
    return sorted(found)


def _fault(status: HTTPStatus) -> dict[str, Any]:
    return {"description": _FAULTS[status], "content": {MEDIA_TYPE: {"schema": {"$ref": f"{REF}Problem"}}}}


def _header(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "required": False, "description": description, "schema": {"type": "string"}}
