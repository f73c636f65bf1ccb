"""Deep recall as a user meets it: a re-ranker of one's own, one that is served, and none."""

import pytest

from engrain import InvalidInput, Memory
from engrain.engines import CallableReranker

TURNS = ("The tram to Sintra leaves at nine.", "The tram is yellow.", "A tram is no bus.")


def longest(_query, texts):
    return [float(len(text)) for text in texts]


@pytest.fixture
def told(tmp_path):
    def open_with(**options):
        memory = Memory.open(tmp_path / "agent.db", embedder="none", **options)
        agent = memory.agent("aide")
        for turn in TURNS:
            agent.observe(turn)
        return memory

    return open_with


@pytest.mark.req("C11", "C12")
def test_a_function_orders_the_answer_and_deep_is_what_it_says(told):
    with told(reranker=CallableReranker(longest, name="mine:longest")) as memory:
        agent = memory.agent("aide")
        fast, deep = agent.recall("tram"), agent.recall("tram", deep=True)
        assert (fast.mode, deep.mode) == ("fast", "deep")
        assert [hit.memory.content for hit in deep] == sorted(TURNS, key=len, reverse=True)
        assert {hit.memory.id for hit in deep} == {hit.memory.id for hit in fast}
        assert deep.candidates == fast.candidates == 3
        assert len(agent.recall("tram", deep=True, limit=1)) == 1
        shown = deep.to_dict()["hits"][0]["why"]
        assert shown["contributions"][0]["channel"] == "rerank"
        assert {each["channel"] for each in shown["fused"]} >= {"keyword", "statement"}


@pytest.mark.req("C11")
def test_without_a_re_ranker_deep_is_fast_and_says_so(told, cli):
    with told() as memory:
        deep, fast = (memory.agent("aide").recall("tram", deep=each) for each in (True, False))
    assert [hit.memory.id for hit in deep] == [hit.memory.id for hit in fast]
    assert (deep.mode, len(deep.degraded) - len(fast.degraded)) == ("fast", 1)
    ran = cli("recall", "tram", "--deep", "--json")
    assert "no_reranker" in {reason["code"] for reason in ran.json["degraded"]}


@pytest.mark.parametrize("wrong", [object(), longest, CallableReranker], ids=["an object", "a function", "a class"])
def test_what_is_no_re_ranker_is_refused_when_the_memory_is_opened(told, wrong):
    with pytest.raises(InvalidInput, match="must be provider:model or have name and rerank"):
        told(reranker=wrong)


def test_an_unknown_re_ranker_is_refused_with_the_nearest(told):
    with pytest.raises(InvalidInput, match="cross-encoder"):
        told(reranker="cross-encodr:tiny")


def test_the_command_line_shows_neighbours_and_what_is_no_hit(cli):
    for turn in TURNS:
        assert cli("observe", turn, "--session", "monday").code == 0
    ran = cli("recall", "Sintra tram", "--limit", "1", "--neighbours", "1", "--explain")
    lines = ran.out.splitlines()
    assert "Sintra" in lines[1]
    assert "beside it" in lines[2]
    assert "yellow" in lines[2]
    assert any("below the limit" in line for line in lines[3:])
    hits = cli("recall", "Sintra tram", "--limit", "1", "--neighbours", "1", "--explain", "--json").json
    assert [each["content"] for each in hits["hits"][0]["neighbours"]] == [TURNS[1]]
    assert len(hits["dropped"]) == 2
