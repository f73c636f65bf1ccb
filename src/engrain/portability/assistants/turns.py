"""Turns of coding assistants: one message each, with a key that names it wherever and how often it is read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

MOST_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of a conversation; `key` names it, wherever and how often it is read."""

    role: Literal["user", "assistant"]
    text: str
    key: str
    at: str | None = None


def shorten(text: str) -> str:
    """Return a text without its middle where it is long: a log that was pasted is no memory."""
    text = text.strip()
    if len(text) <= MOST_CHARACTERS:
        return text
    half = MOST_CHARACTERS // 2
    return f"{text[:half]}\n[...]\n{text[-half:]}"


def make_key(*parts: str | None) -> str:
    """Return the idempotency key of a turn: the same for the same parts."""
    digest = hashlib.sha256("\0".join(part or "" for part in parts).encode(errors="replace"))
    return f"hook:{digest.hexdigest()[:40]}"
