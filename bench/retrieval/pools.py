"""Every candidate of a question with what each channel says of it, so that other weights are tried without searching.

Recorded through the public API from the reasons of a deep answer, then cut to the lists that a search of the preset's
depth would have taken. `reproduced` holds the re-scoring against real searches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bench.retrieval import variants
from bench.retrieval.runner import place
from engrain.retrieval.ranking import corrections, signals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from bench.retrieval.corpus import Corpus, Place, Question
    from bench.retrieval.runner import Say
    from bench.retrieval.variants import Variant
    from engrain import Hit, Memory
    from engrain.retrieval.presets import Preset

DEEPEST = 1_000
"""As many hits as an answer can have."""
SESSION, NOVELTY, SPREAD, CHANGE = "session", "novelty", "spread", "change"
_COMPLETING = "vector"  # judges what the other lists hold too, however far down its own that is
_CHECKED = 50
_SAME = 9  # decimals: two ways to add up one score differ in the sixteenth


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The candidates of one question in the order of ties, newest first, then by id.

    `shares`: float64[candidates, channels], what a channel gives at weight 1. Of `session` nothing is kept, since it
    follows from the others: those in `judged_before` it; nor of `novelty`, `spread` and `change`, which follow from the
    whole score. `sessions`: int64[candidates], numbered from 0. `repetition`: float64[candidates], the share of a
    question that the query has. `counts`: the question counts or adds up, so that sessions spread. `corrected`:
    int64[candidates], the row of the statement that a change corrects, its own where it corrects none.
    """

    question: Question
    conversation: str
    places: tuple[Place, ...]
    channels: tuple[str, ...]
    judged_before: frozenset[str]
    shares: NDArray[np.float64]
    sessions: NDArray[np.int64]
    repetition: NDArray[np.float64]
    counts: bool
    corrected: NDArray[np.int64]


class NotReproduced(Exception):
    """Re-scoring with a preset's own weights gives another order than its searches."""


def recorded(memory: Memory, corpus: Corpus, variant: Variant, say: Say) -> tuple[Pool, ...]:
    """A pool for each question with gold turns that counts in the overall figures, checked against real searches.

    Raises:
        NotReproduced: the preset weighs something in a way that is not known here.
    """
    pools, preset = [], variant.preset
    for conversation in corpus.conversations:
        agent = variants.agent(memory, conversation.name, [variant], now=conversation.now)
        for question in conversation.questions:
            if question.category in corpus.apart or not question.gold_turns:
                continue
            deep = agent.recall(question.text, limit=DEEPEST, preset=preset.name)
            pool = pool_of(question, conversation.name, deep, preset)
            real = tuple(map(place, agent.recall(question.text, limit=min(_CHECKED, preset.depth), preset=preset.name)))
            if not reproduced(pool, preset.weights, real):
                raise NotReproduced(
                    f"re-scoring {question.text!r} of {conversation.name} with the weights of {preset.name} gives "
                    "another order than its search: bench/retrieval/pools.py has to learn how it ranks"
                )
            pools.append(pool)
        say(f"recorded the candidates of {len(pools)} questions")
    return tuple(pools)


def reproduced(pool: Pool, weights: Mapping[str, float], real: Sequence[Place]) -> bool:
    """True if the pool under those weights ranks as a search did."""
    [best] = ranked(pool, weight_rows([weights], pool.channels), len(real)).T
    return [pool.places[row] for row in best] == list(real)


def weight_rows(settings: Sequence[Mapping[str, float]], channels: Sequence[str]) -> NDArray[np.float64]:
    """float64[settings, channels]; a channel that a setting does not name weighs nothing."""
    return np.array([[weights.get(channel, 0.0) for channel in channels] for weights in settings], np.float64)


def ranked(pool: Pool, weights: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """int64[at most `most`, settings]: the rows of the pool, best first, under each row of `weights`."""
    before = np.array([channel in pool.judged_before for channel in pool.channels])
    base = pool.shares[:, before] @ weights[:, before].T
    scores = base + pool.shares[:, ~before] @ weights[:, ~before].T
    if SESSION in pool.channels:
        scores += _best_of_session(base, pool.sessions) * weights[:, pool.channels.index(SESSION)]
    if NOVELTY in pool.channels:
        scores -= scores * np.outer(pool.repetition, weights[:, pool.channels.index(NOVELTY)])
    if SPREAD in pool.channels and pool.counts:
        better = np.apply_along_axis(signals.count_better, 0, scores, pool.sessions)
        scores -= better * weights[:, pool.channels.index(SPREAD)]
    if CHANGE in pool.channels:
        above = scores[pool.corrected] - scores
        gains = np.where(above > 0, above + corrections.JUST_ABOVE, 0.0)
        scores += gains * weights[:, pool.channels.index(CHANGE)]
    order = np.argsort(-np.round(scores, _SAME), axis=0, kind="stable")
    return order[:most].astype(np.int64)


def pool_of(question: Question, conversation: str, deep: Sequence[Hit], preset: Preset) -> Pool:
    """Cut a deep answer to the preset's depth in each list."""
    shares = [hit.why.contributions for hit in deep]
    taken = [row for row, of in enumerate(shares) if any(each.rank and each.rank <= preset.depth for each in of)]
    kept = sorted(taken, key=lambda row: deep[row].memory.id)
    kept.sort(key=lambda row: deep[row].memory.happened_at, reverse=True)
    channels = tuple(preset.weights)
    names = {session: number for number, session in enumerate(sorted({place(deep[row])[0] for row in kept}))}
    at_one, repetition = np.zeros((len(kept), len(channels))), np.zeros(len(kept))
    before: set[str] = set()
    unchanged = np.array([math.fsum(of.value for of in shares[row] if of.channel != CHANGE) for row in kept])
    corrected = np.arange(len(kept))
    for at, row in enumerate(kept):
        seen: list[str] = []
        for share in shares[row]:
            if share.channel == SESSION:
                before |= set(seen)
                continue
            if share.channel == NOVELTY:
                repetition[at] = 1.0 - share.raw
            if share.channel == CHANGE:
                corrected[at] = np.abs(unchanged - share.raw).argmin()
            if share.channel in (NOVELTY, SPREAD, CHANGE):
                continue
            seen.append(share.channel)
            if share.weight and (share.channel == _COMPLETING or (share.rank or 0) <= preset.depth):
                at_one[at, channels.index(share.channel)] = share.value / share.weight
    return Pool(
        question=question,
        conversation=conversation,
        places=tuple(place(deep[row]) for row in kept),
        channels=channels,
        judged_before=frozenset(before),
        shares=at_one,
        sessions=np.array([names[place(deep[row])[0]] for row in kept], np.int64),
        repetition=repetition,
        counts=any(share.channel == SPREAD for of in shares for share in of),
        corrected=corrected,
    )


def _best_of_session(base: NDArray[np.float64], sessions: NDArray[np.int64]) -> NDArray[np.float64]:
    best = np.full((int(sessions.max(initial=-1)) + 1, base.shape[1]), -np.inf)
    np.maximum.at(best, sessions, base)
    return np.asarray(best[sessions])
