"""What was believed when: facts that are corrected, confirmed, superseded, forgotten, and searched for as of a time."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from engrain import InvalidInput, Memory, NotFound, metrics
from tests.support.clock import Clock
from tests.support.engines import HashEmbedder
from tests.support.races import locked

MONDAY = datetime(2026, 11, 16, 9, tzinfo=UTC)
TUESDAY, WEDNESDAY, THURSDAY = (MONDAY + timedelta(days=days) for days in (1, 2, 3))
PRESETS = ("engrain", "semantic", "keyword", "hybrid")


@pytest.fixture
def calendar():
    return Clock(MONDAY)


@pytest.fixture
def memory(tmp_path, calendar):
    settings = {"embedding": {"wait_s": 60}}
    with Memory.open(tmp_path / "agent.db", embedder=HashEmbedder(), clock=calendar, settings=settings) as memory:
        yield memory


@pytest.fixture
def agent(memory):
    return memory.agent("assistant", session="today")


@pytest.fixture
def moved(memory, agent, calendar):
    """Porto, believed since Monday, and Lisbon, which took its place on Wednesday."""
    porto = agent.remember("Porto", subject="Ana", predicate="lives in", valid_from="2020-01-01", tags=["home"])
    memory.flush()  # what loses its place before it has a vector is found by its words alone
    calendar.now = WEDNESDAY
    lisbon = agent.correct(porto.id, "Lisbon", valid_from="2026-05-01", source="Ana herself")
    calendar.now = THURSDAY
    return porto, lisbon


def contents(found):
    return [each.content for each in found]


def test_a_correction_takes_the_place_of_the_fact_with_all_that_it_does_not_say(agent):
    ana = agent.entities.create("Ana Sousa", "person")
    kept = {"scope": "assistant", "category": "home", "permanence": "stable", "importance": 8, "tags": ["a", "b"]}
    porto = agent.remember(
        "Porto", subject="Ana", predicate="lives in", entity_id=ana.id, metadata={"said": "twice"}, **kept
    )
    lisbon = agent.correct(porto.id, "Lisbon", confidence=0.9, source="a letter", metadata={"read": True})
    same = ("subject", "predicate", "entity_id", "scope", "category", "permanence", "decay_rate", "importance", "tags")
    assert [getattr(lisbon, name) for name in same] == [getattr(porto, name) for name in same]
    assert (lisbon.content, lisbon.confidence, lisbon.source) == ("Lisbon", 0.9, "a letter")
    assert (lisbon.metadata, lisbon.supersedes_id, lisbon.validity) == ({"read": True}, porto.id, "active")


def test_what_was_corrected_is_closed_where_the_correction_begins(agent, moved):
    porto, lisbon = moved
    old = agent.get(porto.id)
    assert (old.validity, old.state, old.invalidated_at, old.valid_to) == (
        "superseded",
        "superseded",
        WEDNESDAY,
        lisbon.valid_from,
    )
    assert lisbon.invalidated_at is None
    assert [(each.source_id, each.target_id) for each in agent.links(lisbon.id, relation="supersedes")] == [
        (lisbon.id, porto.id)
    ]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_search_finds_what_is_believed_now_unless_it_asks_for_another_time(agent, moved, preset):
    asked = "Where does Ana live? Porto? Lisbon?"
    assert contents(hit.memory for hit in agent.recall(asked, preset=preset)) == ["Lisbon"]
    for moment, believed in ((MONDAY, ["Porto"]), ("2026-11-17", ["Porto"]), (WEDNESDAY, ["Lisbon"])):
        assert contents(hit.memory for hit in agent.recall(asked, preset=preset, as_of=moment)) == believed
    assert agent.recall(asked, preset=preset, as_of="2026-11-15").hits == ()
    everything = agent.recall(asked, preset=preset, include_inactive=True)
    assert {hit.memory.id for hit in everything} == {each.id for each in moved}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_search_of_the_past_finds_what_was_forgotten_since_where_inactive_memories_are_asked_for(
    memory, agent, calendar, preset
):
    told = [
        agent.observe("the kettle is green"),
        agent.remember("green", subject="kettle", predicate="is"),
        agent.rules.add("descale the kettle"),
    ]
    memory.flush()
    calendar.now = TUESDAY
    for each in told:
        agent.forget(each.id)
    calendar.now = WEDNESDAY
    assert agent.recall("kettle green descale", preset=preset).hits == ()
    assert agent.recall("kettle green descale", preset=preset, as_of=MONDAY).hits == ()
    found = agent.recall("kettle green descale", preset=preset, as_of=MONDAY, include_inactive=True)
    assert {hit.memory.id for hit in found} == {each.id for each in told}
    assert agent.recall("kettle green descale", preset=preset, as_of=TUESDAY, include_inactive=True).hits == ()
    found = agent.recall("kettle green descale", preset=preset, include_inactive=True)
    assert {hit.memory.id for hit in found} == {each.id for each in told}


def test_a_search_is_narrowed_by_subject(agent):
    for subject in ("Ana", "Bo", "Cleo"):
        agent.remember("a red kettle", subject=subject, predicate="owns")
    agent.observe("Ana has a red kettle")
    assert {hit.memory.subject for hit in agent.recall("kettle", subjects="Bo")} == {"Bo"}
    assert {hit.memory.subject for hit in agent.recall("kettle", subjects=["Ana", "Cleo"])} == {"Ana", "Cleo"}
    assert agent.recall("kettle", subjects="Dan").hits == ()


@pytest.mark.req("B05.6")
def test_to_get_a_memory_counts_as_a_reference(agent, calendar):
    for memory in (
        agent.observe("A turn"),
        agent.remember("Lisbon", subject="Ana", predicate="lives in"),
        agent.rules.add("Book late flights"),
    ):
        assert (memory.reference_count, memory.last_referenced_at) == (0, None)
        for count, moment in enumerate((TUESDAY, WEDNESDAY), start=1):
            calendar.now = moment
            found = agent.get(memory.id)
            assert (found.id, found.reference_count, found.last_referenced_at) == (memory.id, count, moment)
        assert agent.get(memory.id, as_of=THURSDAY).reference_count == 2
    assert agent.get("0199-unknown") is None


def test_a_memory_is_read_uncounted_while_another_writer_holds_the_file(tmp_path):
    path = tmp_path / "agent.db"
    with Memory.open(path, embedder="none", settings={"storage": {"busy_timeout_s": 0}}) as memory:
        agent = memory.agent("assistant")
        episode = agent.observe("A turn")
        before = metrics.snapshot().get("references_not_counted", 0)
        with locked(path):
            assert agent.get(episode.id) == episode
            assert metrics.snapshot()["references_not_counted"] == before + 1
        assert agent.get(episode.id).reference_count == 1


def test_a_memory_of_another_time_is_there_only_where_it_was_believed(agent, moved):
    porto, lisbon = moved
    believed = [
        (porto.id, "2026-11-15", None),
        (porto.id, MONDAY, "Porto"),
        (porto.id, WEDNESDAY, None),
        (lisbon.id, TUESDAY, None),
        (lisbon.id, WEDNESDAY, "Lisbon"),
        (lisbon.id, "2031-01-01", "Lisbon"),
    ]
    for id_, moment, content in believed:
        found = agent.get(id_, as_of=moment)
        assert (found.content if found else None) == content


def test_facts_are_listed_by_subject_and_predicate_the_newest_first(agent, calendar):
    told = itertools.product(["Ana", "Bo"], ["lives in", "works in"])
    for day, (subject, predicate) in enumerate(told):
        calendar.now = MONDAY + timedelta(days=day)
        agent.remember(f"{subject} {predicate}", subject=subject, predicate=predicate)
    agent.observe("Ana lives in a house")
    agent.rules.add("Ana lives in a house")
    newest = ["Bo works in", "Bo lives in", "Ana works in", "Ana lives in"]
    assert contents(agent.facts()) == newest
    assert contents(agent.facts("Ana")) == newest[2:]
    assert contents(agent.facts(predicate="lives in")) == newest[1::2]
    assert contents(agent.facts("Ana", "works in")) == ["Ana works in"]
    assert contents(agent.facts(limit=3)) == newest[:3]
    assert agent.facts("Cleo").items == agent.facts(limit=0).items == ()


def test_facts_are_listed_as_they_were_believed(agent, moved):
    porto, lisbon = moved
    assert agent.facts("Ana").items == (lisbon,)
    assert contents(agent.facts("Ana", as_of=TUESDAY)) == ["Porto"]
    assert contents(agent.facts("Ana", as_of=THURSDAY)) == ["Lisbon"]
    assert agent.facts("Ana", as_of="2026-11-15").items == ()
    assert [each.id for each in agent.facts("Ana", include_inactive=True)] == [lisbon.id, porto.id]


def test_history_tells_every_fact_that_held_the_place(agent, moved, calendar):
    porto, lisbon = moved
    agent.remember("Madrid", subject="Bo", predicate="lives in")
    faro = agent.remember("Faro", subject="Ana", predicate="lives in")
    calendar.now += timedelta(days=1)
    agent.forget(faro.id)
    evora = agent.remember("Evora", subject="Ana", predicate="lives in")
    for each in (porto, lisbon, faro, evora):
        told = agent.history(each.id)
        assert contents(told) == ["Porto", "Lisbon", "Faro", "Evora"]
        assert [fact.state for fact in told] == ["superseded", "superseded", "retracted", "active"]
    assert agent.history(agent.observe("A turn").id) == agent.history("0199-unknown") == []


@pytest.mark.req("B05.7")
def test_to_confirm_a_fact_or_a_rule_moves_its_anchor(agent, calendar):
    for memory in (
        agent.remember("Lisbon", subject="Ana", predicate="lives in"),
        agent.rules.add("Book late flights"),
    ):
        assert memory.last_confirmed_at == MONDAY
        calendar.now = THURSDAY
        confirmed = agent.confirm(memory.id)
        assert confirmed.last_confirmed_at == THURSDAY
        assert agent.get(memory.id, as_of=THURSDAY) == confirmed
        calendar.now = MONDAY
    episode = agent.observe("A turn")
    with pytest.raises(ValueError, match=episode.id):
        agent.confirm(episode.id)


def test_only_what_still_holds_is_confirmed_or_corrected(agent, moved):
    porto, _ = moved
    rule = agent.rules.add("Book late flights")
    retracted = agent.remember("tea", subject="Ana", predicate="drinks")
    for gone in (rule, retracted):
        agent.forget(gone.id)
    for each in (porto, rule, retracted):
        with pytest.raises(InvalidInput, match=each.id):
            agent.confirm(each.id)
    for each in (porto, retracted):
        with pytest.raises(InvalidInput, match=rf"{each.id} is (superseded|retracted); its history"):
            agent.correct(each.id, "something else")
    for each in (rule, agent.observe("A turn")):
        with pytest.raises(InvalidInput, match=f"{each.id} is of kind {each.kind}; only a fact can be corrected"):
            agent.correct(each.id, "something else")


def test_what_is_not_there_is_neither_corrected_nor_confirmed(agent):
    for call in (lambda: agent.correct("0199-unknown", "x"), lambda: agent.confirm("0199-unknown")):
        with pytest.raises(NotFound, match="0199-unknown"):
            call()


def test_an_interval_of_a_correction_that_ends_before_it_begins_is_refused(agent, moved):
    _, lisbon = moved
    with pytest.raises(InvalidInput, match="valid_to 2025-12-31 lies before valid_from 2026-01-01"):
        agent.correct(lisbon.id, "Faro", valid_from="2026-01-01", valid_to="2025-12-31")
    assert agent.facts("Ana").items == (lisbon,)
