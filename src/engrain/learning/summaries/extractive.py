"""The sentences that say most of what several memories say, in their own words. No model: the same texts, the same cut.

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
from engrain.learning.summaries import sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from engrain.domain.ports import TokenCounter

# Of all passages together; each may bring its share of them.
_MOST_SENTENCES = 20_000
_MOST_CHARACTERS = 4_000_000
# A term counts by the root of how many passages have it: rare ones still count.
_TERM_POWER = 0.5
# What a term is still worth each time a chosen sentence has said it.
_WORTH_AGAIN = 0.3
# What a sentence gives is divided by (characters + 32) ** 0.8: short ones do not win by being short alone.
_LENGTH_POWER, _SHORT_CHARACTERS = 0.8, 32
# A passage of many sentences speaks more softly with each: else one long answer drowns a dialogue.
_PASSAGE_POWER = -1 / 3
# "Wow, that's cool!": what has fewer terms counts for so much of what it would.
_FEW_TERMS, _FEW_COUNT = 4, 0.3
# So many sentences in a row that do not fit end the search for smaller ones.
_MOST_MISSES = 50


@dataclass(frozen=True, slots=True)
class Passage:
    """One memory's words; the label, where there is one, stands before them in a summary: who said it, and when."""

    text: str
    label: str = ""
    id: str = ""  # of the memory; without one, a text that is none


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence by its passage's place; `terms` are what it is judged by."""

    passage: int
    text: str
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class Extract:
    """The chosen sentences as one text, and the places of the passages they are of, in order."""

    text: str
    passages: tuple[int, ...] = ()


def extract(passages: Sequence[Passage], target_tokens: int, count_tokens: TokenCounter) -> Extract:
    """The best sentences in their order, a line for each passage that has some; never more than `target_tokens`.

    Sentences without a word of meaning, and those with the same words as an earlier one, are left out. Where not even
    one sentence fits, the best is cut; empty where nothing of it fits.
    """
    found = list_candidates(passages)
    chosen = list(range(len(found)))
    text = render(passages, found, chosen)
    if not _fits(text, target_tokens, count_tokens):
        chosen = sorted(_within(passages, found, target_tokens, count_tokens))
        text = render(passages, found, chosen)
    if found and not chosen:
        chosen = [next(rank_by_coverage(found))]
        text = clip(render(passages, found, chosen), target_tokens, count_tokens)
    return Extract(text, tuple(dict.fromkeys(found[each].passage for each in chosen)) if text else ())


def list_candidates(passages: Sequence[Passage]) -> list[Sentence]:
    """What may be chosen: the sentences of all passages in order, bounded, each saying something of its own."""
    share = max(_MOST_SENTENCES // max(len(passages), 1), 1)
    longest = max(_MOST_CHARACTERS // max(len(passages), 1), sentences.MOST_CHARACTERS)
    seen: set[frozenset[str]] = {frozenset()}
    found: list[Sentence] = []
    for place, passage in enumerate(passages):
        for text in sentences.split(passage.text[:longest])[:share]:
            said = frozenset(terms(text))
            if said not in seen:
                seen.add(said)
                found.append(Sentence(place, text, said))
    return found


def rank_by_coverage(found: Sequence[Sentence]) -> Iterator[int]:
    """Every candidate's index, the one first that adds most to those before it; ties by place."""
    worth = _worths(found)
    of_passage = Counter(each.passage for each in found)
    said: Counter[str] = Counter()

    def gain(index: int) -> float:
        sentence = found[index]
        new = sum(worth[term] * _WORTH_AGAIN ** said[term] for term in sorted(sentence.terms))
        new *= _FEW_COUNT if len(sentence.terms) < _FEW_TERMS else 1.0
        return new * float(of_passage[sentence.passage] ** _PASSAGE_POWER) / _length(sentence.text)

    # What a sentence adds only ever falls: one that is still the best when it is judged anew is the best.
    waiting = [(-gain(index), index) for index in range(len(found))]
    heapify(waiting)
    while waiting:
        _, index = heappop(waiting)
        now = (-gain(index), index)
        if waiting and now > waiting[0]:
            heappush(waiting, now)
            continue
        yield index
        said.update(found[index].terms)


def render(passages: Sequence[Passage], found: Sequence[Sentence], chosen: Iterable[int]) -> str:
    """The chosen sentences, a line for each passage, behind its label."""
    lines: dict[int, list[str]] = {}
    for index in chosen:
        lines.setdefault(found[index].passage, []).append(found[index].text)
    return "\n".join(_head(passages[place]) + " ".join(said) for place, said in lines.items())


def clip(text: str, target_tokens: int, count_tokens: TokenCounter) -> str:
    """The beginning of a text that fits, ended by an ellipsis at a word where it has words; empty where none does."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if _fits(_ended(text, middle), target_tokens, count_tokens):
            low = middle
        else:
            high = middle - 1
    cut = _ended(text, low)
    return cut if low and _fits(cut, target_tokens, count_tokens) else ""


def _within(
    passages: Sequence[Passage], found: Sequence[Sentence], target_tokens: int, count_tokens: TokenCounter
) -> list[int]:
    """The best candidates that fit together, best first.

    Each is counted alone, which is quick; all are counted together where rounding may decide, and at the end.
    """

    def spent(indices: Iterable[int]) -> int:
        text = render(passages, found, sorted(indices))
        return count_tokens(text) if text else 0

    cost = _costs(passages, found, count_tokens)
    chosen: list[int] = []
    opened: set[int] = set()
    left, misses = target_tokens, 0
    for index in rank_by_coverage(found):
        price = cost(index, found[index].passage not in opened)
        rounding = len(chosen) + 1
        if price > left and price <= left + rounding:
            left = target_tokens - spent([*chosen, index]) + price
        if price > left:
            misses += 1
            if misses >= _MOST_MISSES:
                break
            continue
        chosen.append(index)
        opened.add(found[index].passage)
        left, misses = left - price, 0
    while chosen and spent(chosen) > target_tokens:
        chosen.pop()
    return chosen


def _costs(
    passages: Sequence[Passage], found: Sequence[Sentence], count_tokens: TokenCounter
) -> Callable[[int, bool], int]:
    def cost(index: int, begins_line: bool) -> int:  # noqa: FBT001  # a function of this module alone
        before = "\n" + _head(passages[found[index].passage]) if begins_line else " "
        return count_tokens(before + found[index].text)

    return cost


def _worths(found: Sequence[Sentence]) -> Mapping[str, float]:
    """What each term is worth: by how many passages have it."""
    passages_of = Counter(term for _, term in {(each.passage, term) for each in found for term in each.terms})
    return {term: count**_TERM_POWER for term, count in passages_of.items()}


def _length(text: str) -> float:
    return float((len(text) + _SHORT_CHARACTERS) ** _LENGTH_POWER)


def _head(passage: Passage) -> str:
    return f"{' '.join(passage.label.split())}: " if passage.label else ""


def _fits(text: str, target_tokens: int, count_tokens: TokenCounter) -> bool:
    return not text or count_tokens(text) <= target_tokens


def _ended(text: str, length: int) -> str:
    if length >= len(text):
        return text
    space = text.rfind(" ", 0, length + 1)
    return text[: space if space > length // 2 else length].rstrip() + "\u2026"
