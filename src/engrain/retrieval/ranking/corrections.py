"""Corrections among candidates: a statement of a change stands just above the older one that it puts right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from engrain.domain.text.dialogue.attributes import find_asked_attribute
from engrain.domain.text.dialogue.changes import asks_for_event, asks_for_present, is_passage
from engrain.domain.text.dialogue.corrections import LEAST_DENIED, LEAST_NAMED, weigh_turns
from engrain.domain.text.dialogue.statements import Question, Statement, asks_for_yes_or_no
from engrain.domain.text.dialogue.values import COUNTED, Kind, find_asked_kind
from engrain.retrieval import speakers
from engrain.retrieval.ranking.inputs import Gains
from engrain.storage.dialects import micros

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from engrain.retrieval.ranking.inputs import RankingInput

_MOST_CORRECTED: Final = 3  # of the best statements
_SHORTLY_TURNS: Final = 3
# Of whoever a query names, much is said that changes: there the best alone is corrected, by what is nearly as good.
_LEAST_OF_SPEAKER: Final = 0.66
_OF_FACT: Final = 0.75  # of the share: a fact has the very words of a question more often than what was said since
JUST_ABOVE: Final = 0.001


def change(candidates: RankingInput) -> Gains:
    """The gain of a statement of a change, which puts it just above the older statement that it corrects.

    `raw` is the score of that one. In English: for questions about the present, and where they ask what has happened
    only by what says that the older one is wrong.
    """
    scores = candidates.scores
    raws = scores.copy()
    traits, kind = candidates.traits, find_asked_kind(candidates.text)
    may_correct = kind in COUNTED or (traits["states_change"] | traits["denies"] | traits["takes_back"]).any()
    asks = asks_for_present(candidates.text) or (asks_for_event(candidates.text) and not candidates.names_speaker)
    if may_correct and asks:
        for older, newer in _find_corrections(candidates).items():
            raws[newer] = max(raws[newer], scores[older])
    return Gains(raws, raws + JUST_ABOVE - scores, raws > scores)


def _find_corrections(candidates: RankingInput) -> dict[int, int]:
    """The newest correction of each of the best statements that has one, by row."""
    traits, scores = candidates.traits, candidates.scores
    best, kind = candidates.list_best_statements(), find_asked_kind(candidates.text)
    newer_rows = set() if not best else _find_newer(candidates, best, kind)
    names_speaker = candidates.names_speaker
    if names_speaker and kind is None:
        # What a speaker says in passing is seldom what such a question asks for.
        best = [row for row in best if not is_passage(traits["statement"][row])]
        newer_rows = {row for row in newer_rows if not is_passage(traits["statement"][row])}
    if not newer_rows:
        return {}
    question, of_present = Question.parse(candidates.text), asks_for_present(candidates.text)
    attribute = None if names_speaker else find_asked_attribute(candidates.text)
    most, least = (1, _LEAST_OF_SPEAKER) if names_speaker else (_MOST_CORRECTED, 0.0)
    texts, happened_at = traits["statement"], traits["happened_at"]
    statements = {row: Statement.parse_turn(texts[row], kind) for row in {*best[:most], *newer_rows}}
    telling = {row for row in statements if attribute is not None and attribute.value.search(texts[row])}
    introduction = speakers.find_introduction(candidates.text)
    introducing = {row for row in newer_rows if introduction is not None and introduction.is_told(texts[row])}
    newest: dict[int, int] = {}
    for newer in sorted(newer_rows, key=lambda row: (happened_at[row], traits["id"][row])):
        weights = {}
        for older in best[:most]:
            if happened_at[older] < happened_at[newer]:
                follows = bool(traits["takes_back"][newer]) and _follows(traits, newer, older)
                found = weigh_turns(statements[newer], statements[older], question, follows=follows)
                is_certain = found.least_share <= LEAST_DENIED and (follows or kind in COUNTED)
                answers = of_present or found.is_of_event or is_certain  # else it is otherwise since then
                answers &= newer in telling or older not in telling
                answers &= traits["kind"][older] != "fact" or _has_subject(
                    statements[newer], statements[older], question
                )
                share = found.least_share * (_OF_FACT if traits["kind"][older] == "fact" else 1.0)
                share = min(share, LEAST_NAMED) if newer in introducing else share
                if answers and scores[newer] >= max(share, least) * scores[older]:
                    weights[older] = found.weight
        nearest = max(weights, key=weights.__getitem__, default=newer)
        if weights.get(nearest):
            # What it corrects may itself correct another: of a chain the last one stands for all. An assistant has
            # often said again what it corrects.
            roots = [older for older, correction in newest.items() if correction == nearest and weights.get(older)]
            again = [
                row
                for row in best
                if happened_at[row] < happened_at[newer]
                and _restates(Statement.parse_turn(texts[row], kind), statements[nearest], question)
            ]
            earlier = [row for row in weights if weights[row] and row == newest.get(nearest)]
            newest |= dict.fromkeys((nearest, *earlier, *roots, *again), newer)
    return newest


def _has_subject(newer: Sequence[Statement], fact: Sequence[Statement], question: Question) -> bool:
    """True unless a turn lacks the subject of a fact, which begins with it, where the question has it.

    "Ms. Quinn is the contact now" says nothing new of "Minerva contact Dr. Conti", nor what the pool does of "gym opens
    at 6". A sentence begins with a capital, which only a name says more by.
    """
    asked = question.names if fact[0].text[:1].isupper() else question.terms
    subject = asked.intersection(fact[0].first)
    return any(subject <= part.setting for part in newer)


def _restates(turn: Sequence[Statement], other: Sequence[Statement], question: Question) -> bool:
    """True if a short turn says nothing that some sentence of another does not."""
    return len(turn) == 1 and any(turn[0].restates(part, question) for part in other)


def _follows(traits: NDArray[Any], newer: int, older: int) -> bool:
    """True if the same speaker has said one turn shortly after another, in the same session."""
    turns, speakers_, roles = traits["turn"], traits["speaker"], traits["role"]
    return bool(
        traits["session"][newer] == traits["session"][older]
        and 0 < turns[newer] - turns[older] <= _SHORTLY_TURNS
        and (roles[newer], speakers_[newer]) == (roles[older], speakers_[older])
    )


def _find_newer(candidates: RankingInput, best: Sequence[int], kind: Kind | None) -> set[int]:
    """The rows of statements that may correct one of the best: of changes, denials, and other numbers or times.

    An assistant's counts where it has the kind of value that the query asks for; where the query names speakers, what
    they say or is said of them.
    """
    traits, scores = candidates.traits, candidates.scores
    is_upcoming = (traits["kind"] == "fact") & (traits["happened_at"] > micros(candidates.now))
    is_near = (scores >= LEAST_DENIED * scores[best[0]]) & ~is_upcoming
    found = {*np.flatnonzero((traits["states_change"] | traits["takes_back"]) & is_near).tolist()}
    denying = [row for row in best if traits["denies"][row]]
    found.update(best if kind in COUNTED or (denying and asks_for_yes_or_no(candidates.text)) else denying)
    found.difference_update(np.flatnonzero(is_upcoming).tolist())
    if kind is None:
        found = {row for row in found if traits["role"][row] != "assistant"}
    named = speakers.list_named(candidates.text, candidates.speakers)
    if not named:
        return found
    return {
        row for row in found if traits["speaker"][row] in named or speakers.list_named(traits["statement"][row], named)
    }
