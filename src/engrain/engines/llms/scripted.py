"""LLM with prepared answers, for tests, examples and replays."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from engrain.domain.runs.completions import Completion, Prompt
from engrain.engines.llms.responses import parse_text
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterable


class ScriptedLLM:
    """LLM that gives its replies in order and raises those that are errors. `prompts` records the requests."""

    name = "scripted"

    def __init__(self, replies: Iterable[str | Exception]) -> None:
        """Answer with `replies`, one a call."""
        self.prompts: list[Prompt] = []
        self._replies = iter(replies)
        self._lock = threading.Lock()

    def complete(self, prompt: Prompt, *, timeout_s: float) -> Completion:  # noqa: ARG002  # answers at once
        """As the port says.

        Raises:
            EngineUnavailable: there is no reply left, or it is empty.
        """
        with self._lock:
            self.prompts.append(prompt)
            reply = next(self._replies, None)
        if reply is None:
            raise EngineUnavailable(f"the scripted replies are used up after {len(self.prompts) - 1}")
        if isinstance(reply, Exception):
            raise reply
        return Completion(text=parse_text(reply, f"the LLM {self.name}"))
