"""Reports of what was done, and other answers that are more than a list of fields."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from engrain.interfaces.cli import output
from engrain.interfaces.cli.rendering.memories import statement_with_end
from engrain.interfaces.cli.rendering.tables import table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engrain.context.messages import ContextMessages
    from engrain.domain.access.pools import PoolSync
    from engrain.domain.entities.graph import KnowledgeGraph
    from engrain.domain.entities.registry import Enrichment, EntityProfile
    from engrain.domain.maintenance.findings import Audit
    from engrain.domain.memories.routing import Routing
    from engrain.domain.runs.completions import Usage
    from engrain.domain.runs.runs import UndoResult
    from engrain.learning.consolidation.report import ConsolidationReport
    from engrain.learning.reflection.reflections import ReflectionReport
    from engrain.lifecycle.cleanup import CleanupReport
    from engrain.lifecycle.sweep import DecayReport
    from engrain.portability.backups import BackupReport
    from engrain.portability.exports import ExportReport
    from engrain.portability.imports import ImportReport
    from engrain.portability.restores import RestoreReport

_LONGEST_ERROR = 200
_BROKEN_SHOWN = 20
_DRY_RUN = "dry run: nothing was written"


def messages(made: ContextMessages) -> str:
    """The messages of a chat, each under its role."""
    return "\n\n".join(f"[{message['role']}]\n{message['content']}" for message in made.messages)


def routing(found: Routing) -> str:
    """Where an input belongs, as what, and why."""
    named = " ".join(part for part in (found.subject, found.predicate, found.key) if part)
    content = f"{named}: {found.content}" if named else found.content
    return f"{found.route}: {output.one_line(content)}\n{'; '.join(found.reasons)}"


def audit(found: Audit) -> str:
    """How much was looked at, a line for each finding, and how many more there are."""
    part = "" if found.is_complete else " (the newest; the setting audit.memories says how many)"
    looked = f"{output.counted(found.memories, 'memory', 'memories')} looked at{part}"
    counts = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in found.counts.items() if count)
    rows = [
        (finding.severity, finding.kind, _json(finding.evidence), finding.command, finding.says)
        for finding in found.findings
    ]
    if not rows:
        return f"{looked}: {counts or 'nothing found'}"
    return f"{looked}: {counts}\n\n{table([('severity', 'kind', 'evidence', 'command', 'what'), *rows])}"


def entity_profile(found: EntityProfile) -> str:
    """Everything that is known of an entity."""
    lines = [output.pairs(found.entity.to_dict())]
    for title, memories in (
        ("facts", [fact for facts in found.facts.values() for fact in facts]),
        ("episodes", found.episodes),
        ("rules", found.rules),
    ):
        if memories:
            lines += ["", title, *(f"  {output.one_line(statement_with_end(memory))}" for memory in memories)]
    if found.related:
        lines += ["", "mentioned with"]
        lines += [f"  {other.canonical_name} ({other.entity_type}, {other.memories})" for other in found.related]
    return "\n".join(lines)


def graph(found: KnowledgeGraph) -> str:
    """A line for each entity with its observations, then one for each relation."""
    entities = [
        f"{entity.name} ({entity.entity_type})" + (f": {'; '.join(entity.observations)}" if entity.observations else "")
        for entity in found.entities
    ]
    relations = [f"{edge.source} {edge.relation_type} {edge.target}" for edge in found.relations]
    return "\n".join(map(output.one_line, [*entities, *relations]))


def enrichment(done: Enrichment) -> str:
    """How many memories were read for names, and what was noted."""
    if done.skipped is not None:
        return f"skipped: {done.skipped}"
    read, links = output.counted(done.enriched, "memory", "memories"), output.counted(done.links, "mention")
    return f"{read} read, {links} and {done.created:,} new entities noted"


def pool_sync(report: PoolSync) -> str:
    """How many memories of a pool were copied."""
    copied = output.counted(len(report.copied), "memory", "memories")
    return f"copied {copied}, {report.unchanged:,} unchanged, {len(report.kept):,} of its own kept"


def consolidation(found: ConsolidationReport) -> str:
    """What was due, learned, refused and failed, what it cost, and the runs that can be undone."""
    return "\n".join(_consolidation(found))


def _consolidation(found: ConsolidationReport) -> Iterable[str]:
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
        reasons = Counter(proposal.reason for proposal in found.rejected).most_common()
        counts = ", ".join(f"{count:,} {reason}" for reason, count in reasons)
        yield f"rejected {len(found.rejected):,}: {counts}"
    yield from (f"reply: {output.one_line(error)}" for error in found.parse_errors)
    for failure in found.failures:
        error = output.one_line(str(failure))[:_LONGEST_ERROR]
        yield f"failed: {failure.agent} of {failure.tenant_id}: {failure.code}: {error}"
    if found.usage.calls:
        yield f"cost: {_cost(found.usage)}"
    yield from (f"undo with: engrain undo {run_id}" for run_id in found.run_ids)


def _cost(usage: Usage) -> str:
    calls = output.counted(usage.calls, "call")
    dollars = f", ${usage.cost_usd:.4f}" if usage.cost_usd else ""
    return f"{calls}, {usage.input_tokens:,} tokens in, {usage.output_tokens:,} out{dollars}"


def reflections(report: ReflectionReport) -> str:
    """A line for each agent, with its reflection where there is one."""
    lines = [
        f"{part.tenant_id}/{part.agent}: {part.outcome.replace('_', ' ')}, {part.failure or part.said}"
        + ("" if part.reflection is None else f"\n{part.reflection.content}")
        for part in report.agents
    ]
    return "\n".join([*lines, *([_DRY_RUN] if report.dry_run else [])]) or "nobody learned anything of late"


def undone(found: UndoResult) -> str:
    """How many changes were taken back, and what was left for which reason."""
    left = [f"kept {memory.memory_id}: {output.one_line(memory.reason)}" for memory in found.kept]
    return "\n".join([f"undone: {output.counted(len(found.restored), 'change')} taken back", *left])


def decay(report: DecayReport) -> str:
    """How many facts and rules fade, recovered and expired."""
    lines = [
        f"{kind}: {aged.looked_at:,} looked at, {aged.fading:,} fading, {aged.recovered:,} recovered, "
        f"{aged.expired:,} expired"
        for kind, aged in (("facts", report.facts), ("rules", report.rules))
    ]
    return "\n".join([*lines, *([_DRY_RUN] if report.dry_run else [])])


def cleanup(report: CleanupReport) -> str:
    """How many episodes were removed, and how many remain."""
    expired = output.counted(report.expired_deleted, "episode")
    done = "would remove" if report.dry_run else "removed"
    return f"{done} {expired} that ran out and {report.capacity_deleted:,} of too many; {report.remaining:,} remain"


def backup(report: BackupReport) -> str:
    """How many rows of each table a backup holds, whose they are, and its digest."""
    counts = {rows.table: f"{rows.rows:,}" for rows in report.tables if rows.rows}
    vectors = "no vectors" if report.embedder is None else f"vectors of {report.embedder.name}"
    memories = output.counted(report.memories, "memory", "memories")
    whose = _whose(report.tenant_id, report.agent)
    end = f"{report.path}: {memories} of {whose}, {vectors}, {report.bytes:,} bytes\nsha256 {report.sha256}"
    return f"{output.pairs(counts)}\n{end}".strip()


def restore(report: RestoreReport) -> str:
    """How many memories a restore added, and what it left."""
    added = output.counted(report.memories, "memory", "memories")
    verb = "would be added" if report.dry_run else "added"
    lines = [f"{added} {verb} to {_whose(report.tenant_id, report.agent)}"]
    for count, words in (
        (report.cleared, "removed first"),
        (report.present, "there before, left as they are"),
        (report.superseded, "of them facts whose place another has: its past now"),
        (report.erased, "erased before, and still so (--with-erased brings them back)"),
    ):
        if count:
            lines.append(f"{count:,} {words}")
    return "\n".join(lines)


def export(report: ExportReport) -> str:
    """How many records of each kind were written, and where."""
    counts = {f"{kind}": f"{count:,}" for kind, count in report.kinds.items()}
    return f"{output.pairs(counts)}\n{report.path}: {report.bytes:,} bytes".strip()


def imported(report: ImportReport) -> str:
    """How many turns and other records an import added, in one line."""
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
    lines = [f"broken: {record.position}: {record.reason}" for record in report.broken[:_BROKEN_SHOWN]]
    more = len(report.broken) - _BROKEN_SHOWN
    return [*lines, f"and {more:,} more (--json lists all)"] if more > 0 else lines


def _whose(tenant: str | None, agent: str | None) -> str:
    if tenant is None:
        return "the whole database"
    return f"tenant {tenant}" if agent is None else f"agent {agent} of tenant {tenant}"


def _json(value: object) -> str:
    return json.dumps(dict(value), ensure_ascii=False)  # type: ignore[call-overload]  # a mapping
