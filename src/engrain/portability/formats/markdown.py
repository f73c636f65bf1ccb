"""Notes written in Markdown: each heading with text below it is a note, what stands above the first one is one too."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engrain.portability.formats import fields
from engrain.portability.formats.files import MARKDOWN_ENDINGS
from engrain.portability.formats.records import BrokenRecord, Entry, Format, ImportedFact

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

_NAME = "markdown"
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]++(.*)$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_PAIR = re.compile(r"([A-Za-z_][\w -]{0,60}?)[ \t]*:[ \t]*(.*)$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)$")
_RULE = "---"
_TIMES = ("updated", "modified", "date", "created")
_SEPARATOR = "/"
_LONGEST_KEY = 512


@dataclass
class _Section:
    """A heading with those above it, and the lines below it."""

    path: tuple[str, ...]
    lines: list[str] = field(default_factory=list)


def _read(entry: Entry) -> Iterator[ImportedFact | BrokenRecord]:
    lines = fields.as_text(entry.value["text"], "text").splitlines()
    name = fields.as_text(entry.value["name"], "name")
    matter, start = _front_matter(lines)
    tags = tuple(tag for key in ("tags", "tag", "keywords") for tag in _parse_tags(matter.get(key)))
    stored_at, broken = _time(matter)
    if broken is not None:
        yield BrokenRecord(f"{entry.position}, front matter", broken)
    keys: dict[str, int] = {}
    for section in _sections(lines[start:]):
        content = "\n".join(section.lines).strip()
        if not content:
            continue
        key = _SEPARATOR.join((name, *section.path))[:_LONGEST_KEY]
        keys[key] = keys.get(key, 0) + 1
        if keys[key] > 1:
            key = f"{key[: _LONGEST_KEY - 8]} {keys[key]}"
        yield ImportedFact(
            subject=None,
            predicate=key,
            content=content,
            stored_at=stored_at,
            confirmed_at=stored_at,
            source_id=fields.fingerprint(key, content),
            tags=tags,
            metadata={"format": _NAME, **({"front_matter": matter} if matter else {})},
        )


def _sections(lines: list[str]) -> Iterator[_Section]:
    """The text before the first heading, then each heading's; what is fenced is no heading."""
    section = _Section(())
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if mark and (not fence or (mark[1].startswith(fence) and not line.strip().strip(mark[1][0]))):
            fence = "" if fence else mark[1]
        heading = None if fence or mark else _HEADING.match(line)
        title = heading[2].rstrip(" \t").rstrip("#").rstrip(" \t") if heading else ""
        if heading is None or not title:
            section.lines.append(line)
            continue
        yield section
        depth = len(heading[1])
        section = _Section((*section.path[: depth - 1], title))
    yield section


def _front_matter(lines: list[str]) -> tuple[dict[str, object], int]:
    """The keys between two `---` at the top, texts and lists of texts alone, and where the text begins."""
    if not lines or lines[0].rstrip() != _RULE:
        return {}, 0
    end = next((place for place, line in enumerate(lines[1:], start=1) if line.rstrip() in (_RULE, "...")), None)
    if end is None:
        return {}, 0
    matter: dict[str, object] = {}
    key = ""
    for line in lines[1:end]:
        pair, item = _PAIR.match(line), _ITEM.match(line)
        if pair:
            key = pair[1].strip().lower()
            matter[key] = _value(pair[2])
        elif item and key:
            before = matter[key]
            matter[key] = [*(before if isinstance(before, list) else [before] if before else []), _bare(item[1])]
    return matter, end + 1


def _value(text: str) -> object:
    if text.startswith("[") and text.rstrip().endswith("]"):
        return [bare for item in text.strip()[1:-1].split(",") if (bare := _bare(item))]
    return _bare(text)


def _bare(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _parse_tags(value: object) -> list[str]:
    match value:
        case str():
            return [tag for item in value.split(",") if (tag := item.strip().lstrip("#"))]
        case list():
            return [tag for item in value if (tag := str(item).strip().lstrip("#"))]
        case _:
            return []


def _time(matter: dict[str, object]) -> tuple[datetime | None, str | None]:
    """Read when the file says it was written, and what is wrong with what it says."""
    for key in _TIMES:
        if matter.get(key):
            try:
                return fields.as_time(matter[key], key), None
            except fields.Malformed as fault:
                return None, str(fault)
    return None, None


MARKDOWN = Format(
    name=_NAME,
    summary="Markdown, a file or a folder of them: each heading with its text is a note",
    recognises={"markdown": lambda record: isinstance(record.get("text"), str)},
    read=_read,
    containers=frozenset({"file", "folder"}),
    endings=MARKDOWN_ENDINGS,
)
