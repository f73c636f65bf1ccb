"""Responses: the library's own JSON, with the headers that HTTP has for it."""

import hashlib
import json
from http import HTTPStatus
from typing import Any

from fastapi import Response

from engrain.interfaces.redaction import redact

_JSON = "application/json"
# Counters that reading a memory changes: a version is the same without them.
_USE_COUNTERS = frozenset({"reference_count", "last_referenced_at"})


def json_response(value: Any, *, status: HTTPStatus = HTTPStatus.OK, location: str | None = None) -> Response:
    """A JSON value as an answer."""
    headers = {} if location is None else {"Location": location}
    return Response(_encode(value), status_code=status, media_type=_JSON, headers=headers)


def versioned(value: dict[str, Any], if_none_match: str | None) -> Response:
    """A value with its version as an ETag; 304 without a body where the client has this version."""
    tag = _etag({name: item for name, item in value.items() if name not in _USE_COUNTERS})
    if _is_known(tag, if_none_match or ""):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"ETag": tag})
    return Response(_encode(value), media_type=_JSON, headers={"ETag": tag})


def _encode(value: Any) -> bytes:
    text = json.dumps(redact(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode(errors="backslashreplace")  # a lone surrogate, as \\udXXX: an exact value may hold one


def _etag(value: Any) -> str:
    """A weak tag: two answers of one tag differ at most in their use counters."""
    return f'W/"{hashlib.blake2b(_encode(value), digest_size=12).hexdigest()}"'


def _is_known(tag: str, header: str) -> bool:
    known = [entry.strip() for entry in header.split(",")]
    return "*" in known or tag.removeprefix("W/") in [entry.removeprefix("W/") for entry in known]
