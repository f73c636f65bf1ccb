"""Import formats: readers of files of other systems into turns, facts, rules and entities.

`read` never raises for one bad record: it yields a BrokenRecord in its place and goes on. UnreadableImport means that
the file as a whole is not of the format.
"""

from __future__ import annotations

from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from engrain.errors import UnreadableImport
from engrain.portability.formats.assistants.claude_code import CLAUDE_CODE
from engrain.portability.formats.assistants.codex import CODEX
from engrain.portability.formats.assistants.gemini import GEMINI
from engrain.portability.formats.chatgpt import CHATGPT
from engrain.portability.formats.claude import CLAUDE
from engrain.portability.formats.fields import Malformed, describe, keys_found, shorten
from engrain.portability.formats.files import Part, Source, container_of, parts_of
from engrain.portability.formats.jsonl import JSONL
from engrain.portability.formats.langgraph import LANGGRAPH
from engrain.portability.formats.letta import LETTA
from engrain.portability.formats.locomo import LOCOMO
from engrain.portability.formats.markdown import MARKDOWN
from engrain.portability.formats.mcp_memory import MCP_MEMORY
from engrain.portability.formats.mem0 import MEM0
from engrain.portability.formats.openai import OPENAI
from engrain.portability.formats.records import (
    BrokenRecord,
    Container,
    Entry,
    Format,
    IgnoredKeys,
    ImportedRecord,
    ImportedTurn,
    Layout,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    _Read: TypeAlias = ImportedRecord | BrokenRecord | IgnoredKeys

FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        form.name: form
        for form in (
            *(CHATGPT, CLAUDE, LOCOMO, CLAUDE_CODE, CODEX, GEMINI),
            *(OPENAI, MCP_MEMORY, MEM0, LETTA, LANGGRAPH, MARKDOWN, JSONL),
        )
    }
)
"""By name, in the order in which detection tries them."""

_MOST_KEYS = 100  # named of a file; a hostile one has new ones on every line
_SHAPES: Mapping[Layout, str] = {
    "list": "a JSON list",
    "object": "one JSON object",
    "lines": "lines of text",
    "markdown": "Markdown",
}


def detect(path: Path) -> str:
    """Name of the format of the file, from its structure; UnreadableImport says what was seen and what is known."""
    container = container_of(path)
    form, _ = _detect(path, container, parts_of(path, container, _endings(container)))
    return form.name


def read(path: Path, format: str = "auto") -> Iterator[_Read]:  # noqa: A002 - the word of the command line
    """Read the file (or folder) at `path` in its order, with a BrokenRecord in place of each broken record.

    IgnoredKeys follow the records of a file that has keys which are not read.

    `format` is a name of FORMATS, or "auto" to detect it. UnreadableImport is raised by the call itself, by the
    iteration only where the disk fails. JSON lines are read in constant memory, any other JSON whole.
    """
    if format != "auto" and format not in FORMATS:
        raise UnreadableImport(f"{format!r} is not a format; known are auto, {', '.join(FORMATS)}")
    container = container_of(path)
    if format == "auto":
        parts = parts_of(path, container, _endings(container))
        form, ready = _detect(path, container, parts)
        return _read_parts(form, parts, ready)
    form = FORMATS[format]
    if container not in form.containers:
        raise UnreadableImport(f"{path} is a {container}; {form.name} is {form.summary}")
    parts = parts_of(path, container, [form.endings])
    # Of several files one may be unreadable; of one that is the whole import.
    return _read_parts(form, parts, {parts[0].name: _open(form, parts[0])} if len(parts) == 1 else {})


def _endings(container: Container) -> list[tuple[str, ...]]:
    """The file endings of all formats in a folder, in the order in which they are tried."""
    return list(dict.fromkeys(form.endings for form in FORMATS.values() if container in form.containers))


