"""Extractive summaries: the sentences that say most of several memories. No model: the same texts, the same cut.

Greedy maximum coverage with diminishing returns and a cost for length, after Lin and Bilmes, "A Class of Submodular
Functions for Document Summarization" (2011, https://aclanthology.org/P11-1052/). `python -m bench.summaries` measures
it beside a centroid, LexRank, the lead and chance; the figures are in bench/README.md.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from engrain.domain.text.analysis import terms
from engrain.domain.text.bisection import find_largest
from engrain.learning.summaries import sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from engrain.domain.ports import TokenCounter
    from engrain.learning.summaries.passages import Passage

# Of all passages together; each may bring its share of them.
_MOST_SENTENCES = 20_000
_MOST_CHARACTERS = 4_000_000
# A term counts by the root of how many passages have it: rare ones still count.
_TERM_POWER = 0.5
# The share of its worth that a term has left each time a chosen sentence has said it.
_WORTH_AGAIN = 0.3
# The gain of a sentence is divided by (characters + 32) ** 0.8: short ones do not win by being short alone.
_LENGTH_POWER, _SHORT_CHARACTERS = 0.8, 32
# A passage of many sentences speaks more softly with each: else one long answer drowns a dialogue.
_PASSAGE_POWER = -1 / 3
# "Wow, that's cool!": a sentence of fewer terms counts for this share.
_FEW_TERMS, _FEW_COUNT = 4, 0.3
# So many sentences in a row that do not fit end the search for smaller ones.
_MOST_MISSES = 50


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, by the index of its passage; `terms` are what it is judged by."""

    passage: int
    text: str
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class Extract:
    """The chosen sentences as one text, and the indices of the passages they are of, in order."""

    text: str
    passages: tuple[int, ...] = ()


def extract(passages: Sequence[Passage], target_tokens: int, count_tokens: TokenCounter) -> Extract:
    """The best sentences in their order, a line for each passage that has some; never more than `target_tokens`.

    Sentences without a word of meaning, and those with the same words as an earlier one, are left out. Where not even
    one sentence fits, the best is cut; empty where nothing of it fits.
    """
    candidates = list_candidates(passages)
    chosen = list(range(len(candidates)))
    text = render(passages, candidates, chosen)
    if not _fits(text, target_tokens, count_tokens):
        chosen = sorted(_choose(passages, candidates, target_tokens, count_tokens))
        text = render(passages, candidates, chosen)
    if candidates and not chosen:
        chosen = [next(rank_by_coverage(candidates))]
        text = clip(render(passages, candidates, chosen), target_tokens, count_tokens)
    return Extract(text, tuple(dict.fromkeys(candidates[index].passage for index in chosen)) if text else ())


def list_candidates(passages: Sequence[Passage]) -> list[Sentence]:
    """The sentences of all passages in order, bounded, each saying something of its own."""
    share = max(_MOST_SENTENCES // max(len(passages), 1), 1)
    longest = max(_MOST_CHARACTERS // max(len(passages), 1), sentences.MOST_CHARACTERS)
    seen: set[frozenset[str]] = {frozenset()}
    candidates: list[Sentence] = []
    for index, passage in enumerate(passages):
        for text in sentences.split(passage.text[:longest])[:share]:
            distinct = frozenset(terms(text))
            if distinct not in seen:
                seen.add(distinct)
                candidates.append(Sentence(index, text, distinct))
    return candidates


def rank_by_coverage(candidates: Sequence[Sentence]) -> Iterator[int]:
    """The index of every candidate, the one first that adds most to those before it; ties by position."""
    # A term is worth the more the more passages have it.
    spread = Counter(
        term for _, term in {(sentence.passage, term) for sentence in candidates for term in sentence.terms}
    )
    worth = {term: count**_TERM_POWER for term, count in spread.items()}
    of_passage = Counter(sentence.passage for sentence in candidates)
    covered: Counter[str] = Counter()

    def gain(index: int) -> float:
        sentence = candidates[index]
        new: float = sum(worth[term] * _WORTH_AGAIN ** covered[term] for term in sorted(sentence.terms))
        new *= _FEW_COUNT if len(sentence.terms) < _FEW_TERMS else 1.0
        length = float((len(sentence.text) + _SHORT_CHARACTERS) ** _LENGTH_POWER)
        return new * float(of_passage[sentence.passage] ** _PASSAGE_POWER) / length

    # The gain of a sentence only ever falls: one that is still the best when it is judged anew is the best.
    waiting = [(-gain(index), index) for index in range(len(candidates))]
    heapify(waiting)
    while waiting:
        _, index = heappop(waiting)
        now = (-gain(index), index)
        if waiting and now > waiting[0]:
            heappush(waiting, now)
            continue
        yield index
        covered.update(candidates[index].terms)


def render(passages: Sequence[Passage], candidates: Sequence[Sentence], chosen: Iterable[int]) -> str:
    """The chosen sentences, a line for each passage, behind its label."""
    lines: dict[int, list[str]] = {}
    for index in chosen:
        lines.setdefault(candidates[index].passage, []).append(candidates[index].text)
    return "\n".join(_head(passages[index]) + " ".join(texts) for index, texts in lines.items())


def clip(text: str, target_tokens: int, count_tokens: TokenCounter) -> str:
    """The beginning of a text that fits, ended by an ellipsis at a word where it has words; empty where none does."""
    length = find_largest(len(text), lambda length: _fits(_cut(text, length), target_tokens, count_tokens))
    excerpt = _cut(text, length)
    return excerpt if length and _fits(excerpt, target_tokens, count_tokens) else ""


def _choose(
    passages: Sequence[Passage], candidates: Sequence[Sentence], target_tokens: int, count_tokens: TokenCounter
) -> list[int]:
    """The best candidates that fit together, best first.

    Each is counted alone, which is quick; all are counted together where rounding may decide, and at the end.
    """

    def total(indices: Iterable[int]) -> int:
        text = render(passages, candidates, sorted(indices))
        return count_tokens(text) if text else 0

    chosen: list[int] = []
    opened: set[int] = set()
    left, misses = target_tokens, 0
    for index in rank_by_coverage(candidates):
        sentence = candidates[index]
        before = " " if sentence.passage in opened else "\n" + _head(passages[sentence.passage])
        cost = count_tokens(before + sentence.text)
        rounding = len(chosen) + 1
        if left < cost <= left + rounding:
            left = target_tokens - total([*chosen, index]) + cost
        if cost > left:
            misses += 1
            if misses >= _MOST_MISSES:
                break
            continue
        chosen.append(index)
        opened.add(sentence.passage)
        left, misses = left - cost, 0
    while chosen and total(chosen) > target_tokens:
        chosen.pop()
    return chosen


def _head(passage: Passage) -> str:
    return f"{' '.join(passage.label.split())}: " if passage.label else ""


def _fits(text: str, target_tokens: int, count_tokens: TokenCounter) -> bool:
    return not text or count_tokens(text) <= target_tokens


def _cut(text: str, length: int) -> str:
    if length >= len(text):
        return text
    space = text.rfind(" ", 0, length + 1)
    return text[: space if space > length // 2 else length].rstrip() + "\u2026"
