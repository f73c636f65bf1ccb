"""Records read from files of other systems, and the description of a format.

They are tuples: a frozen dataclass takes three times as long to make, and its class, which every import waits for,
eight times as long to define.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from engrain.domain.access.scopes import user_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

Role: TypeAlias = Literal["user", "assistant", "tool", "system"]
Layout: TypeAlias = Literal["list", "object", "lines", "markdown"]
"""Layout of the records in a file: one JSON list, one JSON object, a JSON object on every line, or Markdown."""
Container: TypeAlias = Literal["file", "zip", "folder"]
Json: TypeAlias = dict[str, object]

_NOTHING: Mapping[str, object] = MappingProxyType({})
ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool", "system": "system"}


class ImportedTurn(NamedTuple):
    """One message of a conversation. Text is as the source has it: lone surrogates and NULs included."""

    session: str | None
    """Stable id of the conversation it came from; None only in an export of engrain."""
    role: Role
    speaker: str | None
    content: str
    """Not blank."""
    event_time: datetime | None
    """UTC; None where unknown."""
    source_id: str
    """Stable and unique among the messages of the format."""
    title: str | None = None
    metadata: Mapping[str, object] = _NOTHING
    tags: tuple[str, ...] = ()
    fields: Mapping[str, object] = _NOTHING
    """Further fields of an episode, by name, in an export of engrain."""
    key: str | None = None
    """Idempotency key under which others store this message, too, such as a hook."""


class ImportedFact(NamedTuple):
    """One fact. Text is as the source has it, not blank."""

    subject: str | None
    """None: the importing agent, so that it becomes its note under `predicate`."""
    predicate: str
    """Only one fact of a subject is active under a predicate."""
    content: str
    stored_at: datetime | None
    """Time of storage in the source, UTC."""
    source_id: str
    """As of a turn; another content has another id."""
    confirmed_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    about: str | None = None
    """The name of its entity in the file or in the registry."""
    user: str | None = None
    """The end user whose memory it is, where the source knows of users."""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = _NOTHING
    fields: Mapping[str, object] = _NOTHING
    """Further fields of a fact, by name, in an export of engrain."""
    position: str = ""
    """Position for a person, as of a BrokenRecord."""


class ImportedEntity(NamedTuple):
    """One entity."""

    name: str
    type: str
    """As the source names it."""
    source_id: str
    aliases: tuple[str, ...] = ()
    user: str | None = None  # whose registry it is in
    metadata: Mapping[str, object] = _NOTHING
    position: str = ""


class ImportedRule(NamedTuple):
    """One rule of an export of engrain, with its fields by name."""

    content: str
    stored_at: datetime | None
    source_id: str
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = _NOTHING
    fields: Mapping[str, object] = _NOTHING
    position: str = ""


class ImportedLogEntry(NamedTuple):
    """One entry of a log in an export of engrain."""

    log: str
    session: str
    subkey: str
    sequence: int
    key: str | None
    entry: str
    """Its JSON."""
    source_id: str
    stored_at: datetime | None
    fields: Mapping[str, object]
    """The `id` of its session, the user and the agent."""
    position: str = ""


class ImportedItem(NamedTuple):
    """One item of a store in an export of engrain."""

    namespace: object
    key: str
    value: str
    """Its JSON."""
    source_id: str
    fields: Mapping[str, object]
    """Its `id`, `index`, `version`, `ttl_s` and times, the user and the agent."""
    position: str = ""


class BrokenRecord(NamedTuple):
    """A record that could not be read; the ones after it were."""

    position: str
    """Position for a person: `line 12`, `conversations[3].mapping['abc']`, `sample 2, session_4, turn 7`."""
    reason: str
    """The fault with the value, shortened."""


class IgnoredKeys(NamedTuple):
    """Keys in a file that nothing was read from, in order."""

    keys: tuple[str, ...]


ImportedRecord: TypeAlias = (
    ImportedTurn | ImportedFact | ImportedEntity | ImportedRule | ImportedLogEntry | ImportedItem
)
"""The kinds of imported records."""


def user_of_record(record: object) -> str | None:
    """Return the end user whose memory a record is, where its source says so: by a field, or by its scope."""
    if type(record) is ImportedTurn:  # most are, and a look for what is not there takes as long as all of this
        user: object = record.fields.get("user_id")
    else:
        user = getattr(record, "user", None) or getattr(record, "fields", _NOTHING).get("user_id")
    if user is None:
        scope = getattr(record, "fields", _NOTHING).get("scope")
        user = user_of(scope) if isinstance(scope, str) else None
    return user if isinstance(user, str) else None


def agent_of_record(record: object) -> str | None:
    """Return the agent whose memory a record is, where its source says so."""
    agent = getattr(record, "fields", _NOTHING).get("agent")
    return agent if isinstance(agent, str) else None


class Page(NamedTuple):
    """Some JSON values of a file in a row, with their numbers, from 1."""

    numbers: Sequence[int]
    values: Sequence[object]


WHOLE_FILE = "the file"


class Entry(NamedTuple):
    """One JSON object of a file: a line of it, or an item of its list."""

    value: Json
    number: int
    """Counted from 1."""
    position: str
    stem: str
    """The file's name without its ending."""

    def position_of(self, part: str) -> str:
        """Return the position of a part of the object; in a file that is one object, the part alone."""
        place = self.position.removesuffix(WHOLE_FILE)
        return f"{place}{part}" if place != self.position else f"{place}.{part}"


class Format(NamedTuple):
    """Description of a format: its recognition, and the reader of one entry."""

    name: str
    summary: str
    """Continuation of "a file of this format is"."""
    recognises: Mapping[Layout, Callable[[Json], bool]]
    """By layout: true for an entry of this format rather than another."""
    read: Callable[[Entry], Iterator[ImportedRecord | BrokenRecord]] | None = None
    """Reads the records of one entry, in order; raises Malformed when the entry as a whole cannot be read."""
    read_file: Callable[[Iterable[Entry | BrokenRecord]], Iterator[ImportedRecord | BrokenRecord]] | None = None
    """In place of `read`: reads a file whose records are made of several entries."""
    read_turns: Callable[[Page, str], Sequence[ImportedTurn] | None] | None = None
    """Reads a page of lines at once, with the stem of their file; None where one is more than a plain turn."""
    ignored_keys: Callable[[Page], set[str]] | None = None
    """Returns the keys of a page that nothing is read from, where a person may have written them."""
    item: str = ""
    """Position of an item of the list; `{index}` counts from 0, `{number}` from 1."""
    containers: frozenset[Container] = frozenset({"file"})
    endings: tuple[str, ...] = (".jsonl",)
    """File endings that are read in a folder."""


def last_replies(turns: Iterable[ImportedTurn | BrokenRecord]) -> Iterator[ImportedTurn | BrokenRecord]:
    """Return the turns of a session: prompts, and of what is said before the next one the last message."""
    reply: list[ImportedTurn] = []
    for turn in turns:
        if isinstance(turn, BrokenRecord):
            yield turn
        elif turn.role == "assistant":
            reply = [turn]
        else:
            yield from (*reply, turn)
            reply = []
    yield from reply
