"""What reading a conversation file gives, and what a format is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

Role: TypeAlias = Literal["user", "assistant", "tool", "system"]
Layout: TypeAlias = Literal["list", "object", "lines"]
"""How a file holds its records: one JSON list, one JSON object, or a JSON object on every line."""
Container: TypeAlias = Literal["file", "zip", "folder"]
Json: TypeAlias = dict[str, object]

ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool", "system": "system"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing said in a conversation. Text is as the source has it: lone surrogates and NULs included."""

    session: str
    """Stable id of the conversation it came from."""
    role: Role
    speaker: str | None
    content: str
    """Not blank."""
    event_time: datetime | None
    """UTC; None where the source says nothing."""
    source_id: str
    """The same at every reading of the same message, and no other message of the format has it."""
    title: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BrokenRecord:
    """A record that could not be read; the ones after it were."""

    position: str
    """Where a person finds it: `line 12`, `conversations[3].mapping['abc']`, `sample 2, session_4, turn 7`."""
    reason: str
    """What is wrong, with the value, shortened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One JSON object of a file: a line of it, or an item of its list."""

    value: Json
    number: int
    """Counted from 1."""
    position: str
    stem: str
    """The file's name without its ending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How to know a format and how to read one entry of it."""

    name: str
    summary: str
    """What such a file is, to follow "a file of this format is"."""
    item: str
    """Position of an item of the list; `{index}` counts from 0, `{number}` from 1."""
    recognises: Mapping[Layout, Callable[[Json], bool]]
    """By the layouts the format has: whether an entry is of this format rather than another."""
    turns: Callable[[Entry], Iterator[Turn | BrokenRecord]]
    """The turns of one entry in order; may raise Malformed when the entry as a whole cannot be read."""
    containers: frozenset[Container] = frozenset({"file"})
