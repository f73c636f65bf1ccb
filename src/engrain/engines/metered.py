"""A language model with a meter on it: what its answers cost, how long they took, and how often there was none."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from engrain import metrics
from engrain.domain import checks
from engrain.domain.runs.completions import Completion, Usage
from engrain.errors import EngineUnavailable, EngrainError, InvalidInput

if TYPE_CHECKING:
    from engrain.domain.ports import LLM
    from engrain.domain.runs.completions import Prompt

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """US dollars for a million tokens; None where nobody knows."""

    input_usd_per_million: float | None = None
    output_usd_per_million: float | None = None

    def of(self, usage: Usage) -> Usage:
        """The usage with what it cost; as unpriced where a price or the tokens are unknown."""
        if usage.cost_usd > 0 or not usage.calls:
            return usage
        given, got = self.input_usd_per_million, self.output_usd_per_million
        if given is None or got is None or not usage.input_tokens + usage.output_tokens:
            return replace(usage, unpriced_calls=usage.calls)
        return replace(usage, cost_usd=(usage.input_tokens * given + usage.output_tokens * got) / 1e6)


class MeteredLLM:
    """Another LLM, whoever wrote it; whatever it raises that is no error of engrain leaves as EngineUnavailable.

    Thread-safe. `usage` adds up all answers since it was made.
    """

    def __init__(self, llm: LLM, prices: Prices | None = None) -> None:
        """Ask `llm`.

        Raises:
            InvalidInput: it lacks what an LLM has.
        """
        if isinstance(llm, type) or not callable(getattr(llm, "complete", None)):
            hint = "wrap a function in engrain.engines.CallableLLM" if callable(llm) else "see the docs"
            raise InvalidInput(f"llm {llm!r:.80} must be provider:model or have name and complete(); {hint}")
        self.name = checks.name(getattr(llm, "name", None), what="the llm's name")
        self._llm = llm
        self._prices = prices or Prices()
        self._usage = Usage()
        self._adding = threading.Lock()

    @property
    def usage(self) -> Usage:
        """What all answers cost so far."""
        with self._adding:
            return self._usage

    def complete(self, prompt: Prompt, *, timeout_s: float) -> Completion:
        """As the port says."""
        metrics.count("llm_calls")
        try:
            with metrics.timed("llm_seconds"):
                completion = self._asked(prompt, timeout_s)
        except BaseException:
            metrics.count("llm_failures")
            raise
        usage = self._prices.of(completion.usage)
        metrics.count("llm_input_tokens", usage.input_tokens)
        metrics.count("llm_output_tokens", usage.output_tokens)
        with self._adding:
            self._usage += usage
        return replace(completion, usage=usage)

    def _asked(self, prompt: Prompt, timeout_s: float) -> Completion:
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
