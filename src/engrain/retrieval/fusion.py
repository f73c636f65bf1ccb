"""Ranked lists in, one score for each memory out: pure, and the same whichever channel answered first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

from engrain.retrieval.channels import CHANNELS
from engrain.retrieval.shares import Share

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engrain.domain.requests import Candidate, Ref
    from engrain.retrieval.presets import Fusion, Preset

    Lists: TypeAlias = Mapping[str, Sequence[Candidate]]
    Weights: TypeAlias = Mapping[str, float]
    Shares: TypeAlias = Sequence[Mapping[Ref, Share]]

# Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual rank learning methods"
# (SIGIR 2009).
RRF_K = 60
MOST_IMPORTANT = 10.0

# Channels whose numbers have no fixed range count relative to the best of the list.
_RELATIVE = frozenset({"keyword", "entity"})


def fuse(lists: Lists, preset: Preset, *, depth: int) -> dict[Ref, tuple[Share, ...]]:
    """What each channel gives each candidate of any list, in the preset's order of channels.

    A list is best first and holds a ref once. `depth` is the length a list was cut to. A list that is missing is of a
    channel that could not be asked: it takes nothing from the others.
    """
    weights = {channel: weight for channel, weight in preset.weights.items() if channel in CHANNELS}
    asked = {channel: lists[channel] for channel in weights if channel in lists}
    judged: dict[Ref, tuple[Share, ...]] = {each.ref: () for found in asked.values() for each in found}
    for shares in FUSIONS[preset.fusion](asked, weights, depth):
        for ref, share in shares.items():
            judged[ref] += (share,)
    return judged


def value(lists: Lists, weights: Weights, depth: int) -> Shares:
    """`weight * raw`, each channel's number brought to a scale of about 1; a list gives to its own alone."""
    return [_scaled(channel, weights[channel], found, depth) for channel, found in lists.items()]


def rrf(lists: Lists, weights: Weights, depth: int) -> Shares:  # noqa: ARG001  # one signature for all fusions
    """`weight / (60 + rank)`; a list gives to its own alone."""
    return [_by_rank(channel, weights[channel], found) for channel, found in lists.items()]


def rrf_full(lists: Lists, weights: Weights, depth: int) -> Shares:
    """`weight / (60 + rank)`; what another list holds and this one lacks stands just behind its end, at depth + 1."""
    behind = {each.ref: depth + 1 for found in lists.values() for each in found}
    return [_by_rank(channel, weights[channel], found, behind) for channel, found in lists.items()]


def relevance(lists: Lists, weights: Weights, depth: int) -> Shares:
    """Full reciprocal ranks as a share of the best possible, 1 in every list, times the weight of all lists together.

    Lists that could not be asked leave their weight to the others: the best possible stays what it is.
    """
    asked = math.fsum(weights[channel] for channel in lists)
    whole = math.fsum(weights.values())
    best = 1 / (RRF_K + 1)
    return rrf_full(lists, {channel: weights[channel] / asked * whole / best for channel in lists}, depth)


def blend(lists: Lists, weights: Weights, depth: int) -> Shares:
    """`weight * (1 - place / n)` of the keyword list, places from 0; every other list by value.

    Linear from 1 at the top to 1/n at the end: whatever was found counts something. Where TF-IDF tells nothing apart,
    the keyword list has its weight too.
    """
    silent = 0.0 if lists.get("tfidf") else weights.get("tfidf", 0.0)
    return [
        _by_place(channel, weights[channel] + silent, found)
        if channel == "keyword"
        else _scaled(channel, weights[channel], found, depth)
        for channel, found in lists.items()
    ]


FUSIONS: Mapping[Fusion, Callable[[Lists, Weights, int], Shares]] = {
    "value": value,
    "weighted": value,
    "rrf": rrf,
    "rrf_full": rrf_full,
    "relevance": relevance,
    "blend": blend,
}


def _scaled(channel: str, weight: float, candidates: Sequence[Candidate], depth: int) -> dict[Ref, Share]:
    """`weight` times the channel's number on a scale of about 1."""
    best = max((each.raw for each in candidates), default=0.0) if channel in _RELATIVE else 1.0
    ranked = enumerate(candidates, start=1)
    match channel:
        case "newest":  # its number is a date: its place counts
            return {
                each.ref: Share(channel, rank, each.raw, weight, weight * (1 - (rank - 1) / depth))
                for rank, each in ranked
            }
        case "important":
            best = MOST_IMPORTANT
    return {
        each.ref: Share(channel, rank, each.raw, weight, weight * each.raw / best if best else 0.0)
        for rank, each in ranked
    }


def _by_rank(
    channel: str, weight: float, candidates: Sequence[Candidate], absent: Mapping[Ref, int] | None = None
) -> dict[Ref, Share]:
    """`weight / (60 + rank)`; `absent`: the ranks of those the list does not hold."""
    places = {each.ref: (rank, each.raw) for rank, each in enumerate(candidates, start=1)}
    places |= {ref: (rank, 0.0) for ref, rank in (absent or {}).items() if ref not in places}
    return {ref: Share(channel, rank, raw, weight, weight / (RRF_K + rank)) for ref, (rank, raw) in places.items()}


def _by_place(channel: str, weight: float, candidates: Sequence[Candidate]) -> dict[Ref, Share]:
    """`weight * (1 - place / n)`, places from 0."""
    n = len(candidates)
    return {
        each.ref: Share(channel, place + 1, each.raw, weight, weight * (1 - place / n))
        for place, each in enumerate(candidates)
    }
