"""Turns of coding assistants: one message each, with a key that names it wherever and how often it is read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

MOST_CHARACTERS = 20_000
_LONGEST_SECRET, _LONGEST_NAME = 20_000, 400  # a private key; a command, from its name to its password


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of a conversation; `key` names it, wherever and how often it is read."""

    role: Literal["user", "assistant"]
    text: str
    key: str
    at: str | None = None


def shorten(text: str) -> str:
    """Return a text without its middle where it is long: a log that was pasted is no memory.

    No secret is cut in two, or from the name before it: its parts would not be known for what they are.
    """
    text = text.strip()
    if len(text) <= MOST_CHARACTERS:
        return text
    head, tail = MOST_CHARACTERS // 2, len(text) - MOST_CHARACTERS // 2
    for start, _ in _secrets_near(text, head):
        head = min(head, start)
    for _, end in _secrets_near(text, tail):
        tail = max(tail, end)
    return f"{text[:head]}\n[...]\n{text[tail:]}".strip()


def _secrets_near(text: str, cut: int) -> list[tuple[int, int]]:
    """Return the bounds of the secrets that a cut would part, or would part from what tells that they are secrets."""
    from engrain.domain.text.secrets import find_secrets

    begin = max(0, cut - _LONGEST_SECRET)
    found = find_secrets(text[begin : cut + _LONGEST_SECRET])
    bounds = [(begin + secret.start, begin + secret.end) for secret in found]
    return [(start, end) for start, end in bounds if start - _LONGEST_NAME < cut < end]


def make_key(*parts: str | None) -> str:
    """Return the idempotency key of a turn: the same for the same parts."""
    digest = hashlib.sha256("\0".join(part or "" for part in parts).encode(errors="replace"))
    return f"hook:{digest.hexdigest()[:40]}"
