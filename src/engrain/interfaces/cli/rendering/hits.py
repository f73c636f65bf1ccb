"""Answers of searches: a table on a terminal, one aligned line for each hit in a pipe."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Literal

from engrain.interfaces.cli import output
from engrain.interfaces.cli.rendering import lists
from engrain.interfaces.cli.rendering.memories import speaker, statement, statement_with_end

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from engrain.domain.memories.notes import NoteAnswer
    from engrain.domain.records import Answer, DroppedCandidate, Explanation, Hit, MemoryRecord

_COLUMNS = ("date", "who", "score", "why", "id", "text")
# A screenful of ten hits; a pipe gets every character.
_TERMINAL_CHARACTERS = 700


def answer(search: Answer) -> str:
    """The hits of a search, then what was considered and is no hit.

    On a terminal hits are printed at once, at its width; elsewhere there is no cut and no escape sequence.
    """
    lines: list[str] = []
    if search.hits and not sys.stdout.isatty():
        rows = [row for hit in search.hits for row in (_cells(hit), *map(_neighbour_cells, hit.neighbours))]
        lines = output.tabbed([_COLUMNS, *rows])
    elif search.hits:
        from rich.console import Console

        # rich leaves bold where NO_COLOR is set (no-color.org): without a color system it writes no escape sequence.
        colors: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
        Console(highlight=False, emoji=False, markup=False, color_system=colors).print(_table(search.hits))
    return "\n".join([*lines, *_dropped(search.dropped)])


def note_answer(search: NoteAnswer) -> str:
    """A line for each note of a search."""
    return "\n".join(f"{hit.score:.3f}  {hit.source:<8}  {lists.note(hit.note)}" for hit in search.hits)


def _dropped(candidates: Sequence[DroppedCandidate]) -> list[str]:
    """A line for each candidate that is no hit."""
    if not candidates:
        return []
    rows = [(f"{drop.score:.3f}", drop.reason, _why(drop.why), drop.id or "") for drop in candidates]
    return ["", output.table([("score", "no hit because", "why", "id"), *rows])]


def _why(explanation: Explanation) -> str:
    """The channels and what each gave to the score, then the words of the query that were found."""
    shares = " + ".join(f"{share.channel} {share.value:.2f}" for share in explanation.contributions)
    terms = f"[{' '.join(explanation.matched_terms)}]" if explanation.matched_terms else ""
    return f"{shares} {terms}".strip() or "newest"


def _cells(hit: Hit) -> tuple[str, ...]:
    memory = hit.memory
    score, text = f"{hit.score:.3f}", f"{statement_with_end(memory)}{_repeats(hit)}"
    values = (f"{memory.happened_at:%Y-%m-%d}", speaker(memory), score, _why(hit.why), memory.id, text)
    return tuple(map(output.one_line, values))


def _repeats(hit: Hit) -> str:
    """The number and dates of the turns that a hit stands for; nothing for itself alone."""
    return f" ({hit.repeats})" if hit.repeats else ""


def _neighbour_cells(memory: MemoryRecord) -> tuple[str, ...]:
    values = (f"{memory.happened_at:%Y-%m-%d}", speaker(memory), "", "beside it", memory.id, statement(memory))
    return tuple(map(output.one_line, values))


def _table(hits: Sequence[Hit]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, leading=1, header_style="bold")
    shown.add_column("date", no_wrap=True)
    shown.add_column("who", max_width=16, overflow="fold")
    shown.add_column("score", justify="right", no_wrap=True)
    shown.add_column("text, why and id", ratio=1, overflow="fold")
    for hit in hits:
        date, name, score, reasons, id_, _ = _cells(hit)
        text = Text(f"{_screenful(output.printable(statement_with_end(hit.memory)))}{_repeats(hit)}")
        text.append(f"\n{reasons}\n{id_}", style="dim")
        for beside in hit.neighbours:
            turn = _screenful(output.printable(statement(beside)))
            text.append(f"\n{speaker(beside)}: {turn}", style="italic dim")
        shown.add_row(date, name, score, text)
    return shown


def _screenful(text: str) -> str:
    if len(text) <= _TERMINAL_CHARACTERS:
        return text
    return f"{text[:_TERMINAL_CHARACTERS]} ... ({len(text):,} characters; engrain get ID shows all)"
