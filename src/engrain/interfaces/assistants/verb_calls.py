"""Calls of the verbs that hooks need: of an open memory, with answers as plain JSON."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from engrain.errors import DatabaseUnreachable, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from engrain.service import Memory


class Connection(Protocol):
    """Way to a memory: a server, a process that has it open, or the database itself."""

    def call(self, verb: str, arguments: Mapping[str, Any], *, session: str | None, timeout_s: float) -> Any:
        """Return what a verb answers in a session.

        Raises:
            InvalidInput: the arguments are refused.
            DatabaseUnreachable: there is no answer in time, or the database cannot do it now.
        """

    def close(self) -> None:
        """Close it."""


class TimedCalls:
    """Calls of one hook, all of them within one time; the connection is made with the first."""

    def __init__(self, connect: Callable[[float], Connection], *, seconds: float) -> None:
        self._connect = connect
        self._connection: Connection | None = None
        self._until = time.monotonic() + seconds
        self._seconds = seconds

    def call(self, verb: str, arguments: Mapping[str, Any], *, session: str | None) -> Any:
        """Return what a verb answers in a session.

        Raises:
            InvalidInput: the arguments are refused.
            DatabaseUnreachable: as `Connection.call`, or the time is over.
        """
        left = self._until - time.monotonic()
        if left <= 0:
            raise DatabaseUnreachable(f"the memory took longer than the {self._seconds:g} s of a hook")
        if self._connection is None:
            with _opening():
                self._connection = self._connect(left)
        return self._connection.call(verb, arguments, session=session, timeout_s=left)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


def call(memory: Memory, identity: Mapping[str, str | None], verb: str, arguments: Mapping[str, Any]) -> Any:
    """Call a verb as an agent and return the part of its answer that a hook reads, as a server names it.

    Raises:
        InvalidInput: it is no verb of hooks, or its arguments are refused.
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
            receipt = agent.hooks.message(**arguments)
            stored = {"session": receipt.episode.session, "turn": receipt.episode.turn}
            return {"is_stored": receipt.is_stored, "episode": stored}
        case "hooks.session_end":
            return {"pending": agent.hooks.session_end().pending}
        case _:
            raise InvalidInput(f"{verb!r:.80} is no verb of hooks")


class DirectConnection:
    """Calls of the verbs on a database that this process opens itself, with the first call that needs it."""

    def __init__(self, settings: Mapping[str, Any], config: str | None, identity: Mapping[str, str | None]) -> None:
        self._settings = settings
        self._config = config
        self._identity = identity
        self._memory: Memory | None = None

    def call(self, verb: str, arguments: Mapping[str, Any], *, session: str | None, timeout_s: float) -> Any:  # noqa: ARG002  # its settings bound the time
        """Return what a verb answers, as `call` does; the end of a session is left to processes that stay."""
        if verb == "hooks.session_end":
            return {}
        if self._memory is None:
            from engrain.interfaces.numpy_threads import load_numpy_with_one_thread
            from engrain.service import Memory

            load_numpy_with_one_thread()
            with _opening():
                self._memory = Memory.open(settings=self._settings, config=self._config)
        return call(self._memory, {**self._identity, "session": session}, verb, arguments)

    def close(self) -> None:
        """Close the memory; vectors that wait are made by the next process that stays."""
        if self._memory is not None:
            self._memory.close(flush=False)


@contextmanager
def _opening() -> Iterator[None]:
    """Tell settings that no memory can be opened with from arguments that are refused: the turns are not lost."""
    try:
        yield
    except InvalidInput as error:
        raise DatabaseUnreachable(f"the memory cannot be opened: {error}") from error


def read_turn(answer: Any, session: str | None) -> int:
    """Return the number of a turn in a session, once it is in the database; 0 where another session has it.

    Raises:
        DatabaseUnreachable: it is only in the process that took it.
    """
    if not (isinstance(answer, dict) and answer.get("is_stored") is True):
        raise DatabaseUnreachable("the turn is not stored yet; a later hook sends it again")
    episode = answer.get("episode")
    if not isinstance(episode, dict) or session is None or episode.get("session") != session:
        return 0
    turn = episode.get("turn")
    return turn if isinstance(turn, int) else 0
