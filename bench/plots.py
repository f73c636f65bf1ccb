"""Plots of measured figures as SVG, without a library: groups of bars, with the value beside each.

`python -m bench.plots` draws those of the documentation from its tables; `bench.retrieval --plot` what it measured.
"""

from __future__ import annotations

import re
import sys
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
# Told apart in grey and by those who see no red or green (Okabe and Ito).
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#999999")
MOST_BARS = len(_COLOURS)
_WIDTH, _VALUE, _LETTER = 720, 60, 7
_BAR, _GAP, _TOP = 16, 14, 64


class DocumentedPlot(NamedTuple):
    """A plot of a table in the documentation: the page, words of its first row, and the columns that are drawn."""

    page: str
    first_row: str
    columns: tuple[str, ...]
    title: str


PLOTS: Mapping[str, DocumentedPlot] = {
    "evidence.svg": DocumentedPlot(
        "README.md", "CPU of a search", ("recall@5", "recall@10"), "Share of the evidence among the first hits, LoCoMo"
    ),
    "budgets.svg": DocumentedPlot(
        "README.md", "| tokens |", ("500", "1,000", "2,000", "4,000"), "Share of the evidence in a block, by its tokens"
    ),
    "everyday.svg": DocumentedPlot(
        "bench/README.md", "| kind |", ("engrain", "vectors"), "Everyday conversations: share of expectations that hold"
    ),
}


def bars(title: str, groups: Mapping[str, Mapping[str, float]]) -> str:
    """Groups of horizontal bars for shares between 0 and 1, in their order: `{group: {bar: share}}`.

    All groups have the same bars, at most four, whose colours the legend explains.
    """
    names = list(next(iter(groups.values())))
    assert len(names) <= MOST_BARS
    left = 30 + _LETTER * max(map(len, groups))
    rows = [*_legend(title, names, left)]
    y = _TOP
    for group, shares in groups.items():
        middle = y + len(names) * _BAR / 2
        rows.append(_text(left - 10, middle + 5, group, 'text-anchor="end"'))
        for name, colour in zip(names, _COLOURS, strict=False):
            length = round(shares[name] * (_WIDTH - left - _VALUE), 1)
            rows.append(f'<rect x="{left}" y="{y}" width="{length}" height="{_BAR - 2}" fill="{colour}"/>')
            rows.append(_text(left + length + 6, y + 12, f"{shares[name]:.3f}", 'font-size="12"'))
            y += _BAR
        y += _GAP
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y}" width="{_WIDTH}" height="{y}" role="img" '
        f'aria-label="{escape(title)}" font-family="sans-serif" font-size="14" fill="#222222">'
    )
    return "\n".join([opening, f'<rect width="{_WIDTH}" height="{y}" fill="#ffffff"/>', *rows, "</svg>", ""])


def _legend(title: str, names: Sequence[str], x: float) -> list[str]:
    rows = [_text(16, 24, title, 'font-weight="bold"')]
    for name, colour in zip(names, _COLOURS, strict=False):
        rows.append(f'<rect x="{x:g}" y="38" width="12" height="12" fill="{colour}"/>')
        rows.append(_text(x + 17, 49, name, 'font-size="12"'))
        x += 40 + _LETTER * len(name)
    return rows


def _text(x: float, y: float, text: str, attributes: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" {attributes}>{escape(text)}</text>'


def read_table(page: str, first_row: str) -> dict[str, dict[str, str]]:
    """The table of a Markdown page whose first row has these words: `{row: {column: cell}}`, without bold and code."""
    lines = page.splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("|") and first_row in line)
    columns, _, *rows = [_cells(line) for line in _while_table(lines[begin:])]
    return {row[0]: dict(zip(columns[1:], row[1:], strict=True)) for row in rows}


def _while_table(lines: Sequence[str]) -> list[str]:
    end = next((number for number, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return list(lines[:end])


def _cells(line: str) -> list[str]:
    return [re.sub(r"\*\*|`", "", cell).strip() for cell in line.strip("|").split("|")]


def documented() -> dict[str, str]:
    """The plots of the documentation by their files, from the figures that its tables have."""
    drawn = {}
    for file, plot in PLOTS.items():
        table = read_table((ROOT / plot.page).read_text(encoding="utf-8"), plot.first_row)
        groups = {row: {name: float(cells[name]) for name in plot.columns} for row, cells in table.items()}
        drawn[file] = bars(plot.title, groups)
    return drawn


def main(arguments: Sequence[str]) -> int:
    """Write the plots of the documentation, or with --check say which are out of date."""
    code = 0
    for file, svg in documented().items():
        path = PICTURES / file
        if path.exists() and path.read_text(encoding="utf-8") == svg:
            continue
        if "--check" in arguments:
            sys.stderr.write(f"docs/pictures/{file} is out of date: python tools/generate_reference.py\n")
            code = 1
        else:
            PICTURES.mkdir(exist_ok=True)
            path.write_text(svg, encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
