"""What reading a file of another system gives, and what a format is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

Role: TypeAlias = Literal["user", "assistant", "tool", "system"]
Layout: TypeAlias = Literal["list", "object", "lines", "markdown"]
"""How a file holds its records: one JSON list, one JSON object, a JSON object on every line, or headings over text."""
Container: TypeAlias = Literal["file", "zip", "folder"]
Json: TypeAlias = dict[str, object]

ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool", "system": "system"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing said in a conversation. Text is as the source has it: lone surrogates and NULs included."""

    session: str | None
    """Stable id of the conversation it came from; None only where engrain itself says that it is of none."""
    role: Role
    speaker: str | None
    content: str
    """Not blank."""
    event_time: datetime | None
    """UTC; None where the source says nothing."""
    source_id: str
    """The same at every reading of the same message, and no other message of the format has it."""
    title: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    kept: Mapping[str, object] = field(default_factory=dict)
    """What engrain itself said of it, to be kept as it is: an episode's fields by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One thing held to be true. Text is as the source has it, not blank."""

    subject: str | None
    """None: whoever imports it, so that it becomes a note of theirs under `predicate`."""
    predicate: str
    """What only one statement of the same subject is active under."""
    content: str
    said_at: datetime | None
    """When it was stored there, UTC."""
    source_id: str
    """Like a turn's; the same statement with other content has another."""
    confirmed_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    about: str | None = None
    """The name of whom it is about, whom the file or the registry knows."""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    kept: Mapping[str, object] = field(default_factory=dict)
    """What engrain itself said of it, to be kept as it is: a fact's fields by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """Somebody or something with a name."""

    name: str
    type: str
    """In the words of the source."""
    aliases: tuple[str, ...] = ()
    source_id: str
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guidance:
    """A rule of engrain's own, with its fields by name."""

    content: str
    said_at: datetime | None
    source_id: str
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    kept: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BrokenRecord:
    """A record that could not be read; the ones after it were."""

    position: str
    """Where a person finds it: `line 12`, `conversations[3].mapping['abc']`, `sample 2, session_4, turn 7`."""
    reason: str
    """What is wrong, with the value, shortened."""


Found: TypeAlias = Turn | Statement | Named | Guidance
"""What a record can be."""


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
    read: Callable[[Entry], Iterator[Found | BrokenRecord]]
    """What one entry holds, in order; may raise Malformed when the entry as a whole cannot be read."""
    containers: frozenset[Container] = frozenset({"file"})
    endings: tuple[str, ...] = (".jsonl",)
    """Of the files that are read of a folder."""
