"""The part of a long text that says most of what was asked, cut at words, an ellipsis where something is missing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engrain.context.lines import ELLIPSIS, flat
from engrain.domain.text.analysis import terms

if TYPE_CHECKING:
    from collections.abc import Callable

_SENTENCE_END = re.compile(r"(?<=[.!?\u2026\u3002])[\"')\]*_]*\s+|\s*\n\s*")
# A word, or a piece of a text that has no spaces.
_WORD = re.compile(r"\s*\S{1,32}")
_LEAST_CHARACTERS = 24  # fewer say nothing
_MOST_CHARACTERS = 100_000  # of a text are looked at


def clip(text: str, asked: str, fits: Callable[[str], bool]) -> str | None:
    """The longest part that fits, from the sentence on that holds most of the words asked for; the first of several.

    Where the text ends before the room does, it begins earlier. None where so little fits that it would say nothing.
    """
    flattened, start = _from_best_sentence(text[:_MOST_CHARACTERS], asked)
    words = _WORD.findall(flattened)
    first = next((place for place, end in enumerate(_ends(words)) if end > start), 0)

    def part(low: int, high: int) -> str:
        kept = "".join(words[low:high]).strip()
        is_end = high == len(words) and len(text) <= _MOST_CHARACTERS
        return f"{f'{ELLIPSIS} ' if low else ''}{kept}{'' if is_end else f' {ELLIPSIS}'}"

    last = _most(len(words) - first, lambda count: fits(part(first, first + count))) + first
    if last == len(words):
        first -= _most(first, lambda count: fits(part(first - count, last)))
    return part(first, last) if len("".join(words[first:last])) >= _LEAST_CHARACTERS else None


def find_best_sentence(text: str, asked: str) -> str:
    """The sentence, on one line, that holds most of the words asked for; the first of several."""
    sentences, best = _best(text[:_MOST_CHARACTERS], asked)
    return sentences[best] if sentences else ""


def _from_best_sentence(text: str, asked: str) -> tuple[str, int]:
    """The text on one line, and where in it the best sentence begins."""
    sentences, best = _best(text, asked)
    return " ".join(sentences), sum(len(each) + 1 for each in sentences[:best])


def _best(text: str, asked: str) -> tuple[list[str], int]:
    wanted = set(terms(asked))
    sentences = [flat(each) for each in _SENTENCE_END.split(text) if each.strip()]
    held = [len(wanted & set(terms(each))) for each in sentences]
    return sentences, held.index(max(held)) if held else 0


def _ends(words: list[str]) -> list[int]:
    ends, end = [], 0
    for word in words:
        end += len(word)
        ends.append(end)
    return ends


def _most(high: int, holds: Callable[[int], bool]) -> int:
    """The largest number up to `high` for which it holds, as it does for all below it; 0 where it holds for none."""
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low
