"""Recorded replies: a folder of numbered replies of a language model, written by one run and read by the next."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engrain.domain.runs.completions import Completion
from engrain.domain.text.tokens import approximate_tokens
from engrain.engines.llms.responses import system_prompt
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from pathlib import Path

    from engrain.domain.ports import LLM
    from engrain.domain.runs.completions import Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Prompts and replies so far, with their tokens (characters / 4); `changed` prompts are not as recorded."""

    prompts: int = 0
    changed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


class ReplyFolder:
    """LLM that answers from a folder where a reply is recorded, and else asks `inner` and records what it says.

    Replies are found by their number, so that a change of the prompt's wording does not lose them; beside each stands
    the digest of the data it was given for, and replies to other data are counted. Thread-safe.
    """

    def __init__(self, folder: Path, inner: LLM | None) -> None:
        """Read and write `folder`, which is made if missing; without `inner` every reply has to be there."""
        self.name = "recorded" if inner is None else inner.name
        self.traffic = Traffic()
        self._folder, self._inner = folder, inner
        self._lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)

    def complete(self, prompt: Prompt, *, timeout_s: float) -> Completion:
        """As the port says.

        Raises:
            EngineUnavailable: no reply of that number is recorded, and there is nobody to ask.
        """
        with self._lock:
            number = self.traffic.prompts + 1
            reply, data = self._folder / f"{number:03}.reply.txt", self._folder / f"{number:03}.sha256"
            digest = hashlib.sha256(prompt.user.encode("utf-8", "replace")).hexdigest()
            if not reply.exists():
                if self._inner is None:
                    raise EngineUnavailable(f"{reply} is missing: {number - 1} replies are recorded there")
                reply.write_text(self._inner.complete(prompt, timeout_s=timeout_s).text, encoding="utf-8")
                data.write_text(f"{digest}\n", encoding="utf-8")
            text = reply.read_text(encoding="utf-8")
            self.traffic = replace(
                self.traffic,
                prompts=number,
                changed=self.traffic.changed + (data.read_text(encoding="utf-8").strip() != digest),
                tokens_in=self.traffic.tokens_in + approximate_tokens(f"{system_prompt(prompt)}\n\n{prompt.user}"),
                tokens_out=self.traffic.tokens_out + approximate_tokens(text),
            )
        return Completion(text=text)
