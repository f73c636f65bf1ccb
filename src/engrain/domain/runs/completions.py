"""Prompts to language models, completions, and usage."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engrain.domain.records import Record

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One prompt. `system` holds the instructions; `user` is data, whatever it says.

    Attributes:
        schema: JSON schema of the answer; where a provider cannot enforce it, the parser must.
        max_tokens: of the answer; None for the provider's own limit.
    """

    system: str
    user: str
    schema: Mapping[str, Any] | None = field(default=None, hash=False)
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(Record):
    """Usage of a model as the provider reports it: tokens, and US dollars where prices are known.

    Attributes:
        unpriced_calls: calls of unknown cost, missing in `cost_usd`.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=self.cost_usd + other.cost_usd,
            unpriced_calls=self.unpriced_calls + other.unpriced_calls,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """Answer of a model as text, with its usage."""

    text: str
    usage: Usage = Usage(calls=1)
