"""What a memory is: frozen values that every room passes around and every interface prints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Literal, get_args, overload

Kind = Literal["episode", "fact"]
Role = Literal["user", "assistant", "tool", "system"]
Validity = Literal["active", "superseded", "expired", "retracted"]
Permanence = Literal["permanent", "stable", "standard", "volatile", "ephemeral"]

KINDS: tuple[Kind, ...] = get_args(Kind)
ROLES: tuple[Role, ...] = get_args(Role)
GLOBAL_SCOPE = "global"
DEFAULT_TENANT = "default"

# Exponential decay per day: how fast an unconfirmed fact fades.
DECAY_RATES: Mapping[Permanence, float] = {
    "permanent": 0.0,
    "stable": 0.002,
    "standard": 0.008,
    "volatile": 0.03,
    "ephemeral": 0.1,
}


class Record:
    """A frozen dataclass that can say itself as JSON."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON at once: times as ISO 8601 in UTC, tuples as lists, nested records as objects."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self)}  # type: ignore[arg-type]  # every Record is a dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller(Record):
    """Who asks: decided by the authenticated side, never by a tool's arguments."""

    tenant_id: str = DEFAULT_TENANT
    agent: str
    session: str | None = None
    request_id: str | None = None
    pools: tuple[str, ...] = ()

    @property
    def scopes(self) -> tuple[str, ...]:
        """What this agent may see inside its tenant: `global`, itself, and its pools."""
        return (GLOBAL_SCOPE, self.agent, *(f"pool:{name}" for name in self.pools))


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode(Record):
    """What happened: one turn of a conversation, or one event. Append-only."""

    id: str
    tenant_id: str = DEFAULT_TENANT
    agent: str
    scope: str
    session: str | None = None
    turn: int = 0  # its place in the session by arrival, from 1; set by the store
    role: Role = "user"
    speaker: str | None = None
    content: str
    event_time: datetime
    created_at: datetime
    expires_at: datetime | None = None
    importance: float = 5.0
    reference_count: int = 0
    last_referenced_at: datetime | None = None
    consolidation_status: str = "pending"
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)  # a dict has no hash of its own

    @property
    def kind(self) -> Kind:
        return "episode"

    @property
    def happened_at(self) -> datetime:
        """When it happened in the world: what time filters and ties look at."""
        return self.event_time

    def is_live(self, now: datetime) -> bool:
        """Whether reads may return it: it has not expired."""
        return self.expires_at is None or self.expires_at > now

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, **_record_dict(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Record):
    """What is true, since when, says who: one subject-predicate-content statement."""

    id: str
    tenant_id: str = DEFAULT_TENANT
    agent: str
    scope: str = GLOBAL_SCOPE
    subject: str
    predicate: str
    content: str
    confidence: float = 1.0
    importance: float = 5.0
    permanence: Permanence = "standard"
    decay_rate: float = DECAY_RATES["standard"]
    validity: Validity = "active"
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    created_at: datetime
    superseded_at: datetime | None = None
    supersedes_id: str | None = None
    source_episode_id: str | None = None
    last_confirmed_at: datetime | None = None
    reference_count: int = 0
    last_referenced_at: datetime | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)  # a dict has no hash of its own

    @property
    def kind(self) -> Kind:
        return "fact"

    @property
    def happened_at(self) -> datetime:
        """Since when it is true; where nobody said, when it was learned."""
        return self.created_at if self.valid_from is None else self.valid_from

    def is_live(self, now: datetime) -> bool:  # noqa: ARG002  # a fact's validity is stored, not timed
        """Whether reads may return it: nothing has replaced, retracted or expired it."""
        return self.validity == "active"

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, **_record_dict(self)}


MemoryRecord = Episode | Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution(Record):
    """What one channel gave to a score: `value` = its share, from `raw` (the channel's own number) and `weight`."""

    channel: str
    rank: int | None  # 1 is best; None where the channel judges without ordering
    raw: float
    weight: float
    value: float

    def __str__(self) -> str:
        place = "" if self.rank is None else f" #{self.rank}"
        return f"{self.channel}{place} {self.value:+.3f} ({self.raw:.3f} x {self.weight:.3g})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation(Record):
    """Why a hit stands where it stands; the contributions add up to the score exactly."""

    preset: str
    contributions: tuple[Contribution, ...]
    matched_terms: tuple[str, ...] = ()  # stems of the query that the memory's own words hold

    @property
    def score(self) -> float:
        return math.fsum(each.value for each in self.contributions)

    def __str__(self) -> str:
        said = ", ".join(str(each) for each in self.contributions)
        return f"{said} [{' '.join(self.matched_terms)}]" if self.matched_terms else said


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(Record):
    """One memory found, with its score and the reasons for it."""

    score: float
    memory: MemoryRecord
    why: Explanation


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Record, Sequence[Hit]):
    """The hits of one recall, best first, and what the search had to do without."""

    query: str
    preset: str
    hits: tuple[Hit, ...] = ()
    degraded: tuple[str, ...] = ()  # one sentence for each thing that was missing; empty when nothing was

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats(Record):
    """How much an agent remembers; counts are of live memories it can see."""

    tenant_id: str
    agent: str
    episodes: int
    facts: int
    inactive_facts: int
    sessions: int
    speakers: int
    first_event_at: datetime | None
    last_event_at: datetime | None
    pending_embeddings: int


def _record_dict(record: Any) -> dict[str, Any]:
    return {each.name: _plain(getattr(record, each.name)) for each in fields(record)}


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return value
