"""What is told of an agent's working memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain.domain.records import Record

if TYPE_CHECKING:
    from engrain.domain.wording import Wording


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingStats(Record):
    """How much one agent holds for one session, in this process alone."""

    messages: int = 0
    tokens: int = 0
    tool_results: int = 0
    scratchpad_characters: int = 0
    estimated_bytes: int = 0
    degraded: tuple[Wording, ...] = ()
