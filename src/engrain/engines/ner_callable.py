"""Names by a function that answers in JSON: a language model, or anything that reads a text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

from engrain.domain.entities.registry import NAME_KINDS, Name
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engrain.domain.entities.registry import NameKind

_CONFIDENCE: Final = 0.85
# Surer than what was read off the spelling nobody is.
_SUREST: Final = 0.89


class CallableNames:
    """The `NameFinder` that a function of a text is.

    It returns JSON, as text or parsed: a list, or an object whose `names` is one, of objects with `text`, `kind`
    (person, organization, place, project, email, url, date, mention, hashtag or other) and, where it knows,
    `confidence` in 0-1. Where a name stands is looked up: what is not in the text was made up, and is left out.
    """

    def __init__(self, find: Callable[[str], Any], *, name: str) -> None:
        """Call `find`; `name` stands beside what it finds."""
        self.name = name
        self._find = find

    def find(self, text: str) -> list[Name]:
        """As the port says: every place of every name; names of other kinds are left out.

        Raises:
            EngineUnavailable: the answer is not of that form.
        """
        return sorted(
            {name for said in self._answer(text) for name in self._placed(text, said)},
            key=lambda each: (each.start, each.end, each.kind, -each.confidence),
        )

    def _answer(self, text: str) -> list[dict[str, Any]]:
        said = self._find(text)
        try:
            parsed = json.loads(said) if isinstance(said, str | bytes) else said
        except ValueError as error:
            raise EngineUnavailable(f"the name finder {self.name} gave no JSON: {error}") from error
        names = parsed.get("names") if isinstance(parsed, dict) else parsed
        if not isinstance(names, list) or not all(isinstance(each, dict) for each in names):
            raise EngineUnavailable(f"the name finder {self.name} gave no list of names")  # what it gave may quote
        return names

    def _placed(self, text: str, said: dict[str, Any]) -> Iterator[Name]:
        wanted, kind, confidence = said.get("text"), said.get("kind"), said.get("confidence", _CONFIDENCE)
        if not isinstance(wanted, str) or not wanted.strip() or kind not in NAME_KINDS:
            return
        sure = confidence if isinstance(confidence, int | float) and 0 <= confidence <= 1 else _CONFIDENCE
        start = text.find(wanted)
        while start >= 0:
            end = start + len(wanted)
            yield Name(
                text=wanted,
                kind=cast("NameKind", kind),
                start=start,
                end=end,
                confidence=min(float(sure), _SUREST),
                source=self.name,
            )
            start = text.find(wanted, end)
