"""Every change is written down with it, and what is erased is gone."""

from datetime import UTC, datetime

import pytest

from engrain import Memory
from engrain.domain.memories.erasure import ErasureReport
from engrain.domain.pagination import Page
from tests.support.clock import Clock
from tests.support.engines import HashEmbedder

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
SECRET = "the code of the door is 4711"


@pytest.fixture
def memory(path):
    settings = {"embedding": {"wait_s": 60}}
    with Memory.open(path, embedder=HashEmbedder(), clock=Clock(NOON, seconds=1), settings=settings) as memory:
        yield memory


@pytest.fixture
def agent(memory):
    return memory.agent("assistant", session="today", request_id="request 1")


def types(found):
    return [event.event_type for event in found]


@pytest.mark.req("B33.1", "B33.2")
def test_every_change_has_its_event_newest_first(agent):
    episode = agent.observe("A turn")
    porto = agent.remember("Porto", subject="Ana", predicate="lives in")
    lisbon = agent.correct(porto.id, "Lisbon")
    rule = agent.rules.add("Book late flights")
    agent.confirm(rule.id)
    agent.link(rule.id, episode.id, "derived_from")
    agent.entities.create("Ana", "person")
    for gone in (episode, lisbon, rule):
        agent.forget(gone.id)
    told = agent.events()
    assert sorted(types(told)) == sorted(
        "episode_created fact_created fact_superseded fact_created rule_created rule_confirmed link_created"
        " entity_created episode_forgotten fact_retracted rule_forgotten".split()
    )
    times = [event.created_at for event in told]
    assert times == sorted(times, reverse=True)
    assert types(agent.events(porto.id)) == ["fact_superseded", "fact_created"]
    assert types(agent.events(rule.id))[0] == "rule_forgotten"
    assert types(agent.events(event_type="fact_created")) == ["fact_created"] * 2
    assert agent.events(limit=3).items == told[:3]
    nothing = Page()
    assert agent.events(limit=0) == agent.events("0199-unknown") == agent.events(event_type="unheard_of") == nothing


def test_an_event_says_who_when_and_on_whose_request(memory, agent):
    fact = agent.remember("Lisbon", subject="Ana", predicate="lives in", scope="global")
    other = memory.agent("other", request_id="request 2")
    other.forget(fact.id)
    retracted, created = agent.events(fact.id)
    assert (created.actor, created.request_id, created.created_at) == ("assistant", "request 1", fact.created_at)
    assert (retracted.actor, retracted.request_id) == ("other", "request 2")
    assert retracted.to_dict()["payload"] == {"validity": ["active", "retracted"]}


def test_what_changes_nothing_has_no_event(agent):
    fact = agent.remember("Lisbon", subject="Ana", predicate="lives in")
    agent.forget(fact.id)
    before = agent.events()
    agent.forget(fact.id)
    agent.get(fact.id)
    agent.recall("Lisbon")
    agent.context("Lisbon")
    agent.facts()
    agent.history(fact.id)
    agent.links(fact.id)
    agent.erase([])
    assert agent.events() == before


@pytest.mark.req("B05.8")
def test_a_forgotten_episode_expires_now(agent):
    episode = agent.observe("A turn")
    gone = agent.forget(episode.id)
    assert episode.created_at < gone.expires_at <= agent.observe("Another").created_at
    assert gone.content == "A turn"


@pytest.mark.req("B05.9")
def test_a_forgotten_rule_says_so(agent):
    rule = agent.rules.add("Book late flights", metadata={"by": "hand"})
    gone = agent.forget(rule.id)
    assert gone.metadata == {"by": "hand", "forgotten": True, "hidden": True}
    assert gone.is_forgotten
    assert agent.recall("late flights").hits == ()
    assert agent.forget(rule.id) == gone


@pytest.mark.req("N14")
def test_memories_are_changed_only_in_the_ways_of_their_kind(agent):
    """Episodes are appended; facts are superseded and say where they come from; rules begin unproven."""
    episode = agent.observe("I moved to Lisbon")
    for change in (lambda: agent.correct(episode.id, "I did not"), lambda: agent.confirm(episode.id)):
        with pytest.raises(ValueError, match=episode.id):
            change()
    porto = agent.remember("Porto", subject="Ana", predicate="lives in")
    lisbon = agent.remember("Lisbon", subject="Ana", predicate="lives in", source_episode_id=episode.id)
    assert (lisbon.supersedes_id, lisbon.source_episode_id) == (porto.id, episode.id)
    rule = agent.rules.add("Book late flights")
    assert rule.maturity == "candidate"
    for each in (lisbon, rule):
        assert agent.confirm(each.id).last_confirmed_at > each.last_confirmed_at
    for each, event_type in ((episode, "episode_forgotten"), (lisbon, "fact_retracted"), (rule, "rule_forgotten")):
        agent.forget(each.id)
        assert types(agent.events(each.id, limit=1)) == [event_type]


