"""Rules, entities, links, what a runtime knows of a turn, and calls that are made twice."""

from datetime import UTC, datetime, timedelta

import pytest

from engrain import InvalidInput, Memory, NotFound
from engrain.domain.ids import IdSource, moment_of
from engrain.domain.pagination import Page
from engrain.domain.records import RELATIONS
from tests.support.races import run_together

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path):
    with Memory.open(tmp_path / "agent.db", embedder="none", clock=lambda: NOON) as memory:
        yield memory


@pytest.fixture
def agent(memory):
    return memory.agent("assistant", session="today")


@pytest.mark.req("B05.4")
def test_a_rule_begins_as_a_candidate(agent):
    episode = agent.observe("The early flight was missed")
    rule = agent.rules.add("Book late flights", source_episode_id=episode.id, tags=["travel"], metadata={"by": "hand"})
    assert (rule.maturity, rule.confidence, rule.decay_rate, rule.effectiveness_score) == ("candidate", 0.5, 0.01, 0.0)
    assert (rule.applied_count, rule.success_count, rule.harmful_count) == (0, 0, 0)
    assert (rule.scope, rule.created_at, rule.last_confirmed_at) == ("assistant", NOON, NOON)
    assert (rule.source_episode_id, rule.tags, rule.metadata) == (episode.id, ("travel",), {"by": "hand"})
    assert agent.get(rule.id, as_of=NOON) == rule
    assert [hit.memory for hit in agent.recall("late flights", kinds="rule")] == [rule]


def test_a_rule_is_the_agents_own_unless_its_scope_is_global(memory):
    ana, bo = memory.agent("ana"), memory.agent("bo")
    shared, own = ana.rules.add("Ask twice", scope="global"), ana.rules.add("Ask once")
    assert bo.get(shared.id).content == "Ask twice"
    assert bo.get(own.id) is None
    assert {hit.memory.id for hit in bo.recall("ask")} == {shared.id}
    assert {hit.memory.id for hit in ana.recall("ask")} == {shared.id, own.id}


def test_a_context_says_the_rules_between_what_is_known_and_what_was_said(memory, agent):
    agent.rules.add("Offer no flight\nbefore ten")
    agent.remember("Lisbon", subject="Ana", predicate="flies to")
    agent.observe("I hate early flights", speaker="Ana")
    block = memory.agent("assistant").context("flight flies")
    assert block.text == (
        "## What is known\n- Ana flies to: Lisbon\n\n"
        "## Rules\n- Offer no flight before ten\n\n"
        "## What was said\n### 2026-11-21\n- Ana: I hate early flights"
    )


def test_an_episode_keeps_what_the_runtime_knows_of_it(agent):
    calls = [{"name": "book", "arguments": {"flight": "TP1234"}}, "a word", 7, None]
    episode = agent.observe("Booked", role="tool", tokens=12, model="maker:model-1", tool_calls=iter(calls))
    assert (episode.tokens, episode.model, episode.tool_calls) == (12, "maker:model-1", tuple(calls))
    assert agent.get(episode.id, as_of=NOON) == episode
    assert episode.to_dict()["tool_calls"] == calls


def test_a_fact_keeps_where_it_comes_from(agent):
    episode = agent.observe("I moved to Lisbon")
    fact = agent.remember(
        "Lisbon",
        subject="Ana",
        predicate="lives in",
        category="home",
        source="what she said",
        source_episode_id=episode.id,
    )
    assert (fact.category, fact.source, fact.source_episode_id) == ("home", "what she said", episode.id)
    assert agent.get(fact.id, as_of=NOON) == fact
    assert agent.remember("x", subject="y", predicate="z").category == "fact"


@pytest.mark.req("B05.3")
def test_a_fact_is_about_an_entity_that_exists(memory, agent):
    before = agent.events()
    elsewhere = memory.agent("assistant", tenant="elsewhere").entities.create("Ana")
    for unknown in ("0199-nobody", elsewhere.id):
        with pytest.raises(ValueError, match=unknown):
            agent.remember("Lisbon", subject="Ana", predicate="lives in", entity_id=unknown)
    assert (agent.facts(), agent.events()) == (Page(), before)


