"""From the best hit to a level."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.config.tree import Context
from engrain.domain.records import Contribution, Explanation, Hit
from engrain.retrieval.evidence import Question, assess
from engrain.retrieval.presets import BY_CHANNEL, ENGRAIN, Calibration
from tests.support.sample_records import episode

PLAIN = Calibration(intercept=-2.0, score=2.0, cover=2.0)


def hit(score: float, *matched: str, channel: str = "vector") -> Hit:
    share = Contribution(channel=channel, rank=1, raw=score, weight=1.0, value=score)
    why = Explanation(preset="engrain", contributions=(share,), matched_terms=matched)
    return Hit(score=score, memory=episode("ferry"), why=why)


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


@pytest.mark.parametrize(
    ("query", "said", "is_met"),
    [
        ("Any allergies?", "I'm allergic to peanuts.", True),  # of one family
        ("What is my salary?", "I earn 61,000 a year.", True),  # of one meaning
        ("What do I hate?", "I can't stand cinnamon.", True),
        ("When do I wake up?", "I get up at three.", True),
        ("Where did he lose it?", "He lost it at the pool.", True),  # a form of its own
        ("Where is the internet router?", "The interview went well.", False),
        ("What is Ana's birthday?", "Ana was born in May.", True),
        ("What is Ana's birthday?", "Ana likes jazz.", False),
    ],
)
def test_a_question_is_met_by_other_words_for_what_it_asks(query, said, is_met):
    fit = Calibration(intercept=0.0, cover=1.0, unmet=-5.0)
    question = Question.parse(query)
    why = Explanation(preset="engrain", contributions=(), matched_terms=tuple(question.names & {"ana"}))
    chance, _ = assess(fit, [Hit(score=1.0, memory=episode(said), why=why)], question)
    assert (chance > 0.7) is is_met


def test_what_is_asked_of_a_speaker_is_met_by_what_that_speaker_says_or_is_told_of():
    """Statements of others about themselves, such as an allergy, are no evidence."""
    fit = Calibration(intercept=0.0, cover=2.0, unmet=-2.0)
    question = Question.parse("What is allergic to?", whole_terms=("yuki", "allerg"))
    assert question.speakers == {"yuki"}
    chances = [assess(fit, [hit(0.5, *matched)], question)[0] for matched in [("yuki", "allerg"), ("allerg",)]]
    assert chances == pytest.approx([1 / (1 + math.exp(-2.0)), 1 / (1 + math.exp(2.0))])
    assert assess(fit, [hit(0.5, "allerg"), hit(0.4, "yuki")], question)[0] == pytest.approx(chances[1])
    assert assess(fit, [hit(0.5, "allerg")], Question.parse("Who is allergic?"))[0] == pytest.approx(chances[0])


def test_a_question_in_the_words_of_a_chat_asks_for_its_thing_alone():
    assert Question.parse("whats my locker code").topic == {"locker", "code"}
    assert Question.parse("On which day is the dinner?").topic == {"dinner"}


def test_what_is_asked_of_a_name_is_met_by_what_is_said_of_it():
    fit, question = Calibration(intercept=0.0, cover=0.0, unmet=-2.0), Question.parse("When is Ana's birthday?")
    apart = [hit(0.5, "ana"), hit(0.4, "birthday")]
    assert assess(fit, apart, question)[0] == pytest.approx(1 / (1 + math.exp(2)))
    assert assess(fit, [*apart, hit(0.3, "ana", "birthday")], question)[0] == pytest.approx(0.5)
    assert assess(fit, [hit(0.5, "ana")], Question.parse("Who is Ana?"))[0] == pytest.approx(0.5)


@pytest.mark.parametrize(("said", "is_met"), [("Callum is a luthier.", True), ("Callum likes ramen.", False)])
def test_what_somebody_does_is_met_by_work_that_is_said_of_them(said, is_met):
    fit = Calibration(intercept=0.0, cover=0.0, unmet=-2.0)
    question = Question.parse("So what does Callum do for a living?")
    told = replace(hit(0.0, "callum"), memory=episode(said))
    assert assess(fit, [told], question)[0] == pytest.approx(0.5 if is_met else 1 / (1 + math.exp(2)))


def test_an_attribute_that_is_asked_for_and_not_told_leaves_no_evidence():
    question = Question.parse("What's Ana's phone number?")

    def said(*texts: str) -> list[Hit]:
        return [replace(hit(3.0, "ana"), memory=episode(text)) for text in texts]

    lives, number = "Ana lives at 14 Tulip Lane.", "It is 0664 718 22."
    assert assess(ENGRAIN.evidence, said(lives), question) == (ENGRAIN.evidence.attribute, "none")
    assert ENGRAIN.evidence.attribute >= Context().min_evidence  # a block keeps what it has
    assert assess(ENGRAIN.evidence, said(number, lives), question)[1] == "strong"
    assert assess(ENGRAIN.evidence, said(lives, number), question)[1] == "strong"  # without her name
    far = [*said(lives, lives), replace(hit(1.0), memory=episode(f"Rui: {number}"))]
    assert assess(ENGRAIN.evidence, far, question)[1] == "none"  # somebody else's
    near = [*said(lives, lives), replace(hit(1.0, "ana"), memory=episode(f"Ana: {number}"))]
    assert assess(ENGRAIN.evidence, near, question)[1] == "strong"
    assert assess(ENGRAIN.evidence, said(lives * 80), question)[1] == "strong"  # too long to be read


def test_a_question_for_another_attribute_of_a_speaker_is_judged_by_what_that_speaker_said():
    question = Question.parse("How old is ?", whole_terms=("marek", "old"))
    assert question.attribute is not None
    told = replace(hit(1.5, "marek", "old"), memory=episode("I'm 41 and tired."))
    assert assess(ENGRAIN.evidence, [told], question)[1] != "none"
