"""What a memory is: frozen values that every room passes around and every interface prints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

if TYPE_CHECKING:
    from engrain.domain.wording import Wording

Kind = Literal["episode", "fact", "rule"]
Role = Literal["user", "assistant", "tool", "system"]
ConsolidationStatus = Literal["pending", "consolidated", "failed", "dead_letter"]
Validity = Literal["active", "superseded", "expired", "retracted"]
FactState = Literal["active", "fading", "superseded", "expired", "retracted"]
Permanence = Literal["permanent", "stable", "standard", "volatile", "ephemeral"]
Maturity = Literal["candidate", "established", "proven", "anti_pattern"]
Relation = Literal["derived_from", "supports", "contradicts", "supersedes", "related_to"]
EntityType = Literal["person", "organization", "place", "project", "email", "url", "other"]

KINDS: tuple[Kind, ...] = get_args(Kind)
ROLES: tuple[Role, ...] = get_args(Role)
CONSOLIDATION_STATUSES: tuple[ConsolidationStatus, ...] = get_args(ConsolidationStatus)
VALIDITIES: tuple[Validity, ...] = get_args(Validity)
MATURITIES: tuple[Maturity, ...] = get_args(Maturity)
RELATIONS: tuple[Relation, ...] = get_args(Relation)
ENTITY_TYPES: tuple[EntityType, ...] = get_args(EntityType)
GLOBAL_SCOPE = "global"
REFLECTION = "reflection"  # the category of a fact that looks back on others
SUMMARY = "summary"  # the category of a fact that says others in short
DEFAULT_TENANT = "default"

# Exponential decay per day: how fast an unconfirmed fact fades.
DECAY_RATES: Mapping[Permanence, float] = {
    "permanent": 0.0,
    "stable": 0.002,
    "standard": 0.008,
    "volatile": 0.03,
    "ephemeral": 0.1,
}
# A rule begins unproven and fades a little faster than a fact.
RULE_CONFIDENCE = 0.5
RULE_DECAY_RATE = 0.01


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
    tokens: int | None = None
    model: str | None = None
    tool_calls: tuple[Any, ...] = field(default=(), hash=False)  # JSON values
    reference_count: int = 0
    last_referenced_at: datetime | None = None
    consolidation_status: ConsolidationStatus = "pending"
    consolidation_attempts: int = 0
    last_consolidation_error: str | None = None
    next_consolidation_retry_at: datetime | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)  # a dict has no hash of its own

    @property
    def kind(self) -> Kind:
        return "episode"

    @property
    def happened_at(self) -> datetime:
        """When it happened in the world: what time filters and ties look at."""
        return self.event_time

    @property
    def consolidated(self) -> bool:
        """Whether consolidation is done with it."""
        return self.consolidation_status == "consolidated"

    def is_live(self, now: datetime) -> bool:
        """Whether reads may return it: it has not expired."""
        return self.expires_at is None or self.expires_at > now

    def was_believed(self, at: datetime) -> bool:
        """Whether it was there at a moment, as far as is known now."""
        return self.created_at <= at and self.is_live(at)

    def in_turn(self, turn: int) -> Episode:
        """The same at a place in its session: `replace` takes twice as long, and every turn comes through here."""
        placed = object.__new__(Episode)
        for fill, value in zip(_FILL.values(), _READ(self), strict=True):
            fill(placed, value)
        _FILL["turn"](placed, turn)
        return placed

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, **_record_dict(self)}


# What fills each slot of an episode that is being made, which nobody holds yet.
_FILL = {each.name: getattr(Episode, each.name).__set__ for each in fields(Episode)}
_READ = attrgetter(*_FILL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Record):
    """What is true, since when, says who: one subject-predicate-content statement."""

    id: str
    tenant_id: str = DEFAULT_TENANT
    agent: str
    scope: str = GLOBAL_SCOPE
    subject: str
    predicate: str
    entity_id: str | None = None  # whom the subject names, where the registry knows
    content: str
    category: str = "fact"
    source: str | None = None  # where it comes from, in the words of whoever stored it
    confidence: float = 1.0
    importance: float = 5.0
    permanence: Permanence = "standard"
    decay_rate: float = DECAY_RATES["standard"]
    validity: Validity = "active"
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    created_at: datetime
    invalidated_at: datetime | None = None  # since when it is no longer believed: superseded, expired or retracted
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

    def was_believed(self, at: datetime) -> bool:
        """Whether it was believed at a moment, whatever was learned since."""
        return self.created_at <= at and (self.invalidated_at is None or self.invalidated_at > at)

    @property
    def state(self) -> FactState:
        """Its validity, and whether an active one is fading."""
        is_fading = self.validity == "active" and self.metadata.get("status") == "fading"
        return "fading" if is_fading else self.validity

    @property
    def place(self) -> tuple[str, str, str, str]:
        """What only one active fact may hold: tenant, scope, who (the entity where known, else the subject), what."""
        who = f"subject {self.subject}" if self.entity_id is None else f"entity {self.entity_id}"
        return (self.tenant_id, self.scope, who, self.predicate)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "state": self.state, **_record_dict(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Record):
    """What worked: guidance learned from outcomes. Harmful evidence weighs more than helpful."""

    id: str
    tenant_id: str = DEFAULT_TENANT
    agent: str
    scope: str = GLOBAL_SCOPE
    content: str
    maturity: Maturity = "candidate"
    confidence: float = RULE_CONFIDENCE
    permanence: Permanence = "standard"
    decay_rate: float = RULE_DECAY_RATE
    effectiveness_score: float = 0.0
    applied_count: int = 0
    success_count: int = 0
    harmful_count: int = 0
    source_episode_id: str | None = None
    created_at: datetime
    invalidated_at: datetime | None = None  # when it was forgotten
    last_applied_at: datetime | None = None
    last_evaluated_at: datetime | None = None
    last_confirmed_at: datetime | None = None
    reference_count: int = 0
    last_referenced_at: datetime | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)  # a dict has no hash of its own

    @property
    def kind(self) -> Kind:
        return "rule"

    @property
    def happened_at(self) -> datetime:
        """When it was learned."""
        return self.created_at

    @property
    def is_forgotten(self) -> bool:
        """Whether somebody, or time, has withdrawn it."""
        return self.metadata.get("forgotten") is True

    def is_live(self, now: datetime) -> bool:  # noqa: ARG002  # a rule is withdrawn, it does not run out
        """Whether reads may return it: nobody has forgotten it."""
        return not self.is_forgotten

    def was_believed(self, at: datetime) -> bool:
        """Whether it was held at a moment, whatever happened since."""
        return self.created_at <= at and (self.invalidated_at is None or self.invalidated_at > at)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, **_record_dict(self)}


MemoryRecord = Episode | Fact | Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity(Record):
    """Somebody or something that facts are about, under one name and its aliases. Known to its whole tenant."""

    id: str
    tenant_id: str = DEFAULT_TENANT
    canonical_name: str
    entity_type: EntityType = "other"
    aliases: tuple[str, ...] = ()
    mention_count: int = 0
    created_at: datetime
    updated_at: datetime
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)  # a dict has no hash of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Link(Record):
    """A directed edge between two memories: the source is derived from, supports, ... the target."""

    source_id: str
    target_id: str
    relation: Relation
    weight: float = 1.0  # in [0, 1]
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Record):
    """One mutation as it is written down with it: who, when, on whose request, what changed. Never changed itself."""

    id: str
    tenant_id: str
    event_type: str
    scope: str
    actor: str
    request_id: str | None = None
    memory_id: str | None = None
    run_id: str | None = None  # the run of learning it was part of
    payload: Mapping[str, Any] = field(default_factory=dict, hash=False)  # a dict has no hash of its own
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingVersion(Record):
    """One embedder whose vectors are, were or will be searched. At most one is active, at most one is building."""

    version: int  # from 1
    name: str
    dims: int
    state: Literal["building", "active", "retired"]
    created_at: datetime
    activated_at: datetime | None = None


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
    fused: tuple[Contribution, ...] = ()  # in deep mode: what the search gave, before the re-ranker judged

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
    neighbours: tuple[MemoryRecord, ...] = ()  # of an episode, where they were asked for: the turns around it, in order


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedCandidate(Record):
    """A candidate that did not become a hit, and why not."""

    id: str | None  # None where it is gone
    score: float
    reason: str
    why: Explanation


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Record, Sequence[Hit]):
    """The hits of one recall, best first, and what the search had to do without."""

    query: str
    preset: str
    hits: tuple[Hit, ...] = ()
    degraded: tuple[Wording, ...] = ()  # one sentence for each thing that was missing; empty when nothing was
    mode: Literal["fast", "deep"] = "fast"  # deep: a re-ranker put the hits in order
    candidates: int = 0  # how many memories were judged
    evidence: Literal["none", "weak", "strong"] | None = None  # whether the answer is there; None: cannot be told
    evidence_score: float | None = None  # in [0, 1]: what `evidence` is a level of
    dropped: tuple[DroppedCandidate, ...] = ()  # where it was asked for: candidates that are no hits, the best 50

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)


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
