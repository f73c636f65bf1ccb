"""Records: frozen values of memories, entities, links, events and answers, and their form as JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, ClassVar, Literal, get_args, overload

from engrain.domain.access.scopes import GLOBAL_SCOPE, Reach, Registered, Scoped
from engrain.domain.compiled_records import assign_fields, compile_copy, compile_maker
from engrain.domain.memories.fact_keys import FactKey, fact_key
from engrain.domain.memories.periods import Dated, Lasting
from engrain.domain.memories.predicates import is_free_text
from engrain.domain.memories.trust import REFLECTION as REFLECTION  # noqa: PLC0414  # named with the records
from engrain.domain.memories.trust import SUMMARY as SUMMARY  # noqa: PLC0414  # likewise
from engrain.domain.memories.trust import Trusted
from engrain.domain.text.names import is_sentence_about

Kind = Literal["episode", "fact", "rule"]
Role = Literal["user", "assistant", "tool", "system"]
ConsolidationStatus = Literal["pending", "consolidated", "failed", "dead_letter"]
Validity = Literal["active", "superseded", "expired", "retracted"]
FactState = Literal["active", "fading", "superseded", "expired", "retracted"]
Permanence = Literal["permanent", "stable", "standard", "volatile", "ephemeral"]
Maturity = Literal["candidate", "established", "proven", "anti_pattern"]
Relation = Literal["derived_from", "supports", "contradicts", "supersedes", "related_to"]
EvidenceLevel = Literal["none", "weak", "strong"]
EntityType = Literal["person", "organization", "place", "project", "email", "url", "other"]

KINDS: tuple[Kind, ...] = get_args(Kind)
ROLES: tuple[Role, ...] = get_args(Role)
CONSOLIDATION_STATUSES: tuple[ConsolidationStatus, ...] = get_args(ConsolidationStatus)
VALIDITIES: tuple[Validity, ...] = get_args(Validity)
MATURITIES: tuple[Maturity, ...] = get_args(Maturity)
RELATIONS: tuple[Relation, ...] = get_args(Relation)
ENTITY_TYPES: tuple[EntityType, ...] = get_args(EntityType)
DEFAULT_TENANT = "default"

_MOST_TIMES = 10
# Exponential decay per day: how fast an unconfirmed fact fades.
DECAY_RATES: Mapping[Permanence, float] = {
    "permanent": 0.0,
    "stable": 0.002,
    "standard": 0.008,
    "volatile": 0.03,
    "ephemeral": 0.1,
}
# A rule begins unproven and fades a little faster than a fact.
RULE_CONFIDENCE, RULE_DECAY_RATE = 0.5, 0.01


class Record:
    """A frozen dataclass with a form as JSON."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Values that JSON has: times as ISO 8601 in UTC, tuples as lists, nested records as objects."""
        return _record_dict(self)


class Detail(str):
    """A text that is for the operator alone: the library, the command line and stdio show it; redaction removes it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Degraded(Record):
    """One part that an answer had to do without, and why.

    Attributes:
        code: stable; docs/library.md lists them.
        message: our own words, for everybody: no host, port, path or user, and nothing that a driver or service said.
        detail: those, for the operator alone; None where the message is all there is.
    """

    code: str
    message: str
    detail: str | None = None

    def __str__(self) -> str:
        return self.message if self.detail is None else f"{self.message}: {self.detail}"

    def to_dict(self) -> dict[str, Any]:
        """JSON, with the detail marked as one (`Detail`)."""
        return {**Record.to_dict(self), "detail": None if self.detail is None else Detail(self.detail)}

    def with_prefix(self, prefix: str) -> Degraded:
        """The same, with words of our own before its message."""
        return replace(self, message=f"{prefix}{self.message}")


@assign_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Caller(Reach, Record):
    """Identity of a request, from its authentication, never from a tool's arguments."""

    tenant_id: str = DEFAULT_TENANT
    agent: str
    user: str | None = None  # the end user it acts for; None for memories of no user
    is_user_bound: bool = False  # it speaks for its user alone, and writes nothing that others see
    may_publish: bool = True  # it may change what every agent reads
    session: str | None = None
    request_id: str | None = None
    pools: tuple[str, ...] = ()


