"""The steps of an outside consolidator, on both databases."""

import pytest

from engrain.agent.wiring.acts import new_act
from engrain.domain.runs.runs import Claim
from engrain.errors import InvalidInput, NotFound
from engrain.service import Memory
from engrain.storage.runs.claims import claim_run
from tests.support.clock import Clock
from tests.support.postgres import server

OFF = {"embedding": {"model": "none"}}
TEA = {"subject": "Ana", "predicate": "drinks", "content": "green tea in the morning"}


@pytest.fixture(params=["sqlite", "postgres"])
def memory(request, tmp_path):
    location = tmp_path / "memory.db" if request.param == "sqlite" else server().new_database(has_schema=True)
    with Memory.open(location, settings=OFF, clock=Clock(seconds=1)) as memory:
        yield memory


@pytest.fixture
def agent(memory):
    return memory.agent("assistant", session="s1")


@pytest.mark.req("Y08", "Y18")
def test_a_session_is_read_in_pages_of_thirty_saved_and_marked_once(agent):
    assert not agent.consolidation.is_session_consolidated("s1")
    turns = [agent.observe(f"Turn {number}", role="user") for number in range(65)]
    agent.observe("Elsewhere", session="s2")
    pages = [agent.consolidation.episodes("s1", page=page) for page in range(4)]
    assert [len(page) for page in pages] == [30, 30, 5, 0]
    assert [episode.id for page in pages for episode in page] == [turn.id for turn in turns]
    assert [episode.id for episode in agent.consolidation.episodes("s1", page=1, limit=2)] == [turns[2].id, turns[3].id]
    assert agent.consolidation.mark_session("s1") == 65
    assert agent.consolidation.is_session_consolidated("s1")
    assert not agent.consolidation.is_session_consolidated("s2")
    assert agent.consolidation.mark_session("s1") == 0
    assert agent.get(turns[7].id).consolidation_status == "consolidated"


@pytest.mark.req("Y09", "Y18")
def test_a_batch_is_saved_once_repeats_dropped_and_what_is_known_confirmed(agent):
    known = agent.remember("the cello in an orchestra on Tuesdays", subject="Ana", predicate="plays")
    turn = agent.observe("I drink green tea in the morning.")
    batch = [
        {**TEA, "source_ids": [turn.id], "importance": 7, "tags": ["habit"], "permanence": "stable"},
        {**TEA, "subject": " ana", "content": "Green tea in the morning "},
        {"subject": "Ana", "predicate": "plays", "content": "cello in the orchestra, on Tuesdays"},
        {"subject": "Ana", "predicate": "lives in", "content": "Porto"},
    ]
    saved = agent.consolidation.save_facts(batch)
    assert [(fact.content, fact.scope) for fact in saved.saved] == [
        *(("green tea in the morning", "assistant"), ("Porto", "assistant")),
    ]
    assert (saved.confirmed, saved.repeated) == ((known.id,), 1)
    tea = saved.saved[0]
    assert (tea.importance, tea.tags, tea.permanence, tea.source_episode_id) == (7, ("habit",), "stable", turn.id)
    assert [link.target_id for link in agent.links(tea.id, relation="derived_from")] == [turn.id]
    assert agent.get(known.id).last_confirmed_at > known.last_confirmed_at
    again = agent.consolidation.save_facts(batch)
    assert (again.saved, len(agent.facts())) == ((), 3)
    assert agent.consolidation.save_facts([{**TEA, "predicate": "likes"}], scope="global").saved[0].scope == "global"


@pytest.mark.req("N16", "Y18")
@pytest.mark.parametrize(
    ("batch", "said"),
    [
        ([TEA, {**TEA, "content": ""}], r"facts\[1\]: content is empty"),
        ([{**TEA, "importance": 99}], r"facts\[0\]: importance is 99"),
        ([{**TEA, "permanence": "for ever"}], r"facts\[0\]: permanence 'for ever' is unknown"),
        ([{**TEA, "scope": "other"}], r"facts\[0\]: field 'scope' is unknown"),
        (["Ana drinks tea"], r"facts\[0\]: a fact must be an object"),
        ("Ana drinks tea", "facts must be a list"),
        (TEA, "facts must be a list"),
        ([TEA] * 1_001, "number of facts is 1001"),
    ],
)
def test_a_batch_with_a_mistake_saves_nothing(agent, batch, said):
    with pytest.raises(InvalidInput, match=said):
        agent.consolidation.save_facts(batch)
    assert agent.facts().items == ()


def test_a_source_that_is_not_ones_own_saves_nothing(memory, agent):
    theirs = memory.agent("other").observe("A secret.")
    for id_ in (theirs.id, "nobody"):
        with pytest.raises(NotFound, match=id_):
            agent.consolidation.save_facts([TEA, {**TEA, "content": "coffee", "source_ids": [id_]}])
    assert agent.facts().items == ()
    with pytest.raises(InvalidInput):
        agent.consolidation.save_facts([TEA], scope="other")


@pytest.mark.req("Y10", "Y18")
def test_a_conflict_is_found_by_search_and_resolved(agent):
    for number in range(30):
        agent.remember(f"thing {number}", subject="Ana", predicate=f"owns {number}")
    old = agent.remember("Lisbon", subject="Ana", predicate="lives in")
    other = agent.remember("Faro", subject="Ben", predicate="lives in")
    new = agent.consolidation.save_facts([{"subject": "ana", "predicate": "is living in", "content": "Porto"}]).saved[0]
    assert agent.consolidation.detect_conflicts(new.id) == [old]
    resolved = agent.consolidation.resolve_conflict(old.id, new.id)
    assert (resolved.id, resolved.confidence, resolved.validity) == (old.id, 0.3, "active")
    assert [link.target_id for link in agent.links(new.id, relation="supersedes")] == [old.id]
    assert agent.consolidation.resolve_conflict(old.id, new.id) == resolved
    assert agent.get(other.id).confidence == 1
    assert agent.consolidation.detect_conflicts(other.id) == []


def test_a_conflict_is_between_two_facts_that_are_there(memory, agent):
    known = agent.remember("Lisbon", subject="Ana", predicate="lives in")
    habit = agent.rules.add("Be brief.")
    hidden = memory.agent("other").remember("x", subject="y", predicate="z", scope="other")
    with pytest.raises(NotFound, match=hidden.id):
        agent.consolidation.resolve_conflict(known.id, hidden.id)
    with pytest.raises(NotFound, match="nobody"):
        agent.consolidation.resolve_conflict("nobody", known.id)
    for old, new in ((known.id, habit.id), (known.id, known.id)):
        with pytest.raises(InvalidInput):
            agent.consolidation.resolve_conflict(old, new)
    with pytest.raises(NotFound):
        agent.consolidation.detect_conflicts(hidden.id)
    with pytest.raises(InvalidInput):
        agent.consolidation.detect_conflicts(habit.id)


def test_a_session_that_is_being_consolidated_cannot_be_marked(memory, agent):
    turn = agent.observe("Hello.")
    claim = Claim(kind="consolidation", worker="somebody", lease_s=600)
    batch = memory.parts.store.write(new_act(memory.parts, agent.caller), claim_run, claim)
    with pytest.raises(InvalidInput, match="is being consolidated just now"):
        agent.consolidation.mark_session("s1")
    assert [episode.id for episode in batch.episodes] == [turn.id]
