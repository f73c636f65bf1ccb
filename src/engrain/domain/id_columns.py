"""Derived ids of many records at once, from columns: a third of the work of one after the other."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

_LENGTH_BYTES = 8
_MOST_MILLISECONDS = (1 << 48) - 1
_HEX_DIGITS = 32
_HYPHENS = (8, 13, 18, 23)  # their places in an id
_ID_LENGTH = 36


def derive_ids(columns: Sequence[str | Sequence[str]], milliseconds: Sequence[int]) -> list[str]:
    """Return the `ids.derived_id` of each row: of its parts, where one text is every row's, and its time since 1970."""
    rows = zip(*[_prefix_lengths(column, len(milliseconds)) for column in columns], strict=True)
    digests = b"".join([hashlib.sha256(b"".join(parts)).digest()[:10] for parts in rows])
    bits = np.frombuffer(digests, np.dtype([("high", ">u8"), ("low", ">u2")]))
    high, low = bits["high"].astype(np.uint64), bits["low"].astype(np.uint64) >> np.uint64(6)
    times = np.clip(np.array(milliseconds, np.int64), 0, _MOST_MILLISECONDS).astype(np.uint64)
    # As RFC 9562 lays out the 74 bits of `high` and `low`: 12 after the version, 14 after the variant, and 48.
    words = np.empty((len(bits), 2), ">u8")
    words[:, 0] = times << np.uint64(16) | np.uint64(0x7000) | high >> np.uint64(52)
    variant = np.uint64(0x8000) | high >> np.uint64(38) & np.uint64(0x3FFF)
    words[:, 1] = variant << np.uint64(48) | (high & np.uint64((1 << 38) - 1)) << np.uint64(10) | low
    digits = np.frombuffer(words.tobytes().hex().encode(), np.uint8).reshape(-1, _HEX_DIGITS)
    texts = np.full((len(bits), _ID_LENGTH), ord("-"), np.uint8)
    texts[:, [place for place in range(_ID_LENGTH) if place not in _HYPHENS]] = digits
    joined = texts.tobytes().decode()
    return [joined[start : start + _ID_LENGTH] for start in range(0, len(joined), _ID_LENGTH)]


def _prefix_lengths(column: str | Sequence[str], count: int = 1) -> list[bytes]:
    """Encode the parts of a column, each after its length."""
    if isinstance(column, str):
        return _prefix_lengths([column]) * count
    encoded = {text: text.encode("utf-8", "surrogatepass") for text in set(column)}
    prefixed = {text: len(part).to_bytes(_LENGTH_BYTES, "big") + part for text, part in encoded.items()}
    return [prefixed[text] for text in column]
