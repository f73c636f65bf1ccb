"""Host of plain vectors, the baseline: every text as it was said, the nearest by cosine first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bench.everyday.judging import Reply
from bench.everyday.parsing import labels, split_parts
from bench.everyday.script import BUDGET_TOKENS, MOST_HITS
from engrain.domain.text.tokens import approximate_tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bench.everyday.script import Aspect, Step
    from engrain.domain.ports import Embedder


@dataclass(frozen=True, slots=True)
class _Text:
    content: str
    vector: NDArray[np.float32]
    user: str | None
    label: str | None


class VectorsHost:
    """Host of a list of texts and their vectors, of each user apart; a correction takes the place of the old text."""

    aspects: frozenset[Aspect] = frozenset({"hits", "block"})

    def __init__(self, *, embedder: Embedder) -> None:
        """Begin with no texts."""
        self._embedder = embedder
        self._texts: list[_Text] = []

    def store(self, step: Step) -> None:
        """Add the text of a message."""
        self._add(step, step.text)

    def ask(self, step: Step) -> Reply:
        """Order all texts by cosine; the block is as many of the nearest as its budget holds."""
        ranked = self._rank(step)
        lines: list[str] = []
        for text in ranked:
            if approximate_tokens("\n".join([*lines, f"- {text}"])) <= int(step.settings.get("budget", BUDGET_TOKENS)):
                lines.append(f"- {text}")
        return Reply(hits=tuple(ranked[:MOST_HITS]), block="\n".join(lines))

    def perform(self, step: Step) -> Reply:
        """Add, replace or delete a text; a text to handle is searched for, then added."""
        match step.verb:
            case "remember":
                self._add(step, " ".join(split_parts(step.text)))
            case "correct":
                self._delete({step.label})
                self._add(step, step.text)
            case "forget":
                self._delete(set(labels(step.text)))
            case "handle":
                reply = self.ask(step)
                self._add(step, step.text)
                return reply
            case _:
                pass
        return Reply()

    def _rank(self, step: Step) -> list[str]:
        visible = [text for text in self._texts if text.user in (None, step.user)]
        if not visible:
            return []
        [question] = self._embedder.embed([step.text], role="query")
        cosines = np.array([text.vector for text in visible]) @ question
        return [visible[place].content for place in np.argsort(-cosines, kind="stable")]

    def _add(self, step: Step, content: str) -> None:
        user = None if step.settings.get("scope") == "global" else step.user
        [vector] = self._embedder.embed([content], role="document")
        self._texts.append(_Text(content, vector, user, step.label))

    def _delete(self, gone: set[str | None]) -> None:
        self._texts = [text for text in self._texts if text.label is None or text.label not in gone]