def test_an_entity_and_its_names_have_one_place(agent):
    ana = agent.entities.create("Ana Sousa", "person", aliases=["Ana", "A. Sousa"])
    porto = agent.remember("Porto", subject="Ana", predicate="lives in", entity_id=ana.id)
    lisbon = agent.remember("Lisbon", subject="A. Sousa", predicate="lives in", entity_id=ana.id)
    faro = agent.remember("Faro", subject="Ana", predicate="lives in")  # which the registry resolves
    assert (lisbon.supersedes_id, faro.supersedes_id) == (porto.id, lisbon.id)
    assert {each.content for each in agent.facts()} == {"Faro"}


def test_an_entity_is_known_to_its_whole_tenant_by_id(memory):
    ana, bo = memory.agent("ana"), memory.agent("bo")
    entity = ana.entities.create("TAP", "organization", aliases=["TAP Air", "TAP"], metadata={"iata": "TP"})
    assert (entity.canonical_name, entity.entity_type) == ("TAP", "organization")
    assert (entity.aliases, entity.metadata, entity.created_at) == (("TAP Air", "TAP"), {"iata": "TP"}, NOON)
    assert bo.entities.get(entity.id) == ana.entities.get(entity.id) == entity
    assert memory.agent("ana", tenant="elsewhere").entities.get(entity.id) is None
    assert ana.entities.get("0199-unknown") is None
    assert ana.entities.create("Faro").entity_type == "other"
    with pytest.raises(InvalidInput, match="TAP"):
        bo.entities.create("TAP", "organization")
    assert bo.entities.create("TAP", "project").id != entity.id


@pytest.fixture
def three(agent):
    return [agent.observe("one").id, agent.remember("two", subject="b", predicate="c").id, agent.rules.add("three").id]


@pytest.mark.req("B05.5")
def test_memories_of_every_kind_are_linked_by_the_known_relations(agent, three):
    for source, target in ((three[0], three[1]), (three[1], three[2]), (three[2], three[0])):
        for relation in RELATIONS:
            link = agent.link(source, target, relation, weight=0.5)
            assert (link.source_id, link.target_id, link.relation, link.weight) == (source, target, relation, 0.5)
        assert {each.relation for each in agent.links(source, direction="outgoing")} == set(RELATIONS)
    with pytest.raises(ValueError, match=r"'likes' is unknown; choose one of: derived_from"):
        agent.link(three[0], three[1], "likes")


@pytest.mark.req("B26.1")
def test_links_are_asked_for_by_direction(agent, three):
    one, two, other = three
    agent.link(one, two, "supports")
    agent.link(two, other, "related_to")

    def found(**asked):
        return {(each.source_id, each.target_id) for each in agent.links(two, **asked)}

    assert found(direction="outgoing") == {(two, other)}
    assert found(direction="incoming") == {(one, two)}
    assert found() == found(direction="both") == {(one, two), (two, other)}
    assert found(relation="supports") == {(one, two)}
    assert found(direction="outgoing", relation="supports") == set()
    assert agent.links("0199-unknown") == []


@pytest.mark.req("B26.2", "B05.5")
def test_a_link_that_is_there_stays_as_it_is(agent, three):
    first = agent.link(three[0], three[1], "supports", weight=0.25)
    assert agent.link(three[0], three[1], "supports", weight=0.75) == first
    assert agent.links(three[0]) == [first]
    assert len(agent.events(event_type="link_created")) == 1


def test_nothing_is_linked_that_the_agent_does_not_see(memory, agent, three):
    stranger = memory.agent("stranger")
    own = stranger.observe("mine").id
    for pair in ((own, three[0]), (three[0], own), (own, "0199-unknown")):
        with pytest.raises(NotFound):
            stranger.link(*pair, "supports")
    with pytest.raises(InvalidInput, match="cannot be linked to itself"):
        agent.link(three[0], three[0], "supports")
    agent.link(three[0], three[1], "supports")
    assert memory.agent("stranger").links(three[1]) == []


CALLS = {
    "observe": lambda agent, content, key: agent.observe(content, idempotency_key=key),
    "remember": lambda agent, content, key: agent.remember(
        content, subject="Ana", predicate="says", idempotency_key=key
    ),
    "rules.add": lambda agent, content, key: agent.rules.add(content, idempotency_key=key),
}


