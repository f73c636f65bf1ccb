"""The registry of entities as agents use it: found, resolved, merged, told of, and filled by what is said."""

from datetime import datetime

import pytest

from engrain import InvalidInput, Memory, NotFound
from engrain.domain.entities.registry import Enrichment
from engrain.domain.records import ENTITY_TYPES
from engrain.engines import CallableNames
from tests.support.clock import NOON, Clock
from tests.support.learning_memories import LLM, fact, reply
from tests.support.postgres import server
from tests.support.races import run_together

PEOPLE = ("Ana", "Ben")


def names(text):
    return {"names": [{"text": name, "kind": "person"} for name in PEOPLE if name in text]}


@pytest.fixture
def memory(tmp_path):
    finder = CallableNames(names, name="mine")
    with Memory.open(tmp_path / "m.db", embedder="none", name_finder=finder, clock=Clock(minutes=1)) as memory:
        yield memory


@pytest.fixture
def agent(memory):
    return memory.agent("assistant")


@pytest.mark.req("B16.1")
def test_an_entity_has_an_id_a_tenant_names_metadata_and_times(agent):
    ana = agent.entities.create("Ana", "person", aliases=["A."], metadata={"x": 1})
    assert set(ana.to_dict()) == {
        *("id", "tenant_id", "user_id", "canonical_name", "entity_type", "aliases", "mention_count"),
        *("created_at", "updated_at", "metadata"),
    }
    assert (ana.tenant_id, ana.aliases, ana.metadata, ana.created_at) == ("default", ("A.",), {"x": 1}, ana.updated_at)
    assert agent.entities.get(ana.id) == ana
    bare = agent.entities.create("Bare")
    assert (bare.entity_type, bare.aliases, bare.metadata) == ("other", (), {})


@pytest.mark.req("B16.2")
def test_a_name_and_type_are_taken_once(agent):
    ana = agent.entities.create("Ana", "person")
    with pytest.raises(ValueError, match=f"person 'Ana' exists already, as entity {ana.id}"):
        agent.entities.create("Ana", "person")
    assert agent.entities.create("Ana", "project").id != ana.id


@pytest.mark.req("B16.3")
def test_an_unknown_type_is_refused_with_those_there_are(agent):
    with pytest.raises(ValueError, match="entity_type") as refused:
        agent.entities.create("Ana", "cat")
    assert all(each in str(refused.value) for each in ENTITY_TYPES)
    assert agent.entities.find().items == ()


@pytest.mark.req("B16.4")
def test_an_update_replaces_names_merges_metadata_and_says_when(agent):
    ana = agent.entities.create("Ana", aliases=["A.", "B."], metadata={"a": 1, "b": 1})
    changed = agent.entities.update(ana.id, name="Ana María", aliases=["C."], metadata={"b": 2})
    assert (changed.canonical_name, changed.aliases, changed.metadata) == ("Ana María", ("C.",), {"a": 1, "b": 2})
    assert changed.updated_at > ana.updated_at
    assert agent.entities.get(ana.id) == changed
    with pytest.raises(NotFound, match="nobody"):
        agent.entities.update("nobody", name="Zoe")


def test_nobody_makes_a_tombstone_by_hand(agent):
    ana = agent.entities.create("Ana")
    for deed in (
        lambda: agent.entities.create("Ben", metadata={"merged_into": ana.id}),
        lambda: agent.entities.update(ana.id, metadata={"merged_into": "x"}),
    ):
        with pytest.raises(InvalidInput, match="merged_into"):
            deed()


