"""Duplicates among memories: same and nearly same contents, by their words and their vectors. Pure and bounded."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engrain.domain.records import Episode, Fact, MemoryRecord
from engrain.domain.text.analysis import stems, words
from engrain.domain.text.names import name_key
from engrain.domain.text.similarity import jaccard

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray


# Two memories are nearly the same where so much of their words is shared; a little less where their vectors agree.
LEAST_JACCARD = 0.8
LEAST_COSINE, LEAST_JACCARD_BESIDE = 0.93, 0.6
# Fewer words than these resemble each other by chance: "Thanks, see you soon!"
_LEAST_STEMS = {"episode": 6, "fact": 4, "rule": 4}
_LEAST_WORDS_OF_EPISODE = 6
# Of the beginning of a text so much is compared, and a word that more of one group share tells nothing.
_MOST_CHARACTERS = 4_000
_MOST_HOLDERS = 200
_ROWS_AT_ONCE = 512
_MOST_PAIRS = 100_000
# The analyzer leaves these of "don't" and "cannot"; a memory that denies another is not like it.
_DENIALS = frozenset(
    "no not never nor none nothing nobody without cannot don didn doesn isn wasn aren weren hasn haven hadn won wouldn "
    "couldn shouldn".split()
)

Group = tuple[str, ...]  # only memories of one group are compared


@dataclass(frozen=True, slots=True)
class Sketch:
    """The features of a memory that are compared."""

    id: str
    group: Group  # its kind, and of a turn who speaks, of a fact whom it is about
    same: tuple[str, ...] | None  # equal where two say the same; None where that would mean nothing
    stems: frozenset[str]
    marks: frozenset[str]  # numbers and denials: two that differ in these say different things
    is_long: bool  # whether it has words enough to resemble another


class Pair(NamedTuple):
    """Two memories that say nearly the same, `first` with the smaller id; `cosine` is None where one has no vector."""

    first: str
    second: str
    jaccard: float
    cosine: float | None


def build_sketch(memory: MemoryRecord) -> Sketch:
    """The features of a memory; those of a fact include its subject and predicate."""
    match memory:
        case Episode():
            group: Group = ("episode", memory.role, name_key(memory.speaker or ""))
            text = memory.content
            same = (*group, normalize(text)) if len(text.split()) >= _LEAST_WORDS_OF_EPISODE else None
        case Fact():
            group = ("fact", name_key(memory.entity_id or memory.subject))
            text = f"{memory.subject} {memory.predicate} {memory.content}"
            same = (*group, memory.key.predicate, normalize(memory.content))
        case _:
            group, text = ("rule",), memory.content
            same = (*group, normalize(text))
    compared = words(text[:_MOST_CHARACTERS])
    distinct = frozenset(stems(compared))
    return Sketch(
        id=memory.id,
        group=group,
        same=same,
        stems=distinct,
        marks=frozenset(word for word in compared if word in _DENIALS or any(map(str.isdigit, word))),
        is_long=len(distinct) >= _LEAST_STEMS[memory.kind],
    )


def find_duplicates(sketches: Iterable[Sketch]) -> list[tuple[str, ...]]:
    """The ids of those that say the same, ascending, a tuple for each thing said more than once."""
    ids_saying: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for sketch in sketches:
        if sketch.same is not None:
            ids_saying[sketch.same].append(sketch.id)
    return sorted(tuple(sorted(ids)) for ids in ids_saying.values() if len(ids) > 1)


def find_near_duplicates(sketches: Iterable[Sketch], vectors: Mapping[str, NDArray[np.float32]]) -> list[Pair]:
    """Pairs of one group that say nearly but not exactly the same, by ids; at most 100,000."""
    groups: dict[Group, list[Sketch]] = defaultdict(list)
    for sketch in sketches:
        if sketch.is_long:
            groups[sketch.group].append(sketch)
    pairs: list[Pair] = []
    for _, members in sorted(groups.items()):
        members.sort(key=lambda sketch: sketch.id)
        likely = set(_pairs_by_words(members)) | set(_pairs_by_vectors(members, vectors))
        pairs += [pair for one, other in sorted(likely) if (pair := _compare(members[one], members[other], vectors))]
        if len(pairs) >= _MOST_PAIRS:
            break
    return sorted(pairs[:_MOST_PAIRS])


def measure_repetition(later: Sketch, earlier: Sketch) -> float:
    """The share of an earlier memory's words that a later one says again, 0-1; 0 where numbers or denials differ."""
    if not earlier.is_long or not earlier.marks <= later.marks:
        return 0.0
    return len(earlier.stems & later.stems) / len(earlier.stems)


def normalize(text: str) -> str:
    """The text whatever its case, its spaces and the stop at its end."""
    return name_key(text).rstrip(".!? ")


def _compare(one: Sketch, other: Sketch, vectors: Mapping[str, NDArray[np.float32]]) -> Pair | None:
    """The pair, if the two are alike enough."""
    if one.marks != other.marks or (one.same is not None and one.same == other.same):
        return None
    shared = jaccard(one.stems, other.stems)
    cosine = _cosine(vectors.get(one.id), vectors.get(other.id))
    agree = cosine is not None and cosine >= LEAST_COSINE and shared >= LEAST_JACCARD_BESIDE
    if not agree and shared < LEAST_JACCARD:
        return None
    return Pair(one.id, other.id, round(shared, 4), None if cosine is None else round(cosine, 4))


def _cosine(one: NDArray[np.float32] | None, other: NDArray[np.float32] | None) -> float | None:
    return None if one is None or other is None or one.shape != other.shape else float(one @ other)


def _pairs_by_words(members: Sequence[Sketch]) -> Iterator[tuple[int, int]]:
    """Indices of pairs that may share enough words.

    Two sets with a Jaccard index of at least t share one of the `n - ceil(t n) + 1` rarest words of each (prefix
    filtering: Chaudhuri, Ganti, Kaushik, "A primitive operator for similarity joins in data cleaning", ICDE 2006).
    """
    counts = Counter(stem for sketch in members for stem in sketch.stems)
    holders: dict[str, list[int]] = defaultdict(list)
    for index, sketch in enumerate(members):
        rarest = sorted(sketch.stems, key=lambda stem: (counts[stem], stem))
        for stem in rarest[: len(rarest) - int(np.ceil(LEAST_JACCARD * len(rarest))) + 1]:
            holders[stem].append(index)
    for indices in holders.values():
        if len(indices) <= _MOST_HOLDERS:
            yield from combinations(indices, 2)


def _pairs_by_vectors(
    members: Sequence[Sketch], vectors: Mapping[str, NDArray[np.float32]]
) -> Iterator[tuple[int, int]]:
    """Indices of pairs whose vectors point the same way; every pair of the group is compared, in blocks."""
    indices = [index for index, sketch in enumerate(members) if sketch.id in vectors]
    if len({vectors[members[index].id].shape for index in indices}) != 1:
        return
    rows = np.stack([vectors[members[index].id] for index in indices])
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        cosines = rows[start : start + _ROWS_AT_ONCE] @ rows[start:].T
        for one, other in np.argwhere(cosines >= LEAST_COSINE).tolist():
            if one < other:
                yield indices[start + one], indices[start + other]
