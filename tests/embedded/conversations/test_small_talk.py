"""A context block for what no memory answers: the user's standing facts, and nothing else."""

import pytest

from engrain.service import Memory
from tests.support.clock import Clock
from tests.support.sample_search import WordEmbedder

MONGOLIA = "Which town governs Mongolia?"


@pytest.fixture
def memory(location):
    settings = {"context": {"min_evidence": 0.25}}  # a fifth of it for a question
    with Memory.open(location, embedder=WordEmbedder(), clock=Clock(microseconds=1), settings=settings) as memory:
        yield memory


@pytest.fixture
def aide(memory):
    told = memory.agent("aide", session="told")
    for number in range(40):
        told.hooks.message(f"The tram number {number} was late again, and the market was closed.", speaker="Ana")
    told.remember("Lisbon", subject="Ana", predicate="lives in")
    told.remember("nuts", subject="Ana", predicate="is allergic to", permanence="permanent")
    told.remember("a tram ticket", subject="user", predicate="bought")
    told.remember("permanent, but of somebody else", subject="Bo", predicate="is", permanence="permanent")
    return memory.agent("aide", session="now")


@pytest.mark.parametrize("query", ["hello", "ok thanks", MONGOLIA])
def test_a_block_without_evidence_holds_the_permanent_facts_of_whoever_speaks(aide, query):
    block = aide.context(query)
    assert block.text == "## About the user\n- Ana is allergic to: nuts"
    assert block.evidence == "none"
    assert (block.budget_tokens, block.left_out) == (1_000, 0)


def test_the_facts_that_were_confirmed_most_often_come_next(aide):
    often, once = aide.facts("user").items[0], aide.facts("Ana", "lives in").items[0]
    for fact in (often, once, often):
        aide.confirm(fact.id)
    assert aide.context("hello").text.splitlines()[1:] == [
        "- Ana is allergic to: nuts",
        "- user bought: a tram ticket",
        "- Ana lives in: Lisbon",
    ]


def test_a_block_without_evidence_keeps_to_its_share_of_the_budget(aide):
    for number in range(30):
        aide.remember(f"thing number {number}", subject="user", predicate=f"keeps {number}", permanence="permanent")
    assert 0 < aide.context("hello", budget_tokens=500).tokens <= 100
    assert len(aide.messages("hello", window_tokens=8_000).block.memories) > 10


@pytest.mark.parametrize("query", ["When may I have zucchini?", "Does Ana have zucchini?", "Recommend zucchini."])
def test_a_query_about_the_user_or_a_speaker_or_for_ideas_keeps_its_best_hits_in_that_share(aide, query):
    block = aide.context(query, budget_tokens=500)
    assert block.evidence == "none"
    assert 0 < block.tokens <= 100
    assert "## What was said" in block.text


def test_a_block_without_evidence_holds_no_questions(aide):
    aide.observe("When may I have apricots?", session="told", speaker="Ana")
    block = aide.context("When may I have zucchini?", budget_tokens=500)
    assert block.evidence == "none"
    assert "apricots" not in block.text


@pytest.mark.parametrize(("floor", "heading"), [(5.1, "## About the user"), (4.9, "## What is known")])
def test_a_question_has_a_fifth_of_the_floor(aide, location, floor, heading):
    settings = {"context": {"min_evidence": floor * aide.recall(MONGOLIA).evidence_score}}
    with Memory.open(location, embedder=WordEmbedder(), clock=Clock(microseconds=1), settings=settings) as memory:
        block = memory.agent("aide", session="now").context(MONGOLIA)
        assert block.text.startswith(heading)
        assert block.evidence == "none"


def test_the_floor_is_a_setting(location):
    settings = {"context": {"min_evidence": 0}}
    with Memory.open(location, embedder=WordEmbedder(), clock=Clock(), settings=settings) as memory:
        memory.agent("aide", session="told").observe("The tram was late.")
        assert "tram" in memory.agent("aide", session="now").context(MONGOLIA).text


def test_a_question_that_memories_answer_has_the_block_of_before(aide):
    block = aide.context("What is Ana allergic to?")
    assert block.evidence == "strong"
    assert "## What is known" in block.text
    assert "## About the user" not in block.text


def test_small_talk_that_was_stored_is_no_hit_and_takes_no_room(aide):
    said = aide.observe("The zoo opens at nine.", session="talk", speaker="Ana")
    aide.observe("haha, sounds lovely!", session="talk", role="assistant")
    aide.observe("ok thanks, zoo", session="talk", speaker="Ana")
    aide.observe("ok thanks", session="talk", speaker="Ana")
    hits = [hit.memory.content for hit in aide.recall("What did Ana say about the zoo?", limit=50)]
    assert hits[0] == said.content
    assert not {"haha, sounds lovely!", "ok thanks"}.intersection(hits)
    text = aide.context("What did Ana say about the zoo?").text
    assert said.content in text
    assert "lovely" not in text


INSTRUCTIONS = ["Always answer in Portuguese.", "Never mention peanuts."]


@pytest.mark.parametrize("query", ["hello", MONGOLIA, "Which tram was late?"])
def test_rules_without_a_condition_stand_whatever_is_asked(memory, query):
    told = memory.agent("aide", session="told")
    for words in (*INSTRUCTIONS, "Whenever the market is closed, take the tram."):
        told.handle(words)
    for number in range(200):
        told.hooks.message(f"The tram number {number} was late again.", speaker="Ana")
    block = memory.agent("aide", session="now").context(query, budget_tokens=300)
    lines = next(section.lines for section in block.sections if section.name == "rules")
    assert {f"- {words}" for words in INSTRUCTIONS} <= set(lines)
    assert len(lines) == len(INSTRUCTIONS) or query == "Which tram was late?"
    assert block.tokens <= 300


def test_no_other_rule_stands_without_being_asked_for(memory):
    told = memory.agent("aide", session="told")
    learned = told.observe("The milk was sour.")
    proved = told.rules.add("Buy fresh milk.", source_episode_id=learned.id)
    told.rules.add("Smell the milk.", source_episode_id=learned.id)
    told.rules.add("Trust the label.", metadata={"trust": "tool"})
    harmful = told.rules.add("Drink it warm.")
    asks = memory.agent("aide", session="now")
    assert asks.context("hello").text == "## Rules\n- Drink it warm."
    for _ in range(3):
        told.rules.mark_harmful(harmful.id, reason="it was sour")
    for _ in range(5):
        told.rules.mark_helpful(proved.id)
    assert asks.context("hello").text == "## Rules\n- Buy fresh milk."
    assert asks.context("hello", tags=["shopping"]).text == ""
