"""Summaries and the strategies that make them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from engrain.domain.records import Degraded, Record
from engrain.domain.runs.completions import Usage

Strategy = Literal["simple", "hierarchical", "extractive", "map_reduce"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary(Record):
    """A summary with its strategy and sources.

    Attributes:
        strategy: the strategy used; not the requested one where `degraded` says so.
        source_tokens: tokens of the sources, by the same counter as `tokens`.
        memory_id: id of the fact it is stored as, if it is; undoing `run_id` takes that back.
    """

    text: str
    strategy: Strategy
    source_ids: tuple[str, ...]
    tokens: int
    target_tokens: int
    source_tokens: int
    degraded: tuple[Degraded, ...] = ()
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    prompt_version: str | None = None
    memory_id: str | None = None
    run_id: str | None = None
