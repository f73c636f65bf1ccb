"""Summaries of sessions, searches and named memories, stored on request. On both databases."""

import json

import pytest

from engrain.agent.wiring.acts import new_act
from engrain.domain.runs.runs import Claim
from engrain.domain.runs.summaries import STRATEGIES
from engrain.engines.llms.scripted import ScriptedLLM
from engrain.errors import DatabaseBusy, EngineUnavailable, InvalidInput, NotFound
from engrain.service import Memory
from tests.support.one_call import OneCall

SAID = "Ana spoke of the canoe and its price."


def opened(location, llm=None, **settings):
    return Memory.open(
        location,
        embedder="none",
        llm=llm,
        settings={"agent": "butler", "consolidation": {"on_session_switch": False}, **settings},
    )


def talk(memory, turns=4, session="monday"):
    agent = memory.agent(session=session)
    return [
        agent.observe(f"The canoe number {turn} needs cedar for {turn + 20} euros.", speaker="Ana")
        for turn in range(turns)
    ]


@pytest.mark.req("G11")
def test_a_session_is_summarized_in_its_order(location):
    llm = ScriptedLLM([SAID])
    with opened(location, llm) as memory:
        turns = talk(memory)
        talk(memory, session="tuesday")
        summary = memory.agent().summarize(session="monday", strategy="simple")
        assert (summary.text, summary.strategy, summary.target_tokens) == (SAID, "simple", 2_000)
        assert summary.source_ids == tuple(turn.id for turn in turns)
        asked = llm.prompts[0].user
        assert [asked.index(turn.content) for turn in turns] == sorted(asked.index(turn.content) for turn in turns)


@pytest.mark.req("G11")
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_keeps_the_target(path, strategy):
    llm = ScriptedLLM(["The canoe is dear. " * 200] * 9)
    with opened(path, llm) as memory:
        talk(memory, turns=25)
        summary = memory.agent(session="monday").summarize(strategy=strategy, target_tokens=60)
        assert summary.strategy == strategy
        assert 0 < summary.tokens <= 60
        assert summary.degraded == ()
        assert bool(llm.prompts) == (strategy != "extractive")


def test_without_a_model_it_is_extractive_as_a_matter_of_course(path):
    with opened(path) as memory:
        talk(memory)
        agent = memory.agent(session="monday")
        assert (agent.summarize().strategy, agent.summarize().degraded) == ("extractive", ())
        [why] = agent.summarize(strategy="simple").degraded
        assert "no language model is configured" in why.message


def test_a_model_that_fails_is_done_without_and_told_of(path):
    with opened(path, ScriptedLLM([EngineUnavailable("the model is down")])) as memory:
        talk(memory)
        summary = memory.agent().summarize(session="monday")
        assert (summary.strategy, summary.degraded[0].code, summary.degraded[0].detail) == (
            "extractive",
            "llm_unavailable",
            "the model is down",
        )
        assert "canoe number" in summary.text


def test_a_refusal_of_the_model_is_not_kept_as_the_summary(location):
    with opened(location, ScriptedLLM([SAID, "I'm sorry, I can't help with that."])) as memory:
        talk(memory)
        good, refused = (memory.agent().summarize(session="monday", strategy="simple", store=True) for _ in range(2))
        assert good.text == SAID
        assert (refused.strategy, refused.degraded[0].code) == ("extractive", "llm_unavailable")
        assert "canoe number" in memory.agent().get(refused.memory_id).content


def test_the_settings_choose_how_and_how_long(path):
    llm = ScriptedLLM([SAID])
    with opened(path, llm, summarization={"strategy": "map_reduce", "target_tokens": 50}) as memory:
        talk(memory)
        summary = memory.agent().summarize(session="monday")
        assert (summary.strategy, summary.target_tokens) == ("map_reduce", 50)


@pytest.mark.req("G11")
def test_what_a_search_finds_and_what_is_named_are_summarized(location):
    with opened(location) as memory:
        turns, agent = talk(memory), memory.agent()
        fact = agent.remember("rowing at dawn", subject="Ben", predicate="loves")
        found = agent.summarize("What does Ben love?")
        assert fact.id in found.source_ids
        assert "Ben loves: rowing at dawn" in found.text
        named = agent.summarize(ids=[turns[1].id, fact.id])
        assert named.source_ids == (turns[1].id, fact.id)
        with pytest.raises(NotFound):
            agent.summarize(ids=[fact.id, "nobody"])
        with pytest.raises(NotFound):
            memory.agent("stranger").summarize(ids=[turns[0].id])


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"query": "canoe", "session": "monday"},
        {"query": " "},
        {"query": "canoe", "strategy": "haiku"},
        {"query": "canoe", "target_tokens": -1},
        {"query": "canoe", "store": "yes"},
        {"ids": ["x"], "session": "monday"},
    ],
)
def test_what_makes_no_sense_is_refused(path, given):
    with opened(path) as memory, pytest.raises(InvalidInput):
        memory.agent().summarize(**given)


