"""The table of verbs: one row for each verb of the library, from which every surface is built.

HTTP routes, commands, tools of the MCP profile `all`, telemetry, role checks and the reference pages read these rows.
The parameters and the answer of a verb are those of its method (`signatures`).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from engrain.verbs.exact_rows import EXACT_ROWS
from engrain.verbs.rows import Operation, Verb

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["VERBS", "Operation", "Verb", "by_name"]


def _memory(name: str, **row: object) -> Verb:
    return Verb(name=name, owner="memory", **row)  # type: ignore[arg-type]  # the fields of a row


def _agent(name: str, **row: object) -> Verb:
    return Verb(name=name, **row)  # type: ignore[arg-type]  # the fields of a row


VERBS: tuple[Verb, ...] = (
    # Episodes and facts.
    _agent(
        "observe",
        effect="adds",
        route="POST /episodes",
        creates=True,
        command="observe {content}",
        operation="create_memory",
        timer="store_seconds",
    ),
    _agent(
        "add",
        effect="learns",
        route="POST /add",
        creates=True,
        command="add",
        operation="upsert_memory",
        timer="store_seconds",
    ),
    _agent(
        "remember",
        effect="replaces",
        route="POST /facts",
        creates=True,
        command="remember {content}",
        operation="upsert_memory",
        timer="store_seconds",
    ),
    _agent("list", route="GET /memories", command="list {kind}", operation="search_memory"),
    _agent("episodes", route="GET /episodes", command="episodes {session}", operation="search_memory"),
    _agent("facts", route="GET /facts", command="facts", operation="search_memory"),
    _agent("get", route="GET /memories/{id_}", command="get {id_}", operation="search_memory"),
    _agent("history", route="GET /memories/{id_}/history", command="history {id_}"),
    _agent("links", route="GET /memories/{id_}/links", command="links {id_}"),
    _agent(
        "correct",
        effect="replaces",
        route="POST /memories/{id_}/correct",
        creates=True,
        command="correct {id_} {content}",
        operation="update_memory",
        timer="store_seconds",
    ),
    _agent(
        "confirm",
        effect="adds",
        is_idempotent=True,
        route="POST /memories/{id_}/confirm",
        command="confirm {id_}",
        operation="update_memory",
    ),
    _agent(
        "forget",
        effect="removes",
        is_idempotent=True,
        route="POST /memories/{id_}/forget",
        command="forget {id_}",
        operation="delete_memory",
    ),
    _agent(
        "erase", effect="removes", needs="admin", route="POST /erase", command="erase {ids}", operation="delete_memory"
    ),
    _agent(
        "link",
        effect="adds",
        is_idempotent=True,
        route="POST /links",
        creates=True,
        command="link {source_id} {relation} {target_id}",
        operation="update_memory",
    ),
    _agent("events", route="GET /events", command="events {id_}"),
    _agent("latest_reflection", route="GET /latest_reflection", command="reflection", operation="search_memory"),
    _agent("route", route="POST /route", command="route {content}"),
    _agent("handle", effect="replaces", route="POST /handle", operation="upsert_memory", is_local=True),
    # Searches, and what stands before a prompt.
    _agent("recall", route="POST /recall", command="recall {query}", operation="search_memory", timer="recall_seconds"),
    _agent(
        "context", route="POST /context", command="context {query}", operation="search_memory", timer="recall_seconds"
    ),
    _agent(
        "messages",
        route="POST /messages",
        command="messages {asked}",
        operation="search_memory",
        timer="recall_seconds",
    ),
    _agent("summarize", effect="learns", route="POST /summarize", command="summarize {query}"),
    _agent("stats", route="GET /stats", command="stats"),
    _agent("overview", route="GET /dashboard", command="overview"),
    _agent("audit", needs="admin", route="GET /audit", command="audit"),
    # Rules.
    _agent(
        "rules.add",
        effect="adds",
        route="POST /rules",
        creates=True,
        command="rules add {content}",
        operation="create_memory",
        timer="store_seconds",
    ),
    _agent(
        "rules.mark_helpful",
        effect="adds",
        route="POST /rules/{id_}/mark_helpful",
        command="rules helpful {id_}",
        operation="update_memory",
    ),
    _agent(
        "rules.mark_harmful",
        effect="adds",
        route="POST /rules/{id_}/mark_harmful",
        command="rules harmful {id_}",
        operation="update_memory",
    ),
    _agent("rules.applications", route="GET /rules/{id_}/applications", command="rules applications {id_}"),
    # Entities.
    _agent("entities.create", effect="adds", route="POST /entities", creates=True, command="entities create {name}"),
    _agent("entities.find", route="GET /entities", command="entities list"),
    _agent("entities.profile", route="GET /entities/profile", command="entities profile {id_or_name}"),
    _agent("entities.to_enrich", route="GET /entities/to_enrich", field="ids"),
    _agent("entities.get", route="GET /entities/{id_}", command="entities show {id_}"),
    _agent("entities.update", effect="replaces", route="PATCH /entities/{id_}", command="entities update {id_}"),
    _agent("entities.resolve", route="POST /entities/resolve", command="entities resolve {name}"),
    _agent(
        "entities.merge",
        effect="replaces",
        route="POST /entities/merge",
        command="entities merge {source_id} {target_id}",
    ),
    _agent(
        "entities.unmerge", effect="replaces", route="POST /entities/unmerge", command="entities unmerge {source_id}"
    ),
    _agent("entities.enrich", effect="learns", route="POST /entities/enrich"),
    _agent(
        "entities.enrich_waiting", effect="learns", route="POST /entities/enrich_waiting", command="entities enrich"
    ),
    # The graph.
    _agent(
        "graph.create_entities",
        effect="adds",
        route="POST /graph/create_entities",
        command="graph create-entities",
        operation="create_memory",
    ),
    _agent(
        "graph.create_relations",
        effect="adds",
        route="POST /graph/create_relations",
        command="graph create-relations",
        operation="create_memory",
    ),
    _agent(
        "graph.add_observations",
        effect="adds",
        route="POST /graph/add_observations",
        command="graph add-observations",
        operation="create_memory",
    ),
    _agent(
        "graph.delete_entities",
        effect="removes",
        route="POST /graph/delete_entities",
        command="graph delete-entities {names}",
        operation="delete_memory",
        field="names",
    ),
    _agent(
        "graph.delete_observations",
        effect="removes",
        route="POST /graph/delete_observations",
        command="graph delete-observations",
        operation="delete_memory",
        field="facts",
    ),
    _agent(
        "graph.delete_relations",
        effect="removes",
        route="POST /graph/delete_relations",
        command="graph delete-relations",
        operation="delete_memory",
        field="facts",
    ),
    _agent("graph.read", route="GET /graph/read", command="graph read", operation="search_memory"),
    _agent("graph.search", route="GET /graph/search", command="graph search {query}", operation="search_memory"),
    _agent("graph.open", route="GET /graph/open", command="graph open {names}", operation="search_memory"),
    # Notes.
    _agent(
        "notes.save",
        effect="replaces",
        route="POST /notes",
        creates=True,
        command="notes save {key} {content}",
        operation="upsert_memory",
        timer="store_seconds",
    ),
    _agent("notes.recall", route="GET /notes/recall", command="notes get {key}", operation="search_memory"),
    _agent("notes.list", route="GET /notes", command="notes list", operation="search_memory"),
    _agent("notes.list_by_category", route="GET /notes/list_by_category", operation="search_memory"),
    _agent("notes.related", route="GET /notes/related", command="notes related {note}", operation="search_memory"),
    _agent(
        "notes.search",
        route="POST /notes/search",
        command="notes search {query}",
        operation="search_memory",
        timer="recall_seconds",
    ),
    _agent(
        "notes.forget",
        effect="removes",
        route="POST /notes/forget",
        command="notes forget {key}",
        operation="delete_memory",
    ),
    _agent(
        "notes.summarize_old",
        effect="replaces",
        route="POST /notes/summarize_old",
        command="notes summarize",
        field="notes",
    ),
    _agent(
        "notes.invalidate", effect="removes", route="POST /notes/invalidate", tool=False, field="notes", is_local=True
    ),
    _agent(
        "notes.clear_cache", effect="removes", needs="admin", route="POST /notes/clear_cache", tool=False, is_local=True
    ),
    _agent("notes.cache_stats", route="GET /notes/cache_stats", tool=False, is_local=True),
    *EXACT_ROWS,
    # Pools.
    _agent("pools.create", effect="adds", route="POST /pools", creates=True, command="pools create {name} {members}"),
    _agent("pools.list", route="GET /pools", command="pools list"),
    _agent(
        "pools.add", effect="adds", is_idempotent=True, route="POST /pools/add", command="pools add {name} {member}"
    ),
    _agent("pools.remove", effect="removes", route="POST /pools/remove", command="pools remove {name} {member}"),
    _agent("pools.delete", effect="removes", route="POST /pools/delete", command="pools delete {name}"),
    _agent(
        "pools.contribute",
        effect="replaces",
        route="POST /pools/contribute",
        command="pools contribute {name} {id_}",
        operation="create_memory",
        timer="store_seconds",
    ),
    _agent(
        "pools.query",
        route="POST /pools/query",
        command="pools query {name} {query}",
        operation="search_memory",
        timer="recall_seconds",
    ),
    _agent("pools.sync_to_agent", effect="replaces", route="POST /pools/sync_to_agent", command="pools sync {name}"),
    # Working memory and hooks: of one session, in one process.
    _agent("working.append", effect="adds", route="POST /working/append", tool=False, is_local=True),
    _agent("working.messages", route="GET /working/messages", tool=False, is_local=True),
    _agent(
        "working.tool_result",
        effect="replaces",
        is_idempotent=True,
        route="POST /working/tool_result",
        tool=False,
        is_local=True,
    ),
    _agent("working.tool_results", route="GET /working/tool_results", tool=False, field="tool_results", is_local=True),
    _agent("working.scratchpad", route="GET /working/scratchpad", tool=False, field="text", is_local=True),
    _agent(
        "working.write_scratchpad",
        effect="replaces",
        is_idempotent=True,
        route="PUT /working/scratchpad",
        tool=False,
        field="text",
        is_local=True,
    ),
    _agent(
        "working.flush",
        effect="adds",
        route="POST /working/flush",
        tool=False,
        operation="create_memory",
        is_local=True,
    ),
    _agent("working.clear", effect="removes", route="POST /working/clear", tool=False, is_local=True),
    _agent("working.stats", route="GET /working/stats", tool=False, is_local=True),
    _agent("hooks.session_start", route="POST /hooks/session_start", tool=False),
    _agent(
        "hooks.message",
        effect="adds",
        route="POST /hooks/message",
        tool=False,
        operation="create_memory",
        timer="store_seconds",
    ),
    _agent("hooks.recent", route="GET /hooks/recent", tool=False, operation="search_memory"),
    _agent("hooks.session_end", effect="adds", route="POST /hooks/session_end", tool=False),
    # Consolidation step by step, for a consolidator with a model of its own.
    _agent(
        "consolidation.is_session_consolidated",
        route="GET /consolidation/is_session_consolidated",
        command="consolidation is-consolidated {session}",
        field="is_consolidated",
    ),
    _agent(
        "consolidation.episodes",
        route="GET /consolidation/episodes",
        command="consolidation episodes {session}",
        operation="search_memory",
    ),
    _agent(
        "consolidation.save_facts",
        effect="replaces",
        route="POST /consolidation/save_facts",
        command="consolidation save",
        operation="upsert_memory",
        timer="store_seconds",
    ),
    _agent(
        "consolidation.detect_conflicts",
        route="GET /consolidation/detect_conflicts",
        command="consolidation conflicts {fact_id}",
    ),
    _agent(
        "consolidation.resolve_conflict",
        effect="adds",
        is_idempotent=True,
        route="POST /consolidation/resolve_conflict",
        command="consolidation resolve {old_id} {new_id}",
        operation="update_memory",
    ),
    _agent(
        "consolidation.mark_session",
        effect="adds",
        is_idempotent=True,
        route="POST /consolidation/mark_session",
        command="consolidation mark {session}",
        field="episodes",
    ),
    # Maintenance and learning, of a tenant or of all.
    _memory(
        "decay",
        effect="adds",
        is_idempotent=True,
        needs="admin",
        route="POST /decay",
        command="decay",
        operation="update_memory",
    ),
    _memory(
        "cleanup", effect="removes", needs="admin", route="POST /cleanup", command="cleanup", operation="delete_memory"
    ),
    _memory(
        "consolidate",
        effect="learns",
        needs="admin",
        route="POST /consolidate",
        command="consolidate",
        operation="upsert_memory",
    ),
    _memory(
        "reflect", effect="learns", needs="admin", route="POST /reflect", command="reflect", operation="upsert_memory"
    ),
    _memory("agents", needs="admin", route="GET /agents", command="agents"),
    _memory("users", needs="admin", route="GET /users", command="users"),
    _memory(
        "export_user",
        needs="admin",
        route="GET /users/export",
        command="export-user {name} {path}",
        tool=False,
        sends=("application/jsonl", "text/markdown"),
    ),
    _memory(
        "erase_user",
        effect="removes",
        needs="admin",
        route="POST /users/erase",
        command="erase-user {name}",
        tool=False,
    ),
    _memory("seal_events", effect="learns", needs="admin", route="POST /events/seal", command="seal-events"),
    _memory("verify_events", needs="admin", route="GET /events/verify", command="verify-events"),
    _memory(
        "export_events",
        needs="admin",
        route="GET /events/export",
        command="export-events {path}",
        tool=False,
        sends=("application/jsonl",),
    ),
    _memory("runs", route="GET /runs", command="runs"),
    _memory(
        "undo",
        effect="replaces",
        needs="admin",
        route="POST /runs/{run_id}/undo",
        command="undo {run_id}",
        operation="update_memory",
    ),
    # Files.
    _memory(
        "backup", needs="admin", route="GET /backup", command="backup {path}", tool=False, sends=("application/gzip",)
    ),
    _memory(
        "restore",
        effect="replaces",
        needs="admin",
        route="POST /restore",
        command="restore {path}",
        tool=False,
        operation="upsert_memory",
        takes=("application/gzip",),
    ),
    _memory(
        "export",
        needs="admin",
        route="GET /export",
        command="export {path}",
        tool=False,
        sends=("application/jsonl", "text/markdown"),
    ),
    _agent(
        "import_file",
        effect="adds",
        route="POST /import_file",
        command="import {path}",
        tool=False,
        operation="create_memory",
        takes=("application/octet-stream",),
    ),
    # Keys and jobs.
    _memory(
        "keys.create", effect="adds", needs="admin", route="POST /keys", creates=True, command="keys create", tool=False
    ),
    _memory(
        "keys.rotate",
        effect="adds",
        needs="admin",
        route="POST /keys/{key_id}/rotate",
        creates=True,
        command="keys rotate {key_id}",
        tool=False,
    ),
    _memory("keys.list", needs="admin", route="GET /keys", command="keys list", tool=False),
    _memory(
        "keys.revoke",
        effect="removes",
        needs="admin",
        route="POST /keys/{key_id}/revoke",
        command="keys revoke {key_id}",
        tool=False,
    ),
    _memory("jobs.list", needs="admin", route="GET /jobs", command="jobs list"),
    _memory("jobs.run", effect="learns", needs="admin", route="POST /jobs", creates=True, command="jobs run {name}"),
    _memory(
        "jobs.retry",
        effect="adds",
        is_idempotent=True,
        needs="admin",
        route="POST /jobs/{job_id}/retry",
        command="jobs retry {job_id}",
    ),
)


@cache
def by_name() -> Mapping[str, Verb]:
    """The rows by the names of their verbs."""
    return {verb.name: verb for verb in VERBS}
