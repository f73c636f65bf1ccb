from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain.ports import Request, TurnPlace
from engrain.domain.query import Filter
from engrain.domain.records import Caller, Episode
from tests.sample_records import CALLER, EPISODES, FACTS, NOON, episode, fact, request
from tests.store_samples import axis, conversation, embed_all, refs

LATER = NOON + timedelta(hours=1)
TEAM = replace(CALLER, pools=("team",))


@settings(max_examples=40)
@given(st.lists(EPISODES | FACTS, max_size=12), st.integers(0, 15), st.permutations(range(12)))
def test_the_newest_come_first_in_a_total_order(backend, memories, limit, arrival):
    """By happened_at, then id, whatever the order of arrival."""
    memories = [replace(each, predicate=each.id) if each.kind == "fact" else each for each in memories]
    with backend.fresh() as store:
        stored = store.put([memories[place] for place in arrival if place < len(memories)])
        live = [each for each in stored if each.is_live(NOON)]
        newest = sorted(live, key=lambda each: (each.happened_at, each.id), reverse=True)
        assert store.recent(request(now=NOON), limit) == newest[:limit]


def test_an_empty_store_answers_every_read(store):
    asked = request()
    assert store.recent(asked, 9) == []
    assert store.speakers(asked) == []
    assert store.turns(asked, []) == store.load(asked, []) == {}
    assert store.neighbours(asked, episode(session="monday", turn=1), 2) == []
    assert store.get(CALLER, ["nothing"]) == []
    assert store.settle() == store.waiting(CALLER) == 0
    assert store.unembedded(9) == []


def test_speakers_are_named_once_in_order(store):
    store.put(conversation("One.", "Two.", speaker="Ben"))
    store.put([episode("Three.", speaker="Ana", scope="global"), episode("Four.", speaker="Čeněk"), episode("Five.")])
    store.put([episode("Six.", speaker="Dora", scope="pool:team"), episode("Seven.", speaker="Ana", scope="pool:team")])
    store.put([episode("Eight.", speaker="Eve", scope="other"), episode("Nine.", speaker="Fay", tenant_id="other")])
    assert store.speakers(request()) == ["Ana", "Ben", "Čeněk"]
    assert store.speakers(request(caller=TEAM)) == ["Ana", "Ben", "Dora", "Čeněk"]


def test_speakers_are_at_most_a_thousand(store):
    store.put([episode("Hello.", speaker=f"Speaker {place:04d}") for place in range(1_002)])
    assert store.speakers(request()) == [f"Speaker {place:04d}" for place in range(1_000)]


def test_speakers_sort_by_code_point(store):
    names = ["😀", "￰", "Z", "a", "é", "e"]
    store.put([episode("Hello.", speaker=name) for name in names])
    assert store.speakers(request()) == sorted(names)


def test_turns_say_where_and_by_whom_something_was_said(store):
    said = episode("One.", session="monday", role="assistant", speaker="Ben", scope="pool:team")
    stored = store.put([said, episode("Two."), fact("Three"), episode("Theirs.", scope="other")])
    known = {**refs(store, TEAM), **refs(store, Caller(agent="other"))}
    assert len(known) == 4
    places = {known[ref]: place for ref, place in store.turns(request(caller=TEAM), list(known)).items()}
    assert places == {
        stored[0].id: TurnPlace(scope="pool:team", session="monday", role="assistant", speaker="Ben"),
        stored[1].id: TurnPlace(scope="aide", session=None, role="user", speaker=None),
    }


def test_load_gives_the_records_behind_refs(store):
    stored = store.put([episode("One."), fact("Two"), episode("Three.", expires_at=LATER)])
    known = refs(store)
    loaded = store.load(request(now=NOON), list(known))
    assert {memory.id: memory for memory in loaded.values()} == {each.id: each for each in stored}
    assert {ref: memory.id for ref, memory in loaded.items()} == known
    assert {memory.id for memory in store.load(request(now=LATER), list(known)).values()} == {
        each.id for each in stored[:2]
    }


