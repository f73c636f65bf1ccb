"""Decay of facts and rules: curves, thresholds and standings. Pure; nothing computed here is written back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from engrain.domain.records import Fact, Record, Rule
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


AgingKind = Literal["fact", "rule"]
Anchor = Literal["confirmation", "access"]
Curve = Literal["exponential", "steps"]
Standing = Literal["active", "fading", "expired"]

AGING_KINDS: tuple[AgingKind, ...] = get_args(AgingKind)
ANCHORS: tuple[Anchor, ...] = get_args(Anchor)
CURVES: tuple[Curve, ...] = get_args(Curve)
STANDINGS: tuple[Standing, ...] = get_args(Standing)

RECENCY_HALF_LIFE_DAYS = 7.0
# Below so many days a memory has this share of its score; beyond all of them, the least.
AGE_STEPS = ((7.0, 1.0), (30.0, 0.8), (90.0, 0.6))
LEAST_AGE_MULTIPLIER = 0.4

_SECONDS_A_DAY = 86_400.0
_STATUS, _FADING = "status", "fading"
_STATUS_BEFORE = "status_before_fading"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayPolicy(Record):
    """Curve and start of decay, and the thresholds below which a memory fades or expires.

    `exponential` is `confidence * exp(-decay_rate * days)`; `steps` is `confidence` times `age_multiplier`, which is
    never below 0.4. Days count from the last confirmation, or with `access` from the later of the last confirmation and
    the last reference (Ebbinghaus: what is used is remembered).
    """

    curve: Curve = "exponential"
    anchor: Anchor = "confirmation"
    fading_below: float = 0.2
    expired_below: float = 0.05

    def __post_init__(self) -> None:
        """Check the thresholds.

        Raises:
            InvalidInput: not 0 <= expired_below < fading_below <= 1.
        """
        if not 0 <= self.expired_below < self.fading_below <= 1:
            raise InvalidInput(
                f"a memory fades below {self.fading_below} and expires below {self.expired_below}: "
                "decay.expired_below must be less than decay.fading_below, and both lie in 0-1"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepBatch:
    """Result of one batch of a sweep: memories looked at, where the next batch begins, and new standings by count."""

    looked_at: int = 0
    last: str | None = None  # the id to go on after; None where there are no more
    active: int = 0
    fading: int = 0
    expired: int = 0


def standing(memory: Fact | Rule, now: datetime) -> Standing:
    """Standing of a memory; `expired` stands for whatever is no longer live."""
    if not memory.is_active(now):
        return "expired"
    return "fading" if is_fading(memory.metadata) else "active"


def standing_metadata(metadata: Mapping[str, Any], kind: AgingKind, to: Standing) -> dict[str, Any]:
    """Metadata of a memory in another standing: `status` marks a fading one, `forgotten` an expired rule."""
    match to:
        case "fading":
            return with_fading(metadata)
        case "expired" if kind == "rule":
            return {**without_fading(metadata), "forgotten": True}
        case _:
            return without_fading(metadata)


def is_fading(metadata: Mapping[str, Any]) -> bool:
    """True if the metadata of a memory marks it as fading."""
    return metadata.get(_STATUS) == _FADING


def with_fading(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata of a memory that fades; a `status` of its host is put by until it fades no more."""
    own = without_fading(metadata)
    before = {_STATUS_BEFORE: own[_STATUS]} if _STATUS in own else {}
    return {**own, **before, _STATUS: _FADING}


def without_fading(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata of a memory that fades no more, with the `status` that its host gave it."""
    if not is_fading(metadata):
        return dict(metadata)
    own = {key: value for key, value in metadata.items() if key not in {_STATUS, _STATUS_BEFORE}}
    return {**own, _STATUS: metadata[_STATUS_BEFORE]} if _STATUS_BEFORE in metadata else own


def anchor(memory: Fact | Rule, policy: DecayPolicy) -> datetime | None:
    """Time from which days of decay count; None for a memory that nobody confirmed."""
    if policy.anchor == "confirmation":
        return memory.last_confirmed_at
    return max(filter(None, (memory.last_confirmed_at, memory.last_referenced_at)), default=None)


def decayed_confidence(memory: Fact | Rule, policy: DecayPolicy, *, now: datetime) -> float:
    """Confidence left after decay, in [0, confidence]; all of it where the rate is 0."""
    since = anchor(memory, policy)
    if policy.curve == "exponential":
        return effective_confidence(memory.confidence, memory.decay_rate, since, now=now)
    if since is None:
        return 0.0
    return memory.confidence * (age_multiplier(since, now=now) if memory.decay_rate > 0 else 1.0)


def due_standing(memory: Fact | Rule, policy: DecayPolicy, *, now: datetime) -> Standing | None:
    """New standing of a memory; None if it stands so already, is no longer live, or never decays."""
    if memory.decay_rate <= 0 or not memory.is_active(now):
        return None
    left = decayed_confidence(memory, policy, now=now)
    to: Standing = "expired" if left < policy.expired_below else "fading" if left < policy.fading_below else "active"
    return None if to == standing(memory, now) else to


def effective_confidence(
    confidence: float, decay_rate: float, confirmed_at: datetime | None, *, now: datetime
) -> float:
    """`confidence * exp(-decay_rate * days since confirmed_at)`; 0 for a memory that nobody confirmed.

    A rate of 0 never decays; a confirmation in the future counts as one of now.
    """
    if confirmed_at is None:
        return 0.0
    return confidence * math.exp(-decay_rate * max(days_between(confirmed_at, now), 0.0))


def recency(referenced_at: datetime | None, *, now: datetime) -> float:
    """`exp(-ln 2 / 7 * days since referenced_at)`, in [0, 1]: half after a week, 0 for one never referenced."""
    if referenced_at is None:
        return 0.0
    days = max(days_between(referenced_at, now), 0.0)
    return math.exp(-math.log(2) / RECENCY_HALF_LIFE_DAYS * days)


def age_multiplier(changed_at: datetime, *, now: datetime) -> float:
    """Multiplier in steps: 1.0 under 7 days since the last change, 0.8 under 30, 0.6 under 90, then 0.4."""
    days = days_between(changed_at, now)
    return next((multiplier for below, multiplier in AGE_STEPS if days < below), LEAST_AGE_MULTIPLIER)


def days_between(earlier: datetime, later: datetime) -> float:
    """Days with their fraction; negative if `earlier` is the later one."""
    return (later - earlier).total_seconds() / _SECONDS_A_DAY
