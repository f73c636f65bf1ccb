"""Meter of an LLM: counts tokens, cost, time and failures."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from engrain import metrics
from engrain.domain import checks
from engrain.domain.runs.completions import Completion, Prompt, Usage
from engrain.errors import EngineUnavailable, EngrainError, InvalidInput

if TYPE_CHECKING:
    from engrain.domain.ports import LLM

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices in US dollars for a million tokens; None where unknown."""

    input_usd_per_million: float | None = None
    output_usd_per_million: float | None = None

    def price(self, usage: Usage) -> Usage:
        """Add the cost to a usage, or count its calls as unpriced where a price or the tokens are unknown."""
        if usage.cost_usd > 0 or not usage.calls:
            return usage
        input_price, output_price = self.input_usd_per_million, self.output_usd_per_million
        if input_price is None or output_price is None or not usage.input_tokens + usage.output_tokens:
            return replace(usage, unpriced_calls=usage.calls)
        cost = usage.input_tokens * input_price + usage.output_tokens * output_price
        return replace(usage, cost_usd=cost / 1e6)


class MeteredLLM:
    """Wrapper of any LLM that counts its usage; an error of its own leaves as EngineUnavailable.

    Thread-safe. `usage` is the sum over all answers.
    """

    def __init__(self, llm: LLM, prices: Prices | None = None) -> None:
        """Wrap `llm`.

        Raises:
            InvalidInput: it lacks what an LLM has.
        """
        if isinstance(llm, type) or not callable(getattr(llm, "complete", None)):
            hint = "wrap a function in engrain.engines.CallableLLM" if callable(llm) else "see the docs"
            raise InvalidInput(f"llm {llm!r:.80} must be provider:model or have name and complete(); {hint}")
        self.name = checks.name(getattr(llm, "name", None), name="the llm's name")
        self._llm = llm
        self._prices = prices or Prices()
        self._usage = Usage()
        self._lock = threading.Lock()

    @property
    def usage(self) -> Usage:
        """The sum of the usage of all answers so far."""
        with self._lock:
            return self._usage

    def complete(self, prompt: Prompt, *, timeout_s: float) -> Completion:
        """As the port says."""
        metrics.count("llm_calls")
        try:
            with metrics.timed("llm_seconds"):
                completion = self._complete(prompt, timeout_s)
        except BaseException:
            metrics.count("llm_failures")
            raise
        usage = self._prices.price(completion.usage)
        metrics.count("llm_input_tokens", usage.input_tokens)
        metrics.count("llm_output_tokens", usage.output_tokens)
        with self._lock:
            self._usage += usage
        return replace(completion, usage=usage)

    def _complete(self, prompt: Prompt, timeout_s: float) -> Completion:
        try:
            completion = self._llm.complete(prompt, timeout_s=timeout_s)
        except EngrainError:
            raise
        except Exception as error:  # noqa: BLE001  # whoever wrote it, one policy covers it
            # Its message stays here: it may quote the prompt.
            _LOG.debug("the LLM %s failed", self.name, exc_info=error)
            raise EngineUnavailable(f"the LLM {self.name} failed with {type(error).__name__}") from None
        if not isinstance(cast("object", completion), Completion):
            raise EngineUnavailable(f"the LLM {self.name} gave {type(completion).__name__}, not a Completion")
        return completion
