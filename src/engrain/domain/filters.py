"""What a search may be narrowed by, and the one meaning of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain.domain.records import KINDS, Episode, Fact, Kind, MemoryRecord, Role

if TYPE_CHECKING:
    from datetime import datetime

Place = tuple["datetime", str]  # of something in a list: when it was, and its id


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Conditions that all must hold. An empty one lets every live memory through.

    `sessions`, `roles` and `speakers` ask for one of several and are of episodes alone, `subjects` and `predicates` of
    facts alone, as are `categories`: other kinds have none of them, so they pass only where these are empty. `scopes`
    asks for one of several of the caller's. `tags` must all be there. Time is half-open: since <= happened_at < until.
    `as_of` asks for what was believed at that moment in place of what is live now; `include_inactive` lets through what
    is not live. `after` asks for what comes after a place (happened_at, id) in the order of the newest first.
    """

    kinds: tuple[Kind, ...] = KINDS
    scopes: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    exclude_sessions: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()
    speakers: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    include_inactive: bool = False
    after: Place | None = None

    @property
    def is_narrow(self) -> bool:
        """Whether it asks for more than a kind and a scope."""
        return self != Filter(kinds=self.kinds, scopes=self.scopes)

    @property
    def asks_past(self) -> bool:
        """Whether it may let through what is not live."""
        return self.as_of is not None or self.include_inactive


def matches(filter_: Filter, memory: MemoryRecord, now: datetime) -> bool:
    """The meaning of a filter; every backend's compilation of it is tested against this."""
    session, role, speaker = (
        (memory.session, memory.role, memory.speaker) if isinstance(memory, Episode) else (None, None, None)
    )
    subject, predicate, category = (
        (memory.subject, memory.predicate, memory.category) if isinstance(memory, Fact) else (None, None, None)
    )
    return (
        memory.kind in filter_.kinds
        and (not filter_.scopes or memory.scope in filter_.scopes)
        and _is_there(filter_, memory, now)
        and (not filter_.sessions or session in filter_.sessions)
        and session not in filter_.exclude_sessions
        and (not filter_.roles or role in filter_.roles)
        and (not filter_.speakers or speaker in filter_.speakers)
        and (not filter_.subjects or subject in filter_.subjects)
        and (not filter_.predicates or predicate in filter_.predicates)
        and (not filter_.categories or category in filter_.categories)
        and set(filter_.tags) <= set(memory.tags)
        and (filter_.since is None or memory.happened_at >= filter_.since)
        and (filter_.until is None or memory.happened_at < filter_.until)
        and (filter_.after is None or (memory.happened_at, memory.id) < filter_.after)
    )


def _is_there(filter_: Filter, memory: MemoryRecord, now: datetime) -> bool:
    if filter_.as_of is not None:
        return memory.was_believed(filter_.as_of)
    return filter_.include_inactive or memory.is_live(now)
