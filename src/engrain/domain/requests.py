"""Requests to a store and its answers: searches, writes, candidates and health."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from engrain.domain.compiled_records import assign_fields, compile_maker

if TYPE_CHECKING:
    from datetime import datetime

    from engrain.domain.filters import Filter
    from engrain.domain.records import Caller

Ref = int | str  # the handle of a memory in one backend; hashable, valid while the memory is live
Direction = Literal["outgoing", "incoming", "both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One search as every channel sees it: caller, filter and time."""

    caller: Caller
    filter: Filter
    now: datetime

    def with_category(self, category: str) -> Request:
        """The same for facts of one category alone."""
        return replace(self, filter=replace(self.filter, categories=(category,)))


@assign_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One write: its caller, time and run. Its events carry these, and the caller's request id."""

    caller: Caller
    at: datetime
    run_id: str | None = None


make_act = compile_maker(Act)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One memory of a channel, with the channel's own number; larger is better."""

    ref: Ref
    raw: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Unembedded:
    """A live memory without a vector, and the text to embed."""

    ref: Ref
    tenant_id: str
    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Health of a store, as `doctor` shows it. `problems` are sentences that say what to do; none means sound."""

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
