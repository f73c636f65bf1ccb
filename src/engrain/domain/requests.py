"""What is said to a store and heard from it: who asks or acts, what a channel proposes, how things stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from datetime import datetime

    from engrain.domain.query import Filter
    from engrain.domain.records import Caller, Role

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
    """One write: who does it and when. Its events carry both, and the caller's request id."""

    caller: Caller
    at: datetime


@dataclass(frozen=True, slots=True)
class Candidate:
    """One memory a channel proposes, with the channel's own number; larger is better."""

    ref: Ref
    raw: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPlace:
    """Where an episode was said and by whom."""

    scope: str
    session: str | None
    role: Role
    speaker: str | None


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
