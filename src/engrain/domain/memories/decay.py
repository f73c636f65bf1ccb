"""How a fact's or rule's worth decays, and how it should stand because of that. Pure, and never stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from engrain.domain.memories.aging import AgingKind, standing
from engrain.domain.memories.scoring import age_multiplier, effective_confidence
from engrain.domain.records import Record
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from datetime import datetime

    from engrain.domain.memories.aging import Standing
    from engrain.domain.records import Fact, Rule

Curve = Literal["exponential", "steps"]
Anchor = Literal["confirmation", "access"]

CURVES: tuple[Curve, ...] = get_args(Curve)
ANCHORS: tuple[Anchor, ...] = get_args(Anchor)
AGING_KINDS: tuple[AgingKind, ...] = get_args(AgingKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayPolicy(Record):
    """From when and along which curve confidence decays, and below what a memory fades or expires.

    `exponential` is `confidence * exp(-decay_rate * days)`; `steps` is `confidence` times `scoring.age_multiplier`,
    which is never below 0.4. Days count from the last confirmation, or with `access` from whatever came last: a
    confirmation or a reference (Ebbinghaus: what is used is kept).
    """

    curve: Curve = "exponential"
    anchor: Anchor = "confirmation"
    fading_below: float = 0.2
    expired_below: float = 0.05

    def __post_init__(self) -> None:
        """Refuse thresholds that leave nothing to fade.

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
    """One batch of a sweep: how many were looked at, where the next begins, and how many came to stand how."""

    looked_at: int = 0
    last: str | None = None  # the id to go on after; None where there are no more
    active: int = 0
    fading: int = 0
    expired: int = 0


def anchor(memory: Fact | Rule, policy: DecayPolicy) -> datetime | None:
    """From when its days count; None where nobody ever stood by it."""
    if policy.anchor == "confirmation":
        return memory.last_confirmed_at
    return max(filter(None, (memory.last_confirmed_at, memory.last_referenced_at)), default=None)


def decayed_confidence(memory: Fact | Rule, policy: DecayPolicy, *, now: datetime) -> float:
    """What is left of its confidence, in [0, confidence]; all of it where its rate is 0."""
    since = anchor(memory, policy)
    if policy.curve == "exponential":
        return effective_confidence(memory.confidence, memory.decay_rate, since, now=now)
    if since is None:
        return 0.0
    return memory.confidence * (age_multiplier(since, now=now) if memory.decay_rate > 0 else 1.0)


def due_standing(memory: Fact | Rule, policy: DecayPolicy, *, now: datetime) -> Standing | None:
    """How it should stand; None where it stands so already, is no longer live, or never decays."""
    if memory.decay_rate <= 0 or not memory.is_live(now):
        return None
    left = decayed_confidence(memory, policy, now=now)
    to: Standing = "expired" if left < policy.expired_below else "fading" if left < policy.fading_below else "active"
    return None if to == standing(memory, now) else to
