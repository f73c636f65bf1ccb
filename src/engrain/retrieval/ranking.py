"""What judges candidates once their lists are one: each a function from all of them to what some of them gain.

A new judge is a function and its line in `JUDGES`; how much it counts, and in which ranking, is data of `presets`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from engrain.domain.memories import scoring
from engrain.retrieval import voices
from engrain.retrieval.fusion import MOST_IMPORTANT
from engrain.retrieval.shares import Share, total

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from engrain.domain.requests import Ref, Request, Traits
    from engrain.retrieval.moments import Span

    Judged = Mapping[Ref, tuple[Share, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """All candidates of one question, what is known of each, and their scores so far.

    `speakers`: who ever spoke, for rankings that weigh it. `asked`: the times that the question names.
    """

    request: Request
    text: str
    speakers: Sequence[str]
    asked: Sequence[Span]
    traits: Mapping[Ref, Traits]
    scores: Mapping[Ref, float]


class Gain(NamedTuple):
    """What a judge sees in a candidate, in its own number, and what that is worth at a weight of 1."""

    raw: float
    worth: float


def session(judging: Judging) -> dict[Ref, Gain]:
    """The best score of its session: evidence lies near evidence.

    One without a session is a session of its own, so that facts lose nothing to turns.
    """
    places: dict[Ref, Hashable] = {
        ref: (traits.scope, traits.session) for ref, traits in judging.traits.items() if traits.session is not None
    }
    best: dict[Hashable, float] = {}
    for ref, score in judging.scores.items():
        place = places.get(ref, (ref,))
        best[place] = max(score, best.get(place, score))
    return {ref: _as_it_is(best[places.get(ref, (ref,))]) for ref in judging.scores}


def speaker(judging: Judging) -> dict[Ref, Gain]:
    """1 for what is said by whom the question is about, nothing for the rest."""
    voice = voices.asked_about(judging.text, judging.speakers)
    said = _as_it_is(1.0)
    return {ref: said for ref, traits in judging.traits.items() if voices.speaks(traits, voice)}


def statement(judging: Judging) -> dict[Ref, Gain]:
    """The share of its words that ask nothing: evidence is stated, and who asks holds little of it."""
    return {ref: _as_it_is(1.0 - each.asking) for ref, each in judging.traits.items()}


def moment(judging: Judging) -> dict[Ref, Gain]:
    """How near it lies to the times that the question names: 1 within one, 0 far from all."""
    if not judging.asked:
        return {}
    near = {ref: max(span.nearness(each.happened_at) for span in judging.asked) for ref, each in judging.traits.items()}
    return {ref: _as_it_is(raw) for ref, raw in near.items() if raw > 0}


def importance(judging: Judging) -> dict[Ref, Gain]:
    """Importance, 0-10, as a share of 10."""
    return {ref: Gain(each.importance, each.importance / MOST_IMPORTANT) for ref, each in judging.traits.items()}


def recency(judging: Judging) -> dict[Ref, Gain]:
    """How lately somebody asked for it: half after a week, 0 for what nobody ever did."""
    now = judging.request.now
    return {ref: _as_it_is(scoring.recency(each.referenced_at, now=now)) for ref, each in judging.traits.items()}


def confidence(judging: Judging) -> dict[Ref, Gain]:
    """How much it is still believed."""
    return {ref: _as_it_is(believed(each, judging.request)) for ref, each in judging.traits.items()}


def age(judging: Judging) -> dict[Ref, Gain]:
    """What its whole score loses by the time since the last change, in steps; the number is what is left of it."""
    return {
        ref: Gain(left, judging.scores[ref] * (left - 1.0))
        for ref, each in judging.traits.items()
        for left in [scoring.age_multiplier(each.created_at, now=judging.request.now)]
    }


# In the order they judge: the session looks at what the lists gave, the age at the whole score.
JUDGES: Mapping[str, Callable[[Judging], Mapping[Ref, Gain]]] = {
    "session": session,
    "speaker": speaker,
    "statement": statement,
    "moment": moment,
    "importance": importance,
    "recency": recency,
    "confidence": confidence,
    "age": age,
}


def judge(
    judged: Judged, weights: Mapping[str, float], judging: Callable[[Mapping[Ref, float]], Judging]
) -> dict[Ref, tuple[Share, ...]]:
    """What the lists gave, and what each weighed judge adds, without a rank.

    `judging` makes the value that judges see of the scores so far.
    """
    found = dict(judged)
    scores = {ref: total(shares) for ref, shares in found.items()}
    for name, gains_of in JUDGES.items():
        if name not in weights:
            continue
        weight = weights[name]
        for ref, gain in gains_of(judging(scores)).items():
            share = Share(name, None, gain.raw, weight, weight * gain.worth)
            found[ref] += (share,)
            scores[ref] += share.value
    return found


def believed(traits: Traits, request: Request) -> float:
    """The effective confidence of a memory now."""
    return scoring.effective_confidence(traits.confidence, traits.decay_rate, traits.confirmed_at, now=request.now)


def _as_it_is(raw: float) -> Gain:
    return Gain(raw, raw)
