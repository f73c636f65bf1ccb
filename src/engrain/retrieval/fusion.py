"""Ranked lists in, one score for each memory out: pure, and the same whichever channel answered first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

from engrain.retrieval.channels import CHANNELS
from engrain.retrieval.contributions import ContributionRow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engrain.domain.requests import Candidate, Ref
    from engrain.retrieval.presets import Fusion, Preset

    Lists: TypeAlias = Mapping[str, Sequence[Candidate]]
    Weights: TypeAlias = Mapping[str, float]
    Contributions: TypeAlias = Sequence[Mapping[Ref, ContributionRow]]

# Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual rank learning methods"
# (SIGIR 2009).
RRF_K = 60
MAX_IMPORTANCE = 10.0

# Channels whose numbers have no fixed range count relative to the best of the list.
_RELATIVE = frozenset({"keyword", "entity"})


def fuse(lists: Lists, preset: Preset, *, depth: int) -> dict[Ref, tuple[ContributionRow, ...]]:
    """Compute the contribution of each channel to each candidate of any list, in the preset's order of channels.

    A list is best first and holds a ref once. `depth` is the length a list was cut to. A missing list is
    of a channel that could not answer: it takes nothing from the others.
    """
    weights = {channel: weight for channel, weight in preset.weights.items() if channel in CHANNELS}
    weighted = {channel: lists[channel] for channel in weights if channel in lists}
    fused: dict[Ref, tuple[ContributionRow, ...]] = {
        candidate.ref: () for candidates in weighted.values() for candidate in candidates
    }
    for contributions in FUSIONS[preset.fusion](weighted, weights, depth):
        for ref, contribution in contributions.items():
            fused[ref] += (contribution,)
    return fused


def value(lists: Lists, weights: Weights, depth: int) -> Contributions:
    """`weight * raw`, with the channel's number on a scale of about 1; only for the candidates of the list."""
    return [_by_value(channel, weights[channel], candidates, depth) for channel, candidates in lists.items()]


def rrf(lists: Lists, weights: Weights, depth: int) -> Contributions:  # noqa: ARG001  # one signature for all fusions
    """`weight / (60 + rank)`; only for the candidates of the list."""
    return [_by_rank(channel, weights[channel], candidates) for channel, candidates in lists.items()]


def rrf_full(lists: Lists, weights: Weights, depth: int) -> Contributions:
    """`weight / (60 + rank)`; a candidate that this list lacks ranks just behind its end, at depth + 1."""
    behind = {candidate.ref: depth + 1 for candidates in lists.values() for candidate in candidates}
    return [_by_rank(channel, weights[channel], candidates, behind) for channel, candidates in lists.items()]


def relevance(lists: Lists, weights: Weights, depth: int) -> Contributions:
    """Full reciprocal ranks as a share of the best possible, 1 in every list, times the weight of all lists together.

    Missing lists leave their weight to the others: the best possible stays what it is.
    """
    present = math.fsum(weights[channel] for channel in lists)
    whole = math.fsum(weights.values())
    best = 1 / (RRF_K + 1)
    return rrf_full(lists, {channel: weights[channel] / present * whole / best for channel in lists}, depth)


def blend(lists: Lists, weights: Weights, depth: int) -> Contributions:
    """`weight * (1 - index / n)` of the keyword list; every other list by value.

    Linear from 1 at the top to 1/n at the end: each candidate counts something. Where TF-IDF distinguishes nothing,
    the keyword list has its weight too.
    """
    unused = 0.0 if lists.get("tfidf") else weights.get("tfidf", 0.0)
    return [
        _by_position(channel, weights[channel] + unused, candidates, len(candidates))
        if channel == "keyword"
        else _by_value(channel, weights[channel], candidates, depth)
        for channel, candidates in lists.items()
    ]


FUSIONS: Mapping[Fusion, Callable[[Lists, Weights, int], Contributions]] = {
    "value": value,
    "weighted": value,
    "rrf": rrf,
    "rrf_full": rrf_full,
    "relevance": relevance,
    "blend": blend,
}


def _by_value(channel: str, weight: float, candidates: Sequence[Candidate], depth: int) -> dict[Ref, ContributionRow]:
    """`weight` times the channel's number on a scale of about 1."""
    if channel == "newest":  # its number is a date: its rank counts
        return _by_position(channel, weight, candidates, depth)
    best = MAX_IMPORTANCE if channel == "important" else 1.0
    if channel in _RELATIVE:
        best = max((candidate.raw for candidate in candidates), default=0.0)
    return {
        candidate.ref: ContributionRow(
            channel, rank, candidate.raw, weight, weight * candidate.raw / best if best else 0.0
        )
        for rank, candidate in enumerate(candidates, start=1)
    }


def _by_rank(
    channel: str, weight: float, candidates: Sequence[Candidate], absent: Mapping[Ref, int] | None = None
) -> dict[Ref, ContributionRow]:
    """`weight / (60 + rank)`; `absent`: the ranks of candidates that the list lacks."""
    ranks = {candidate.ref: (rank, candidate.raw) for rank, candidate in enumerate(candidates, start=1)}
    ranks |= {ref: (rank, 0.0) for ref, rank in (absent or {}).items() if ref not in ranks}
    return {
        ref: ContributionRow(channel, rank, raw, weight, weight / (RRF_K + rank)) for ref, (rank, raw) in ranks.items()
    }


def _by_position(
    channel: str, weight: float, candidates: Sequence[Candidate], length: int
) -> dict[Ref, ContributionRow]:
    """`weight * (1 - index / length)`."""
    return {
        candidate.ref: ContributionRow(channel, index + 1, candidate.raw, weight, weight * (1 - index / length))
        for index, candidate in enumerate(candidates)
    }
