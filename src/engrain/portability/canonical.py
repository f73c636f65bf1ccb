"""Rows as lines of JSON that are the same from every database."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_EXACT_UP_TO = 2**53
# `json.dumps` with options makes an encoder each time.
_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode


def canonical(row: Mapping[str, Any]) -> bytes:
    """A row as one line of JSON, the same from every database."""
    return _encode(_plain(row)).encode() + b"\n"


def _plain(value: Any) -> Any:
    """The value with one spelling of each number: PostgreSQL's JSON gives 1e16 back as an integer."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return {name: _plain(each) for name, each in value.items()}


def _number(value: Any) -> Any:
    if abs(value) < _EXACT_UP_TO:
        return int(value) if value == int(value) else value
    try:
        return float(value)
    except OverflowError:
        return value