@pytest.mark.parametrize("reach", [0, 1, 2, 9])
def test_neighbours_are_the_live_turns_around_a_turn(store, reach):
    turns = store.put([*conversation(*(f"Turn {place}." for place in range(1, 8))), *conversation("X.", session="x")])
    store.retire(CALLER, turns[4].id, at=NOON)
    around = [turn for turn in turns[:7] if 0 < abs(turn.turn - 4) <= reach and turn.turn != 5]
    assert store.neighbours(request(), turns[3], reach) == around


def test_neighbours_are_of_the_same_scope(store):
    one, two = (store.put(conversation("One.", "Two.", scope=scope)) for scope in ("aide", "global"))
    assert store.neighbours(request(), one[0], 5) == [one[1]]
    assert store.neighbours(request(), two[1], 5) == [two[0]]


def test_a_fact_and_an_episode_of_no_session_have_no_neighbours(store):
    stored = store.put([episode("One."), episode("Two."), fact("Three")])
    assert [store.neighbours(request(), each, 5) for each in stored] == [[], [], []]


def test_stats_count_what_the_caller_can_see(store):
    turns = store.put(conversation("One.", "Two.", "Three.", speaker="Ana"))
    store.put([episode("Four.", session="monday", scope="global", speaker="Ben"), episode("Five.", expires_at=LATER)])
    [first, *_] = store.put(
        [fact("Lisbon"), fact("tea", predicate="drinks"), fact("x", validity="expired", subject="Z")]
    )
    store.put([fact("Porto", created_at=LATER), episode("Theirs.", scope="other", event_time=LATER)])
    store.retire(CALLER, turns[2].id, at=LATER)
    stats = store.stats(CALLER, LATER)
    assert (stats.tenant_id, stats.agent) == ("default", "aide")
    assert (stats.episodes, stats.facts, stats.inactive_facts) == (3, 2, 2)
    assert (stats.sessions, stats.speakers) == (1, 2)
    assert (stats.first_event_at, stats.last_event_at) == (NOON, NOON + timedelta(minutes=1))
    assert store.get(CALLER, [first.id])[0].validity == "superseded"


def test_stats_of_nothing(store):
    store.put([episode("Theirs.", scope="other"), fact("Theirs", tenant_id="other")])
    stats = store.stats(CALLER, NOON)
    assert (stats.episodes, stats.facts, stats.inactive_facts, stats.sessions, stats.speakers) == (0, 0, 0, 0, 0)
    assert (stats.first_event_at, stats.last_event_at, stats.pending_embeddings) == (None, None, 0)


@settings(max_examples=30)
@given(st.lists(EPISODES | FACTS, max_size=10))
def test_stats_agree_with_what_recent_shows(backend, memories):
    with backend.fresh() as store:
        store.put(memories)
        live = store.recent(Request(caller=CALLER, filter=Filter(), now=NOON), 99)
        episodes = [each for each in live if isinstance(each, Episode)]
        stats = store.stats(CALLER, NOON)
        assert (stats.episodes, stats.facts) == (len(episodes), len(live) - len(episodes))
        assert stats.sessions == len({each.session for each in episodes} - {None})
        assert stats.speakers == len({each.speaker for each in episodes} - {None})
        assert stats.first_event_at == min((each.event_time for each in episodes), default=None)
        assert stats.last_event_at == max((each.event_time for each in episodes), default=None)


def test_health_of_a_used_store_is_sound(store):
    turns = store.put(conversation(*(f"Turn {place}." for place in range(9))))
    store.put([fact("Lisbon")])
    store.put([fact("Porto", created_at=LATER), fact("x", validity="retracted", subject="Z")])
    embed_all(store, {turn.id: axis(0) for turn in turns[:4]})
    store.retire(CALLER, turns[0].id, at=LATER)
    store.put([episode("Unsettled.", session="monday")])
    health = store.health()
    assert health.problems == ()
    assert (health.memories, health.embedded) == (13, 3)
    store.settle()
    health = store.health()
    assert health.problems == ()
    assert (health.indexed, health.embedded, health.waiting) == (10, 3, 7)
    assert health.embedder == "test:axes"


def test_closing_twice_is_closing_once(store):
    store.put([episode("One.")])
    store.close()
    store.close()
