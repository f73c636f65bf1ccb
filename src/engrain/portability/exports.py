"""Exports of a memory: JSON lines that `engrain import` reads back, or Markdown for a person."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from engrain.domain.access.scopes import GLOBAL_SCOPE, audience_of, user_of
from engrain.domain.entities.registry import MERGED_INTO
from engrain.domain.items import decode_namespace
from engrain.domain.memories.fact_keys import is_note_slot
from engrain.domain.records import Caller, Record
from engrain.portability.sealed_files import create_file, write_errors
from engrain.storage.reports.seals import iterate_events
from engrain.storage.transaction import for_every_user

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from engrain.domain.maintenance.backups import Extent, Row
    from engrain.storage.backup.extraction import SqlExtraction
    from engrain.storage.store import SqlStore
    from engrain.storage.unit_of_work import Snapshot

    Progress = Callable[[int], None]

ExportFormat = Literal["jsonl", "markdown"]
ExportKind = Literal["entity", "episode", "fact", "item", "log", "note", "rule"]
_Kind = Literal[ExportKind, "link", "event"]
HISTORY: tuple[_Kind, ...] = ("link", "event")
"""Kinds of what is told of memories: a person is given them, and no import reads them back."""
_TABLES: Mapping[str, tuple[_Kind, ...]] = {
    "entities": ("entity",),
    "episodes": ("episode",),
    "facts": ("fact", "note"),
    "rules": ("rule",),
    "log_entries": ("log",),
    "items": ("item",),
    "memory_links": ("link",),
    "memory_events": ("event",),
}
_ADDRESS = ("log", "session", "subkey")  # that name an entry of a log
_OF_ITEM = ("id", "key", "version", "value", "ttl_s", "created_at", "updated_at", "expires_at")
# Columns with another name in the export, or with a meaning in this database alone.
UNEXPORTED = frozenset(
    "tenant_id agent scope entity_id event_time canonical_name entity_type asking turn consolidation_status "
    "consolidation_attempts last_consolidation_error next_consolidation_retry_at reference_count last_referenced_at "
    "mention_count".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport(Record):
    """Contents of an export."""

    path: str
    format: ExportFormat
    kinds: Mapping[str, int]
    bytes: int


def export(
    store: SqlStore,
    path: Path,
    extent: Extent,
    *,
    form: ExportFormat,
    kinds: Collection[_Kind],
    now: datetime,
    progress: Progress | None = None,
) -> ExportReport:
    """Write the memories of an agent into a new file, from one snapshot; JSON lines in constant memory.

    The memories are those of a backup, facts with all their history. Where several agents may have written them, each
    JSON line has its agent and its scope, so that an import keeps them apart. Pages leave out turns and rules that are
    not live `now`.

    Raises:
        InvalidInput: the path is no place for a new file; DatabaseFull, StorageError: it cannot be written.
    """
    counted: Counter[str] = Counter()
    with create_file(path, replaces=False) as stream:

        def write(source: SqlExtraction) -> None:
            counted.clear()
            names: dict[str, str] = {}
            records = _count(_records(source, kinds, names), counted, progress)
            is_of_many = extent.agent is None
            lines = _lines(records, names, names_agent=is_of_many) if form == "jsonl" else _pages(records, now)
            _write_lines(stream, path, lines)

        store.extract(extent, write)
    return ExportReport(path=str(path), format=form, kinds=dict(counted), bytes=path.stat().st_size)


def export_events(store: SqlStore, path: Path, caller: Caller) -> ExportReport:
    """Write the events of the caller's tenant into a new file of JSON lines, oldest first, from one snapshot.

    Raises:
        InvalidInput: the path is no place for a new file; DatabaseFull, StorageError: it cannot be written.
    """
    with create_file(path, replaces=False) as stream:

        @for_every_user
        def write(snapshot: Snapshot) -> int:
            lines = (_dump(event.to_dict()) for event in iterate_events(snapshot))
            return _write_lines(stream, path, lines)

        count = store.read(caller, write)
    return ExportReport(path=str(path), format="jsonl", kinds={"event": count}, bytes=path.stat().st_size)


def _write_lines(stream: BinaryIO, path: Path, lines: Iterable[str]) -> int:
    """Write lines from the beginning of a file, as a transaction may run again; returns their number."""
    with write_errors(path):
        stream.seek(0)
        stream.truncate()
    count = 0
    for line in lines:
        with write_errors(path):
            stream.write(line.encode() + b"\n")
        count += 1
    return count


def _dump(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, sort_keys=True)


def _records(source: SqlExtraction, kinds: Collection[_Kind], names: dict[str, str]) -> Iterator[tuple[_Kind, Row]]:
    """The records of the requested kinds, entities first; names of all entities go into `names` by id."""
    addresses = {}
    if "log" in kinds:
        addresses = {row["id"]: {name: row[name] for name in _ADDRESS} for row in source.rows("log_sessions")}
    for table, table_kinds in _TABLES.items():
        if table != "entities" and not set(table_kinds) & set(kinds):
            continue
        for row in source.rows(table):
            if table == "entities":
                if MERGED_INTO in row["metadata"]:
                    continue  # its names are those of the entity that it was merged into
                names[row["id"]] = row["canonical_name"]
            if table == "log_entries":
                row = {**row, **addresses[row["session_id"]]}  # noqa: PLW2901  # with its names
            if table == "items" and row["replaced_at"] is not None:
                continue  # a backup has the versions that were overwritten
            kind: _Kind = "note" if table == "facts" and _is_note(row) else table_kinds[0]
            if kind in kinds:
                yield kind, row


def _is_note(row: Row) -> bool:
    is_slot = is_note_slot(scope=row["scope"], subject=row["subject"], predicate=row["predicate"])
    return row["entity_id"] is None and row["agent"] == row["subject"] and is_slot


def _count(
    records: Iterable[tuple[_Kind, Row]], counted: Counter[str], progress: Progress | None
) -> Iterator[tuple[_Kind, Row]]:
    for number, (kind, row) in enumerate(records, start=1):
        counted[kind] += 1
        if progress is not None and number % 1_000 == 0:
            progress(number)
        yield kind, row


def _lines(records: Iterable[tuple[_Kind, Row]], names: Mapping[str, str], *, names_agent: bool) -> Iterator[str]:
    for kind, row in records:
        owner = _owner(row) if names_agent and kind not in {"entity", *HISTORY} else {}
        yield _dump({**export_row(kind, row, names), **owner})


def _owner(row: Row) -> dict[str, str]:
    """Return the agent of a row and its scope among the agents; logs and items are their agent's own."""
    scope = audience_of(row["scope"])
    return {"agent": row.get("agent", scope), "scope": scope}