def test_a_name_is_resolved_with_hints_from_what_the_agent_may_see(memory, agent):
    baker, tram = agent.entities.create("Ana", "person"), agent.entities.create("Ana", "project")
    agent.remember("a bakery", subject="Ana", predicate="runs", entity_id=baker.id, scope="assistant")
    hints = {"topic": "bakery", "domain_scores": {tram.id: 1}}
    assert [each.entity_id for each in agent.entities.resolve("ana", hints=hints)] == [baker.id, tram.id]
    other = memory.agent("other").entities.resolve("ana", hints=hints)
    assert [(each.entity_id, each.score) for each in other] == [(tram.id, 101.0), (baker.id, 100.0)]
    assert [each.entity_id for each in agent.entities.resolve("an", entity_type="project")] == [tram.id]
    assert agent.entities.resolve("Anna", limit=1) == agent.entities.resolve("Zoe", fuzzy=True) == []
    assert [each.name_match for each in agent.entities.resolve("Anna", fuzzy=True, limit=1)] == ["fuzzy"]
    assert len(agent.entities.find()) == 2


@pytest.mark.req("B18.6")
def test_a_merge_that_cannot_be_is_an_invalid_value(agent):
    ana = agent.entities.create("Ana")
    for source, target in ((ana.id, ana.id), (ana.id, "nobody"), ("nobody", ana.id)):
        with pytest.raises(ValueError, match=r"nobody|itself"):
            agent.entities.merge(source, target)


def test_a_profile_tells_everything_that_the_agent_may_see(memory, agent):
    ana, ben = (agent.entities.create(name, "person") for name in PEOPLE)
    old = agent.remember("Porto", subject="Ana", predicate="lives in", entity_id=ana.id, valid_from="2020-01-01")
    new = agent.remember("Lisbon", subject="Ana", predicate="lives in", entity_id=ana.id)
    said = agent.observe("Ana met Ben.")
    rule = agent.rules.add("Call Ana first.")
    hidden = memory.agent("other").observe("Ana and a secret.", event_time="1999-01-01")
    memory.agent("other").entities.enrich([hidden.id])
    assert agent.entities.enrich([said.id, rule.id]).links == 3
    for asked in (ana.id, "ANA"):
        profile = agent.entities.profile(asked)
        assert profile.entity == agent.entities.get(ana.id)
        assert [each.id for each in profile.facts["lives in"]] == [old.id, new.id]
        assert [each.validity for each in profile.facts["lives in"]] == ["superseded", "active"]
        assert [each.id for each in profile.episodes] == [said.id]
        assert [each.id for each in profile.rules] == [rule.id]
        assert [(each.entity_id, each.memories) for each in profile.related] == [(ben.id, 1)]
        assert (profile.first_seen_at.year, profile.last_seen_at) == (2020, rule.created_at)
    annie = agent.entities.create("Annie", "person")
    agent.entities.merge(ana.id, annie.id)
    assert agent.entities.profile(ana.id).entity.id == agent.entities.profile("ana").entity.id == annie.id
    with pytest.raises(NotFound, match="Zoe"):
        agent.entities.profile("Zoe")
    agent.entities.create("Ben", "project")
    with pytest.raises(InvalidInput, match=ben.id):
        agent.entities.profile("Ben")


@pytest.mark.req("Y15", "Y06")
def test_memories_are_linked_by_canonical_name_then_alias_and_what_is_unknown_is_added(agent):
    boss = agent.entities.create("Maria", "person", aliases=["Ana"])
    shared = agent.remember("Ana met Ben, see https://x.org/ #trams", subject="they", predicate="met", scope="global")
    again = agent.remember("Ana @ben", subject="they", predicate="said", scope="global")
    done = agent.entities.enrich([shared.id])
    assert (done.enriched, done.links, done.created, done.skipped) == (1, 4, 3, None)
    found = {each.canonical_name: each for each in agent.entities.find()}
    assert {name: each.entity_type for name, each in found.items()} == {
        "Maria": "person",
        "Ben": "person",
        "https://x.org": "url",
        "trams": "other",
    }
    assert found["trams"].aliases == ("#trams",)
    done = agent.entities.enrich([again.id])
    assert (done.links, done.created) == (2, 0)
    found = {each.canonical_name: each for each in agent.entities.find()}
    assert (found["Maria"].mention_count, found["Ben"].mention_count) == (2, 2)
    assert found["Ben"].aliases == ("@ben",)
    assert found["Maria"].id == boss.id


