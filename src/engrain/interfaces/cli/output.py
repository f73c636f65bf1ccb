"""Output streams: answers on stdout, everything else on stderr."""

from __future__ import annotations

import json
import sys
import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SECOND_MS, _DAY_MS, _FEW = 1_000, 86_400_000, 10
_UNITS_MS = ((_SECOND_MS, "s"), (60_000, "min"), (3_600_000, "h"))
_MOST_OF_UNIT = {"s": 120, "min": 120, "h": 48}
# Control characters, which a terminal would obey rather than show: memories hold other people's words.
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


def printable(text: str) -> str:
    """The text with control characters made visible (ESC by its code); tabs stay, line ends are LF."""
    return text.replace("\r\n", "\n").translate(_CONTROLS)


def one_line(text: str) -> str:
    """All of the text, printable, with every run of white space as one blank."""
    return printable(" ".join(text.split()))


def say(text: str) -> None:
    """One line of the answer, or several."""
    sys.stdout.write(printable(text) + "\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """One line beside the answer."""
    sys.stderr.write(printable(text) + "\n")
    sys.stderr.flush()


def prompt(text: str) -> None:
    """A question, the cursor left behind it."""
    sys.stderr.write(printable(text))
    sys.stderr.flush()


def document(value: Mapping[str, Any]) -> None:
    """The answer as one JSON document: UTF-8 whatever the locale, lines ended by LF."""
    text = json.dumps(dict(value), ensure_ascii=False, indent=2) + "\n"
    # A path may hold bytes that are no text; as \\udcXX they are valid in a JSON string.
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.flush()


def duration(milliseconds: float) -> str:
    """`240 ms`, `1.3 s`, `13 s`, `4 min`, `2.5 h`, `3 days`."""
    if milliseconds < _SECOND_MS:
        return f"{milliseconds:.0f} ms"
    for unit_ms, name in _UNITS_MS:
        count = milliseconds / unit_ms
        if milliseconds < unit_ms * _MOST_OF_UNIT[name]:
            return f"{count:.1f} {name}" if count < _FEW else f"{count:,.0f} {name}"
    return f"{milliseconds / _DAY_MS:,.0f} days"


def counted(count: int, one: str, several: str = "") -> str:
    """`1 turn`, `2,000 turns`."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def pairs(values: Mapping[str, Any], *, width: int = 0) -> str:
    """One aligned line for each name and value; what is None or empty is left out."""
    shown = {name: plain(value) for name, value in values.items() if value not in (None, "", [], {})}
    column = max([width, *(len(name) for name in shown)])
    return "\n".join(f"{name:<{column}}  {value}" for name, value in shown.items())


def plain(value: Any) -> str:
    """A value of a JSON document as text."""
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:.6g}"
        case list():
            return ", ".join(plain(part) for part in value)
        case dict():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return str(value)


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Columns two blanks apart on a terminal; the last one, the text, is as long as it is."""
    widths = [max(map(count_cells, column)) for column in zip(*(row[:-1] for row in rows), strict=True)]
    return [
        "  ".join(
            [*(cell + " " * (width - count_cells(cell)) for cell, width in zip(row, widths, strict=False)), row[-1]]
        )
        for row in rows
    ]


def count_cells(text: str) -> int:
    """Cells of a terminal that a text takes: two for a Chinese character or an emoji, none for a mark or a joiner."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.category(char) in {"Mn", "Me", "Cf"}
        else 2
        if unicodedata.east_asian_width(char) in "WF"
        else 1
        for char in text
    )


def tabbed(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Columns with a tab between them, for programs: no cell holds one."""
    return ["\t".join(row) for row in rows]


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows of printable cells in columns: aligned on a terminal, with tabs elsewhere."""
    cells = [tuple(one_line(cell) for cell in row) for row in rows]
    return "\n".join(aligned(cells) if sys.stdout.isatty() else tabbed(cells))
