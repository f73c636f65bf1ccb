"""Plain JSONL, for anything that can write lines: objects with the keys of `_PLAIN`, of which content is required.

A line with a `kind` is what `engrain export` writes: an episode, a fact, a rule or an entity, with all there is of it.
Links and events, which an export of a user has, are passed over.
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, cast

from engrain.portability.formats import fields
from engrain.portability.formats.records import (
    ROLES,
    BrokenRecord,
    Entry,
    Format,
    ImportedEntity,
    ImportedFact,
    ImportedItem,
    ImportedLogEntry,
    ImportedRecord,
    ImportedRule,
    ImportedTurn,
    Json,
    Page,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NAME = "jsonl"
_METADATA: Json = {"format": _NAME}  # of every turn that is not of an export: what is done with it is done once
_MOST_ENTRIES = 2**62
# Keys with a meaning of their own; the rest are further fields.
_OWN = frozenset("kind session role speaker content time subject predicate about tags metadata".split())
_TIMES = ("time", "event_time", "timestamp", "created_at")  # of a turn; the first that a line has counts
_RICH = frozenset(("kind", "tags", "metadata", "importance"))  # keys that few lines have
_PLAIN = frozenset(("session", "role", "speaker", "content", "id", *_TIMES)) | _RICH

_HISTORY = ("link", "event")  # kinds that the export of a user has, for a person to read
_OF_LOG = ("id", "user_id", "agent")
_OF_ITEM = tuple("id user_id agent index version ttl_s created_at updated_at expires_at".split())


def _read(entry: Entry) -> Iterator[ImportedRecord | BrokenRecord]:
    if entry.value.get("kind") in _HISTORY:
        return iter(())
    return fields.read_record(entry.position, _parse_record, entry)


def _read_turns(page: Page, stem: str) -> Sequence[ImportedTurn] | None:
    """Read turns as `_turn` does, by columns: None where a line is something else, or has something wrong."""
    lines = [value for value in page.values if isinstance(value, dict)]
    keys = set[str]().union(*lines)
    if len(lines) < len(page.values) or not keys.isdisjoint(_RICH):
        return None
    contents = cast("list[str]", [line.get("content") for line in lines])
    has_others = not keys.isdisjoint(_TIMES[1:])
    moments = [line.get(_time_key(line)) for line in lines] if has_others else [line.get("time") for line in lines]
    try:
        if set(map(type, contents)) != {str} or not all(map(str.strip, contents)):
            return None
        sessions = _read_names(lines, "session", default=stem)
        roles = [ROLES[role] for role in cast("list[str]", _read_names(lines, "role", default="user"))]
        speakers, ids = _read_names(lines, "speaker"), _read_names(lines, "id")
        times = fields.as_times(moments, "time")
    except (fields.Malformed, TypeError, KeyError):
        return None
    if None in ids:
        heads = list(zip(sessions, roles, speakers, strict=True))
        prints = fields.fingerprints(heads, contents, times, moments)
        ids = [id_ or f"{n}:{print_}" for id_, n, print_ in zip(ids, page.numbers, prints, strict=True)]
    return list(map(ImportedTurn, sessions, roles, speakers, contents, times, ids, repeat(None), repeat(_METADATA)))


def _read_names(lines: Sequence[Json], key: str, *, default: str | None = None) -> list[str | None]:
    """Read texts under a key, of which a file often has few; those that are blank or absent have the default.

    Raises:
        TypeError: one is a list or an object.
        Malformed: one is no text.
    """
    column = [line.get(key) for line in lines]
    if set(map(type, column)) == {str} and all(map(str.strip, column)):  # type: ignore[arg-type]  # texts
        return cast("list[str | None]", column)
    known = {value: default if fields.is_blank(value) else fields.as_text(value, key) for value in set(column)}
    return [known[value] for value in column]


def _time_key(record: Json) -> str:
    """Return the key under which a turn has its time."""
    return next((key for key in _TIMES if not fields.is_blank(record.get(key))), _TIMES[0])


def _ignored_keys(page: Page) -> set[str]:
    """Return the keys of plain turns that are not read."""
    lines = [value for value in page.values if isinstance(value, dict)]
    if set[str]().union(*lines) <= _PLAIN:
        return set()
    plain = (line for line in lines if "content" in line and "kind" not in line)
    return set[str]().union(*plain) - _PLAIN


def _parse_record(entry: Entry) -> ImportedRecord:
    record = entry.value
    match record.get("kind"):
        case None | "episode":
            return _turn(entry)
        case "fact":
            return _fact(record)
        case "rule":
            return _rule(record)
        case "entity":
            return _entity(record)
        case "log":
            return _log_entry(record)
        case "item":
            return _item(record)
        case other:
            raise fields.Malformed(
                f"kind is {fields.describe(other)}, known are episode, fact, rule, entity, log, item"
            )


def _turn(entry: Entry) -> ImportedTurn:
    record = entry.value
    content = _content(record)
    is_ours = "kind" in record
    session = fields.optional_text(record, "session") or (None if is_ours else entry.stem)
    role = fields.as_role("user" if fields.is_blank(record.get("role")) else record["role"], ROLES)
    speaker = fields.optional_text(record, "speaker")
    time_key = _time_key(record)
    time = fields.as_time(record.get(time_key), time_key)
    source_id = (
        fields.optional_text(record, "id")
        or f"{entry.number}:{fields.fingerprint(session, role, speaker, content, time)}"
    )
    importance = {} if record.get("importance") is None else {"importance": record["importance"]}
    metadata = fields.optional_object(record, "metadata")
    if not is_ours:
        metadata = {**metadata, **_METADATA} if metadata else _METADATA
    return ImportedTurn(
        session=session,
        role=role,
        speaker=speaker,
        content=content,
        event_time=time,
        source_id=source_id,
        metadata=metadata,
        tags=fields.as_tags(record.get("tags"), "tags"),
        fields=_extra_fields(record) if is_ours else importance,
    )


def _fact(record: Json) -> ImportedFact:
    subject, content = fields.optional_text(record, "subject"), _content(record)
    predicate = fields.required_text(record, "predicate")
    stored_at = fields.as_time(record.get("created_at"), "created_at")
    return ImportedFact(
        subject=subject,
        predicate=predicate,
        content=content,
        stored_at=stored_at,
        source_id=fields.fingerprint(fields.optional_text(record, "id"), subject, predicate, content),
        confirmed_at=fields.as_time(record.get("last_confirmed_at"), "last_confirmed_at"),
        valid_from=fields.as_time(record.get("valid_from"), "valid_from"),
        valid_to=fields.as_time(record.get("valid_to"), "valid_to"),
        about=fields.optional_text(record, "about"),
        tags=fields.as_tags(record.get("tags"), "tags"),
        metadata=fields.optional_object(record, "metadata"),
        fields=_extra_fields(record),
    )


def _rule(record: Json) -> ImportedRule:
    content = _content(record)
    return ImportedRule(
        content=content,
        stored_at=fields.as_time(record.get("created_at"), "created_at"),
        source_id=fields.fingerprint(fields.optional_text(record, "id"), content),
        tags=fields.as_tags(record.get("tags"), "tags"),
        metadata=fields.optional_object(record, "metadata"),
        fields=_extra_fields(record),
    )


def _entity(record: Json) -> ImportedEntity:
    name = fields.required_text(record, "name")
    return ImportedEntity(
        name=name,
        type=fields.optional_text(record, "type") or "other",
        aliases=fields.as_tags(record.get("aliases"), "aliases"),
        source_id=name,
        user=fields.optional_text(record, "user_id"),
        metadata=fields.optional_object(record, "metadata"),
    )


def _log_entry(record: Json) -> ImportedLogEntry:
    log, session = fields.required_text(record, "log"), fields.required_text(record, "session")
    sequence = record.get("sequence")
    if not isinstance(sequence, int) or not 0 < sequence < _MOST_ENTRIES:
        raise fields.Malformed(f"sequence is {fields.describe(sequence)}, a number from 1 is needed")
    return ImportedLogEntry(
        log=log,
        session=session,
        subkey=str(record.get("subkey") or ""),
        sequence=sequence,
        key=fields.optional_text(record, "key"),
        entry=fields.required_text(record, "entry"),
        source_id=f"{log}/{session}:{sequence}",
        stored_at=fields.as_time(record.get("created_at"), "created_at"),
        fields={name: record[name] for name in _OF_LOG if name in record},
    )


def _item(record: Json) -> ImportedItem:
    key = fields.required_text(record, "key")
    return ImportedItem(
        namespace=record.get("namespace"),
        key=key,
        value=fields.required_text(record, "value"),
        source_id=key,
        fields={name: record[name] for name in _OF_ITEM if name in record},
    )


def _content(record: Json) -> str:
    if "content" not in record:
        raise fields.missing_key("content", record)
    content = fields.as_text(record["content"], "content")
    if not content.strip():
        raise fields.Malformed("content is blank")
    return content


def _extra_fields(record: Json) -> Json:
    return {key: value for key, value in record.items() if key not in _OWN}


def _recognises(record: Json) -> bool:
    kind = record.get("kind")
    return (
        isinstance(record.get("content"), str)
        or (kind == "entity" and "name" in record)
        or (kind == "log" and "entry" in record)
        or (kind == "item" and "value" in record)
        or kind in _HISTORY
    )


JSONL = Format(
    name=_NAME,
    summary="JSONL with content on every line and session, role, speaker, time and id where known; export writes it",
    recognises={"lines": _recognises},
    read=_read,
    read_turns=_read_turns,
    ignored_keys=_ignored_keys,
)
