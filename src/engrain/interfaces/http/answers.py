"""Answers: the library's own JSON, with the headers that HTTP has for it."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from fastapi import Response

from engrain.domain.pagination import Page
from engrain.domain.records import Record
from engrain.errors import NotFound
from engrain.interfaces.outside import outside

_JSON = "application/json"
# What reading a memory changes of it: a version is the same without.
_COUNTED = frozenset({"reference_count", "last_referenced_at"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased(Record):
    """The ids of the memories that are gone for good."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting(Record):
    """The ids of memories that wait to be read for names, newest first."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived(Record):
    """How many notes were archived."""

    notes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncached(Record):
    """How many notes left the cache."""

    notes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedEntities(Record):
    """The names of the entities that are out of the graph."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retracted(Record):
    """How many facts were forgotten."""

    facts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResults(Record):
    """What tools answered, by name."""

    tool_results: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scratchpad(Record):
    """What an agent notes for itself while it works."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState(Record):
    """Whether a session is done with."""

    session: str
    is_consolidated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked(Record):
    """How many episodes of a session waited until now."""

    session: str
    episodes: int


def said(record: Record, *, status: HTTPStatus = HTTPStatus.OK, location: str | None = None) -> Response:
    """One value, as `to_dict()` says it."""
    headers = {} if location is None else {"Location": location}
    return Response(_bytes(record.to_dict()), status_code=status, media_type=_JSON, headers=headers)


def created(record: Record, location: str | None = None) -> Response:
    """A value that is new, and where it is from now on."""
    return said(record, status=HTTPStatus.CREATED, location=location)


def listed(records: Iterable[Record], *, following: str | None = None) -> Response:
    """A page: the values in their order, and where the next page begins."""
    return said(records if isinstance(records, Page) else Page(items=tuple(records), next=following))


def nothing() -> Response:
    """Done, and there is nothing to say."""
    return Response(status_code=HTTPStatus.NO_CONTENT)


def versioned(record: Record | None, if_none_match: str | None, *, what: str) -> Response:
    """One value with its version as an ETag; only that where the client has this version already.

    Raises:
        NotFound: there is none.
    """
    if record is None:
        raise NotFound(f"there is no {what}")
    value = record.to_dict()
    tag = _tag({name: each for name, each in value.items() if name not in _COUNTED})
    if _is_known(tag, if_none_match or ""):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"ETag": tag})
    return Response(_bytes(value), media_type=_JSON, headers={"ETag": tag})


def _bytes(value: Any) -> bytes:
    return json.dumps(outside(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _tag(value: Any) -> str:
    """A weak one: two answers of one tag differ at most in what reading counts."""
    return f'W/"{hashlib.blake2b(_bytes(value), digest_size=12).hexdigest()}"'


def _is_known(tag: str, header: str) -> bool:
    known = [each.strip() for each in header.split(",")]
    return "*" in known or tag.removeprefix("W/") in [each.removeprefix("W/") for each in known]
