"""Ranking signals, which add to the fused score of candidates: one function each, and their registry.

A new signal is a function of columns and its line in `SIGNALS`; how much it counts, and in which ranking, is data of
`presets`.
"""

from __future__ import annotations

import math
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from engrain.domain.memories import decay
from engrain.domain.text.analysis import STOP_WORDS, is_foreign, terms
from engrain.domain.text.dialogue.attributes import find_asked_attribute
from engrain.domain.text.dialogue.changes import asks_for_present
from engrain.domain.text.dialogue.questions import LEAST_QUESTION_SHARE, REQUESTING, is_question
from engrain.domain.text.dialogue.values import find_asked_kind, find_asked_name, find_asked_role, find_values
from engrain.domain.text.patterns import lazy_pattern
from engrain.domain.text.repetition import measure_repetition
from engrain.retrieval import speakers
from engrain.retrieval.candidates import Share, add_up
from engrain.retrieval.fusion import MAX_IMPORTANCE
from engrain.retrieval.ranking.corrections import change
from engrain.retrieval.ranking.inputs import Gains
from engrain.storage.dialects import micros
from engrain.storage.search.traits import NEVER

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from engrain.retrieval.ranking.inputs import RankingInput

# Questions whose answer is counted or added up over several conversations.
_COUNTING = lazy_pattern(
    r"\b(?:how (?:many|much)|total|combined|altogether|wie ?viele?|insgesamt|combien|cu\u00e1nt[ao]s?|quant[aeio]s?"
    r"|hoeveel|\u0441\u043a\u043e\u043b\u044c\u043a\u043e)\b",
    re.IGNORECASE,
)
_ASKING = lazy_pattern(r"\b(?:what|which|who\w*|when|where|why|how)s?\b", re.IGNORECASE)
_ASKING_WHAT = lazy_pattern(
    r"\b(?:what|which|when|where|why|how)s?\b", re.IGNORECASE
)  # "Who swims?" is answered by "I swim."
# A turn asks from this share of its words in questions on: "Congratulations! What's she called?"
_LEAST_ASKING: Final = 0.3
_MOST_REPLYING: Final = 60  # characters of an answer that leaves out what it is about
_NEARLY_AS_GOOD: Final = 0.95
_SOME_DAYS: Final = timedelta(days=2)  # a weekend; of what was said in a month little is of another
_BESIDE_INTRODUCTIONS: Final = 1.5  # of the score
_LONGEST_LOOK_UP: Final = 40  # characters: "Ana's dietary restrictions"
_ANSWERS_TOO: Final = 0.8
_OF_LAST: Final = 3.0  # times as much, where the query asks for the last of some events
_LAST: Final = lazy_pattern(
    r"\b(?:did|have|has|had|was|were|is) (?:[\w'\u2019-]+ ){1,4}?last\b"
    r"(?! (?:night|week|month|year|spring|summer|autumn|fall|winter|name))"
    r"|\b(?:the|my|our|his|her|their) (?:last time|latest|most recent|newest)\b|\bmost recently\b",
    re.IGNORECASE,
)
_SENTENCES = lazy_pattern(r"(?<=[.!?])\s+")
_BEGINNING = lazy_pattern(r"\b\w{1,3}")
_STOP_BEGINNINGS: Final = frozenset(word[:3] for word in STOP_WORDS)
_MICROSECONDS_A_DAY: Final = 86_400e6
_AGES: Final = np.array([days for days, _ in decay.AGE_STEPS])
_AGE_MULTIPLIERS: Final = np.array([*(left for _, left in decay.AGE_STEPS), decay.LEAST_AGE_MULTIPLIER])


