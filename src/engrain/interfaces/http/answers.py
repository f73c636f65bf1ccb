"""Answers: the library's own JSON, with the headers that HTTP has for it."""

import hashlib
import json
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response

from engrain.domain.records import Record
from engrain.errors import NotFound

_JSON = "application/json"


def said(record: Record, *, status: HTTPStatus = HTTPStatus.OK, location: str | None = None) -> Response:
    """One value, as `to_dict()` says it."""
    headers = {} if location is None else {"Location": location}
    return Response(_bytes(record.to_dict()), status_code=status, media_type=_JSON, headers=headers)


def created(record: Record, location: str | None = None) -> Response:
    """A value that is new, and where it is from now on."""
    return said(record, status=HTTPStatus.CREATED, location=location)


def listed(records: Any, *, after: str | None = None) -> Response:
    """A page: the values in their order, and the cursor of the next page."""
    return Response(_bytes({"items": [each.to_dict() for each in records], "next": after}), media_type=_JSON)


def nothing() -> Response:
    """Done, and there is nothing to say."""
    return Response(status_code=HTTPStatus.NO_CONTENT)


def versioned(request: Request, record: Record | None, *, what: str) -> Response:
    """One value with its version as an ETag; only that where the client has this version already.

    Raises:
        NotFound: there is none.
    """
    if record is None:
        raise NotFound(f"there is no {what}")
    body = _bytes(record.to_dict())
    tag = _tag(body)
    if tag in _tags(request.headers.get("if-none-match", "")):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"ETag": tag})
    return Response(body, media_type=_JSON, headers={"ETag": tag})


def _bytes(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _tag(body: bytes) -> str:
    return f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'


def _tags(header: str) -> list[str]:
    return [each.strip().removeprefix("W/") for each in header.split(",")]
