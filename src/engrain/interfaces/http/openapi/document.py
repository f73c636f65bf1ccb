"""OpenAPI document: FastAPI's reading of the routes, completed by the schemas of answers and all faults."""

import json
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from engrain.interfaces.http.openapi.examples import example
from engrain.interfaces.http.openapi.schemas import REF, Schema, answer_type, components
from engrain.interfaces.http.problems import MEDIA_TYPE
from engrain.interfaces.http.request_identity import AGENT, SESSION, USER, AdmittedCaller
from engrain.verbs.signatures import signature, signatures
from engrain.verbs.table import by_name

REQUEST_ID_HEADER = "X-Request-ID"  # one that is no id is replaced
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
    USER: "End user that the agent acts for, where the key names none; memories of no user if left out.",
    SESSION: "Conversation that is going on.",
    REQUEST_ID_HEADER: "Comes back in the answer, and stands in the events of what it does; made where there is none.",
}


def describe(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of an application, made once."""
    if app.openapi_schema is None:
        app.openapi_schema = _document(app)
    return app.openapi_schema


def _document(app: FastAPI) -> dict[str, Any]:
    whole = get_openapi(
        title=app.title,
        version=app.version,
        description="A long-term memory for AI agents. The words are those of the library (docs/library.md).",
        routes=app.routes,
        tags=app.openapi_tags,
    )
    parts = whole.setdefault("components", {})
    answers = [answer_type(verb) for verb in signatures() if verb.answer is not None and not verb.verb.sends]
    for body in parts.setdefault("schemas", {}).values():
        _tell_defaults(body)
    parts["schemas"].update(components([*answers, AdmittedCaller]))
    parts["schemas"]["Problem"] = _PROBLEM
    for unused in ("HTTPValidationError", "ValidationError"):
        parts["schemas"].pop(unused, None)
    parts["responses"] = {status.name.title().replace("_", ""): _fault(status) for status in _FAULTS}
    parts["parameters"] = {name: _header(name, sentence) for name, sentence in _HEADERS.items()}
    parts["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer", "description": "A key of the server."}}
    security: list[dict[str, Any]] = [{}, {"key": []}] if app.state.gate.is_open else [{"key": []}]
    for operations in whole["paths"].values():
        for operation in operations.values():
            if "x-engrain-verb" in operation:
                _complete(operation, security)
                _exemplify(operation, parts["schemas"])
    return whole


def _tell_defaults(body: Schema) -> None:
    """Move defaults of fields to their descriptions: generators of clients require a field that has a default."""
    for schema in body.get("properties", {}).values():
        if "default" in schema:
            default = json.dumps(schema.pop("default"), ensure_ascii=False)
            schema["description"] = f"{schema['description']} `{default}` if left out."


def _complete(operation: dict[str, Any], security: list[dict[str, Any]]) -> None:
    """Add security, the headers of identity and the faults to one operation."""
    operation["security"] = security
    names = [{"$ref": f"#/components/parameters/{name}"} for name in _HEADERS]
    operation["parameters"] = [*operation.get("parameters", ()), *names]
    if any(parameter.get("name") == "If-None-Match" for parameter in operation["parameters"]):
        operation["responses"]["304"] = {"description": "The version that If-None-Match names is the newest."}
    for status in _faults(operation):
        name = status.name.title().replace("_", "")
        operation["responses"][str(int(status))] = {"$ref": f"#/components/responses/{name}"}


def _exemplify(operation: dict[str, Any], schemas: dict[str, Schema]) -> None:
    """Add examples of body and answer to one operation."""
    answers = [answer for status, answer in operation["responses"].items() if status in ("200", "201")]
    for message in (operation.get("requestBody", {}), *answers):
        for media_type, content in message.get("content", {}).items():
            if media_type == "application/json":
                content["example"] = example(content["schema"], schemas)


def _faults(operation: dict[str, Any]) -> list[HTTPStatus]:
    faults = [*_ALWAYS]
    faults += _WITH_BODY if "requestBody" in operation else ()
    faults += _WRITING if operation["x-engrain-role"] != "reader" else ()
    faults += [HTTPStatus.NOT_FOUND] if _may_be_missing(operation["x-engrain-verb"]) else []
    return sorted(faults)


def _may_be_missing(verb: str) -> bool:
    """Tell whether a verb may name something that is not there."""
    if verb not in by_name():
        return False
    described = signature(verb)
    return described.is_optional or "NotFound" in (described.method.__doc__ or "")


def _fault(status: HTTPStatus) -> dict[str, Any]:
    return {"description": _FAULTS[status], "content": {MEDIA_TYPE: {"schema": {"$ref": f"{REF}Problem"}}}}


def _header(name: str, description: str) -> dict[str, Any]:
    schema = {"type": "string"} if name == REQUEST_ID_HEADER else {"type": "string", "minLength": 1}
    return {"name": name, "in": "header", "required": False, "description": description, "schema": schema}