@assign_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Episode(Scoped, Trusted, Lasting, Record):
    """An episode: one turn of a conversation, or one event. Append-only."""

    in_turn: ClassVar[Callable[[Episode, int], Episode]]
    """Copies it with another turn: every stored episode passes here, and `replace` takes ten times as long."""

    id: str
    tenant_id: str = DEFAULT_TENANT
    agent: str
    scope: str
    session: str | None = None
    turn: int = 0  # position in the session by arrival, from 1; set by the store
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
        """Time of the event in the world, for time filters and ties."""
        return self.event_time

    @property
    def consolidated(self) -> bool:
        """True if it was consolidated."""
        return self.consolidation_status == "consolidated"

    def is_live(self, now: datetime) -> bool:
        """True if reads return it: it has not expired."""
        return self.expires_at is None or self.expires_at > now

    def was_believed(self, at: datetime) -> bool:
        """True if it was live at a moment, as far as is known now."""
        return self.created_at <= at and self.is_live(at)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, **_record_dict(self), "trust": self.trust}


Episode.in_turn = compile_copy(Episode, "turn")
make_episode = compile_maker(Episode)


@assign_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Scoped, Trusted, Dated, Record):
    """A fact: one statement of subject, predicate and content, with source and interval of validity."""

    id: str
    tenant_id: str = DEFAULT_TENANT
    agent: str
    scope: str = GLOBAL_SCOPE
    subject: str
    predicate: str
    entity_id: str | None = None  # the entity that the subject names, if the registry has it
    content: str
    category: str = "fact"
    source: str | None = None  # origin, in the words of the caller
    confidence: float = 1.0
    importance: float = 5.0
    permanence: Permanence = "standard"
    decay_rate: float = DECAY_RATES["standard"]
    validity: Validity = "active"
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    created_at: datetime
    invalidated_at: datetime | None = None  # time when it was superseded, expired or retracted
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

    def is_live(self, now: datetime) -> bool:
        """True if reads return it: not superseded, retracted or expired, and its period holds the moment."""
        return self.is_active(now) and self.has_begun(now) and (self.valid_to is None or self.valid_to > now)

    def was_believed(self, at: datetime) -> bool:
        """True if it was active at a moment, whatever changed since."""
        return self.created_at <= at and (self.invalidated_at is None or self.invalidated_at > at)

    @property
    def state(self) -> FactState:
        """Validity, with fading apart from active."""
        is_fading = self.validity == "active" and self.metadata.get("status") == "fading"
        return "fading" if is_fading else self.validity

    @property
    def key(self) -> FactKey:
        """Canonical form of the subject and predicate, and of the content where values stand side by side."""
        about = {"scope": self.scope, "subject": self.subject, "predicate": self.predicate, "content": self.content}
        return fact_key(**about, tags=self.tags, is_pending=self.is_pending)

    @property
    def slot(self) -> tuple[str, str, str, str, str]:
        """Slot that one fact fills at a time: tenant, scope, entity (if known, else subject), predicate and value."""
        key = self.key
        about = f"subject {key.subject}" if self.entity_id is None else f"entity {self.entity_id}"
        return (self.tenant_id, self.scope, about, key.predicate, key.value)

    @property
    def about(self) -> str:
        """Subject and predicate; of a free text its subject, unless that is the agent itself."""
        whose = "" if self.subject == self.agent else self.subject
        return whose if is_free_text(self.predicate) else f"{self.subject} {self.predicate}"

    @property
    def statement(self) -> str:
        """Statement in words: `subject predicate: content`; a sentence about its subject or a free text as it is."""
        is_alone = not self.about or is_sentence_about(self.content, self.subject)
        return self.content if is_alone else f"{self.about}: {self.content}"

    def to_dict(self) -> dict[str, Any]:
        key = {"subject_key": self.key.subject, "predicate_key": self.key.predicate, "trust": self.trust}
        return {"kind": self.kind, "state": self.state, **_record_dict(self), **key, "pending": self.is_pending}


@assign_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Scoped, Trusted, Lasting, Record):
    """A rule: guidance learned from outcomes. Harmful evidence weighs more than helpful."""

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
        """Time it was stored."""
        return self.created_at

    @property
    def is_forgotten(self) -> bool:
        """True if it was forgotten, or has expired."""
        return self.metadata.get("forgotten") is True

    def is_live(self, now: datetime) -> bool:  # noqa: ARG002  # a rule is forgotten, it has no end
        """True if reads return it: it is not forgotten."""
        return not self.is_forgotten

    def was_believed(self, at: datetime) -> bool:
        """True if it was live at a moment, whatever changed since."""
        return self.created_at <= at and (self.invalidated_at is None or self.invalidated_at > at)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, **_record_dict(self), "trust": self.trust}


