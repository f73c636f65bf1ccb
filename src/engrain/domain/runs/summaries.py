"""What a summary is, and in which ways one is made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from engrain.domain.records import Record
from engrain.domain.runs.completions import Usage

if TYPE_CHECKING:
    from engrain.domain.wording import Wording

Strategy = Literal["simple", "hierarchical", "extractive", "map_reduce"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary(Record):
    """A summary, how it was made, and of what.

    Attributes:
        strategy: how it was made, which is not what was asked for where `degraded` says so.
        source_tokens: of what was summarised, by the same counter as `tokens`.
        memory_id: of the fact it is kept as, where it is; `run_id` takes that back.
    """

    text: str
    strategy: Strategy
    source_ids: tuple[str, ...]
    tokens: int
    target_tokens: int
    source_tokens: int
    degraded: tuple[Wording, ...] = ()
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    prompt_version: str | None = None
    memory_id: str | None = None
    run_id: str | None = None