def reply(candidates: RankingInput) -> Gains:
    """The distance of a short answer to the score of the question before it, which another speaker asked.

    "What's she called?", "Biscuit.": the question has the words of the query, the answer has none. A question that the
    query repeats counts as the best candidate. An assistant's answers say again what was told elsewhere, but for those
    to a request ("Write me a packing list."), however long.
    """
    traits, scores = candidates.traits, candidates.scores
    if candidates.echoes is not None and len(candidates.echoes):
        traits = np.concatenate([traits, candidates.echoes])
        scores = np.concatenate([scores, np.full(len(candidates.echoes), scores.max())])
    order = np.lexsort((traits["turn"], traits["session"]))
    turn, session, asking = traits["turn"][order], traits["session"][order], traits["asking"][order]
    role, speaker = traits["role"][order], traits["speaker"][order]
    asked, answers = order[:-1], order[1:]
    replies = (
        (session[:-1] == session[1:])
        & (turn[:-1] + 1 == turn[1:])
        & (asking[:-1] >= _LEAST_ASKING)
        & ((role[:-1] != role[1:]) | (speaker[:-1] != speaker[1:]))
        & ((role[1:] != "assistant") | (asking[:-1] == REQUESTING))
        & (scores[asked] > scores[answers])
        & (answers < len(candidates.scores))
    )
    lacks = np.zeros(len(candidates.scores))
    for question, row in zip(asked[replies].tolist(), answers[replies].tolist(), strict=True):
        text = traits["statement"][row]
        if text is not None and (len(text) <= _MOST_REPLYING or traits["asking"][question] == REQUESTING):
            lacks[row] = scores[question] - scores[row]
    return Gains(lacks, is_given=lacks > 0)


def session(candidates: RankingInput) -> Gains:
    """The best score of its session: evidence lies near evidence.

    One without a session is a session of its own, so that facts lose nothing to turns.
    """
    order = np.argsort(keys := candidates.traits["session"], kind="stable")
    is_first = _begins_group(keys[order])
    best = np.maximum.reduceat(candidates.scores[order], np.flatnonzero(is_first))
    raws = np.empty(len(keys))
    raws[order] = best[np.cumsum(is_first) - 1]
    return Gains(raws)


def speaker(candidates: RankingInput) -> Gains:
    """1 for turns of the speaker that the query is about, nothing for the rest, and for what asks for a text."""
    wanted = speakers.find_speaker(candidates.text, candidates.speakers)
    is_wanted = speakers.is_said_by(candidates.traits, wanted) & (candidates.traits["asking"] != REQUESTING)
    return Gains(is_wanted.astype(np.float64), is_given=is_wanted)


def statement(candidates: RankingInput) -> Gains:
    """The share of its words outside questions: evidence is stated, and questions hold little of it."""
    return Gains(1.0 - candidates.traits["asking"])


def moment(candidates: RankingInput) -> Gains:
    """Nearness to the times that the query names: 1 within one, 0 far from all."""
    raws = np.zeros(len(candidates.scores))
    for span in candidates.spans:
        np.maximum(raws, span.measure_nearness(candidates.traits["happened_at"]), out=raws)
    return Gains(raws, is_given=raws > 0)


def upcoming(candidates: RankingInput) -> Gains:
    """The loss of a fact that has not begun, unless the query names its time; `raw` is 1.

    A turn has been said whatever its time says: a host's clock may run ahead.
    """
    begins_at, now = candidates.traits["happened_at"], micros(candidates.now)
    is_later = (begins_at > now) & (candidates.traits["kind"] == "fact")
    for span in candidates.spans:
        is_later &= span.measure_nearness(begins_at) < 1.0
    return Gains(np.ones(len(is_later)), -candidates.scores, is_later)


def importance(candidates: RankingInput) -> Gains:
    """Importance, 0-10, as a share of 10."""
    raws = candidates.traits["importance"]
    return Gains(raws, raws / MAX_IMPORTANCE)


def recency(candidates: RankingInput) -> Gains:
    """Recency of the last reference: half after a week, 0 for a memory that was never referenced."""
    referenced_at = candidates.traits["referenced_at"]
    days = np.maximum(_count_days(referenced_at, candidates.now), 0.0)
    return Gains(
        np.where(referenced_at == NEVER, 0.0, np.exp(-math.log(2) / decay.RECENCY_HALF_LIFE_DAYS * days)),
    )


def confidence(candidates: RankingInput) -> Gains:
    """The effective confidence."""
    return Gains(effective_confidence(candidates.traits, candidates.now, candidates.decay))


def novelty(candidates: RankingInput) -> Gains:
    """The loss of a question that mostly repeats the query; `raw` is the share of it that does not."""
    lost = np.zeros(len(candidates.scores))
    questions = candidates.traits["asking"] >= LEAST_QUESTION_SHARE
    rows = np.flatnonzero(questions & (candidates.traits["question_terms"] != None)).tolist()  # noqa: E711  # of each row
    query_terms = frozenset(terms(candidates.text) if rows else ())
    for row in rows:
        lost[row] = measure_repetition(candidates.traits["question_terms"][row], query_terms)
    return Gains(1.0 - lost, -lost * candidates.scores, lost > 0)