@pytest.mark.req("Y06")
def test_what_mentions_few_is_read_again_once_and_stamped(agent):
    agent.entities.create("Ana", "person")
    said = agent.observe("Ana called.")
    assert agent.entities.to_enrich() == [said.id]
    agent.entities.enrich(agent.entities.to_enrich())
    assert agent.entities.to_enrich() == []
    stamp = agent.get(said.id).metadata["enriched_at"]
    assert datetime.fromisoformat(stamp) > NOON
    with pytest.raises(NotFound):
        agent.entities.enrich(["nobody"])


@pytest.mark.req("Y06")
def test_without_a_name_finder_the_accurate_strategy_is_skipped(tmp_path):
    with Memory.open(tmp_path / "m.db", embedder="none", clock=Clock(minutes=1)) as memory:
        agent = memory.agent()
        said = agent.remember("Mail ana@x.org", subject="they", predicate="said", scope="global")
        done = agent.entities.enrich([said.id])
        assert (done.enriched, done.links) == (0, 0)
        assert "name_finder" in done.skipped
        assert agent.entities.to_enrich() == [said.id]
        assert agent.entities.enrich([said.id], strategy="fast").links == 1


@pytest.mark.req("Y06")
def test_a_night_reads_again_what_waits_and_says_how_far_it_is(agent):
    for name in ("Ana", "Ben"):
        agent.entities.create(name, "person")
    for place in range(3):
        agent.observe(f"{PEOPLE[place % 2]} called, for time {place}.")
    read = []
    done = agent.entities.enrich_waiting(limit=2, progress=read.append)
    assert (done.enriched, done.links, done.created, done.skipped, read) == (2, 2, 0, None, [1, 2])
    assert agent.entities.enrich_waiting().enriched == 1
    assert agent.entities.enrich_waiting() == Enrichment()
    assert agent.entities.to_enrich() == []


@pytest.mark.req("Y06")
def test_a_night_reads_what_mentions_few_alone(tmp_path):
    finder, spelt = CallableNames(names, name="mine"), {"entities": {"link": "fast"}}
    with Memory.open(tmp_path / "m.db", embedder="none", name_finder=finder, settings=spelt) as memory:
        agent = memory.agent()
        agent.remember("@Ana and @Ben called.", subject="they", predicate="called", scope="global")
        assert {each.mention_count for each in agent.entities.find()} == {1}
        assert agent.entities.enrich_waiting(most_entities=1) == Enrichment()
        assert agent.entities.enrich_waiting(most_entities=2).enriched == 1


@pytest.mark.req("Y06")
def test_without_a_name_finder_a_night_is_skipped(tmp_path):
    with Memory.open(tmp_path / "m.db", embedder="none", clock=Clock(minutes=1)) as memory:
        agent = memory.agent()
        said = agent.observe("Ana called.")
        done = agent.entities.enrich_waiting()
        assert (done.enriched, done.links) == (0, 0)
        assert "set entities.name_finder" in done.skipped
        assert agent.entities.to_enrich() == [said.id]


@pytest.mark.req("Y14")
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_spellings_heard_at_once_in_two_places_are_all_kept(tmp_path, kind):
    """Each adds what it heard to the aliases there are by then, not to those it knew."""
    location = tmp_path / "m.db" if kind == "sqlite" else server().new_database(has_schema=True)
    called = [f"p{number}" for number in range(24)]
    spelt = {"embedder": "none", "settings": {"entities": {"link": "fast"}}}
    with Memory.open(location, **spelt) as one, Memory.open(location, **spelt) as two:
        ana = one.agent().entities.create("Ana", "person", aliases=called)

        def hear(place):
            for name in called[place::2]:
                agent = (one, two)[place].agent()
                agent.remember(f"@{name} called", subject=name, predicate="did", scope="global")

        run_together(hear, range(2))
        found = one.agent().entities.get(ana.id)
    assert sorted(found.aliases) == sorted([*called, *(f"@{name}" for name in called)])
    assert found.mention_count == len(called)