@pytest.fixture
def secrets(agent):
    """The secret as each kind, linked, superseded and forgotten."""
    episode = agent.observe(SECRET, metadata={"also": SECRET}, idempotency_key="told")
    old = agent.remember(SECRET, subject="door", predicate="has the code", source_episode_id=episode.id)
    new = agent.correct(old.id, f"no more: {SECRET}")
    rule = agent.rules.add(f"say that {SECRET}")
    agent.link(rule.id, episode.id, "derived_from")
    agent.forget(rule.id)
    return [each.id for each in (episode, old, new, rule)]


def test_what_is_erased_is_nowhere(memory, agent, secrets, path):
    memory.flush()
    kept = agent.observe("something harmless")
    assert sorted(agent.erase(secrets).ids) == sorted(secrets)
    for id_ in secrets:
        assert agent.get(id_) is None
        assert agent.history(id_) == agent.links(id_) == []
    for asked in ({}, {"include_inactive": True}, {"as_of": kept.created_at}):
        assert {hit.memory.id for hit in agent.recall("code of the door 4711", **asked)} <= {kept.id}
    assert agent.facts(include_inactive=True).items == ()
    assert "4711" not in str([event.to_dict() for event in agent.events(limit=1_000)])
    assert types(agent.events(event_type="memory_erased")) == ["memory_erased"] * len(secrets)
    assert memory.health(thorough=True).problems == ()
    memory.close()
    assert b"4711" not in b"".join(file.read_bytes() for file in path.parent.iterdir())


def test_erasing_twice_or_what_is_not_there_erases_nothing(memory, agent, secrets):
    stranger = memory.agent("stranger", tenant="elsewhere")
    own = agent.observe("mine").id
    memory.flush()  # or a vector that is made meanwhile is counted
    before = agent.stats()
    for nobody, ids in ((stranger, secrets), (memory.agent("colleague"), own), (agent, "0199-unknown")):
        assert nobody.erase(ids) == ErasureReport()
    assert agent.stats() == before
    assert agent.erase([own, own, "0199-unknown"]).ids == [own]
    assert not agent.erase(own)


def test_of_an_erased_memory_the_others_keep_no_trace(agent):
    episode = agent.observe("I moved to Lisbon")
    old = agent.remember("Porto", subject="Ana", predicate="lives in", source_episode_id=episode.id)
    new = agent.correct(old.id, "Lisbon", source_episode_id=episode.id)
    agent.erase([episode.id, old.id])
    kept = agent.get(new.id)
    assert (kept.content, kept.source_episode_id, kept.supersedes_id) == ("Lisbon", None, None)
    assert agent.links(new.id) == []
    assert [each.id for each in agent.history(new.id)] == [new.id]


@pytest.mark.req("B29.1", "B29.2")
def test_no_verb_shows_another_tenants_anything(memory):
    ana, other = (memory.agent("ana", tenant=tenant) for tenant in ("acme", "bolt"))
    entity = ana.entities.create("Ana", "person")
    episode = ana.observe("A secret")
    old = ana.remember("A secret", subject="Ana", predicate="has", entity_id=entity.id)
    new = ana.correct(old.id, "Another secret")
    rule = ana.rules.add("Keep the secret")
    ana.link(rule.id, episode.id, "derived_from")
    assert {each.tenant_id for each in (episode, old, new, rule, entity)} == {"acme"}
    for id_ in (episode.id, old.id, new.id, rule.id):
        assert other.get(id_) is other.get(id_, as_of="2031-01-01") is None
        assert other.links(id_) == other.history(id_) == list(other.events(id_)) == []
    assert other.recall("secret", include_inactive=True).hits == ()
    assert other.facts(include_inactive=True) == other.events() == Page()
    assert other.entities.get(entity.id) is None
    assert {event.tenant_id for event in ana.events()} == {"acme"}


def test_an_agent_sees_no_event_of_anothers_own_scope(memory):
    ana, bo = memory.agent("ana"), memory.agent("bo")
    own = [ana.observe("A turn").id, ana.rules.add("Mine").id]
    shared = ana.rules.add("Everybody's", scope="global").id
    assert {event.memory_id for event in bo.events()} == {shared}
    assert {event.memory_id for event in ana.events()} == {*own, shared}
