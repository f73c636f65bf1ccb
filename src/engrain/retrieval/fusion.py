"""Ranked lists in, one score for each candidate out, as arithmetic on columns: pure, and the same in whatever order."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from engrain.retrieval.candidates import Share
from engrain.retrieval.channels import CHANNELS
from engrain.storage.search.candidates import RankedDocs, join_docs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from engrain.retrieval.presets import Fusion, Preset

    Columns: TypeAlias = Mapping[str, "Column"]
    Weights: TypeAlias = Mapping[str, float]
    Shares: TypeAlias = Sequence[Share]

# Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual rank learning methods"
# (SIGIR 2009).
RRF_K = 60
MAX_IMPORTANCE = 10.0

# Channels whose numbers have no fixed range count relative to the best of the list.
_RELATIVE = frozenset({"keyword", "entity"})


@dataclass(frozen=True, slots=True)
class Column:
    """One channel's list as columns of all candidates: numbers, and ranks from 1 on; 0 where the list lacks one."""

    raws: NDArray[np.float64]
    ranks: NDArray[np.int64]
    length: int
    best: float

    @property
    def is_listed(self) -> NDArray[np.bool_]:
        """True for the candidates of the list."""
        return self.ranks > 0


def fuse(lists: Mapping[str, RankedDocs], preset: Preset, *, depth: int) -> tuple[NDArray[np.int64], list[Share]]:
    """Return the docs of all lists, ascending, and the share of each channel, in the preset's order of channels.

    A list is best first and holds a doc once. `depth` is the length a list was cut to. A missing list is
    of a channel that could not answer: it takes nothing from the others.
    """
    weights = {channel: weight for channel, weight in preset.weights.items() if channel in CHANNELS}
    weighted = {channel: lists[channel] for channel in weights if channel in lists}
    docs = join_docs(weighted.values())
    columns = {channel: _align(docs, ranked) for channel, ranked in weighted.items()}
    return docs, list(FUSIONS[preset.fusion](columns, weights, depth))


def weigh_keywords_for_vectors(preset: Preset, lists: Mapping[str, RankedDocs]) -> Preset:
    """Put the weight of the vectors on the keywords, where those were queried in their place."""
    if "keyword" not in lists or "keyword" in preset.weights:
        return preset
    weights = {"keyword" if name == "vector" else name: weight for name, weight in preset.weights.items()}
    return replace(preset, weights=weights)


def value(columns: Columns, weights: Weights, depth: int) -> Shares:
    """`weight * raw`, with the channel's number on a scale of about 1; only for the candidates of the list."""
    return [_by_value(channel, weights[channel], column, depth) for channel, column in columns.items()]


def rrf(columns: Columns, weights: Weights, depth: int) -> Shares:  # noqa: ARG001  # one signature for all fusions
    """`weight / (60 + rank)`; only for the candidates of the list."""
    return [_by_rank(channel, weights[channel], column) for channel, column in columns.items()]


def rrf_full(columns: Columns, weights: Weights, depth: int) -> Shares:
    """`weight / (60 + rank)`; a candidate that this list lacks ranks just behind its end, at depth + 1."""
    return [_by_rank(channel, weights[channel], column, absent=depth + 1) for channel, column in columns.items()]


def relevance(columns: Columns, weights: Weights, depth: int) -> Shares:
    """Full reciprocal ranks as a share of the best possible, 1 in every list, times the weight of all lists together.

    Missing lists leave their weight to the others: the best possible stays what it is.
    """
    present = math.fsum(weights[channel] for channel in columns)
    whole = math.fsum(weights.values())
    best = 1 / (RRF_K + 1)
    return rrf_full(columns, {channel: weights[channel] / present * whole / best for channel in columns}, depth)


def blend(columns: Columns, weights: Weights, depth: int) -> Shares:
    """`weight * (1 - index / n)` of the keyword list; every other list by value.

    Linear from 1 at the top to 1/n at the end: each candidate counts something. Where TF-IDF distinguishes nothing,
    the keyword list has its weight too.
    """
    unused = 0.0 if "tfidf" in columns and columns["tfidf"].length else weights.get("tfidf", 0.0)
    return [
        _by_position(channel, weights[channel] + unused, column, column.length)
        if channel == "keyword"
        else _by_value(channel, weights[channel], column, depth)
        for channel, column in columns.items()
    ]


FUSIONS: Mapping[Fusion, Callable[[Columns, Weights, int], Shares]] = {
    "value": value,
    "weighted": value,
    "rrf": rrf,
    "rrf_full": rrf_full,
    "relevance": relevance,
    "blend": blend,
}


def _align(docs: NDArray[np.int64], ranked: RankedDocs) -> Column:
    """Align a list with the rows of all candidates."""
    raws, ranks = np.zeros(len(docs)), np.zeros(len(docs), np.int64)
    rows = np.searchsorted(docs, ranked.docs)
    raws[rows] = ranked.raws
    ranks[rows] = np.arange(1, len(rows) + 1)
    return Column(raws, ranks, len(rows), float(ranked.raws.max()) if len(rows) else 0.0)


def _by_value(channel: str, weight: float, column: Column, depth: int) -> Share:
    """`weight` times the channel's number on a scale of about 1."""
    if channel == "newest":  # its number is a date: its rank counts
        return _by_position(channel, weight, column, depth)
    best = MAX_IMPORTANCE if channel == "important" else column.best if channel in _RELATIVE else 1.0
    values = weight * column.raws / best if best else np.zeros(len(column.raws))
    return Share(channel, weight, column.raws, values, column.is_listed, column.ranks)


def _by_rank(channel: str, weight: float, column: Column, *, absent: int = 0) -> Share:
    """`weight / (60 + rank)`; `absent`: the rank of candidates that the list lacks, if they have one."""
    ranks = np.where(column.is_listed, column.ranks, absent)
    is_given = ranks > 0
    return Share(channel, weight, column.raws, np.where(is_given, weight / (RRF_K + ranks), 0.0), is_given, ranks)


def _by_position(channel: str, weight: float, column: Column, length: int) -> Share:
    """`weight * (1 - index / length)`."""
    values = np.where(column.is_listed, weight * (1 - (column.ranks - 1) / max(length, 1)), 0.0)
    return Share(channel, weight, column.raws, values, column.is_listed, column.ranks)