def export_row(kind: _Kind, row: Row, names: Mapping[str, str]) -> dict[str, Any]:
    """Convert a row to a record that `engrain import` reads, without what belongs to this database alone.

    The JSON of a log's entry or an item is a text, in which nothing of it changes.
    """
    fields = {name: value for name, value in row.items() if name not in UNEXPORTED}
    match kind:
        case "entity":
            own = {name: row[name] for name in ("aliases", "metadata")}
            record = {"kind": "entity", "name": row["canonical_name"], "type": row["entity_type"], **own}
        case "episode":
            record = {**fields, "kind": "episode", "time": row["event_time"]}
        case "note":
            record = {**fields, "kind": "fact", "subject": None}
        case "fact":
            about = {"about": names[row["entity_id"]]} if row["entity_id"] in names else {}
            record = {**fields, **about, "kind": "fact", **_global_scope(row)}
        case "rule":
            record = {**fields, "kind": "rule", **_global_scope(row)}
        case "log":
            own = {name: row[name] for name in (*_ADDRESS, "sequence", "entry", "created_at")}
            record = {"kind": "log", "id": row["session_id"], "key": row["entry_key"], **own}
        case "item":
            own = {name: row[name] for name in _OF_ITEM}
            namespace, index = list(decode_namespace(row["namespace"])), json.loads(row["fields"] or "[]")
            record = {"kind": "item", "namespace": namespace, "index": index, **own}
        case "link" | "event":
            return {**fields, "kind": kind}
    user = row["user_id"] if kind == "entity" else user_of(row["scope"])
    return {**record, "user_id": user} if user else record


def _global_scope(row: Row) -> dict[str, str]:
    return {"scope": GLOBAL_SCOPE} if audience_of(row["scope"]) == GLOBAL_SCOPE else {}


