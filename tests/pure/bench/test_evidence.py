"""The area under the curve against its meaning, and who is asked what."""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.retrieval import evidence
from bench.retrieval.corpus import Conversation, Corpus, Question, Turn
from engrain import Answer

scores = st.lists(st.integers(0, 5), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("positive", "negative", "expected"),
    [
        ([3, 4], [1, 2], 1),
        ([1, 2], [3, 4], 0),
        ([1, 1], [1, 1, 1], 0.5),
        ([2, 3], [1, 2], 3.5 / 4),
        ([0.5], [0.1, 0.9], 0.5),
    ],
)
def test_the_area_is_the_share_of_pairs_in_order(positive, negative, expected):
    assert evidence.auc(positive, negative) == pytest.approx(expected)


@given(scores, scores)
def test_the_area_counts_every_pair_and_equals_half(positive, negative):
    pairs = [(one > other) + (one == other) / 2 for one in positive for other in negative]
    assert evidence.auc(positive, negative) == pytest.approx(sum(pairs) / len(pairs))
    assert evidence.auc(positive, negative) + evidence.auc(negative, positive) == pytest.approx(1)


@pytest.mark.parametrize(("positive", "negative"), [([], [1]), ([1], [])])
def test_an_area_needs_both_sides(positive, negative):
    with pytest.raises(ValueError, match="both sides"):
        evidence.auc(positive, negative)


def conversation(name):
    gold = frozenset({("s1", 1)})
    questions = tuple(
        Question(text=f"{name} {category}?", category=category, gold_turns=gold, gold_sessions=frozenset({"s1"}))
        for category in ("plain", "trick")
    )
    said_at = datetime(2023, 5, 8, tzinfo=UTC)
    turn = Turn(session="s1", role="user", speaker="Ana", content=f"{name} plain", said_at=said_at)
    return Conversation(name=name, turns=(turn,), questions=questions)


def corpus(*names):
    return Corpus(name="made up", conversations=tuple(map(conversation, names)), apart=frozenset({"trick"}), left_out=0)


def test_each_conversation_is_asked_its_own_questions_and_those_of_the_next():
    three = corpus("ant", "bee", "cat")
    assert evidence.select_questions(three, "own", 0) == ("ant plain?",)
    assert evidence.select_questions(three, "adversarial", 0) == ("ant trick?",)
    assert [evidence.select_questions(three, "foreign", place) for place in range(3)] == [
        ("bee plain?",),
        ("cat plain?",),
        ("ant plain?",),
    ]


def test_a_lone_conversation_has_no_stranger():
    assert evidence.select_questions(corpus("ant"), "foreign", 0) == ()
    alone = [evidence.Judged(group="own", score=1.0, level=None)]
    assert evidence.aucs(alone) == {"adversarial": None, "foreign": None}


@dataclass(frozen=True, kw_only=True)
class Outspoken(Answer):
    """An answer that says what its evidence is worth."""

    evidence: str = "weak"
    evidence_score: float = 0.25


def test_an_answer_is_believed_where_it_speaks_of_its_evidence():
    assert evidence.score(Outspoken(query="?", preset="engrain")) == 0.25


def test_levels_are_shared_out_by_group():
    told = [("own", 0.9, "strong"), ("own", 0.4, "weak"), ("foreign", 0.1, "none")]
    judged = [evidence.Judged(group=group, score=score, level=level) for group, score, level in told]
    assert evidence.as_json(judged) == {
        "auc": {"adversarial": None, "foreign": 1.0},
        "levels": {"own": {"strong": 1, "weak": 1}, "foreign": {"none": 1}},
    }
    assert "own                0.000     0.500     0.500" in evidence.table(judged)


def test_without_levels_there_is_no_table_of_them():
    judged = [
        evidence.Judged(group=group, score=score, level=None) for group, score in (("own", 2.0), ("foreign", 1.0))
    ]
    table = evidence.table(judged)
    assert "share of" not in table
    assert [line.split() for line in table.splitlines()[1:]] == [
        ["own", "1", "2.000"],
        ["adversarial", "0", "-"],
        ["foreign", "1", "1.000", "1.000"],
    ]
