"""`engrain import`: reading the turns, then making their vectors, with a bar for each where a person watches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from engrain import metrics
from engrain.errors import EngineUnavailable
from engrain.interfaces.cli import progress
from engrain.interfaces.cli.failures import ExitCode
from engrain.interfaces.cli.invocation import Invocation, is_served
from engrain.interfaces.cli.rendering import reports

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engrain.portability.imports import ImportReport
    from engrain.service import Memory

# Stats.pending_embeddings counts no further.
_COUNTED_UP_TO = 1_000


def run(invocation: Invocation, arguments: Mapping[str, Any]) -> None:
    """Import a file and say what that did; stopped anywhere, it leaves whole turns and can be run again."""
    taken = {name: value for name, value in arguments.items() if name != "no_embed"}
    kept = "everything stored so far is whole; run the same command again to complete it"
    with invocation.memory() as memory:
        with progress.explain_interrupt(kept):
            report = _read(invocation, memory, taken)
            for line in reports.import_notes(report):
                invocation.note(line)
            if not arguments.get("no_embed") and not is_served(memory):
                _embed(invocation, memory, report)
        invocation.answer(report.to_dict(), reports.imported(report))
    if report.broken:
        raise typer.Exit(ExitCode.BROKEN_RECORDS)


def _read(invocation: Invocation, memory: Memory, arguments: Mapping[str, Any]) -> ImportReport:
    if is_served(memory):
        return memory.agent().import_file(**arguments)
    with progress.counting("reading turns", total=None, visible=not invocation.as_json) as done:
        return memory.agent().import_file(**arguments, progress=done)


def _embed(invocation: Invocation, memory: Memory, report: ImportReport) -> None:
    if memory.without_vectors:
        invocation.degraded([memory.without_vectors])
    total = _expected(memory, report)
    with progress.counting("making vectors", total=total, visible=not invocation.as_json and total != 0) as done:
        try:
            memory.flush(lambda _: done(_made()))
        except EngineUnavailable as error:
            invocation.note(reports.imported(report))
            raise EngineUnavailable(
                f"{error}; the turns are stored: run the same command again for their vectors"
            ) from error


def _expected(memory: Memory, report: ImportReport) -> int | None:
    """Count the vectors that this command makes in all; None where more wait than are counted."""
    if memory.embedder is None:
        return 0
    waiting = memory.agent().stats().pending_embeddings
    if waiting <= report.added:
        return report.added
    return _made() + waiting if waiting < _COUNTED_UP_TO else None


def _made() -> int:
    """Vectors that this process has made: by the flush, and by the memory's own thread since the first turn."""
    return int(metrics.snapshot().get("memories_embedded", 0))
