"""Aligned columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.interfaces.cli import output

if TYPE_CHECKING:
    from collections.abc import Sequence


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Columns two blanks apart; the last one, the text, is as long as it is."""
    widths = [max(map(len, column)) for column in zip(*(row[:-1] for row in rows), strict=True)]
    return [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]) for row in rows
    ]


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows of printable cells in aligned columns."""
    return "\n".join(aligned([tuple(output.one_line(cell) for cell in row) for row in rows]))
