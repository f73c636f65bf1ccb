"""Progress of a long command: a bar on stderr where a person watches, nothing elsewhere."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def counting(label: str, *, total: int | None, visible: bool) -> Iterator[Callable[[int], None]]:
    """A function to call with how many are done so far; `total` is None where nobody knows how many there are."""
    if not visible or not sys.stderr.isatty():
        yield _unseen
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    name, count = TextColumn("{task.description}"), TextColumn("{task.completed:,.0f}")
    share = () if total is None else (BarColumn(), TaskProgressColumn())
    with Progress(name, *share, count, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.update(task, completed=done)


def steps(shown: ExitStack, *, visible: bool) -> Callable[[str, int], None]:
    """A bar for each step, the one before taken away."""
    bars: dict[str, Callable[[int], None]] = {}

    def show(step: str, rows: int) -> None:
        if step not in bars:
            shown.close()
            bars.clear()
            bars[step] = shown.enter_context(counting(step, total=None, visible=visible))
        bars[step](rows)

    return show


def sums(show: Callable[[int], None]) -> Callable[[int], None]:
    """A function to call with how many more are done, which shows their sum."""
    done = 0

    def add(more: int) -> None:
        nonlocal done
        done += more
        show(done)

    return add


@contextmanager
def explain_interrupt(text: str) -> Iterator[None]:
    """Give a Ctrl-C inside the block a message: what stands, and how to go on."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(f"interrupted: {text}") from stop


def _unseen(_done: int) -> None:
    pass
