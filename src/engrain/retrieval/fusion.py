"""Ranked lists in, one score for each memory out: pure, and the same whichever channel answered first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.records import Contribution

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from engrain.domain.requests import Candidate, Ref
    from engrain.retrieval.presets import Channel, Preset

# Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual rank learning methods"
# (SIGIR 2009).
RRF_K = 60

# Channels whose numbers have no fixed range count relative to the best of the list.
_RELATIVE: frozenset[Channel] = frozenset({"keyword"})


def fuse(
    lists: Mapping[Channel, Sequence[Candidate]], preset: Preset, *, limit: int
) -> dict[Ref, tuple[Contribution, ...]]:
    """What each channel gives each candidate of any list, in the preset's order of channels.

    A list is best first and holds a ref once. `limit` is the length a list was cut to; `rrf_full` gives a candidate
    that is absent from it the next rank.
    """
    judged: dict[Ref, tuple[Contribution, ...]] = {
        each.ref: () for channel in preset.weights for each in lists.get(channel, ())
    }
    for channel, weight in preset.weights.items():
        if channel not in lists:
            continue
        match preset.fusion:
            case "value":
                shares = _values(channel, weight, lists[channel])
            case "rrf_full":
                shares = _reciprocal_ranks(channel, weight, lists[channel], judged, absent=limit + 1)
        for ref, share in shares.items():
            judged[ref] += (share,)
    return judged


def with_session(
    judged: Mapping[Ref, tuple[Contribution, ...]], sessions: Mapping[Ref, Hashable], weight: float
) -> dict[Ref, tuple[Contribution, ...]]:
    """Each candidate also gains `weight` times the best score of its session: evidence lies near evidence.

    One without a session is a session of its own, so that facts lose nothing to turns.
    """
    scores = {ref: sum(share.value for share in shares) for ref, shares in judged.items()}
    best: dict[Hashable, float] = {}
    for ref, score in scores.items():
        place = sessions.get(ref, (ref,))
        best[place] = max(score, best.get(place, score))
    return {
        ref: (*shares, _unranked("session", best[sessions.get(ref, (ref,))], weight)) for ref, shares in judged.items()
    }


def with_speaker(
    judged: Mapping[Ref, tuple[Contribution, ...]], theirs: frozenset[Ref], weight: float
) -> dict[Ref, tuple[Contribution, ...]]:
    """The candidates said by whom the question is about gain `weight`."""
    return {
        ref: (*shares, _unranked("speaker", 1.0, weight)) if ref in theirs else shares for ref, shares in judged.items()
    }


def _values(channel: Channel, weight: float, candidates: Sequence[Candidate]) -> dict[Ref, Contribution]:
    """`weight * raw`, or `weight * raw / best raw` where the channel's numbers have no range of their own."""
    best = max((each.raw for each in candidates), default=0.0) if channel in _RELATIVE else 1.0
    return {
        each.ref: Contribution(
            channel=channel, rank=rank, raw=each.raw, weight=weight, value=weight * each.raw / best if best else 0.0
        )
        for rank, each in enumerate(candidates, start=1)
    }


def _reciprocal_ranks(
    channel: Channel,
    weight: float,
    candidates: Sequence[Candidate],
    judged: Mapping[Ref, object],
    *,
    absent: int,
) -> dict[Ref, Contribution]:
    """`weight / (60 + rank)`; a candidate that another list holds and this one lacks stands just behind its end."""
    places = {each.ref: (rank, each.raw) for rank, each in enumerate(candidates, start=1)}
    shares = {}
    for ref in judged:
        rank, raw = places.get(ref, (absent, 0.0))
        shares[ref] = Contribution(channel=channel, rank=rank, raw=raw, weight=weight, value=weight / (RRF_K + rank))
    return shares


def _unranked(channel: Channel, raw: float, weight: float) -> Contribution:
    return Contribution(channel=channel, rank=None, raw=raw, weight=weight, value=weight * raw)
