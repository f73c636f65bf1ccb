"""Items of lists: in columns with a header where there is one, else a line each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from engrain.interfaces.cli import output
from engrain.interfaces.cli.rendering import generic, memories

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engrain.domain.access.keys import AccessKey
    from engrain.domain.access.pools import Pool
    from engrain.domain.entities.registry import EntityMatch
    from engrain.domain.memories.notes import Note
    from engrain.domain.records import Event
    from engrain.domain.runs.jobs import Job
    from engrain.domain.runs.runs import Run

_LONGEST_ERROR = 200
_SECOND = "%Y-%m-%d %H:%M:%S"


def lines(items: Sequence[Any]) -> str:
    """The items of a list; nothing where it is empty. Facts have their own columns, memories of any kind others."""
    if not items:
        return ""
    names = {type(item).__name__ for item in items}
    name = "Memory" if names <= _MEMORIES and names != {"Fact"} else type(items[0]).__name__
    if name in COLUMNS:
        header, cells = COLUMNS[name]
        return output.table([header, *map(cells, items)])
    return "\n".join(map(LINES.get(name, generic.line), items))


def access_key(key: AccessKey) -> str:
    """A key in one line: whom it is for and how it stands; never a secret."""
    ends = "" if key.expires_at is None else f", expires {key.expires_at:%Y-%m-%d %H:%M}"
    gone = "" if key.revoked_at is None else f", revoked {key.revoked_at:%Y-%m-%d %H:%M}"
    used = "never used" if key.last_used_at is None else f"used {key.last_used_at:%Y-%m-%d %H:%M}"
    named = "" if key.name is None else f" ({output.one_line(key.name)})"
    user = "" if key.user_id is None else f", user {key.user_id}"
    holder = f"tenant {key.tenant_id}, {'any agent' if key.agent is None else f'agent {key.agent}'}{user}"
    return f"{key.id}  {key.role} of {holder}{named}: made {key.created_at:%Y-%m-%d}, {used}{ends}{gone}"


def job(done: Job) -> str:
    """A job in one line, with what came of it."""
    whose = f" of {done.tenant_id}" if done.tenant_id else ""
    counts = ", ".join(f"{name} {value:,}" for name, value in done.report.items() if type(value) is int)
    end = done.last_error or counts
    return f"{done.run_at:{_SECOND}} {done.name}{whose} {done.status} {done.id}" + (f"  {end}" if end else "")


def note(saved: Note) -> str:
    """A note in one line."""
    return output.one_line(f"{saved.updated_at:%Y-%m-%d} {saved.category} {saved.key}: {saved.content}")


def pool(shared: Pool) -> str:
    """A pool with its members."""
    return f"{shared.name}: {', '.join(shared.members)}"


def _run(run: Run) -> str:
    error = f"  {output.one_line(run.error)[:_LONGEST_ERROR]}" if run.error else ""
    episodes = output.counted(len(run.episode_ids), "episode")
    return f"{run.id}  {run.started_at:%Y-%m-%d %H:%M}  {run.kind}  {run.status}  {episodes}{error}"


def _match(match: EntityMatch) -> str:
    name = f"{match.entity_id}  {match.entity_type:<12}  {match.canonical_name}"
    return f"{match.score:8.4f}  {match.name_match:<6}  {name}"


def _event(event: Event) -> tuple[str, ...]:
    payload = json.dumps(dict(event.payload), ensure_ascii=False)
    request = event.request_id or "-"
    return f"{event.created_at:{_SECOND}}", event.event_type, event.memory_id or "-", event.actor, request, payload


_MEMORIES = frozenset({"Episode", "Fact", "Rule"})
COLUMNS: Mapping[str, tuple[tuple[str, ...], Callable[[Any], tuple[str, ...]]]] = {
    "AgentCounts": (
        ("tenant", "agent", "episodes", "facts", "rules"),
        lambda of: (of.tenant_id, of.agent, f"{of.episodes:,}", f"{of.facts:,}", f"{of.rules:,}"),
    ),
    "UserCounts": (
        ("tenant", "user", "episodes", "facts", "rules"),
        lambda of: (of.tenant_id, of.user_id, f"{of.episodes:,}", f"{of.facts:,}", f"{of.rules:,}"),
    ),
    "Application": (
        ("time", "outcome", "agent", "why"),
        lambda use: (f"{use.created_at:{_SECOND}}", use.outcome, use.agent, use.context or "-"),
    ),
    "Event": (("time", "event", "id", "agent", "request", "what"), _event),
    "Fact": (
        ("date", "state", "id", "text"),
        lambda fact: (f"{fact.happened_at:%Y-%m-%d}", fact.state, fact.id, memories.statement_with_end(fact)),
    ),
    "Memory": (
        ("date", "kind", "id", "text"),
        lambda of: (f"{of.happened_at:%Y-%m-%d}", of.kind, of.id, memories.statement_with_end(of)),
    ),
    "Link": (
        ("date", "source", "relation", "target", "weight"),
        lambda of: (f"{of.created_at:%Y-%m-%d}", of.source_id, of.relation, of.target_id, f"{of.weight:g}"),
    ),
}
LINES: Mapping[str, Callable[[Any], str]] = {
    "AccessKey": access_key,
    "Entity": lambda of: f"{of.id}  {of.entity_type:<12}  {of.canonical_name}",
    "EntityMatch": _match,
    "Job": job,
    "Note": note,
    "NoteRelation": lambda related: f"{related.score:.3f}  {note(related.note)}",
    "Pool": pool,
    "Run": _run,
}
