"""An overview: a few short tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.interfaces.cli import output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.domain.maintenance.overview import Day, Overview
    from engrain.domain.records import MemoryRecord

_DAY_COLUMNS = ("episodes", "facts", "rules", "consolidated", "superseded", "expired", "forgotten")
_CHARACTERS = 90


def overview(view: Overview) -> str:
    """Its sections; those with nothing in them are left out."""
    stats = view.stats
    given_up = f", {stats.episodes.given_up} given up" if stats.episodes.given_up else ""
    counted = {
        "episodes": f"{stats.episodes.total} live, {stats.episodes.unconsolidated} to consolidate{given_up}",
        "facts": f"{stats.facts.active} active, {stats.facts.fading} fading, {stats.facts.superseded} superseded",
        "rules": f"{stats.rules.live} live, {stats.rules.anti_pattern} of them warnings",
        "without a vector": str(stats.pending_embeddings),
        "text": f"{sum(view.content_bytes.values()):,} bytes in {sum(view.looked_at.values()):,} memories",
    }
    newest: list[MemoryRecord] = [*view.newest_episodes, *view.newest_facts, *view.newest_rules]
    sections = [
        ("memory", output.pairs(counted).splitlines()),
        ("days", _days(view.days)),
        ("newest", [_memory(memory) for memory in newest]),
        ("most referenced", [f"{memory.reference_count:>5}  {_memory(memory)}" for memory in view.most_referenced]),
        ("most facts about", [f"{share.facts:>5}  {share.entity.canonical_name}" for share in view.entities]),
        ("runs", [f"{run.started_at:%Y-%m-%d %H:%M}  {run.kind}  {run.status}" for run in view.runs]),
        ("waiting sessions", [f"{waiting.episodes:>5}  {waiting.session}" for waiting in view.waiting_sessions]),
    ]
    return "\n\n".join("\n  ".join([name, *lines]) for name, lines in sections if lines)


def _days(days: Sequence[Day]) -> list[str]:
    """A line for each day on which anything was done, the newest first."""
    rows = [(day.day, *(str(getattr(day, name)) for name in _DAY_COLUMNS)) for day in reversed(days)]
    busy = [row for row in rows if any(cell != "0" for cell in row[1:])]
    if not busy:
        return []
    widths = [max(len(cell) for cell in column) for column in zip(("", *_DAY_COLUMNS), *busy, strict=True)]
    return ["  ".join(map(str.rjust, row, widths)) for row in (("", *_DAY_COLUMNS), *busy)]


def _memory(memory: MemoryRecord) -> str:
    line = " ".join(memory.statement.split())
    clipped = line if len(line) <= _CHARACTERS else f"{line[: _CHARACTERS - 3]}..."
    return f"{memory.happened_at:%Y-%m-%d}  {memory.kind:<7}  {clipped}"