def test_a_key_with_a_time_gives_an_id_of_this_time(memory):
    """Or what a client stores under keys of its own would sort before all the rest."""
    key = IdSource(lambda: datetime(2026, 5, 7, tzinfo=UTC))()
    stored = memory.agent().observe("hello", idempotency_key=key)
    assert (moment_of(stored.id), stored.id == key) == (moment_of(key), False)
    assert memory.agent().observe("hello", idempotency_key=key) == stored


@pytest.mark.parametrize("verb", CALLS)
def test_a_call_made_twice_with_one_key_is_made_once(agent, verb):
    first = CALLS[verb](agent, "The same thing", "call 7")
    before = agent.stats(), agent.events()
    assert CALLS[verb](agent, " The same thing\n", " call 7 ") == first
    assert (agent.stats(), agent.events()) == before
    is_confirmed = verb != "observe"
    assert (CALLS[verb](agent, "The same thing", "call 8").id == first.id) == is_confirmed


@pytest.mark.parametrize(("verb", "other"), [(one, other) for one in CALLS for other in CALLS])
def test_a_key_of_something_else_is_refused(agent, verb, other):
    CALLS[verb](agent, "One thing", "call 7")
    before = agent.stats(), agent.events()
    with pytest.raises(InvalidInput, match="idempotency_key 'call 7' was used for another"):
        CALLS[other](agent, "Another thing" if verb == other else "One thing", "call 7")
    assert (agent.stats(), agent.events()) == before


def test_a_fact_of_another_subject_is_something_else(agent):
    agent.remember("Lisbon", subject="Ana", predicate="lives in", idempotency_key="call 7")
    for subject, predicate in (("Bo", "lives in"), ("Ana", "works in")):
        with pytest.raises(InvalidInput, match="idempotency_key 'call 7'"):
            agent.remember("Lisbon", subject=subject, predicate=predicate, idempotency_key="call 7")


def test_a_key_answers_what_was_stored_whatever_became_of_it(agent):
    first = agent.remember("Porto", subject="Ana", predicate="lives in", idempotency_key="call 7")
    agent.remember("Lisbon", subject="Ana", predicate="lives in")
    again = agent.remember("Porto", subject="Ana", predicate="lives in", idempotency_key="call 7")
    assert (again.id, again.validity) == (first.id, "superseded")
    agent.erase(first.id)
    with pytest.raises(InvalidInput, match="idempotency_key 'call 7' was used for a memory that is gone"):
        agent.remember("Porto", subject="Ana", predicate="lives in", idempotency_key="call 7")


def test_a_key_is_one_agents_in_one_tenant(memory):
    callers = [memory.agent(name, tenant=tenant) for name in ("ana", "bo") for tenant in ("acme", "bolt")]
    assert len({agent.rules.add("The same rule", idempotency_key="call 7").id for agent in callers}) == 4


def test_of_many_calls_at_once_with_one_key_one_stores(agent):
    answers = run_together(lambda _: agent.observe("The same thing", idempotency_key="call 7"), range(8))
    assert len(answers) == 8
    assert len(set(answers)) == 1
    assert agent.stats().episodes.total == 1


def test_a_key_holds_when_the_file_is_opened_again(tmp_path):
    answers = []
    for days in (0, 400):
        at = NOON + timedelta(days=days)
        with Memory.open(tmp_path / "agent.db", embedder="none", clock=lambda at=at: at) as memory:
            answers.append(memory.agent("assistant").observe("The same thing", idempotency_key="call 7"))
    assert answers[0] == answers[1]


@pytest.mark.req("B06.1", "B06.2")
def test_a_search_of_a_scope_finds_what_is_of_it_and_what_is_global(memory):
    ana = memory.agent("ana")
    memory.agent("bo").observe("The tram is late")
    memory.agent("bo").rules.add("Take the tram", scope="bo")
    said, own = ana.observe("The tram is early"), ana.rules.add("Leave the tram", scope="ana")
    shared = ana.remember("green", subject="tram", predicate="colour", scope="global")

    def found(scope):
        return {hit.memory.id for hit in ana.recall("tram", scope=scope)}

    assert found("ana") == found(None) == {said.id, own.id, shared.id}
    assert found("global") == {shared.id}
    with pytest.raises(InvalidInput, match="bo"):
        ana.recall("tram", scope="bo")
