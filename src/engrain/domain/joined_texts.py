"""Search of many texts for phrases at once: most have none, and are not looked at one by one."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SEPARATOR = "\n"


class JoinedTexts:
    """Texts in small letters, in one."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.lowered = list(map(str.lower, texts))
        self.joined = _SEPARATOR.join(self.lowered)

    @cached_property
    def foreign(self) -> set[int]:
        """The places of the texts that are not of ASCII alone."""
        if self.joined.isascii():
            return set()
        return {place for place, text in enumerate(self.lowered) if not text.isascii()}

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate([len(text) + len(_SEPARATOR) for text in self.lowered], initial=0))

    def find(self, phrases: Iterable[str]) -> set[int]:
        """Find the places of the texts that hold one of some phrases, which are in small letters."""
        found = set()
        for phrase in phrases:
            at = self.joined.find(phrase)
            while at >= 0:
                place = bisect_right(self._starts, at) - 1
                found.add(place)
                at = self.joined.find(phrase, self._starts[place + 1])
        return found
