"""A language model whose answers are known beforehand: for tests, examples, and runs played back."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from engrain.domain.runs.completions import Completion
from engrain.engines.answers import text_of
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engrain.domain.runs.completions import Prompt


class ScriptedLLM:
    """Gives its replies in order; a reply that is an error is raised. What it was asked stands in `prompts`."""

    name = "scripted"

    def __init__(self, replies: Iterable[str | Exception]) -> None:
        """Answer with `replies`, one a call."""
        self.prompts: list[Prompt] = []
        self._replies = iter(replies)
        self._asking = threading.Lock()

    def complete(self, prompt: Prompt, *, timeout_s: float) -> Completion:  # noqa: ARG002  # answers at once
        """As the port says.

        Raises:
            EngineUnavailable: there is no reply left, or it is empty.
        """
        with self._asking:
            self.prompts.append(prompt)
            reply = next(self._replies, None)
        if reply is None:
            raise EngineUnavailable(f"the scripted replies are used up after {len(self.prompts) - 1}")
        if isinstance(reply, Exception):
            raise reply
        return Completion(text=text_of(reply, f"the LLM {self.name}"))
