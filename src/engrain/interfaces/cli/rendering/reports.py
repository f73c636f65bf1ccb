"""Reports of what was done, and other answers that are more than a list of fields."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from engrain.interfaces.cli import output
from engrain.interfaces.cli.rendering.memories import statement_with_end

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engrain.context.messages import ContextMessages
    from engrain.domain.access.pools import PoolSync
    from engrain.domain.entities.graph import KnowledgeGraph
    from engrain.domain.entities.registry import Enrichment, EntityProfile
    from engrain.domain.maintenance.erasure import TenantErasure
    from engrain.domain.maintenance.findings import Audit
    from engrain.domain.memories.routing import Routing
    from engrain.domain.runs.completions import Usage
    from engrain.domain.runs.runs import UndoResult, WaitingBacklog
    from engrain.learning.consolidation.report import ConsolidationReport, Group
    from engrain.learning.reflection.reflections import ReflectionReport
    from engrain.lifecycle.cleanup import CleanupReport
    from engrain.lifecycle.sweep import DecayReport
    from engrain.portability.backups import BackupReport
    from engrain.portability.exports import ExportReport
    from engrain.portability.imports import ImportReport
    from engrain.portability.restores import RestoreReport

_LONGEST_ERROR = 200
_BROKEN_SHOWN = 20
_USERS_SHOWN = 5  # of an import
_DRY_RUN = "dry run: nothing was written"


def messages(made: ContextMessages) -> str:
    """The messages of a chat, each under its role."""
    return "\n\n".join(f"[{message['role']}]\n{message['content']}" for message in made.messages)


def routing(route: Routing) -> str:
    """The place of an input, as what it belongs there, and why."""
    named = " ".join(part for part in (route.subject, route.predicate, route.key) if part)
    content = f"{named}: {route.content}" if named else route.content
    return f"{route.route}: {output.one_line(content)}\n{'; '.join(route.reasons)}"


def tenant_erasure(proof: TenantErasure) -> str:
    """The proof, with a line for each table with the number of rows that go."""
    values = proof.to_dict()
    rows = {f"rows of {table}": count for table, count in values.pop("rows").items()}
    return output.pairs({**values, **rows})


def audit(report: Audit) -> str:
    """The number of memories read, the counts of findings, and a line for each finding."""
    part = "" if report.is_complete else " (the newest; the setting audit.memories says how many)"
    looked = f"{output.counted(report.memories, 'memory', 'memories')} looked at{part}"
    counts = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in report.counts.items() if count)
    rows = [
        (finding.severity, finding.kind, _json(finding.evidence), finding.command, finding.says)
        for finding in report.findings
    ]
    if not rows:
        return f"{looked}: {counts or 'nothing found'}"
    return f"{looked}: {counts}\n\n{output.table([('severity', 'kind', 'evidence', 'command', 'what'), *rows])}"


def entity_profile(profile: EntityProfile) -> str:
    """Everything that is known of an entity."""
    lines = [output.pairs(profile.entity.to_dict())]
    for title, memories in (
        ("facts", [fact for facts in profile.facts.values() for fact in facts]),
        ("episodes", profile.episodes),
        ("rules", profile.rules),
    ):
        if memories:
            lines += ["", title, *(f"  {output.one_line(statement_with_end(memory))}" for memory in memories)]
    if profile.related:
        lines += ["", "mentioned with"]
        lines += [f"  {other.canonical_name} ({other.entity_type}, {other.memories})" for other in profile.related]
    return "\n".join(lines)


def graph(known: KnowledgeGraph) -> str:
    """A line for each entity with its observations, then one for each relation."""
    entities = [
        f"{entity.name} ({entity.entity_type})" + (f": {'; '.join(entity.observations)}" if entity.observations else "")
        for entity in known.entities
    ]
    relations = [f"{edge.source} {edge.relation_type} {edge.target}" for edge in known.relations]
    return "\n".join(map(output.one_line, [*entities, *relations]))


def enrichment(done: Enrichment) -> str:
    """The number of memories read for names, and of what was noted."""
    if done.skipped is not None:
        return f"skipped: {done.skipped}"
    read, links = output.counted(done.enriched, "memory", "memories"), output.counted(done.links, "mention")
    return f"{read} read, {links} and {done.created:,} new entities noted"


def pool_sync(report: PoolSync) -> str:
    """The number of memories of a pool that were copied."""
    copied = output.counted(len(report.copied), "memory", "memories")
    return f"copied {copied}, {report.unchanged:,} unchanged, {len(report.kept):,} of its own kept"


def consolidation(report: ConsolidationReport) -> str:
    """Sessions that were due, counts of what was learned, refused and failed, the cost, and runs to undo."""
    return "\n".join(_consolidation(report))


def _consolidation(report: ConsolidationReport) -> Iterable[str]:
    for group in report.groups:
        episodes, sessions = output.counted(group.episodes, "episode"), output.counted(group.sessions, "session")
        due = f"{_group_name(group)}: {episodes} of {sessions} due"
        yield due if group.leased_until is None else f"{due}, left to another run until {group.leased_until:%H:%M:%SZ}"
    if not report.groups:
        yield "nothing is due"
    yield from _run_lines(report)
    for backlog in report.waiting:
        reason = output.one_line(backlog.reason)[:_LONGEST_ERROR]
        episodes = output.counted(backlog.episodes, "episode")
        until = f"{backlog.retry_at:%Y-%m-%d %H:%M:%SZ}"
        yield f"waiting: {_group_name(backlog)}: {episodes} until {until}, as the last attempt failed: {reason}"


def _group_name(group: Group | WaitingBacklog) -> str:
    """Name an agent, its tenant, and the user it learns for."""
    return f"{group.agent} of {group.tenant_id}{'' if group.user is None else f' for {group.user}'}"


def _run_lines(report: ConsolidationReport) -> Iterable[str]:
    """Print what was learned, refused and failed, the cost, and runs to undo."""
    if report.dry_run:
        yield "dry run: nothing was asked, and nothing written"
        return
    of = f"{output.counted(report.episodes, 'episode')} in {output.counted(report.batches, 'batch', 'batches')}"
    yield f"learned {report.new:,} new, {report.updated:,} updated, {report.confirmed:,} confirmed, from {of}"
    if report.rejected:
        reasons = Counter(proposal.reason for proposal in report.rejected).most_common()
        counts = ", ".join(f"{count:,} {reason}" for reason, count in reasons)
        yield f"rejected {len(report.rejected):,}: {counts}"
    yield from (f"reply: {output.one_line(error)}" for error in report.parse_errors)
    for failure in report.failures:
        error = output.one_line(str(failure))[:_LONGEST_ERROR]
        yield f"failed: {failure.agent} of {failure.tenant_id}: {failure.code}: {error}"
    if report.usage.calls:
        yield f"cost: {_cost(report.usage)}"
    yield from (f"undo with: engrain undo {run_id}" for run_id in report.run_ids)


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


def undone(result: UndoResult) -> str:
    """The number of changes taken back, and what was left for which reason."""
    left = [f"kept {memory.memory_id}: {output.one_line(memory.reason)}" for memory in result.kept]
    return "\n".join([f"undone: {output.counted(len(result.restored), 'change')} taken back", *left])


def decay(report: DecayReport) -> str:
    """Counts of facts and rules that fade, recovered and expired."""
    lines = [
        f"{kind}: {aged.looked_at:,} looked at, {aged.fading:,} fading, {aged.recovered:,} recovered, "
        f"{aged.expired:,} expired"
        for kind, aged in (("facts", report.facts), ("rules", report.rules))
    ]
    return "\n".join([*lines, *([_DRY_RUN] if report.dry_run else [])])


def cleanup(report: CleanupReport) -> str:
    """Counts of episodes that were removed and that remain, of what was erased, and of events that were removed."""
    expired = output.counted(report.expired_deleted, "episode")
    done = "would remove" if report.dry_run else "removed"
    episodes = f"{expired} that ran out and {report.capacity_deleted:,} of too many; {report.remaining:,} remain"
    ended = f"{output.counted(report.facts_deleted, 'fact')} and {output.counted(report.rules_deleted, 'rule')}"
    has_ended = report.facts_deleted or report.rules_deleted
    logs = output.counted(report.unverified_logs, "tenant")
    more = [
        (has_ended, f"{done} {ended} that ended"),
        (report.items_deleted, f"{done} {output.counted(report.items_deleted, 'item')} that ran out"),
        (report.events_deleted, f"{done} {output.counted(report.events_deleted, 'old event')}"),
        (report.unverified_logs, f"events of {logs} stay, as they are not as sealed; `engrain verify-events` says why"),
    ]
    return "\n".join([f"{done} {episodes}", *(line for is_there, line in more if is_there)])


def backup(report: BackupReport) -> str:
    """Counts of the rows of a backup by table, whose they are, and its digest."""
    counts = {rows.table: f"{rows.rows:,}" for rows in report.tables if rows.rows}
    vectors = "no vectors" if report.embedder is None else f"vectors of {report.embedder.name}"
    memories = output.counted(report.memories, "memory", "memories")
    whose = _whose(report.tenant_id, report.agent, report.user)
    end = f"{report.path}: {memories} of {whose}, {vectors}, {report.bytes:,} bytes\nsha256 {report.sha256}"
    return f"{output.pairs(counts)}\n{end}".strip()


def restore(report: RestoreReport) -> str:
    """Counts of memories that a restore added and left."""
    added = output.counted(report.memories, "memory", "memories")
    verb = "would be added" if report.dry_run else "added"
    lines = [f"{added} {verb} to {_whose(report.tenant_id, report.agent, report.user)}"]
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
    """Counts of the records written by kind, and the path of the file."""
    counts = {f"{kind}": f"{count:,}" for kind, count in report.kinds.items()}
    return f"{output.pairs(counts)}\n{report.path}: {report.bytes:,} bytes".strip()


def imported(report: ImportReport) -> str:
    """Counts of turns and other records that an import added, in one line."""
    names = {
        "episode": ["turn"],
        "fact": ["fact"],
        "rule": ["rule"],
        "log": ["log entry", "log entries"],
        "item": ["item"],
    }
    counts = [(report.kinds.get(kind, 0), words) for kind, words in names.items()]
    counts.append((report.entities, ["entity", "entities"]))
    added = [output.counted(count, *words) for count, words in counts if count]
    nothing = "0 turns" if report.sessions else "nothing"
    of_users = ", ".join(f"{count:,} for user {user}" for user, count in list(report.users.items())[:_USERS_SHOWN])
    more = ", ..." if len(report.users) > _USERS_SHOWN else ""
    broken = f", {output.counted(report.broken_count, 'broken record')} passed over" if report.broken else ""
    sessions = f", {output.counted(report.sessions, 'session')}" if report.sessions else ""
    erased = f", {report.erased:,} erased before and left out" if report.erased else ""
    return (
        f"imported {report.path} ({report.format}): {' and '.join(added) or nothing} added"
        f"{f' ({of_users}{more})' if of_users else ''}, "
        f"{report.present:,} already there{erased}{sessions}{broken}"
    )


def import_notes(report: ImportReport) -> list[str]:
    """A line for each of the first broken records, for how many more there are, and for what was left out."""
    lines = [f"broken: {record.position}: {record.reason}" for record in report.broken[:_BROKEN_SHOWN]]
    more = report.broken_count - _BROKEN_SHOWN
    if more > 0:
        lines.append(f"and {more:,} more (--json lists all)")
    if report.ignored_keys:
        lines.append(f"keys that were not read: {', '.join(report.ignored_keys)}")
    for agent, count in report.other_agents.items():
        records = output.counted(count, "record")
        lines.append(f"{records} of agent {agent} left out; import the file with this agent, too")
    return lines


def _whose(tenant: str | None, agent: str | None, user: str | None = None) -> str:
    if tenant is None:
        return "the whole database"
    named = [f"{kind} {name}" for kind, name in (("user", user), ("agent", agent)) if name is not None]
    return " of ".join([*named, f"tenant {tenant}"])


def _json(value: object) -> str:
    return json.dumps(dict(value), ensure_ascii=False)  # type: ignore[call-overload]  # a mapping
