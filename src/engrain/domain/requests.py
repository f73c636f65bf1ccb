"""What is said to a store and heard from it: who asks or acts, what a channel proposes, how things stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    from engrain.domain.filters import Filter
    from engrain.domain.records import Caller, Kind, Role

Ref = int | str  # a backend's own handle of one memory; hashable, valid while the memory is live
Direction = Literal["outgoing", "incoming", "both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One search as every channel sees it: who asks, narrowed by what, at which moment."""

    caller: Caller
    filter: Filter
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One write: who does it and when. Its events carry both, the caller's request id, and the run it is part of.

    With `checks_pools` a memory is added to a pool only if the caller is in it when that is written: the pools of a
    caller were looked up before, and it may have been taken out of one since, or the pool deleted.
    """

    caller: Caller
    at: datetime
    run_id: str | None = None
    checks_pools: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """One memory a channel proposes, with the channel's own number; larger is better."""

    ref: Ref
    raw: float


class Traits(NamedTuple):
    """What a ranking weighs of a memory besides its words. Session to `asking` are of episodes alone.

    An episode does not fade: its confidence is 1, its decay rate 0, and it is confirmed when it is created. A rule has
    no importance of its own: 5, the middle. A tuple, as a search makes hundreds: a frozen dataclass takes four times
    as long to make.
    """

    id: str
    kind: Kind
    scope: str
    happened_at: datetime
    created_at: datetime
    importance: float
    confirmed_at: datetime | None
    referenced_at: datetime | None
    session: str | None = None
    turn: int | None = None
    role: Role | None = None
    speaker: str | None = None
    asking: float = 0.0
    confidence: float = 1.0
    decay_rate: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Unembedded:
    """A live memory whose vector is still missing, and the text to embed."""

    ref: Ref
    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What `doctor` shows of a store. `problems` are sentences that say what to do; none means sound."""

    location: str
    backend: str
    schema: str
    size_bytes: int
    memories: int
    indexed: int
    embedded: int
    waiting: int
    embedder: str | None
    problems: tuple[str, ...]
