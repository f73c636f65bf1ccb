"""A Request as SQL: which rows of a table its caller may see and its filter lets through."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from engrain.storage.sqlite.rows import micros

if TYPE_CHECKING:
    from engrain.domain.ports import Request
    from engrain.domain.records import Kind

_LIVE = {"episode": "(expires_at IS NULL OR expires_at > :now)", "fact": "validity = 'active'"}
HAPPENED_AT = {"episode": "event_time", "fact": "coalesce(valid_from, created_at)"}

_ALL_TAGS = (
    "NOT EXISTS (SELECT 1 FROM json_each(:tags) AS wanted"
    " WHERE wanted.value NOT IN (SELECT value FROM json_each(tags)))"
)


def compiled(request: Request, kind: Kind) -> tuple[str, dict[str, Any]]:
    """A condition over the table of `kind`, and its bindings: `domain.query.matches` and the caller's wall."""
    asked, bound = request.filter, _caller_bindings(request)
    if kind not in asked.kinds:
        return "0", {}
    conditions = ["tenant_id = :tenant_id", "scope IN (SELECT value FROM json_each(:scopes))", _LIVE[kind]]
    of_episodes = {"session": asked.sessions, "role": asked.roles, "speaker": asked.speakers}
    for column, wanted in of_episodes.items():
        if not wanted:
            continue
        if kind == "fact":
            return "0", {}
        conditions.append(_one_of(column))
        bound[f"{column}s"] = json.dumps(wanted)
    if asked.exclude_sessions and kind == "episode":
        conditions.append("(session IS NULL OR session NOT IN (SELECT value FROM json_each(:exclude_sessions)))")
        bound["exclude_sessions"] = json.dumps(asked.exclude_sessions)
    if asked.tags:
        conditions.append(_ALL_TAGS)
        bound["tags"] = json.dumps(asked.tags)
    if asked.since is not None:
        conditions.append(f"{HAPPENED_AT[kind]} >= :since")
        bound["since"] = micros(asked.since)
    if asked.until is not None:
        conditions.append(f"{HAPPENED_AT[kind]} < :until")
        bound["until"] = micros(asked.until)
    return " AND ".join(conditions), bound


def _one_of(column: str) -> str:
    return f"{column} IN (SELECT value FROM json_each(:{column}s))"  # noqa: S608  # column is a name written here


def _caller_bindings(request: Request) -> dict[str, Any]:
    return {
        "tenant_id": request.caller.tenant_id,
        "scopes": json.dumps(request.caller.scopes),
        "now": micros(request.now),
    }
