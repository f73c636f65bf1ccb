"""A memory as a file that others read: JSON lines that `engrain import` reads back, or Markdown for a person."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from engrain.domain.records import Record
from engrain.portability.sealed import created, writing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from engrain.domain.maintenance.backups import Backups, Extent, Extraction, Row

    Progress = Callable[[int], None]

ExportFormat = Literal["jsonl", "markdown"]
ExportKind = Literal["entity", "episode", "fact", "note", "rule"]
_TABLES: Mapping[str, tuple[ExportKind, ...]] = {
    "entities": ("entity",),
    "episodes": ("episode",),
    "facts": ("fact", "note"),
    "rules": ("rule",),
}
# What a line has its own name for, or what is of this database alone.
_LEFT_OUT = frozenset("tenant_id agent scope entity_id event_time canonical_name entity_type asking turn".split())
_COUNTED = frozenset(
    "consolidation_status consolidation_attempts last_consolidation_error next_consolidation_retry_at "
    "reference_count last_referenced_at mention_count".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport(Record):
    """What an export holds."""

    path: str
    format: ExportFormat
    kinds: Mapping[str, int]
    bytes: int


@dataclass(frozen=True, slots=True)
class _Told:
    """One row on its way out, and what it is."""

    kind: ExportKind
    row: Row


def export(
    store: Backups,
    path: Path,
    extent: Extent,
    *,
    form: ExportFormat,
    kinds: Collection[ExportKind],
    progress: Progress | None = None,
) -> ExportReport:
    """Write what an agent remembers into a new file, as it is at one moment; JSON lines in memory that does not grow.

    The memories are those of a backup of the agent, facts with all their history.

    Raises:
        InvalidInput: the path is no place for a new file; DatabaseFull, StorageError: it cannot be written.
    """
    counted: Counter[str] = Counter()
    with created(path, replaces=False) as stream:

        def write(source: Extraction) -> None:
            counted.clear()
            with writing(path):
                stream.seek(0)
                stream.truncate()
            names: dict[str, str] = {}
            told = _counting(_told(source, extent, kinds, names), counted, progress)
            lines = _lines(told, names) if form == "jsonl" else _pages(told)
            for line in lines:
                with writing(path):
                    stream.write(line.encode() + b"\n")

        store.extracting(extent, write)
    return ExportReport(path=str(path), format=form, kinds=dict(counted), bytes=path.stat().st_size)


def _told(source: Extraction, extent: Extent, kinds: Collection[ExportKind], names: dict[str, str]) -> Iterator[_Told]:
    """What is asked for, entities first; their names go into `names` by id, asked for or not."""
    for table, its in _TABLES.items():
        if table != "entities" and not set(its) & set(kinds):
            continue
        for row in source.rows(table):
            if table == "entities":
                names[row["id"]] = row["canonical_name"]
            kind = "note" if table == "facts" and _is_note(row, extent.agent) else its[0]
            if kind in kinds:
                yield _Told(kind, row)


def _is_note(row: Row, agent: str | None) -> bool:
    return row["entity_id"] is None and row["scope"] == agent == row["subject"]


def _counting(told: Iterable[_Told], counted: Counter[str], progress: Progress | None) -> Iterator[_Told]:
    for number, each in enumerate(told, start=1):
        counted[each.kind] += 1
        if progress is not None and number % 1_000 == 0:
            progress(number)
        yield each


def _lines(told: Iterable[_Told], names: Mapping[str, str]) -> Iterator[str]:
    for each in told:
        yield json.dumps(_line(each, names), ensure_ascii=False, sort_keys=True)


def _line(told: _Told, names: Mapping[str, str]) -> dict[str, Any]:
    """A row as `engrain import` reads it: what it says and what is known of it, nothing of where it lies."""
    row = told.row
    said = {name: value for name, value in row.items() if name not in _LEFT_OUT | _COUNTED}
    match told.kind:
        case "entity":
            return {
                "kind": "entity",
                "name": row["canonical_name"],
                "type": row["entity_type"],
                "aliases": row["aliases"],
                "metadata": row["metadata"],
            }
        case "episode":
            return {**said, "kind": "episode", "time": row["event_time"]}
        case "note":
            return {**said, "kind": "fact", "subject": None}
        case "fact":
            about = {"about": names[row["entity_id"]]} if row["entity_id"] in names else {}
            return {**said, **about, "kind": "fact", **_shared(row)}
        case "rule":
            return {**said, "kind": "rule", **_shared(row)}


def _shared(row: Row) -> dict[str, str]:
    return {"scope": "global"} if row["scope"] == "global" else {}


def _pages(told: Iterable[_Told]) -> Iterator[str]:
    """Facts by subject with their past, notes, rules, then what was said, by session."""
    by_kind: dict[str, list[Row]] = defaultdict(list)
    for each in told:
        by_kind[each.kind].append(each.row)
    for title, kind, page in (
        ("Who and what", "entity", _entities),
        ("Facts", "fact", _facts),
        ("Notes", "note", _notes),
        ("Rules", "rule", _rules),
        ("Conversations", "episode", _episodes),
    ):
        if by_kind[kind]:
            yield f"# {title}\n"
            yield from page(by_kind[kind])


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
            words = f"{_flat(row['predicate'])}: {_flat(row['content'])}"
            yield (
                f"- {words} ({_since(row)})"
                if row["validity"] == "active"
                else f"- ~~{words}~~ ({_since(row)}, {row['validity']})"
            )
        yield ""


def _since(row: Row) -> str:
    start, end = row["valid_from"] or row["created_at"], row["valid_to"]
    return f"since {_day(start)}" if end is None else f"{_day(start)} to {_day(end)}"


def _notes(rows: list[Row]) -> Iterator[str]:
    """Each note as it stands; what it said before is in a backup."""
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
        sessions.items(), key=lambda each: (min(row["event_time"] for row in each[1]), each[0])
    ):
        yield f"## {_flat(session) or 'Outside any session'}\n"
        for row in sorted(turns, key=lambda row: (row["turn"], row["event_time"], row["id"])):
            yield f"- {_minute(row['event_time'])} **{_flat(row['speaker'] or row['role'])}**: {_flat(row['content'])}"
        yield ""


def _flat(text: str) -> str:
    """Text on one line, so that nothing in it is a heading or a list of its own."""
    return " ".join(text.split())


def _day(moment: str) -> str:
    return moment[:10]


def _minute(moment: str) -> str:
    return moment[:16].replace("T", " ")
