"""Ranking signals, which add to the fused score of candidates: one function each, and their registry.

A new signal is a function and its line in `SIGNALS`; how much it counts, and in which ranking, is data of `presets`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from engrain.domain.memories import decay
from engrain.domain.text.analysis import terms
from engrain.domain.text.repetition import LEAST_QUESTION_SHARE, measure_repetition
from engrain.retrieval import speakers
from engrain.retrieval.contributions import ContributionRow, total
from engrain.retrieval.fusion import MAX_IMPORTANCE

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from engrain.domain.requests import Ref, Request, Traits
    from engrain.retrieval.time_expressions import Span

    Fused = Mapping[Ref, tuple[ContributionRow, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingInput:
    """All candidates of one query with their traits and their scores so far.

    `speakers`: all speakers, for rankings that weigh them. `spans`: the times that the query names.
    """

    request: Request
    text: str
    speakers: Sequence[str]
    spans: Sequence[Span]
    traits: Mapping[Ref, Traits]
    scores: Mapping[Ref, float]


class Gain(NamedTuple):
    """Gain of a candidate by one signal: the signal's own number, and its worth at a weight of 1."""

    raw: float
    worth: float


def session(candidates: RankingInput) -> dict[Ref, Gain]:
    """The best score of its session: evidence lies near evidence.

    One without a session is a session of its own, so that facts lose nothing to turns.
    """
    sessions: dict[Ref, Hashable] = {
        ref: (traits.scope, traits.session) for ref, traits in candidates.traits.items() if traits.session is not None
    }
    best: dict[Hashable, float] = {}
    for ref, score in candidates.scores.items():
        key = sessions.get(ref, (ref,))
        best[key] = max(score, best.get(key, score))
    return {ref: _unscaled(best[sessions.get(ref, (ref,))]) for ref in candidates.scores}


def speaker(candidates: RankingInput) -> dict[Ref, Gain]:
    """1 for turns of the speaker that the query is about, nothing for the rest."""
    wanted = speakers.find_speaker(candidates.text, candidates.speakers)
    gain = _unscaled(1.0)
    return {ref: gain for ref, traits in candidates.traits.items() if speakers.is_said_by(traits, wanted)}


def statement(candidates: RankingInput) -> dict[Ref, Gain]:
    """The share of its words outside questions: evidence is stated, and questions hold little of it."""
    return {ref: _unscaled(1.0 - traits.asking) for ref, traits in candidates.traits.items()}


def moment(candidates: RankingInput) -> dict[Ref, Gain]:
    """Nearness to the times that the query names: 1 within one, 0 far from all."""
    if not candidates.spans:
        return {}
    nearness = {
        ref: max(span.nearness(traits.happened_at) for span in candidates.spans)
        for ref, traits in candidates.traits.items()
    }
    return {ref: _unscaled(raw) for ref, raw in nearness.items() if raw > 0}


def importance(candidates: RankingInput) -> dict[Ref, Gain]:
    """Importance, 0-10, as a share of 10."""
    return {
        ref: Gain(traits.importance, traits.importance / MAX_IMPORTANCE) for ref, traits in candidates.traits.items()
    }


def recency(candidates: RankingInput) -> dict[Ref, Gain]:
    """Recency of the last reference: half after a week, 0 for a memory that was never referenced."""
    now = candidates.request.now
    return {ref: _unscaled(decay.recency(traits.referenced_at, now=now)) for ref, traits in candidates.traits.items()}


def confidence(candidates: RankingInput) -> dict[Ref, Gain]:
    """The effective confidence."""
    return {
        ref: _unscaled(effective_confidence(traits, candidates.request)) for ref, traits in candidates.traits.items()
    }


def novelty(candidates: RankingInput) -> dict[Ref, Gain]:
    """The loss of a question that mostly repeats the query; `raw` is the share of it that does not."""
    query_terms = frozenset(terms(candidates.text))
    lost = {
        ref: measure_repetition(traits.content, query_terms)
        for ref, traits in candidates.traits.items()
        if traits.asking >= LEAST_QUESTION_SHARE
    }
    return {ref: Gain(1.0 - share, -share * candidates.scores[ref]) for ref, share in lost.items() if share > 0}


def age(candidates: RankingInput) -> dict[Ref, Gain]:
    """The loss of the whole score with the time since the last change, in steps; `raw` is the share that is left."""
    return {
        ref: Gain(left, candidates.scores[ref] * (left - 1.0))
        for ref, traits in candidates.traits.items()
        for left in [decay.age_multiplier(traits.created_at, now=candidates.request.now)]
    }


# In the order of their use: the session reads the fused scores, novelty and age the whole score.
SIGNALS: Mapping[str, Callable[[RankingInput], Mapping[Ref, Gain]]] = {
    "session": session,
    "speaker": speaker,
    "statement": statement,
    "moment": moment,
    "importance": importance,
    "recency": recency,
    "confidence": confidence,
    "novelty": novelty,
    "age": age,
}


def add_signals(
    fused: Fused, weights: Mapping[str, float], candidates: Callable[[Mapping[Ref, float]], RankingInput]
) -> dict[Ref, tuple[ContributionRow, ...]]:
    """Add the contribution of each weighted signal, without a rank, to those of the channels.

    `candidates` makes the input of the signals from the scores so far.
    """
    contributions = dict(fused)
    scores = {ref: total(rows) for ref, rows in contributions.items()}
    for name, gains_of in SIGNALS.items():
        if name not in weights:
            continue
        weight = weights[name]
        for ref, gain in gains_of(candidates(scores)).items():
            row = ContributionRow(name, None, gain.raw, weight, weight * gain.worth)
            contributions[ref] += (row,)
            scores[ref] += row.value
    return contributions


def effective_confidence(traits: Traits, request: Request) -> float:
    """The effective confidence of a memory now."""
    return decay.effective_confidence(traits.confidence, traits.decay_rate, traits.confirmed_at, now=request.now)


def _unscaled(raw: float) -> Gain:
    return Gain(raw, raw)
