"""Requests of verbs: method, path, headers and body, made from the arguments that the library's method takes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from engrain.domain import checks
from engrain.domain.ids import fresh_id
from engrain.domain.records import Caller, Record, format_time
from engrain.errors import Forbidden, InvalidInput

if TYPE_CHECKING:
    from engrain.verbs.signatures import Parameter, Signature

_REQUEST_ID = re.compile(r"[!-~]{1,128}")
fresh_key = fresh_id  # a key with a time gives the memory an id with this time
_KEY, _ID = "Idempotency-Key", "X-Request-ID"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request of the API.

    Attributes:
        path: escaped, under /v1.
        query: names and values, in order.
        headers: those of this request alone.
        body: JSON, or None.
        file: the file that is sent as the body.
        changes: whether it changes the memory, so that nobody may assume after a lost answer that nothing happened.
        is_repeatable: whether a second one changes nothing more.
        is_slow: whether its answer may take minutes: of a language model, or of all memories.
        key: the idempotency key.
    """

    verb: str
    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[bytes, bytes], ...] = ()
    body: bytes | None = None
    file: Path | None = None
    changes: bool = False
    is_repeatable: bool = True
    is_slow: bool = False
    key: str | None = None


def identity_headers(caller: Caller) -> tuple[tuple[bytes, bytes], ...]:
    """Return the headers that say for whom a request is.

    Raises:
        InvalidInput: a name that no header can carry.
    """
    id_ = caller.request_id
    if id_ is not None and not _REQUEST_ID.fullmatch(id_):
        raise InvalidInput(f"request_id {id_!r:.80} cannot be sent over HTTP; use 1 to 128 printable ASCII characters")
    return _headers(
        {"Engrain-Agent": caller.agent, "Engrain-User": caller.user, "Engrain-Session": caller.session, _ID: id_}
    )


def build_request(signature: Signature, caller: Caller | None, arguments: Mapping[str, Any]) -> Request:
    """Build the request of a verb from its arguments by name.

    `caller` is the caller of an agent's verb; of one of the whole memory its arguments name agent and user. A write
    that takes an idempotency key gets a fresh one where none is given: it is stored once, however often it is sent.

    Raises:
        InvalidInput: an argument that HTTP cannot carry.
    """
    verb, places = signature.verb, signature.placement
    _refuse_local_arguments(signature, arguments)
    method, path = verb.route.split()
    query: list[tuple[str, str]] = []
    body: dict[str, Any] = {}
    key = arguments.get("idempotency_key")
    for name, place in places.items():
        parameter = signature.by_name[name]
        if name not in arguments or place == "key":
            continue
        value = _json_value(parameter, arguments[name])
        match place:
            case "path":
                path = path.replace(f"{{{name}}}", _path_part(parameter, value))
            case "query" if value is not None:
                items = value if isinstance(value, list) else [value]
                query += ((parameter.json_name, _query_value(item)) for item in items)
            case "body":
                body[parameter.json_name] = value
    request = Request(
        verb=verb.name,
        method=method,
        path=f"/v1{path}",
        query=tuple(query),
        headers=_caller_headers(signature, arguments) if caller is None else identity_headers(caller),
        changes=verb.effect != "reads",
        is_repeatable=signature.is_repeatable,
        is_slow=signature.is_slow,
    )
    if signature.takes_key:
        key = fresh_key() if key is None else checks.name(key, name="idempotency_key")
        request = replace(request, key=key, headers=(*request.headers, *_headers({_KEY: key})))
    if verb.takes:
        return _with_file(request, signature, checks.path(arguments["path"], name="path"))
    if "body" in places.values():
        return replace(request, body=json.dumps(body, separators=(",", ":")).encode())
    return request


def check_tenant(tenant: object, own: str) -> None:
    """Check that a tenant, where one is named, is the one of the key.

    Raises:
        Forbidden: it is another one.
    """
    if tenant is not None and checks.identity(tenant, name="tenant") != own:
        raise Forbidden(f"the key is of the tenant {own!r:.80}, not {tenant!r:.80}; open the memory with a key of that")


def _refuse_local_arguments(signature: Signature, arguments: Mapping[str, Any]) -> None:
    """Refuse arguments that only a memory of this process can take: functions, and rights of a key."""
    caller_parameters = {name for name, origin in signature.caller_parameters.items() if origin == "caller"}
    for name, value in arguments.items():
        if value is not None and name not in {*signature.by_name, *caller_parameters}:
            raise InvalidInput(f"{signature.verb.name} cannot send {name} over HTTP; leave it out")


def _caller_headers(signature: Signature, arguments: Mapping[str, Any]) -> tuple[tuple[bytes, bytes], ...]:
    """Return the headers of a verb of the whole memory: the agent and user that its caller's arguments name."""
    given = [name for name, origin in signature.caller_parameters.items() if origin == "caller" and name in arguments]
    return _headers({f"Engrain-{name.title()}": checks.optional_name(arguments[name], name=name) for name in given})


def _headers(named: Mapping[str, str | None]) -> tuple[tuple[bytes, bytes], ...]:
    return tuple((name.encode(), _header_value(name, value)) for name, value in named.items() if value is not None)


def _header_value(name: str, value: str) -> bytes:
    if not value.isprintable() or value != value.strip():
        raise InvalidInput(f"{name} {value!r:.80} cannot be sent over HTTP; it must be printable, without outer spaces")
    return value.encode()


def _path_part(parameter: Parameter, value: Any) -> str:
    text = checks.name(value, name=parameter.json_name)
    return quote(text, safe="").replace(".", "%2E")  # or a client of HTTP would take `..` for the folder above


def _query_value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _json_value(parameter: Parameter, value: Any) -> Any:
    """Convert an argument to the JSON that the API takes: one name where it takes several is a list of one."""
    name = parameter.json_name
    return [value] if parameter.takes_one and isinstance(value, str) else to_json(value, name=name)


def to_json(value: Any, *, name: str) -> Any:
    """Convert a value of the library to JSON.

    Raises:
        InvalidInput: it is a function, or nothing else that JSON has.
    """
    match value:
        case None | bool() | int() | float() | str() if not isinstance(value, float) or math.isfinite(value):
            return value
        case datetime():
            return format_time(checks.moment(value, name=name))
        case Path():
            return str(value)
        case Record():
            return value.to_dict()
        case Mapping() if all(isinstance(key, str) for key in value):
            return {key: to_json(item, name=f"{name}.{key}") for key, item in value.items()}
        case _ if isinstance(value, Iterable) and not isinstance(value, Mapping | bytes | bytearray):
            return [to_json(item, name=name) for item in value]
        case _:
            raise InvalidInput(f"{name} has a value of type {type(value).__name__}, which HTTP cannot carry: send JSON")


def _with_file(request: Request, signature: Signature, path: str) -> Request:
    file = Path(path)
    if not file.is_file():
        raise InvalidInput(f"{path} is no file that can be sent to a server; name one")
    named = (("filename", file.name),) if signature.verb.name == "import_file" else ()
    media = (b"Content-Type", signature.verb.takes[0].encode())
    return replace(request, file=file, query=(*request.query, *named), headers=(*request.headers, media))
