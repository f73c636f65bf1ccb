"""Session of the OpenAI Agents SDK: its items as a log, with what users and the agent say as episodes.

https://github.com/openai/openai-agents-python, `agents.memory.Session`: any object with these methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.integrations.connection import Adapter, AgentConnection, MemoryOrLocation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agents.memory import SessionSettings

_LOG = "openai-agents"


class EngrainSession(Adapter):
    """Stores the items of a session: `Runner.run(agent, "Hi", session=EngrainSession("monday", "agent.db"))`.

    Items come back equal. What users and the agent say is remembered as episodes too, unless `remember` is false.
    """

    def __init__(
        self,
        session_id: str,
        memory: MemoryOrLocation,
        *,
        agent: str | None = None,
        user: str | None = None,
        remember: bool = True,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        """Use an open memory, or open the one at a location, which `close` closes then.

        `session_settings` are the SDK's: their `limit` is the number of items to give where none is named.
        """
        self.session_id = session_id
        self.session_settings = _settings(session_settings)
        self._connection = AgentConnection(memory, agent=agent, user=user)
        self._log = self._connection.agent.log(_LOG)
        self._remember = remember

    async def get_items(self, limit: int | None = None) -> list[dict[str, Any]]:
        """Load the latest items, oldest first; all of them without a limit."""
        last = self.session_settings.limit if limit is None else limit
        most = None if last is None else max(last, 0)
        found = await self._connection.call(self._log.read, session=self.session_id, last=most)
        return [entry.entry for entry in found]

    async def add_items(self, items: Sequence[Mapping[str, Any]]) -> None:
        """Append items in their order, all or none."""
        if items:
            entries = [dict(item) for item in items]
            await self._connection.call(self._log.append, entries, session=self.session_id, remember=self._remember)

    async def pop_item(self) -> dict[str, Any] | None:
        """Remove the latest item and return it; None where there is none."""
        entry = await self._connection.call(self._log.pop, session=self.session_id)
        return None if entry is None else entry.entry

    async def clear_session(self) -> None:
        """Delete all items; the episodes stay."""
        await self._connection.call(self._log.delete, session=self.session_id)


def _settings(settings: SessionSettings | dict[str, Any] | None) -> SessionSettings:
    from agents.memory import SessionSettings

    return SessionSettings().resolve(settings)