def _read_parts(form: Format, parts: list[Part], ready: dict[str, Source]) -> Iterator[_Read]:
    for part in parts:
        try:
            # The source gets no name here: the next document must not be read while this one is in memory.
            records = _read_source(form, ready.pop(part.name) if part.name in ready else _open(form, part))
        except UnreadableImport as error:
            yield BrokenRecord(part.name, str(error))
        else:
            yield from records


def _read_source(form: Format, source: Source) -> Iterator[_Read]:
    if form.read_file is not None:
        yield from form.read_file(entry for page in source.scan() for entry in source.entries(page, form.item))
        return
    ignored: list[str] = []
    for page in source.scan():
        turns = None if form.read_turns is None else form.read_turns(page, source.stem)
        yield from _read_entries(form, source.entries(page, form.item)) if turns is None else turns
        if form.ignored_keys is not None and (keys := form.ignored_keys(page)):
            ignored = sorted({*ignored, *(shorten(key)[1:-1] for key in keys)})[:_MOST_KEYS]
    if ignored:
        yield IgnoredKeys(tuple(ignored))


def _read_entries(form: Format, entries: Iterator[Entry | BrokenRecord]) -> Iterator[ImportedRecord | BrokenRecord]:
    for entry in entries:
        if isinstance(entry, BrokenRecord):
            yield entry
            continue
        assert form.read is not None
        try:
            yield from map(partial(_place, entry.position), form.read(entry))
        except Malformed as fault:
            yield BrokenRecord(entry.position, str(fault))


def _place(position: str, record: ImportedRecord | BrokenRecord) -> ImportedRecord | BrokenRecord:
    """Return a record with its position, unless it has one; a turn has its session and its id in place of one."""
    return record if isinstance(record, ImportedTurn) or record.position else record._replace(position=position)


def _open(form: Format, part: Part) -> Source:
    """The part as a file of the format: of a layout that the format has, with objects in it if with anything."""
    source = part.load(frozenset(form.recognises))
    if source.layout not in form.recognises or not _holds_objects(source):
        raise UnreadableImport(f"{part.name} holds {_describe_source(source)}; {form.name} is {form.summary}")
    return source


def _holds_objects(source: Source) -> bool:
    """True if a record of the sample is an object, or there is none at all."""
    is_empty = True
    for value in source.sample():
        if isinstance(value, dict):
            return True
        is_empty = False
    return is_empty


def _detect(path: Path, container: Container, parts: list[Part]) -> tuple[Format, dict[str, Source]]:
    """The format of the first part that is of any, and that part opened, by its name."""
    forms = [form for form in FORMATS.values() if container in form.containers]
    layouts = frozenset(layout for form in forms for layout in form.recognises)
    seen: list[str] = []
    for part in parts:
        try:
            source = part.load(layouts)
        except UnreadableImport as error:
            seen.append(str(error))
            continue
        form = _recognise(source, forms)
        if form is None and container == "file" and _is_blank(source):
            form = JSONL  # the export of whoever has nothing
        if form is not None:
            return form, {part.name: source}
        seen.append(f"{part.name} holds {_describe_source(source)}")
    known = "".join(f"\n  {form.name}: {form.summary}" for form in FORMATS.values())
    raise UnreadableImport(f"no known format in {path}: {seen[0]}. Known formats:{known}")


def _recognise(source: Source, forms: list[Format]) -> Format | None:
    for value in source.sample():
        for form in forms:
            recognises = form.recognises.get(source.layout)
            if recognises is not None and isinstance(value, dict) and recognises(value):
                return form
    return None


def _is_blank(source: Source) -> bool:
    """True for a file of lines without any value."""
    return source.layout == "lines" and next(source.sample(), None) is None


def _describe_source(source: Source) -> str:
    """Describe the source, for a person who expected another."""
    match list(islice(source.sample(), 1)):
        case [Malformed() as fault]:
            first = str(fault)
        case [dict() as record]:
            first = keys_found(record)
        case [value]:
            first = describe(value)
        case _:
            return "nothing"
    return f"{_SHAPES[source.layout]}, first {first}"
