"""Session store of the Claude Agent SDK: its transcripts as logs, with their turns as episodes.

https://github.com/anthropics/claude-agent-sdk-python, `claude_agent_sdk.SessionStore`: any object with these methods.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from engrain.domain.checks import MAX_NAME_LENGTH
from engrain.integrations.connection import Adapter, AgentConnection, MemoryOrLocation, iterate_pages

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from engrain.domain.logs import LogSession

_PREFIX = "claude-agent-sdk:"  # of the logs, beside others of the agent


class _Folded(NamedTuple):
    """A summary of the SDK, and the entries of which session it sums up."""

    created_at: datetime
    entries: int
    summary: dict[str, Any]


class EngrainSessionStore(Adapter):
    """Stores the transcripts of sessions: `ClaudeAgentOptions(session_store=EngrainSessionStore("agent.db"))`.

    Entries come back deep-equal. What users and Claude say in the main transcript is remembered as episodes too, unless
    `remember` is false. A project is a log, a session its session, a subpath its subkey.
    """

    def __init__(
        self,
        memory: MemoryOrLocation,
        *,
        agent: str | None = None,
        user: str | None = None,
        remember: bool = True,
    ) -> None:
        """Use an open memory, or open the one at a location, which `close` closes then."""
        self._connection = AgentConnection(memory, agent=agent, user=user)
        self._log = self._connection.agent.log
        self._remember = remember
        self._folded: dict[tuple[str, str], _Folded] = {}

    async def append(self, key: Mapping[str, str], entries: list[dict[str, Any]]) -> None:
        """Append entries in their order, all or none; one whose `uuid` is there is skipped."""
        if entries:
            is_main = not key.get("subpath")
            await self._call(
                "append", entries=entries, **_named(key), id_field="uuid", remember=self._remember and is_main
            )

    async def load(self, key: Mapping[str, str]) -> list[dict[str, Any]] | None:
        """Load all entries of a session or subpath, oldest first; None where it was never written."""
        found = await self._call("read", **_named(key))
        return [entry.entry for entry in found] or None

    async def list_sessions(self, project_key: str) -> list[dict[str, Any]]:
        """List the sessions of a project, last written first, each with the time of its last write in ms."""
        return [{"session_id": row.session, "mtime": _mtime(row)} for row in await self._sessions(project_key)]

    async def list_session_summaries(self, project_key: str) -> list[dict[str, Any]]:
        """List the SDK's summaries of the sessions of a project; only entries since the last call are folded."""
        return [await self._fold(project_key, row) for row in await self._sessions(project_key)]

    async def delete(self, key: Mapping[str, str]) -> None:
        """Delete a session with its subpaths, or a subpath alone; the episodes stay."""
        named = _named(key)
        await self._call("delete", **{**named, "subkey": named["subkey"] or None})

    async def list_subkeys(self, key: Mapping[str, str]) -> list[str]:
        """List the subpaths of a session."""
        named = _named(key)
        found: list[str] = await self._call("subkeys", log=named["log"], session=named["session"])
        return found

    async def _sessions(self, project_key: str) -> list[LogSession]:
        pages = iterate_pages(self._log.sessions, log=_log_name(project_key))
        return await self._connection.call(list, pages)

    async def _fold(self, project_key: str, row: LogSession) -> dict[str, Any]:
        """Fold the entries of a session that its summary lacks into it."""
        from claude_agent_sdk import fold_session_summary

        known = self._folded.get((project_key, row.session))
        if known is None or known.created_at != row.created_at or known.entries > row.entries:
            known = None
        start = 0 if known is None else known.entries
        named = {"log": _log_name(project_key), "session": row.session}
        # Others may have appended since; those are folded with the next call.
        entries = [entry.entry for entry in await self._call("read", **named) if start < entry.sequence <= row.entries]
        key = {"project_key": project_key, "session_id": row.session}
        summary = fold_session_summary(None if known is None else known.summary, key, entries)
        self._folded[project_key, row.session] = _Folded(row.created_at, row.entries, summary)
        return {**summary, "mtime": _mtime(row)}

    async def _call(self, verb: str, **arguments: Any) -> Any:
        """Call a verb of the log in a worker thread."""
        return await self._connection.call(getattr(self._log, verb), **arguments)


def _named(key: Mapping[str, str]) -> dict[str, str]:
    log = _log_name(key["project_key"])
    return {"log": log, "session": key["session_id"], "subkey": key.get("subpath") or ""}


def _log_name(project_key: str) -> str:
    """Name the log of a project, which is a path: a long one is named by its hash."""
    if len(_PREFIX) + len(project_key) <= MAX_NAME_LENGTH:
        return _PREFIX + project_key
    return f"{_PREFIX}sha256:{hashlib.sha256(project_key.encode()).hexdigest()}"


def _mtime(row: LogSession) -> int:
    return int(row.updated_at.timestamp() * 1000)