def spread(candidates: RankingInput) -> Gains:
    """The loss of a candidate by those of its session that are better, where a question counts or adds up.

    Its parts were told in several sessions, and the best one's turns fill the answer otherwise. `raw` is the number of
    better ones.
    """
    if not _COUNTING.search(candidates.text):
        better = np.zeros(len(candidates.scores))
    else:
        better = count_better(candidates.scores, candidates.traits["session"])
    return Gains(better, -better, better > 0)


def count_better(scores: NDArray[np.float64], sessions: NDArray[np.int64]) -> NDArray[np.float64]:
    """Count those of its session that are better, for each candidate; of equal ones the first is better."""
    better = np.empty(len(scores))
    order = np.lexsort((-scores, sessions))
    is_first = _begins_group(sessions[order])
    places = np.arange(len(order))
    better[order] = places - places[is_first][np.cumsum(is_first) - 1]
    return better


def lateness(candidates: RankingInput) -> Gains:
    """The share of those nearly as good as the best that were said before it; all of it on a day that it names.

    Of two that answer as well how things are the later one is more likely to be so still, and what happened last is
    asked for by its time. Where the query names a speaker and no kind of value, it asks what somebody has ever said.
    """
    scores, happened_at = candidates.scores, candidates.traits["happened_at"]
    best = scores.max()
    asks_for_last = _LAST.search(candidates.text) is not None
    is_near = scores >= (_ANSWERS_TOO if asks_for_last else _NEARLY_AS_GOOD) * best
    days = [span for span in candidates.spans if span.end - span.start <= _SOME_DAYS]
    if best > 0 and days:
        is_within = is_near & np.any([span.measure_nearness(happened_at) == 1.0 for span in days], axis=0)
        return Gains(is_within.astype(np.float64), is_given=is_within)
    of_speaker = find_asked_kind(candidates.text) is None and candidates.names_speaker
    if best <= 0 or not (asks_for_last or (asks_for_present(candidates.text) and not of_speaker)):
        return Gains(scores, is_given=np.zeros(len(scores), np.bool_))
    times = np.sort(happened_at[is_near])
    times = times[_begins_group(times)]
    earlier = np.minimum(np.searchsorted(times, happened_at) / max(1, len(times) - 1), 1.0)
    return Gains(earlier, earlier * (_OF_LAST if asks_for_last else 1.0), is_near & (earlier > 0))


def answer(candidates: RankingInput) -> Gains:
    """The loss of what cannot answer the query; `raw` is 1.

    A statement of no other words than the query's, one that does not say who or what a name is that is asked for where
    others do, and where the query names no speaker a turn that only asks, and for a question about the present a
    statement without the kind of value that it asks for, such as a time. In English, but for turns that only ask; the
    best statements alone are looked at.
    """
    text, lacks = candidates.text, np.zeros(len(candidates.scores), np.bool_)
    introduction = speakers.find_introduction(text)
    if introduction is None and "?" not in text and len(text) <= _LONGEST_LOOK_UP and candidates.speakers:
        introduction = speakers.find_introduction(text, tuple(candidates.speakers))
    if introduction is not None and (is_one := speakers.find_introduced(candidates.traits, introduction)).any():
        return Gains(np.ones(len(lacks)), -_BESIDE_INTRODUCTIONS * candidates.scores, ~is_one)
    asks_in_english = _ASKING.search(text) is not None
    if asks_in_english or (is_question(text) and (not text.isascii() or is_foreign(text))):
        names_speaker = candidates.names_speaker
        if asks_in_english:
            lacks[_list_unanswering(candidates, of_speaker=names_speaker)] = True
        if not names_speaker:
            lacks |= candidates.traits["asking"] == 1.0
    return Gains(np.ones(len(lacks)), -lacks.astype(np.float64), lacks)


