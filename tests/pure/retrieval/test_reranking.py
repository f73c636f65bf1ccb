"""What a re-ranker may do to an answer, and what it may not."""

from __future__ import annotations

import math
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain import metrics
from engrain.domain.records import Answer, Contribution, Degraded, Explanation, Hit
from engrain.engines import CallableReranker
from engrain.errors import EngineUnavailable
from engrain.retrieval import reranking
from tests.support.sample_records import episode

BUDGET_S = 30.0
SCORES = st.floats(-1e6, 1e6)


def hit(content: str, score: float) -> Hit:
    share = Contribution(channel="vector", rank=1, raw=score, weight=1.0, value=score)
    return Hit(score=score, memory=episode(content), why=Explanation(preset="engrain", contributions=(share,)))


def answer(count: int) -> Answer:
    hits = tuple(hit(f"turn {place}", 1.0 - place / 100) for place in range(count))
    return Answer(query="which turn?", preset="engrain", hits=hits, candidates=count)


def by(judge, found, *, limit=10, budget_s=BUDGET_S):
    return reranking.rerank(found, CallableReranker(judge, name="test:judge"), limit=limit, budget_s=budget_s)


def contents(found):
    return [each.memory.content for each in found]


@pytest.mark.req("C11")
def test_the_judge_decides_the_order_and_its_numbers_are_the_scores():
    found = by(lambda _, texts: [float(place) for place in range(len(texts))], answer(3))
    assert contents(found) == ["turn 2", "turn 1", "turn 0"]
    assert [each.score for each in found] == [2.0, 1.0, 0.0]
    assert (found.mode, found.degraded, found.candidates) == ("deep", (), 3)
    assert [each.why.fused[0].value for each in found] == [0.98, 0.99, 1.0]
    assert [each.why.contributions[0].rank for each in found] == [1, 2, 3]


def test_the_judge_reads_the_question_and_what_each_memory_says():
    seen = []
    by(lambda query, texts: seen.append((query, texts)) or [1.0] * len(texts), answer(2))
    assert seen == [("which turn?", ["turn 0", "turn 1"])]


def test_it_judges_fifty_at_most_and_the_limit_holds():
    asked = []
    found = by(lambda _, texts: asked.append(len(texts)) or [1.0] * len(texts), answer(80), limit=7)
    assert asked == [50]
    assert contents(found) == [f"turn {place}" for place in range(7)]  # equal judgements keep the order


@given(st.lists(st.tuples(st.integers(0, 4), SCORES), min_size=1, max_size=8))
def test_any_judgement_of_the_candidates_gives_a_total_order_of_all(said):
    found = by(lambda _query, _texts: said, answer(5))
    assert sorted(contents(found)) == sorted(contents(answer(5)))
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)
    assert all(each.why.score == each.score for each in found)
    first = {}
    for place, score in said:
        first.setdefault(place, score)
    assert contents(found)[: len(first)] == [
        f"turn {place}" for place in sorted(first, key=lambda place: (-first[place], place))
    ]


def test_those_the_judge_says_nothing_of_follow_in_their_order():
    found = by(lambda _query, _texts: [(3, 0.5)], answer(4))
    assert contents(found) == ["turn 3", "turn 0", "turn 1", "turn 2"]
    assert [each.score for each in found] == [0.5, -0.5, -1.5, -2.5]
    assert found[1].why.contributions[0].rank is None


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("said", "why"),
    [
        ([(4, 1.0)], "judged candidate 4 of 4"),
        ([(-1, 1.0)], "judged candidate -1 of 4"),
        ([(True, 1.0)], "judged candidate True of 4"),
        ([("0", 1.0)], "judged candidate '0' of 4"),
        ([(0, math.nan)], "judged a candidate nan"),
        ([(0, math.inf)], "judged a candidate inf"),
        ([], "judged none of the candidates"),
        ([1.0], "gave 1 numbers for 4 texts"),
        ([(0, 1.0, 2.0)], "failed with ValueError"),
        ([None] * 4, "failed with TypeError"),
    ],
)
def test_a_judge_that_errs_is_not_believed(said, why):
    before = metrics.snapshot().get("rerank_fallbacks", 0)
    found = by(lambda _query, _texts: said, answer(4), limit=2)
    assert contents(found) == ["turn 0", "turn 1"]
    assert found.mode == "fast"
    assert why in str(found.degraded[0])
    assert metrics.snapshot()["rerank_fallbacks"] == before + 1


@pytest.mark.req("C11")
def test_a_judge_that_fails_leaves_the_order_and_a_warning(caplog):
    def failing(_query, _texts):
        raise RuntimeError("the secret diary said")

    found = by(failing, answer(2))
    assert contents(found) == ["turn 0", "turn 1"]
    assert found.degraded == (
        Degraded(
            code="reranker_failed",
            message="the order of the search stands, nothing was re-ranked: the reranker failed",
            detail="test:judge failed with RuntimeError",
        ),
    )
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "secret" not in caplog.text


@pytest.mark.req("C11")
def test_no_judge_leaves_the_order_and_a_warning(caplog):
    found = reranking.rerank(answer(3), None, limit=2, budget_s=BUDGET_S)
    assert contents(found) == ["turn 0", "turn 1"]
    message = "the order of the search stands, nothing was re-ranked: no reranker is configured"
    assert (found.mode, found.degraded) == ("fast", (Degraded(code="no_reranker", message=message),))
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_a_judge_that_is_late_is_not_waited_for_and_many_are_not_asked():
    let_go = threading.Event()
    begun = threading.Semaphore(0)

    def late(_query, _texts):
        begun.release()
        let_go.wait(60)
        return [(1, 1.0)]

    try:
        for _ in range(4):
            found = by(late, answer(2), budget_s=0.01)
            assert contents(found) == ["turn 0", "turn 1"]
            assert found.degraded[0].code == "reranker_late"
            assert "took longer than 0.01 s" in found.degraded[0].detail
            assert begun.acquire(timeout=30)
        refused = by(lambda _query, _texts: [(1, 1.0)], answer(2))
        assert "4 calls of the reranker have not come back" in str(refused.degraded[0])
    finally:
        let_go.set()
    for thread in threading.enumerate():
        if thread.name == "engrain-rerank":
            thread.join(30)
    assert contents(by(lambda _query, _texts: [(1, 1.0)], answer(2))) == ["turn 1", "turn 0"]


def test_an_engine_that_cannot_answer_is_quoted():
    def away(_query, _texts):
        raise EngineUnavailable("the reranker at http://127.0.0.1:9 does not answer")

    assert str(by(away, answer(1)).degraded[0]).endswith("http://127.0.0.1:9 does not answer")


def test_an_empty_answer_needs_no_judge():
    assert by(lambda _query, _texts: pytest.fail("asked"), answer(0)).mode == "deep"
