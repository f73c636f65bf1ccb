"""From the best hit to a level."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.records import Contribution, Explanation, Hit
from engrain.retrieval.evidence import Question, assess
from engrain.retrieval.presets import BY_CHANNEL, ENGRAIN, Calibration
from tests.support.sample_records import episode

PLAIN = Calibration(intercept=-2.0, score=2.0, cover=2.0)


def hit(score: float, *matched: str, channel: str = "vector") -> Hit:
    share = Contribution(channel=channel, rank=1, raw=score, weight=1.0, value=score)
    why = Explanation(preset="engrain", contributions=(share,), matched_terms=matched)
    return Hit(score=score, memory=episode("tram"), why=why)


def about(*terms: str) -> Question:
    return Question(frozenset(terms))


def test_the_chance_is_logistic_in_score_and_cover():
    chance, level = assess(PLAIN, [hit(0.5, "tram", "ana")], about("tram", "river"))  # names are not asked for
    assert chance == pytest.approx(1 / (1 + math.exp(-(-2.0 + 2.0 * 0.5 + 2.0 * 0.5))))
    assert level == "weak"


@pytest.mark.parametrize(
    ("score", "level"), [(0.0, "none"), (0.57, "none"), (0.58, "weak"), (1.42, "weak"), (1.43, "strong")]
)
def test_the_levels_begin_at_their_thresholds(score, level):
    assert assess(PLAIN, [hit(score)], about("tram"))[1] == level


def test_no_hit_is_no_evidence():
    assert assess(PLAIN, [], about("tram")) == (0.0, "none")


def test_a_question_of_no_words_has_no_cover():
    assert assess(PLAIN, [hit(1.0)], about())[0] == pytest.approx(0.5)


@given(st.floats(-10, 10), st.floats(0, 10), st.sets(st.sampled_from("abc")))
def test_more_score_is_never_less_evidence(score, more, matched):
    assert ENGRAIN.evidence is not None
    asked = about("a", "b", "c")
    lower, higher = (assess(ENGRAIN.evidence, [hit(each, *matched)], asked)[0] for each in (score, score + more))
    assert 0 <= lower <= higher <= 1


@pytest.mark.parametrize(("channel", "weight"), [("vector", 20.0), ("keyword", 0.09)])
def test_a_ranking_without_a_calibration_is_judged_by_its_best_statements(channel, weight):
    judged = [hit(0.1, channel=channel), hit(0.4, "tram", channel=channel), hit(0.2, "river", channel=channel)]
    fit, asked = BY_CHANNEL[channel], about("tram", "ana")
    chance, _ = assess(fit, judged, asked)
    assert chance == pytest.approx(1 / (1 + math.exp(-(fit.intercept + weight * 0.4 + fit.cover * 0.5))))
    assert chance > assess(fit, judged[:1], asked)[0]
    assert assess(fit, [hit(0.1)] * 10 + judged, asked) == assess(fit, [hit(0.1)] * 10, asked)


@pytest.mark.parametrize(
    ("query", "names", "things"),
    [
        ("When is the Corvus report due?", {"corvus"}, {"corvus", "report"}),
        ("What does uncle Theo eat?", {"theo"}, set()),
        ("What is BUG-577 about?", {"bug", "577"}, set()),
        ("What is Ida's favourite toy?", {"ida"}, {"favourit", "toy"}),
        ("Where is my maximum pulse?", set(), {"maximum", "puls"}),
        ("Wie heißt der Hund von Theo?", set(), set()),  # nouns are capital there
    ],
)
def test_an_english_question_names_what_it_is_about(query, names, things):
    question = Question.parse(query)
    assert (question.names, question.things) == (names, things)
    assert names | things <= question.terms


def test_a_question_about_what_no_statement_names_has_less_evidence():
    fit = Calibration(intercept=0.0, cover=0.0, names=-2.0, things=-1.0)
    question = Question(frozenset("abcde"), names=frozenset("ab"), things=frozenset("cde"))

    def logit(*matched: str) -> float:
        chance, _ = assess(fit, [hit(0.5, *terms) for terms in matched], question)
        return math.log(chance / (1 - chance))

    assert logit("abcde") == pytest.approx(0.0)
    assert logit("ac", "bde") == pytest.approx(0.0)  # together they name all of it
    assert logit("acde") == pytest.approx(-2.0)
    assert logit("cde") == pytest.approx(-2.0)  # one unknown name is enough
    assert logit("abde") == pytest.approx(-1.0)
    assert logit("ab") == pytest.approx(-2.0)  # at most two things