def _list_unanswering(candidates: RankingInput, *, of_speaker: bool) -> list[int]:
    """List the rows of those of the best statements that cannot answer the query; `of_speaker` where it names one."""
    text, statements, denies = candidates.text, candidates.traits["statement"], candidates.traits["denies"]
    best = candidates.list_best_statements()
    found = []
    if _ASKING_WHAT.search(text):
        # Of "What is the boat called? Aurora" the question alone. Terms are dear: they are compared where a statement's
        # words begin as those of the question do.
        asked = " ".join(filter(_ASKING_WHAT.search, _SENTENCES.split(text)))
        known = _STOP_BEGINNINGS.union(_BEGINNING.findall(asked.lower()))
        near = [
            row for row in best if known.issuperset(_BEGINNING.findall(statements[row].lower())) and not denies[row]
        ]
        if near:
            own = frozenset(terms(asked))
            found += [row for row in near if own.issuperset(words := terms(statements[row])) and words]
    attribute = None if of_speaker else find_asked_attribute(text)
    for told in (find_asked_name(text), attribute.value if attribute and attribute.is_exact else None):
        if told is not None:
            found += _list_others(best, [row for row in best if told.search(statements[row])])
    kind = find_asked_kind(text) if asks_for_present(text) and not of_speaker else None
    if kind is not None:
        found += [row for row in best if not find_values(kind, statements[row])]
    role = find_asked_role(text) if kind == "person" else None
    if role is not None:
        changes = candidates.traits["states_change"]
        found += _list_others(best, [row for row in best if changes[row] or role.search(statements[row])])
    return found


def _list_others(rows: Sequence[int], answers: Collection[int]) -> list[int]:
    """List the rows that are none of the answers, where there are any."""
    return [row for row in rows if row not in answers] if answers else []


def age(candidates: RankingInput) -> Gains:
    """The loss of the whole score with the time since the last change, in steps; `raw` is the share that is left."""
    days = _count_days(candidates.traits["created_at"], candidates.now)
    left = _age_multipliers(days)
    return Gains(left, candidates.scores * (left - 1.0))


# In the order of their use: reply reads the fused scores, the session those too; answer and those after it the whole
# score.
SIGNALS: Mapping[str, Callable[[RankingInput], Gains]] = {
    "reply": reply,
    "session": session,
    "speaker": speaker,
    "statement": statement,
    "moment": moment,
    "importance": importance,
    "recency": recency,
    "confidence": confidence,
    "upcoming": upcoming,
    "answer": answer,
    "novelty": novelty,
    "spread": spread,
    "lateness": lateness,
    "change": change,
    "age": age,
}


def add_signals(
    fused: Sequence[Share],
    weights: Mapping[str, float],
    candidates: Callable[..., RankingInput],
) -> list[Share]:
    """Add the share of each weighted signal that says something to those of the channels.

    `candidates` makes the input of the signals from `scores`, those so far.
    """
    shares = list(fused)
    scored = candidates(scores=add_up(shares))
    for name, measure in SIGNALS.items():
        if name not in weights:
            continue
        gains, weight = measure(scored), weights[name]
        if gains.is_given is not None and not gains.is_given.any():  # as most say nothing
            continue
        is_given = np.ones(len(scored.scores), np.bool_) if gains.is_given is None else gains.is_given
        values = weight * np.where(is_given, gains.raws if gains.worths is None else gains.worths, 0.0)
        shares.append(Share(name, weight, gains.raws, values, is_given))
        scored = candidates(scores=scored.scores + values)
    return shares


def effective_confidence(traits: NDArray[Any], now: datetime, policy: decay.DecayPolicy) -> NDArray[np.float64]:
    """Compute the confidence that is left of each memory now, as `decay.decayed_confidence` does."""
    since, rates = traits["confirmed_at"], traits["decay_rate"]
    if policy.anchor == "access":
        since = np.maximum(since, traits["referenced_at"])
    days = np.maximum(_count_days(since, now), 0.0)
    left = np.exp(-rates * days) if policy.curve == "exponential" else np.where(rates > 0, _age_multipliers(days), 1.0)
    return np.where(since == NEVER, 0.0, traits["confidence"] * left)


def _age_multipliers(days: NDArray[np.float64]) -> NDArray[np.float64]:
    multipliers: NDArray[np.float64] = _AGE_MULTIPLIERS[np.searchsorted(_AGES, days, side="right")]
    return multipliers


def _begins_group(keys: NDArray[Any]) -> NDArray[np.bool_]:
    """True for the first of each run of equal keys."""
    return np.concatenate([[True], keys[1:] != keys[:-1]])


def _count_days(moments: NDArray[np.int64], now: datetime) -> NDArray[np.float64]:
    """Days from each moment to now, with their fraction; 0 for one that never was."""
    today = micros(now)
    days: NDArray[np.float64] = (today - np.where(moments == NEVER, today, moments)) / _MICROSECONDS_A_DAY
    return days
