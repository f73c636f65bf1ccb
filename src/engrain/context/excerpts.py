"""Excerpts of long texts: the part that says most of a query, cut at words, with an ellipsis for what is gone."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from engrain.domain.text.analysis import MARKS, terms
from engrain.domain.text.bisection import find_largest
from engrain.domain.text.patterns import lazy_pattern
from engrain.domain.text.prompt_safety import flatten

if TYPE_CHECKING:
    from collections.abc import Callable

ELLIPSIS = "\u2026"
# Full stops of Arabic, Hindi, Armenian and Ethiopic, too; those of Chinese and Japanese are followed by no space.
_SENTENCE_END = lazy_pattern(
    r"(?<=[.!?\u2026\u3002\u061f\u06d4\u0964\u0589\u1362])[\"')\]*_]*\s+|(?<=[\u3002\uff01\uff1f])(?![\u300d\u300f\uff09\"')])|\n"
)
_UNSPACED_ENDS = ("\u3002", "\uff01", "\uff1f")
# A word, or a piece of a text that has no spaces: never a part of what is read as one character, such as a letter with
# its marks, or a family of emoji.
_WORD = lazy_pattern(
    rf"\s*\S{{1,32}}(?:[{MARKS}\u20d0-\u20ff\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]|\u200d\S?|(?<=\u200d)\S){{0,32}}"
)
_LEAST_CHARACTERS = 24  # fewer say nothing
_MOST_CHARACTERS = 100_000  # of a text are read


def clip(text: str, query: str, fits: Callable[[str], bool]) -> str | None:
    """The longest part that fits, from the first of the sentences with most words of the query on.

    Where the text ends before the room does, it begins earlier. None where so little fits that it would say nothing.
    """
    sentences, best = _split(text[:_MOST_CHARACTERS], query)
    spaced = [sentence if sentence.endswith(_UNSPACED_ENDS) else f"{sentence} " for sentence in sentences]
    start = sum(map(len, spaced[:best]))
    words = _WORD.findall("".join(spaced).rstrip())
    first = next((index for index, end in enumerate(accumulate(map(len, words))) if end > start), 0)

    def part(low: int, high: int) -> str:
        excerpt = "".join(words[low:high]).strip()
        is_end = high == len(words) and len(text) <= _MOST_CHARACTERS
        return f"{f'{ELLIPSIS} ' if low else ''}{excerpt}{'' if is_end else f' {ELLIPSIS}'}"

    last = find_largest(len(words) - first, lambda count: fits(part(first, first + count))) + first
    if last == len(words):
        first -= find_largest(first, lambda count: fits(part(first - count, last)))
    return part(first, last) if len("".join(words[first:last])) >= _LEAST_CHARACTERS else None


def find_best_sentence(text: str, query: str) -> str:
    """The sentence, on one line, that has most words of the query; the first of several."""
    sentences, best = _split(text[:_MOST_CHARACTERS], query)
    return sentences[best] if sentences else ""


def _split(text: str, query: str) -> tuple[list[str], int]:
    """The sentences of a text, each on one line, and the index of the best."""
    wanted = set(terms(query))
    sentences = [flatten(sentence) for sentence in _SENTENCE_END.split(text) if sentence.strip()]
    shared = [len(wanted & set(terms(sentence))) for sentence in sentences]
    return sentences, shared.index(max(shared)) if shared else 0
