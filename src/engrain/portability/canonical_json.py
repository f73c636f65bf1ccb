"""Canonical JSON of rows: the same line from every database."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_EXACT_INT = 2**53
# `json.dumps` with options makes an encoder each time.
_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode


def encode_row(row: Mapping[str, Any]) -> bytes:
    """Encode a row as one line of JSON, the same from every database."""
    return _encode(_normalize(row)).encode() + b"\n"


def _normalize(value: Any) -> Any:
    """Give each number in a value one spelling: PostgreSQL's JSON gives 1e16 back as an integer."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list):
        return [_normalize(item) for item in value]
    return {name: _normalize(item) for name, item in value.items()}


def _number(value: Any) -> Any:
    if abs(value) < _MAX_EXACT_INT:
        return int(value) if value == int(value) else value
    try:
        return float(value)
    except OverflowError:
        return value
