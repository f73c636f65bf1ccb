"""Calls of the verbs that hooks need: of an open memory, with answers as plain JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.errors import DatabaseUnreachable, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engrain.service import Memory


def call(memory: Memory, identity: Mapping[str, str | None], verb: str, arguments: Mapping[str, Any]) -> Any:
    """Call a verb as an agent and return the part of its answer that a hook reads, as a server names it.

    Raises:
        InvalidInput: it is no verb of hooks, or its arguments are refused.
        DatabaseUnreachable: a turn could not be stored now.
    """
    agent = memory.agent(
        identity.get("agent"),
        user=identity.get("user"),
        tenant=identity.get("tenant"),
        session=identity.get("session"),
    )
    match verb:
        case "context":
            block = agent.context(**arguments)
            named = [
                {"tags": list(memory.tags), "subject": getattr(memory, "subject", None)} for memory in block.memories
            ]
            return {"text": block.text, "memories": named}
        case "hooks.message":
            return {"is_stored": agent.hooks.message(**arguments).is_stored}
        case "hooks.session_end":
            return {"pending": agent.hooks.session_end().pending}
        case _:
            raise InvalidInput(f"{verb!r:.80} is no verb of hooks")


class DirectConnection:
    """Calls of the verbs on a database that this process opens itself, with the first call that needs it."""

    def __init__(self, settings: Mapping[str, Any], config: str | None, identity: Mapping[str, str | None]) -> None:
        """Note what to open, and as which agent and session."""
        self._settings = settings
        self._config = config
        self._identity = identity
        self._memory: Memory | None = None

    def call(self, verb: str, arguments: Mapping[str, Any]) -> Any:
        """Return what a verb answers, as `call` does; the end of a session is left to processes that stay."""
        if verb == "hooks.session_end":
            return {}
        if self._memory is None:
            from engrain.interfaces.numpy_threads import load_numpy_with_one_thread
            from engrain.service import Memory

            load_numpy_with_one_thread()
            self._memory = Memory.open(settings=self._settings, config=self._config)
        return call(self._memory, self._identity, verb, arguments)

    def close(self) -> None:
        """Close the memory; vectors that wait are made by the next process that stays."""
        if self._memory is not None:
            self._memory.close(flush=False)


def check_stored(answer: Any) -> None:
    """Check that a turn is in the database, not only in the process that took it.

    Raises:
        DatabaseUnreachable: it is not.
    """
    if not (isinstance(answer, dict) and answer.get("is_stored") is True):
        raise DatabaseUnreachable("the turn is not stored yet; the next hook sends it again")
