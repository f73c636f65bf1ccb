"""The table of verbs: one row for each verb of the library, from which every surface is built.

HTTP routes, commands, tools of the MCP profile `all`, telemetry, role checks and the reference pages read these rows.
The parameters and the answer of a verb are those of its method (`signatures`).
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from engrain.verbs.rows import Operation, Verb

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["VERBS", "Operation", "Verb", "by_name"]


_memory = partial(Verb, owner="memory")

VERBS: tuple[Verb, ...] = (
    # Episodes and facts.
    Verb(
        "observe",
        effect="adds",
        route="POST /episodes",
        creates=True,
        command="observe {content}",
        operation="create_memory",
        timer="store_seconds",
    ),
    Verb("add", effect="learns", creates=True, command="add", operation="upsert_memory", timer="store_seconds"),
    Verb(
        "remember",
        effect="replaces",
        route="POST /facts",
        creates=True,
        command="remember {content}",
        operation="upsert_memory",
        timer="store_seconds",
    ),
    Verb("list", route="GET /memories", command="list {kind}", operation="search_memory"),
    Verb("episodes", command="episodes {session}", operation="search_memory"),
    Verb("facts", command="facts", operation="search_memory"),
    Verb("get", route="GET /memories/{id_}", command="get {id_}", operation="search_memory"),
    Verb("history", route="GET /memories/{id_}/history", command="history {id_}"),
    Verb("links", route="GET /memories/{id_}/links", command="links {id_}"),
    Verb(
        "correct",
        effect="replaces",
        route="POST /memories/{id_}/correct",
        creates=True,
        command="correct {id_} {content}",
        operation="update_memory",
        timer="store_seconds",
    ),
    Verb(
        "confirm",
        effect="adds",
        is_idempotent=True,
        route="POST /memories/{id_}/confirm",
        command="confirm {id_}",
        operation="update_memory",
    ),
    Verb(
        "forget",
        effect="removes",
        is_idempotent=True,
        route="POST /memories/{id_}/forget",
        command="forget {id_}",
        operation="delete_memory",
    ),
    Verb("erase", effect="removes", needs="admin", command="erase {ids}", operation="delete_memory"),
    Verb(
        "link",
        effect="adds",
        is_idempotent=True,
        route="POST /links",
        creates=True,
        command="link {source_id} {relation} {target_id}",
        operation="update_memory",
    ),
    Verb("events", command="events {id_}"),
    Verb("latest_reflection", command="reflection", operation="search_memory"),
    Verb("route", route="POST /route", command="route {content}"),
    Verb("handle", effect="replaces", operation="upsert_memory", is_local=True),
    # Searches, and what stands before a prompt.
    Verb("recall", route="POST /recall", command="recall {query}", operation="search_memory", timer="recall_seconds"),
    Verb(
        "context", route="POST /context", command="context {query}", operation="search_memory", timer="recall_seconds"
    ),
    Verb(
        "messages",
        route="POST /messages",
        command="messages {asked}",
        operation="search_memory",
        timer="recall_seconds",
    ),
    Verb("summarize", effect="learns", command="summarize {query}"),
    Verb("stats", command="stats"),
    Verb("overview", route="GET /dashboard", command="overview"),
    Verb("audit", needs="admin", command="audit"),
    # Rules.
    Verb(
        "rules.add",
        effect="adds",
        route="POST /rules",
        creates=True,
        command="rules add {content}",
        operation="create_memory",
        timer="store_seconds",
    ),
    Verb(
        "rules.mark_helpful",
        effect="adds",
        route="POST /rules/{id_}/mark_helpful",
        command="rules helpful {id_}",
        operation="update_memory",
    ),
    Verb(
        "rules.mark_harmful",
        effect="adds",
        route="POST /rules/{id_}/mark_harmful",
        command="rules harmful {id_}",
        operation="update_memory",
    ),
    Verb("rules.applications", route="GET /rules/{id_}/applications", command="rules applications {id_}"),
    # Entities.
    Verb("entities.create", effect="adds", route="POST /entities", creates=True, command="entities create {name}"),
    Verb("entities.find", route="GET /entities", command="entities list"),
    Verb("entities.profile", command="entities profile {id_or_name}"),
    Verb("entities.to_enrich", field="ids"),
    Verb("entities.get", route="GET /entities/{id_}", command="entities show {id_}"),
    Verb("entities.update", effect="replaces", route="PATCH /entities/{id_}", command="entities update {id_}"),
    Verb("entities.resolve", route="POST /entities/resolve", command="entities resolve {name}"),
    Verb("entities.merge", effect="replaces", command="entities merge {source_id} {target_id}"),
    Verb("entities.unmerge", effect="replaces", command="entities unmerge {source_id}"),
    Verb("entities.enrich", effect="learns"),
    Verb("entities.enrich_waiting", effect="learns", command="entities enrich"),
    # The graph.
    Verb("graph.create_entities", effect="adds", command="graph create-entities", operation="create_memory"),
    Verb("graph.create_relations", effect="adds", command="graph create-relations", operation="create_memory"),
    Verb("graph.add_observations", effect="adds", command="graph add-observations", operation="create_memory"),
    Verb(
        "graph.delete_entities",
        effect="removes",
        command="graph delete-entities {names}",
        operation="delete_memory",
        field="names",
    ),
    Verb(
        "graph.delete_observations",
        effect="removes",
        command="graph delete-observations",
        operation="delete_memory",
        field="facts",
    ),
    Verb(
        "graph.delete_relations",
        effect="removes",
        command="graph delete-relations",
        operation="delete_memory",
        field="facts",
    ),
    Verb("graph.read", command="graph read", operation="search_memory"),
    Verb("graph.search", command="graph search {query}", operation="search_memory"),
    Verb("graph.open", command="graph open {names}", operation="search_memory"),
    # Notes.
    Verb(
        "notes.save",
        effect="replaces",
        route="POST /notes",
        creates=True,
        command="notes save {key} {content}",
        operation="upsert_memory",
        timer="store_seconds",
    ),
    Verb("notes.recall", command="notes get {key}", operation="search_memory"),
    Verb("notes.list", route="GET /notes", command="notes list", operation="search_memory"),
    Verb("notes.list_by_category", operation="search_memory"),
    Verb("notes.related", command="notes related {note}", operation="search_memory"),
    Verb(
        "notes.search",
        route="POST /notes/search",
        command="notes search {query}",
        operation="search_memory",
        timer="recall_seconds",
    ),
    Verb("notes.forget", effect="removes", command="notes forget {key}", operation="delete_memory"),
    Verb("notes.summarize_old", effect="replaces", command="notes summarize", field="notes"),
    Verb("notes.invalidate", effect="removes", tool=False, field="notes", is_local=True),
    Verb("notes.clear_cache", effect="removes", needs="admin", tool=False, is_local=True),
    Verb("notes.cache_stats", tool=False, is_local=True),
    # Logs, whose entries are kept as they are.
    Verb("log.append", effect="adds", command="log append"),
    Verb("log.read", command="log read"),
    Verb("log.pop", effect="removes", command="log pop"),
    Verb("log.delete", effect="removes", command="log delete", field="entries"),
    Verb("log.sessions", command="log sessions"),
    Verb("log.subkeys", command="log subkeys", field="subkeys"),
    # Items, likewise.
    Verb("store.put", effect="replaces", command="store put {key}"),
    Verb("store.get", command="store get {key}"),
    Verb("store.delete", effect="removes", command="store delete {key}", field="deleted"),
    Verb("store.write", effect="removes", command="store write"),
    Verb("store.search", route="POST /store/search", command="store search"),
    Verb("store.namespaces", command="store namespaces"),
    Verb("store.history", command="store history {key}"),
    # Pools.
    Verb("pools.create", effect="adds", route="POST /pools", creates=True, command="pools create {name} {members}"),
    Verb("pools.list", route="GET /pools", command="pools list"),
    Verb("pools.add", effect="adds", is_idempotent=True, command="pools add {name} {member}"),
    Verb("pools.remove", effect="removes", command="pools remove {name} {member}"),
    Verb("pools.delete", effect="removes", command="pools delete {name}"),
    Verb(
        "pools.contribute",
        effect="replaces",
        command="pools contribute {name} {id_}",
        operation="create_memory",
        timer="store_seconds",
    ),
    Verb(
        "pools.query",
        route="POST /pools/query",
        command="pools query {name} {query}",
        operation="search_memory",
        timer="recall_seconds",
    ),
    Verb("pools.sync_to_agent", effect="replaces", command="pools sync {name}"),
    # Working memory and hooks: of one session, in one process.
    Verb("working.append", effect="adds", tool=False, is_local=True),
    Verb("working.messages", tool=False, is_local=True),
    Verb("working.tool_result", effect="replaces", is_idempotent=True, tool=False, is_local=True),
    Verb("working.tool_results", tool=False, field="tool_results", is_local=True),
    Verb("working.scratchpad", tool=False, field="text", is_local=True),
    Verb(
        "working.write_scratchpad",
        effect="replaces",
        is_idempotent=True,
        route="PUT /working/scratchpad",
        tool=False,
        field="text",
        is_local=True,
    ),
    Verb("working.flush", effect="adds", tool=False, operation="create_memory", is_local=True),
    Verb("working.clear", effect="removes", tool=False, is_local=True),
    Verb("working.stats", tool=False, is_local=True),
    Verb("hooks.session_start", route="POST /hooks/session_start", tool=False),
    Verb("hooks.message", effect="adds", tool=False, operation="create_memory", timer="store_seconds"),
    Verb("hooks.recent", tool=False, operation="search_memory"),
    Verb("hooks.session_end", effect="adds", tool=False),
    # Consolidation step by step, for a consolidator with a model of its own.
    Verb(
        "consolidation.is_session_consolidated",
        command="consolidation is-consolidated {session}",
        field="is_consolidated",
    ),
    Verb("consolidation.episodes", command="consolidation episodes {session}", operation="search_memory"),
    Verb(
        "consolidation.save_facts",
        effect="replaces",
        command="consolidation save",
        operation="upsert_memory",
        timer="store_seconds",
    ),
    Verb("consolidation.detect_conflicts", command="consolidation conflicts {fact_id}"),
    Verb(
        "consolidation.resolve_conflict",
        effect="adds",
        is_idempotent=True,
        command="consolidation resolve {old_id} {new_id}",
        operation="update_memory",
    ),
    Verb(
        "consolidation.mark_session",
        effect="adds",
        is_idempotent=True,
        command="consolidation mark {session}",
        field="episodes",
    ),
    # Maintenance and learning, of a tenant or of all.
    _memory("decay", effect="adds", is_idempotent=True, needs="admin", command="decay", operation="update_memory"),
    _memory("cleanup", effect="removes", needs="admin", command="cleanup", operation="delete_memory"),
    _memory("consolidate", effect="learns", needs="admin", command="consolidate", operation="upsert_memory"),
    _memory("reflect", effect="learns", needs="admin", command="reflect", operation="upsert_memory"),
    _memory("agents", needs="admin", command="agents"),
    _memory("users", needs="admin", command="users"),
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
    _memory(
        "erase_tenant",
        effect="removes",
        needs="admin",
        route="POST /tenants/erase",
        command="tenants erase {name}",
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
    _memory("runs", command="runs"),
    _memory(
        "undo",
        effect="replaces",
        needs="admin",
        route="POST /runs/{run_id}/undo",
        command="undo {run_id}",
        operation="update_memory",
    ),
    # Files.
    _memory("backup", needs="admin", command="backup {path}", tool=False, sends=("application/gzip",)),
    _memory(
        "restore",
        effect="replaces",
        needs="admin",
        command="restore {path}",
        tool=False,
        operation="upsert_memory",
        takes=("application/gzip",),
    ),
    _memory("export", needs="admin", command="export {path}", tool=False, sends=("application/jsonl", "text/markdown")),
    Verb(
        "import_file",
        effect="adds",
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