def test_nothing_said_has_no_summary_and_none_is_kept(path):
    with opened(path) as memory:
        for empty in (
            memory.agent().summarize(session="nobody", store=True),
            memory.agent().summarize(ids=[], store=True),
            memory.agent().summarize("canoe", store=True),
        ):
            assert (empty.text, empty.tokens, empty.source_ids, empty.memory_id) == ("", 0, (), None)


@pytest.mark.req("G11")
def test_a_summary_is_kept_with_its_sources_and_can_be_taken_back(location):
    with opened(location, ScriptedLLM([SAID, "Second."])) as memory:
        turns, agent = talk(memory), memory.agent()
        summary = agent.summarize(session="monday", store=True)
        kept = agent.get(summary.memory_id)
        assert (kept.content, kept.category, kept.scope) == (SAID, "summary", "butler")
        assert (kept.subject, kept.predicate) == ("monday", "summary")
        assert kept.metadata["strategy"] == "hierarchical"
        links = agent.links(kept.id, direction="outgoing", relation="derived_from")
        assert {link.target_id for link in links} == {turn.id for turn in turns}
        second = agent.summarize(session="monday", store=True)
        assert agent.get(kept.id).validity == "superseded"
        undone = memory.undo(second.run_id)
        assert undone.run.kind == "summary"
        assert agent.get(kept.id).validity == "active"
        assert agent.get(second.memory_id).validity == "retracted"


def test_what_a_pool_holds_is_summarized_for_its_members_alone(path):
    with opened(path) as memory:
        butler = memory.agent("butler")
        butler.pools.create("team", ["gardener"])
        shared = butler.remember("the roses in March", subject="Ben", predicate="cuts", scope="pool:team")
        assert (
            memory.agent("gardener").summarize(ids=[shared.id]).text
            == f"{shared.created_at:%Y-%m-%d}: Ben cuts: the roses in March"
        )
        with pytest.raises(NotFound):
            memory.agent("stranger").summarize(ids=[shared.id])


def test_a_summary_of_ids_has_a_place_of_its_own(path):
    with opened(path) as memory:
        turns, agent = talk(memory), memory.agent()
        first = agent.summarize(ids=[turns[0].id, turns[1].id], store=True)
        agent.summarize(ids=[turns[2].id], store=True)
        again = agent.summarize(ids=[turns[1].id, turns[0].id], store=True)
        assert agent.get(again.memory_id).supersedes_id == first.memory_id
        assert len(agent.facts("butler")) == 2


def test_while_another_summary_is_being_kept_none_is(path):
    with opened(path) as memory:
        talk(memory)
        agent = memory.agent()
        claim = Claim(kind="summary", worker="another", lease_s=600)
        assert OneCall(memory.parts.store).claim(new_act(memory.parts, agent.caller), claim) is not None
        with pytest.raises(DatabaseBusy, match="repeat it"):
            agent.summarize(session="monday", store=True)
        assert agent.facts().items == ()


def test_of_a_long_session_the_newest_thousand_turns_are_summarized(path):
    with opened(path) as memory:
        turns = talk(memory, turns=1_003)
        summary = memory.agent().summarize(session="monday", target_tokens=100)
        assert summary.source_ids == tuple(turn.id for turn in turns[3:])
        assert "only the newest 1,000" in str(summary.degraded[0])


def test_the_command_summarizes(cli):
    for turn in range(3):
        cli("observe", f"The canoe needs {turn + 2} planks of cedar.", "--session", "monday", "--speaker", "Ana")
    shown = cli("summarize", "--session", "monday", "--tokens", "40")
    assert (shown.code, shown.err) == (0, "")
    assert "Ana: The canoe needs" in shown.out
    answered = cli("summarize", "canoe", "--strategy", "simple", "--store", "--json")
    assert answered.json["memory_id"]
    assert answered.json["strategy"] == "extractive"
    assert json.loads(cli("get", answered.json["memory_id"], "--json").out)["category"] == "summary"
    assert cli("summarize", "--session", "nobody").out.strip() == "nothing to summarize"
    assert cli("summarize").code == 2
