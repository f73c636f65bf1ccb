"""State of a session between hooks: how far its transcript was read, which turns and lines of context its model has.

One small file a session, in the user's own folder. Without it turns are read again and stored under the same keys.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_LINES = 1_000
_MOST_FILES = 500


def state_folder() -> Path:
    """Return the folder of the states and the log."""
    import platformdirs

    return Path(platformdirs.user_state_dir("engrain", appauthor=False)) / "hooks"


@dataclass(slots=True)
class SessionState:
    """State of one session.

    Attributes:
        lines: digests of the lines of context that its model has.
        turn: the number of the newest turn that is stored.
        shortened_at: the number of the last turn that its model no longer has as it was said; None where nobody knows.
    """

    path: Path
    transcript: str = ""
    offset: int = 0
    lines: list[str] = field(default_factory=list)
    turn: int = 0
    shortened_at: int | None = None

    @classmethod
    def load(cls, *names: str | None) -> SessionState:
        """Load the state of the session that the names identify: a new one where there is none to be read."""
        digest = hashlib.sha256("\0".join(name or "" for name in names).encode(errors="replace")).hexdigest()[:32]
        state = cls(path=state_folder() / f"{digest}.json")
        with suppress(OSError, ValueError, KeyError, TypeError):
            found = json.loads(state.path.read_bytes())
            transcript, offset, lines = found["transcript"], found["offset"], found["lines"]
            turn, shortened_at = found["turn"], found["shortened_at"]
            numbers = isinstance(offset, int) and isinstance(turn, int) and isinstance(shortened_at, int | None)
            if isinstance(transcript, str) and isinstance(lines, list) and numbers:
                state.transcript, state.offset, state.lines = transcript, offset, [str(line) for line in lines]
                state.turn, state.shortened_at = turn, shortened_at
        return state

    @property
    def session_turns(self) -> int | None:
        """The number of the session's newest turns that its model has; None where nobody knows."""
        return None if self.shortened_at is None else max(self.turn - self.shortened_at, 0)

    def shorten(self) -> None:
        """Note and save that the model has neither the turns nor the lines any more."""
        self.lines, self.shortened_at = [], self.turn
        self.save()

    def offset_in(self, transcript: str) -> int:
        """Return how far a transcript was read."""
        return self.offset if self.transcript == transcript else 0

    def is_new(self, line: str) -> bool:
        """True if the model has not had a line yet."""
        return _digest(line) not in self.lines

    def add_lines(self, lines: Iterable[str]) -> None:
        """Note that the model has these lines."""
        self.lines = [*self.lines, *map(_digest, lines)][-MOST_LINES:]

    def save(self) -> None:
        """Write the state, whole or not at all."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        document = {
            "transcript": self.transcript,
            "offset": self.offset,
            "lines": self.lines,
            "turn": self.turn,
            "shortened_at": self.shortened_at,
        }
        new = self.path.with_name(f".state.{os.getpid()}.{time.monotonic_ns()}")
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(document, file)
        new.replace(self.path)


def drop_oldest() -> None:
    """Remove the states that were used least lately, beyond the newest 500."""
    with suppress(OSError):
        files = sorted(state_folder().glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in files[_MOST_FILES:]:
            path.unlink(missing_ok=True)


def _digest(line: str) -> str:
    return hashlib.sha256(line.encode(errors="replace")).hexdigest()[:12]
