"""What was learned, as people read it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from engrain.interfaces.cli import output

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engrain.domain.runs.completions import Usage
    from engrain.domain.runs.runs import Run, UndoResult
    from engrain.learning.consolidation.report import ConsolidationReport

_MOST_ERROR = 200


def report(found: ConsolidationReport) -> str:
    """What was due, what was learned, what was not and why, what it cost, and the runs that can be undone."""
    return "\n".join(_told(found))


def _told(found: ConsolidationReport) -> Iterable[str]:
    for group in found.groups:
        episodes, sessions = output.counted(group.episodes, "episode"), output.counted(group.sessions, "session")
        yield f"{group.agent} of {group.tenant_id}: {episodes} of {sessions} due"
    if not found.groups:
        yield "nothing is due"
    if found.dry_run:
        yield "dry run: nothing was asked, and nothing written"
        return
    of = f"{output.counted(found.episodes, 'episode')} in {output.counted(found.batches, 'batch', 'batches')}"
    yield f"learned {found.new:,} new, {found.updated:,} updated, {found.confirmed:,} confirmed, from {of}"
    if found.rejected:
        reasons = Counter(each.reason for each in found.rejected).most_common()
        counts = ", ".join(f"{count:,} {reason}" for reason, count in reasons)
        yield f"rejected {len(found.rejected):,}: {counts}"
    yield from (f"reply: {output.one_line(error)}" for error in found.parse_errors)
    for failure in found.failures:
        said = output.one_line(failure.said)[:_MOST_ERROR]
        yield f"failed: {failure.agent} of {failure.tenant_id}: {failure.code}: {said}"
    if found.usage.calls:
        yield f"cost: {_cost(found.usage)}"
    yield from (f"undo with: engrain undo {run_id}" for run_id in found.run_ids)


def runs(found: Sequence[Run]) -> str:
    """A line for each."""
    return "\n".join(_run(each) for each in found)


def undone(found: UndoResult) -> str:
    """How much was taken back, and what was kept for which reason."""
    kept = [f"kept {each.memory_id}: {output.one_line(each.reason)}" for each in found.kept]
    return "\n".join([f"undone: {output.counted(len(found.restored), 'change')} taken back", *kept])


def _run(run: Run) -> str:
    said = f"  {output.one_line(run.error)[:_MOST_ERROR]}" if run.error else ""
    episodes = output.counted(len(run.episode_ids), "episode")
    return f"{run.id}  {run.started_at:%Y-%m-%d %H:%M}  {run.kind}  {run.status}  {episodes}{said}"


def _cost(usage: Usage) -> str:
    calls = output.counted(usage.calls, "call")
    dollars = f", ${usage.cost_usd:.4f}" if usage.cost_usd else ""
    return f"{calls}, {usage.input_tokens:,} tokens in, {usage.output_tokens:,} out{dollars}"
