"""Retry policy of jobs and consolidations: attempts, and the pauses between them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from engrain.domain.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry(Record):
    """Retry policy: at most `max_attempts`, with growing pauses.

    The pauses are `first_pause_s`, twice that, four times that, at most `longest_pause_s`. `is_final`: another attempt
    would fail alike, so there is none.
    """

    max_attempts: int = 5
    first_pause_s: float = 60.0
    longest_pause_s: float = 86_400.0
    is_final: bool = False

    def pause(self, attempts: int) -> timedelta:
        """Pause after so many attempts."""
        pause_s = self.first_pause_s
        for _ in range(attempts - 1):  # a power of two would overflow before it is compared with the longest pause
            pause_s = min(pause_s * 2, self.longest_pause_s)
        return timedelta(seconds=min(pause_s, self.longest_pause_s))


ONCE = Retry(max_attempts=1)
