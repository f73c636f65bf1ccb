"""How much of the evidence stands in a block, on a conversation whose evidence is known by hand."""

from datetime import timedelta

import pytest

from bench.retrieval import budgets, runner
from tests.support.bench_corpora import MAY_8, corpus, question, turn


def kite_corpus():
    """Sixty turns in two sessions: the seventh is about a kite, the last about nothing."""
    turns = [
        turn(
            "The kite is made of red silk" if number == 7 else f"Turn {number} says nothing of interest at all",
            session="s1" if number <= 30 else "s2",
            said_at=MAY_8 + timedelta(hours=number),
        )
        for number in range(1, 61)
    ]
    questions = [
        question("What is the kite made of?", ("s1", 7), category="plain"),
        question("kite", ("s1", 7), ("s2", 30), category="wide"),
        question("kite", category="unmarked", sessions=("s1",)),
    ]
    return corpus(turns, questions, names=["ant"])


@pytest.fixture(scope="module")
def judged():
    data = kite_corpus()
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