MemoryRecord = Episode | Fact | Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity(Registered, Record):
    """A person or thing that facts are about, with one name and aliases: its tenant's, or one user's."""

    id: str
    tenant_id: str = DEFAULT_TENANT
    user_id: str = ""  # the user whose registry it is in; empty for the tenant's
    canonical_name: str
    entity_type: EntityType = "other"
    aliases: tuple[str, ...] = ()
    mention_count: int = 0
    created_at: datetime
    updated_at: datetime
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)  # a dict has no hash of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Link(Record):
    """A directed link between two memories: the source is derived from, supports, ... the target."""

    source_id: str
    target_id: str
    relation: Relation
    weight: float = 1.0  # in [0, 1]
    created_at: datetime


@assign_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Record):
    """Audit record of one change: actor, time, request and payload. Never changed itself."""

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
    """One version of the vectors, by its embedder. At most one is active, at most one is building."""

    version: int  # from 1
    name: str
    dims: int
    state: Literal["building", "active", "retired"]
    created_at: datetime
    activated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution(Record):
    """Contribution of one channel to a score: `value`, from `raw` (the channel's own number) and `weight`."""

    channel: str
    rank: int | None  # 1 is best; None for a channel without an order
    raw: float
    weight: float
    value: float

    def __str__(self) -> str:
        rank = "" if self.rank is None else f" #{self.rank}"
        return f"{self.channel}{rank} {self.value:+.3f} ({self.raw:.3f} x {self.weight:.3g})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation(Record):
    """Explanation of a score; the contributions add up to it exactly."""

    preset: str
    contributions: tuple[Contribution, ...]
    matched_terms: tuple[str, ...] = ()  # stems of the query among the memory's own words
    fused: tuple[Contribution, ...] = ()  # in deep mode: contributions of the search, before the re-ranker

    @property
    def score(self) -> float:
        return math.fsum(contribution.value for contribution in self.contributions)

    def __str__(self) -> str:
        text = ", ".join(map(str, self.contributions))
        return f"{text} [{' '.join(self.matched_terms)}]" if self.matched_terms else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats(Record):
    """The near-identical turns that one hit stands for: their number with it, and when they were said."""

    count: int
    first_at: datetime
    last_at: datetime
    times: tuple[datetime, ...]  # of the newest ten, newest first

    @classmethod
    def of(cls, moments: Iterable[datetime]) -> Repeats:
        """The number and times of turns said at these moments, of which there is one at least."""
        times = sorted(moments, reverse=True)
        return cls(count=len(times), first_at=times[-1], last_at=times[0], times=tuple(times[:_MOST_TIMES]))

    def __str__(self) -> str:
        first, last = self.first_at.date(), self.last_at.date()
        return f"said {self.count} times, {first}{'' if first == last else f' to {last}'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(Record):
    """A memory that a search returned, with its score and explanation."""

    score: float
    memory: MemoryRecord
    why: Explanation
    neighbours: tuple[MemoryRecord, ...] = ()  # of an episode, if requested: the turns around it, in order
    repeats: Repeats | None = None  # None where no other turn found says the same


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedCandidate(Record):
    """A candidate that did not become a hit, with the reason."""

    id: str | None  # None if it is gone
    score: float
    reason: str
    why: Explanation


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Record, Sequence[Hit]):
    """Hits of one recall, best first, and the parts that the search lacked."""

    query: str  # as it was searched for: what a long prompt asks, without typing errors
    preset: str
    hits: tuple[Hit, ...] = ()
    degraded: tuple[Degraded, ...] = ()  # one sentence for each missing part
    mode: Literal["fast", "deep"] = "fast"  # deep: ordered by a re-ranker
    candidates: int = 0  # number of ranked memories
    evidence: EvidenceLevel | None = None  # level, judged by the best statement; None if unknown
    evidence_score: float | None = None  # in [0, 1]; `evidence` is a level of it
    dropped: tuple[DroppedCandidate, ...] = ()  # if requested: the best 50 candidates that are no hits
    times: Mapping[str, datetime] = field(default_factory=dict, hash=False)  # given in words, as they were understood

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)


def format_time(moment: datetime | None) -> str | None:
    """A time as records and events have it: ISO 8601 in UTC."""
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


def _record_dict(record: Any) -> dict[str, Any]:
    return {field_.name: _plain(getattr(record, field_.name)) for field_ in fields(record)}


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return value