def test_a_private_memory_adds_no_name_unless_its_owner_publishes_it(memory, agent):
    said = agent.observe("Ana met Ben.")
    assert (agent.entities.enrich([said.id]).links, agent.entities.find().items) == (0, ())
    assert agent.entities.enrich([said.id], publish=True).created == 2
    assert [each.canonical_name for each in memory.agent("other").entities.find()] == ["Ana", "Ben"]


def test_new_memories_are_linked_where_the_settings_say_so(tmp_path):
    settings = {"entities": {"link": "fast"}}
    with Memory.open(tmp_path / "m.db", embedder="none", settings=settings, clock=Clock(minutes=1)) as memory:
        agent = memory.agent()
        ana = agent.entities.create("Ana", "person")
        agent.observe("@ana called @ben")
        agent.remember("@ana, ana@x.org", subject="they", predicate="are", scope="global")
        found = {each.canonical_name: each.mention_count for each in agent.entities.find()}
        assert found == {"Ana": 2, "ana@x.org": 1}
        assert agent.entities.get(ana.id).aliases == ("@ana",)


def test_what_runs_learn_is_linked_in_their_transactions(tmp_path):
    said = "@ana lives in the old town of Lisbon"
    llm = LLM([reply(fact("@ana", "lives in", "the old town of Lisbon, says @ana", said))])
    settings = {"entities": {"link": "fast"}, "consolidation": {"on_session_switch": False}}
    with Memory.open(tmp_path / "m.db", embedder="none", llm=llm, settings=settings, clock=Clock(seconds=1)) as memory:
        agent = memory.agent()
        ana = agent.entities.create("Ana", "person", aliases=["@ana"])
        agent.observe(said)
        [learned] = memory.consolidate().learned
        trip = {"subject": "@ana", "predicate": "travels", "content": "to Porto, says @ana"}
        [saved] = agent.consolidation.save_facts([trip]).saved
        kept = agent.summarize(ids=[saved.id], strategy="extractive", store=True).memory_id
        assert agent.entities.get(ana.id).mention_count == 4
        events = agent.events(event_type="entities_mentioned", limit=9)
        written = {event.memory_id: event.created_at for event in agent.events(event_type="fact_created")}
        assert {event.memory_id for event in events} >= {learned.memory_id, saved.id, kept}
        assert all(event.created_at == written.get(event.memory_id, event.created_at) for event in events)


@pytest.mark.parametrize("erased", ["user", "agent"])
def test_a_merge_is_followed_and_undone_after_somebody_it_touched_was_erased(location, erased):
    """An erasure leaves the events of the merge in the scopes of a user or an agent without their payloads."""
    with Memory.open(location, embedder="none", clock=Clock(minutes=1)) as memory:
        agent, cook = memory.agent("assistant"), memory.agent("cook", user="ana")
        bob, robert, rob = (agent.entities.create(name, "person") for name in ("Bob", "Robert", "Rob"))
        cook.remember("Lisbon", subject="Bob", predicate="lives in", entity_id=bob.id)
        agent.remember("Porto", subject="Bob", predicate="lives in", entity_id=bob.id)
        agent.entities.merge(bob.id, robert.id)
        if erased == "user":
            memory.erase_user("ana")
        else:
            memory.erase_tenant("default", agent="cook")
        assert agent.entities.merge(rob.id, robert.id).target.aliases == ("Bob", "Rob")
        assert agent.entities.unmerge(rob.id).target.aliases == ("Bob",)
        assert agent.entities.unmerge(bob.id).target.aliases == ()
        assert [fact.content for fact in agent.facts(subject="Bob")] == ["Porto"]
        assert memory.health(thorough=True).problems == ()