def _pages(records: Iterable[tuple[_Kind, Row]], now: datetime) -> Iterator[str]:
    """Pages of facts by subject with their past, notes, rules, and conversations by session."""
    by_kind: dict[str, list[Row]] = defaultdict(list)
    for kind, row in records:
        if kind != "episode" or _is_live(row, now):
            by_kind[kind].append(row)
    for title, of_kind, page in (
        ("Who and what", "entity", _entities),
        ("Facts", "fact", _facts),
        ("Notes", "note", _notes),
        ("Rules", "rule", _rules),
        ("Conversations", "episode", _episodes),
        ("Logs", "log", _entries),
        ("Items", "item", _items),
    ):
        if by_kind[of_kind]:
            yield f"# {title}\n"
            yield from page(by_kind[of_kind])


def _is_live(row: Row, now: datetime) -> bool:
    """Tell whether a turn was neither forgotten nor has expired; the clock that forgot it may be ahead."""
    ends = row["expires_at"]
    return row["metadata"].get("hidden") is not True and (ends is None or datetime.fromisoformat(ends) > now)


def _entities(rows: list[Row]) -> Iterator[str]:
    for row in sorted(rows, key=lambda row: (row["canonical_name"], row["entity_type"])):
        aliases = f", also {', '.join(map(_flat, row['aliases']))}" if row["aliases"] else ""
        yield f"- **{_flat(row['canonical_name'])}** ({row['entity_type']}){aliases}"
    yield ""


def _facts(rows: list[Row]) -> Iterator[str]:
    subjects: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        subjects[row["subject"]].append(row)
    for subject in sorted(subjects):
        yield f"## {_flat(subject)}\n"
        for row in sorted(subjects[subject], key=lambda row: (row["predicate"], row["created_at"], row["id"])):
            text = f"{_flat(row['predicate'])}: {_flat(row['content'])}"
            yield (
                f"- {text} ({_since(row)})"
                if row["validity"] == "active"
                else f"- ~~{text}~~ ({_since(row)}, {row['validity']})"
            )
        yield ""


def _since(row: Row) -> str:
    start, end = row["valid_from"] or row["created_at"], row["valid_to"]
    return f"since {_day(start)}" if end is None else f"{_day(start)} to {_day(end)}"


def _notes(rows: list[Row]) -> Iterator[str]:
    """The current text of each note; earlier ones are in a backup."""
    for row in sorted(rows, key=lambda row: (row["predicate"], row["id"])):
        if row["validity"] == "active":
            yield f"## {_flat(row['predicate'])}\n\n{row['content']}\n"


def _rules(rows: list[Row]) -> Iterator[str]:
    for row in rows:
        if row["metadata"].get("forgotten") is not True:
            tried = (
                f"{row['success_count']} of {row['applied_count']} times helpful" if row["applied_count"] else "untried"
            )
            yield f"- {_flat(row['content'])} ({row['maturity']}, {tried})"
    yield ""


def _episodes(rows: list[Row]) -> Iterator[str]:
    sessions: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        sessions[row["session"] or ""].append(row)
    for session, turns in sorted(
        sessions.items(), key=lambda item: (min(row["event_time"] for row in item[1]), item[0])
    ):
        yield f"## {_flat(session) or 'Outside any session'}\n"
        for row in sorted(turns, key=lambda row: (row["turn"], row["event_time"], row["id"])):
            minute, speaker = row["event_time"][:16].replace("T", " "), row["speaker"] or row["role"]
            yield f"- {minute} **{_flat(speaker)}**: {_flat(row['content'])}"
        yield ""


def _entries(rows: list[Row]) -> Iterator[str]:
    for address, entries in groupby(rows, lambda row: [row[name] for name in _ADDRESS if row[name]]):
        yield f"## {' / '.join(map(_flat, address))}\n"
        yield from (f"    {row['entry']}" for row in entries)
        yield ""


def _items(rows: list[Row]) -> Iterator[str]:
    for row in sorted(rows, key=lambda row: (row["namespace"], row["key"])):
        names = (*decode_namespace(row["namespace"]), row["key"])
        yield f"## {' / '.join(map(_flat, names))}\n\n    {row['value']}\n"


def _flat(text: str) -> str:
    """Join a text on one line, so that nothing in it starts a heading or a list."""
    return " ".join(text.split())


def _day(moment: str) -> str:
    return moment[:10]
