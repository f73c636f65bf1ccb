"""Spool: turns that the memory could not take, each in a file of its own, until a later hook has stored them.

A memory and an identity have a folder each in the user's own folder of states. Two hooks that send one turn at the same
time send it under one key, so that it is stored once.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engrain.domain.checks import is_address
from engrain.interfaces.assistants.session_state import state_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engrain.config.tree import Settings

MOST_TURNS = 500


@dataclass(frozen=True, slots=True)
class Message:
    """One turn on its way: its session, and the arguments of the verb that stores it."""

    session: str | None
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Spool:
    """Turns that wait for one memory, in the order in which they came."""

    folder: Path

    @classmethod
    def of(cls, settings: Settings) -> Spool:
        """Return the spool of a memory, and of the agent and user whose turns it takes."""
        location = settings.db.removeprefix("sqlite:///")
        if not is_address(location) and "://" not in location:
            location = str(Path(location).expanduser().absolute())
        names = (location, settings.tenant, settings.agent, settings.user)
        digest = hashlib.sha256("\0".join(name or "" for name in names).encode(errors="replace")).hexdigest()[:32]
        return cls(state_folder() / "spool" / digest)

    def add(self, messages: Sequence[Message]) -> int:
        """Write turns, whose secrets are masked; return how many of the oldest were removed to make room."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        first = f"{time.time_ns():020d}-{os.getpid()}"
        for number, message in enumerate(messages):
            path = self.folder / f"{first}-{number:05d}.json"
            new = path.with_suffix(".new")
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                json.dump({"session": message.session, "arguments": message.arguments}, file)
            new.replace(path)
        oldest = self._list()[:-MOST_TURNS]
        for path in oldest:
            path.unlink(missing_ok=True)
        return len(oldest)

    def drain(self, send: Callable[[Message], None]) -> None:
        """Send what waits, the oldest first, and remove what was sent, until one cannot be: its error is raised."""
        for path in self._list():
            try:
                message = _read(path)
            except FileNotFoundError:  # another hook has sent it
                continue
            if message is not None:
                send(message)
            path.unlink(missing_ok=True)

    def _list(self) -> list[Path]:
        return sorted(self.folder.glob("*.json"))


def _read(path: Path) -> Message | None:
    """Return the turn in a file; None where it holds none."""
    with suppress(ValueError, KeyError, TypeError):
        document = json.loads(path.read_bytes())
        session, arguments = document["session"], document["arguments"]
        if isinstance(arguments, dict) and isinstance(session, str | None):
            return Message(session, arguments)
    return None
