"""What a search may be narrowed by, and the one meaning of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain.domain.records import KINDS, Episode, Kind, MemoryRecord, Role

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Conditions that all must hold. An empty one lets every live memory through.

    `sessions`, `roles` and `speakers` ask for one of several and are of episodes alone: a fact has none of them, so it
    passes only where they are empty. `tags` must all be there. Time is half-open: since <= happened_at < until.
    """

    kinds: tuple[Kind, ...] = KINDS
    sessions: tuple[str, ...] = ()
    exclude_sessions: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()
    speakers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_narrow(self) -> bool:
        """Whether it asks for more than a kind."""
        return self != Filter(kinds=self.kinds)


def matches(filter_: Filter, memory: MemoryRecord, now: datetime) -> bool:
    """The meaning of a filter; every backend's compilation of it is tested against this."""
    session, role, speaker = (
        (memory.session, memory.role, memory.speaker) if isinstance(memory, Episode) else (None, None, None)
    )
    return (
        memory.kind in filter_.kinds
        and memory.is_live(now)
        and (not filter_.sessions or session in filter_.sessions)
        and session not in filter_.exclude_sessions
        and (not filter_.roles or role in filter_.roles)
        and (not filter_.speakers or speaker in filter_.speakers)
        and set(filter_.tags) <= set(memory.tags)
        and (filter_.since is None or memory.happened_at >= filter_.since)
        and (filter_.until is None or memory.happened_at < filter_.until)
    )
