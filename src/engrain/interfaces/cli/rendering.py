"""Answers as a person reads them: a table on a terminal, one aligned line for each hit in a pipe."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from engrain.domain.records import Episode, Fact, Rule
from engrain.interfaces.cli import output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from engrain.domain.maintenance.findings import Audit
    from engrain.domain.memories.maturity import Application
    from engrain.domain.memories.routing import Routing
    from engrain.domain.records import DroppedCandidate, Event, Explanation, Hit, Link, MemoryRecord
    from engrain.portability.imports import ImportReport

_COLUMNS = ("date", "who", "score", "why", "id", "text")
# A screenful of ten hits; a pipe gets every character.
_TERMINAL_CHARACTERS = 700
_BROKEN_SHOWN = 20


def show_hits(hits: Sequence[Hit]) -> None:
    """The hits in their order, on a terminal at its width, else without a cut or an escape sequence."""
    if not hits:
        return
    if not sys.stdout.isatty():
        rows = [row for hit in hits for row in (_cells(hit), *map(_neighbour_cells, hit.neighbours))]
        for line in _aligned([_COLUMNS, *rows]):
            output.say(line)
        return
    from rich.console import Console

    Console(highlight=False, emoji=False, markup=False).print(_table(hits))


def dropped(found: Sequence[DroppedCandidate]) -> list[str]:
    """A line for each candidate that is no hit."""
    if not found:
        return []
    rows = [(f"{each.score:.3f}", each.reason, why(each.why), each.id or "") for each in found]
    return ["", *_lines([("score", "no hit because", "why", "id"), *rows]).split("\n")]


def why(explanation: Explanation) -> str:
    """The channels and what each gave to the score, then the words of the query that were found."""
    shares = " + ".join(f"{each.channel} {each.value:.2f}" for each in explanation.contributions)
    found = f"[{' '.join(explanation.matched_terms)}]" if explanation.matched_terms else ""
    return f"{shares} {found}".strip() or "newest"


def who(memory: MemoryRecord) -> str:
    """Who said it; `fact` or `rule` where it is known rather than said."""
    return memory.speaker or memory.role if isinstance(memory, Episode) else memory.kind


def statement(memory: MemoryRecord) -> str:
    """What a memory says; a fact with its subject, predicate and interval."""
    if not isinstance(memory, Fact):
        return memory.content
    since = f" since {memory.valid_from:%Y-%m-%d}" if memory.valid_from else ""
    until = f" until {memory.valid_to:%Y-%m-%d}" if memory.valid_to else ""
    return f"{memory.subject} {memory.predicate}: {memory.content}{since}{until}"


def statement_with_end(memory: MemoryRecord) -> str:
    """What a memory says, and of a fact or rule that is believed no more, since when and why."""
    match memory:
        case Fact() if memory.validity != "active":
            ended: str = memory.validity
        case Rule() if memory.is_forgotten:
            ended = "forgotten"
        case _:
            return statement(memory)
    day = f" {memory.invalidated_at:%Y-%m-%d}" if memory.invalidated_at else ""
    return f"{statement(memory)} ({ended}{day})"


def remembered(fact: Fact) -> str:
    """A fact just stored, and what it supersedes."""
    before = f"\nsupersedes {fact.supersedes_id}" if fact.supersedes_id else ""
    return f"remembered {fact.id}\n{statement(fact)}{before}"


def facts(found: Sequence[Fact]) -> str:
    """A line for each fact."""
    rows = [(f"{each.happened_at:%Y-%m-%d}", each.state, each.id, statement_with_end(each)) for each in found]
    return _lines([("date", "state", "id", "text"), *rows])


def links(found: Sequence[Link]) -> str:
    """A line for each link."""
    rows = [
        (f"{each.created_at:%Y-%m-%d}", each.source_id, each.relation, each.target_id, f"{each.weight:g}")
        for each in found
    ]
    return _lines([("date", "source", "relation", "target", "weight"), *rows])


def events(found: Sequence[Event]) -> str:
    """A line for each event."""
    rows = [
        (
            f"{each.created_at:%Y-%m-%d %H:%M:%S}",
            each.event_type,
            each.memory_id or "-",
            each.actor,
            each.request_id or "-",
            json.dumps(dict(each.payload), ensure_ascii=False),
        )
        for each in found
    ]
    return _lines([("time", "event", "id", "agent", "request", "what"), *rows])


def applications(found: Sequence[Application]) -> str:
    """A line for each time that a rule was followed."""
    rows = [(f"{each.created_at:%Y-%m-%d %H:%M:%S}", each.outcome, each.agent, each.context or "-") for each in found]
    return _lines([("time", "outcome", "agent", "why"), *rows])


def routing(found: Routing) -> str:
    """Where an input belongs, as what, and why."""
    named = " ".join(each for each in (found.subject, found.predicate, found.key) if each)
    what = f"{named}: {found.content}" if named else found.content
    return f"{found.route}: {output.one_line(what)}\n{'; '.join(found.reasons)}"


def audit(found: Audit) -> str:
    """What was looked at, a line for each finding, and how many more there are."""
    part = "" if found.is_complete else " (the newest; the setting audit.memories says how many)"
    looked = f"{output.counted(found.memories, 'memory', 'memories')} looked at{part}"
    counts = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in found.counts.items() if count)
    rows = [
        (each.severity, each.kind, json.dumps(dict(each.evidence), ensure_ascii=False), each.command, each.says)
        for each in found.findings
    ]
    if not rows:
        return f"{looked}: {counts or 'nothing found'}"
    return f"{looked}: {counts}\n\n{_lines([('severity', 'kind', 'evidence', 'command', 'what'), *rows])}"


def summary(memory: MemoryRecord) -> str:
    """One line that recognises a memory."""
    text = output.one_line(statement(memory))
    return f"{memory.happened_at:%Y-%m-%d} {who(memory)}: {text if len(text) <= 200 else text[:197] + '...'}"  # noqa: PLR2004  # two lines of a terminal


def record(memory: MemoryRecord) -> str:
    """Every field that says something, and the content last, as it was given."""
    values = memory.to_dict()
    content = values.pop("content")
    return f"{output.pairs(values)}\n\n{content}"


def imported(report: ImportReport) -> str:
    """What an import did, in one line."""
    names = {"episode": "turn", "fact": "fact", "rule": "rule"}
    added = [output.counted(report.kinds[kind], name) for kind, name in names.items() if kind in report.kinds]
    if report.entities:
        added.append(output.counted(report.entities, "entity", "entities"))
    nothing = "0 turns" if report.sessions else "nothing"
    broken = f", {output.counted(len(report.broken), 'broken record')} passed over" if report.broken else ""
    sessions = f", {output.counted(report.sessions, 'session')}" if report.sessions else ""
    return (
        f"imported {report.path} ({report.format}): {' and '.join(added) or nothing} added, "
        f"{report.present:,} already there{sessions}{broken}"
    )


def broken_records(report: ImportReport) -> list[str]:
    """A line for each of the first records that were passed over, and how many more there are."""
    lines = [f"broken: {each.position}: {each.reason}" for each in report.broken[:_BROKEN_SHOWN]]
    more = len(report.broken) - _BROKEN_SHOWN
    return [*lines, f"and {more:,} more (--json lists all)"] if more > 0 else lines


def _cells(hit: Hit) -> tuple[str, ...]:
    memory = hit.memory
    score, text = f"{hit.score:.3f}", statement_with_end(memory)
    values = (f"{memory.happened_at:%Y-%m-%d}", who(memory), score, why(hit.why), memory.id, text)
    return tuple(output.one_line(each) for each in values)


def _neighbour_cells(memory: MemoryRecord) -> tuple[str, ...]:
    values = (f"{memory.happened_at:%Y-%m-%d}", who(memory), "", "beside it", memory.id, statement(memory))
    return tuple(output.one_line(each) for each in values)


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Columns two blanks apart; the last one, the text, is as long as it is."""
    widths = [max(map(len, column)) for column in zip(*(row[:-1] for row in rows), strict=True)]
    return [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]) for row in rows
    ]


def _lines(rows: Sequence[tuple[str, ...]]) -> str:
    return "\n".join(_aligned([tuple(output.one_line(cell) for cell in row) for row in rows]))


def _table(hits: Sequence[Hit]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, leading=1, header_style="bold")
    table.add_column("date", no_wrap=True)
    table.add_column("who", max_width=16, overflow="fold")
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("text, why and id", ratio=1, overflow="fold")
    for hit in hits:
        date, speaker, score, reasons, id_, _ = _cells(hit)
        said = Text(_screenful(output.printable(statement_with_end(hit.memory))))
        said.append(f"\n{reasons}\n{id_}", style="dim")
        for beside in hit.neighbours:
            said.append(f"\n{who(beside)}: {_screenful(output.printable(statement(beside)))}", style="italic dim")
        table.add_row(date, speaker, score, said)
    return table


def _screenful(text: str) -> str:
    if len(text) <= _TERMINAL_CHARACTERS:
        return text
    return f"{text[:_TERMINAL_CHARACTERS]} ... ({len(text):,} characters; engrain get ID shows all)"
