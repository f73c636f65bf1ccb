"""How much of the evidence stands in a block, on a conversation whose evidence is known by hand."""

from datetime import UTC, datetime, timedelta

import pytest

from bench.retrieval import budgets, runner
from bench.retrieval.corpus import Conversation, Corpus, Question, Turn

START = datetime(2023, 5, 8, tzinfo=UTC)


def corpus():
    """Sixty turns in two sessions: the seventh is about a kite, the last about nothing."""
    turns = tuple(
        Turn(
            session="s1" if number <= 30 else "s2",
            role="user",
            speaker="Ana",
            content="The kite is made of red silk" if number == 7 else f"Turn {number} says nothing of interest at all",
            said_at=START + timedelta(hours=number),
        )
        for number in range(1, 61)
    )
    questions = (
        Question(
            text="What is the kite made of?",
            category="plain",
            gold_turns=frozenset({("s1", 7)}),
            gold_sessions=frozenset(),
        ),
        Question(
            text="kite", category="wide", gold_turns=frozenset({("s1", 7), ("s2", 30)}), gold_sessions=frozenset()
        ),
        Question(text="kite", category="unmarked", gold_turns=frozenset(), gold_sessions=frozenset({"s1"})),
    )
    conversation = Conversation(name="ant", turns=turns, questions=questions)
    return Corpus(name="made up", conversations=(conversation,), apart=frozenset(), left_out=0)


@pytest.fixture(scope="module")
def judged():
    data = corpus()
    with runner.remembered(data, embedder=None, say=lambda _: None) as (memory, _):
        return budgets.judge(memory, data, [30, 2_000], lambda _: None)


def recalls(judged, fill, category):
    return [each.recall for each in judged if each.fill == fill and each.category == category]


def test_the_share_of_the_evidence_that_stands_is_told_by_fill_and_budget(judged):
    assert recalls(judged, "engrain", "plain") == [1.0, 1.0]
    assert recalls(judged, "engrain", "wide") == [0.5, 0.5]
    assert recalls(judged, "last turns", "plain") == [0.0, 1.0]
    assert recalls(judged, "last turns", "wide") == [0.5, 1.0]


def test_questions_without_marked_evidence_are_left_out(judged):
    assert {each.category for each in judged} == {"plain", "wide"}


def test_a_larger_budget_holds_more_turns(judged):
    small, large = ([each.memories for each in judged if each.budget == budget] for budget in (30, 2_000))
    assert sum(small) < sum(large)


def test_the_figures_are_those_of_the_table(judged):
    figures = budgets.as_json(judged)["engrain"]["30"]
    assert figures["questions"] == 2
    assert (figures["recall"], figures["recall_all"]) == (0.75, 0.5)
    assert figures["categories"]["wide"]["recall"] == 0.5
    printed = budgets.table(judged).splitlines()
    assert printed[0].split() == ["recall", "30", "2,000"]
    assert printed[1].split() == ["engrain", "0.750", "0.750"]
    assert any(line.startswith("wide, 1") for line in printed)
