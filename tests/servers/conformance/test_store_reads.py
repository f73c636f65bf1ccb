from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain.filters import Filter
from engrain.domain.maintenance.stats import EpisodeStats, FactStats, RuleStats
from engrain.domain.records import Caller, Episode
from engrain.domain.requests import Request
from engrain.domain.text.repetition import hash_words, repeat_key
from tests.support.sample_records import CALLER, LATER, MEMORIES, NOON, act, episode, fact, request, rule
from tests.support.store_samples import axis, conversation, embed_all, flush_index, put, refs
from tests.support.traits import Traits, session_key

TEAM = replace(CALLER, pools=("team",))


def test_the_newest_turn_of_a_session_is_of_its_own_scope(store):
    put(store, [episode(f"Turn {place}.", scope="aide", session="monday") for place in range(3)])
    put(store, [episode(f"Elsewhere {place}.", scope="global", session="monday") for place in range(5)])
    assert [store.newest_turn(CALLER, session) for session in ("monday", "friday")] == [3, 0]


@settings(max_examples=40)
@given(st.lists(MEMORIES, max_size=12), st.integers(0, 15), st.permutations(range(12)))
def test_the_newest_come_first_in_a_total_order(backend, memories, limit, arrival):
    """By happened_at, then id, whatever the order of arrival."""
    memories = [replace(each, predicate=each.id) if each.kind == "fact" else each for each in memories]
    with backend.fresh() as store:
        stored = put(store, [memories[place] for place in arrival if place < len(memories)])
        live = [each for each in stored if each.is_live(NOON)]
        newest = sorted(live, key=lambda each: (each.happened_at, each.id), reverse=True)
        assert store.recent(request(now=NOON), limit) == newest[:limit]


def test_an_empty_store_answers_every_read(store):
    asked = request()
    assert store.recent(asked, 9) == store.newest(asked, 9) == store.important(asked, 9) == []
    assert store.mentioning(asked, ["Ana"], 9) == []
    assert store.traits(asked, [1, 2]) == {}
    assert store.speakers(asked) == []
    assert store.traits(asked, []) == store.load(asked, []) == {}
    assert store.neighbours(asked, episode(session="monday", turn=1), 2) == []
    assert store.get(CALLER, ["nothing"]) == []
    assert store.flush_index() == store.waiting(CALLER) == 0
    assert store.unembedded(9) == []


def test_speakers_are_named_once_in_order(store):
    put(store, conversation("One.", "Two.", speaker="Ben"))
    put(store, [episode("Three.", speaker="Ana", scope="global"), episode("Four.", speaker="Čeněk"), episode("Five.")])
    for speaker in ("Dora", "Ana"):
        put(store, [episode("Six.", speaker=speaker, scope="pool:team")])
    put(store, [episode("Eight.", speaker="Eve", scope="other"), episode("Nine.", speaker="Fay", tenant_id="other")])
    assert store.speakers(request()) == ["Ana", "Ben", "Čeněk"]
    assert store.speakers(request(caller=TEAM)) == ["Ana", "Ben", "Dora", "Čeněk"]


def test_speakers_are_at_most_a_thousand(store):
    put(store, [episode("Hello.", speaker=f"Speaker {place:04d}") for place in range(1_002)])
    assert store.speakers(request()) == [f"Speaker {place:04d}" for place in range(1_000)]


def test_speakers_sort_by_code_point(store):
    names = ["😀", "￰", "Z", "a", "é", "e"]
    put(store, [episode("Hello.", speaker=name) for name in names])
    assert store.speakers(request()) == sorted(names)


def test_traits_say_what_a_ranking_weighs(store):
    said = episode("One.", session="monday", role="assistant", speaker="Ben", scope="pool:team", importance=7.5)
    stated = fact("Two", confidence=0.75, decay_rate=0.03, valid_from=NOON - timedelta(days=9), importance=2.0)
    learned = rule("Three.", last_confirmed_at=NOON)
    stored = put(store, [said, episode("Where?"), stated, learned, episode("Theirs.", scope="other")])
    store.touch(act(LATER), [stored[1].id])
    known = {**refs(store, TEAM), **refs(store, Caller(agent="other"))}
    assert len(known) == 5
    found = {known[ref]: each for ref, each in store.traits(request(caller=TEAM), list(known)).items()}
    shared = {"happened_at": NOON, "created_at": NOON, "confirmed_at": NOON, "referenced_at": None}
    of_turns = {**shared, "kind": "episode"}
    assert found == {
        said.id: Traits(
            **{**of_turns, "id": said.id, "scope": "pool:team", "role": "assistant"},
            session=session_key(said.id, "pool:team", "monday"),
            turn=1,
            key=hash(repeat_key("One.", role="assistant", speaker="Ben")),
            words=hash_words("One."),
            speaker="Ben",
            importance=7.5,
            statement="One.",
        ),
        stored[1].id: Traits(
            **{**of_turns, "id": stored[1].id, "scope": "aide", "role": "user", "referenced_at": LATER},
            key=hash(repeat_key("Where?", role="user", speaker=None)),
            words=hash_words("Where?"),
            session=hash(stored[1].id),
            asking=1.0,
            question_terms="",
            importance=5.0,
        ),
        stated.id: Traits(
            **{**shared, "kind": "fact", "id": stated.id, "scope": "global", "happened_at": stated.valid_from}
            | {"confirmed_at": None, "key": hash(stated.id), "words": hash(stated.id), "session": hash(stated.id)},
            importance=2.0,
            confidence=0.75,
            decay_rate=0.03,
            statement="Ana lives in Two",
        ),
        learned.id: Traits(
            **{**shared, "kind": "rule", "id": learned.id, "scope": "global", "key": hash(learned.id)},
            session=hash(learned.id),
            words=hash(learned.id),
            importance=5.0,
            confidence=learned.confidence,
            decay_rate=learned.decay_rate,
        ),
    }


def test_traits_are_of_what_a_filter_leaves_out_too(store):
    """A ranking asks for what a channel found: what is forgotten, or of another kind, has traits all the same."""
    stored = put(store, [episode("One.", session="monday"), fact("Two")])
    known = refs(store)
    store.forget(act(LATER), stored[0].id)
    found = store.traits(request(kinds=("fact",), sessions=("friday",)), list(known))
    assert {known[ref] for ref in found} == {each.id for each in stored}


@pytest.mark.parametrize("made", [episode, fact, rule])
def test_the_numbers_of_traits_are_floats_whatever_else_is_there(store, made):
    """Of one kind alone, a database might give what it counts in."""
    put(store, [made("One.")])
    for each in store.traits(request(), list(refs(store))).values():
        numbers = (each.importance, each.confidence, each.decay_rate)
        assert [type(number) for number in numbers] == [float] * 3


def test_load_gives_the_records_behind_refs(store):
    stored = put(store, [episode("One."), fact("Two"), episode("Three.", expires_at=LATER)])
    known = refs(store)
    loaded = store.load(request(now=NOON), list(known))
    assert {memory.id: memory for memory in loaded.values()} == {each.id: each for each in stored}
    assert {ref: memory.id for ref, memory in loaded.items()} == known
    assert {memory.id for memory in store.load(request(now=LATER), list(known)).values()} == {
        each.id for each in stored[:2]
    }


@pytest.mark.parametrize("reach", [0, 1, 2, 9])
def test_neighbours_are_the_live_turns_around_a_turn(store, reach):
    turns = put(store, [*conversation(*(f"Turn {place}." for place in range(1, 8))), *conversation("X.", session="x")])
    store.forget(act(NOON), turns[4].id)
    around = [turn for turn in turns[:7] if 0 < abs(turn.turn - 4) <= reach and turn.turn != 5]
    assert store.neighbours(request(), turns[3], reach) == around


def test_neighbours_are_of_the_same_scope(store):
    one, two = (put(store, conversation("One.", "Two.", scope=scope)) for scope in ("aide", "global"))
    assert store.neighbours(request(), one[0], 5) == [one[1]]
    assert store.neighbours(request(), two[1], 5) == [two[0]]


def test_a_fact_and_an_episode_of_no_session_have_no_neighbours(store):
    stored = put(store, [episode("One."), episode("Two."), fact("Three")])
    assert [store.neighbours(request(), each, 5) for each in stored] == [[], [], []]


def test_stats_count_what_the_caller_can_see(store):
    turns = put(store, conversation("One.", "Two.", "Three.", speaker="Ana"))
    put(store, [episode("Four.", session="monday", scope="global", speaker="Ben"), episode("Five.", expires_at=LATER)])
    facts = [fact("Lisbon"), fact("tea", predicate="drinks"), fact("x", validity="expired", subject="Z")]
    first, *_, forgotten = put(store, [*facts, rule("One."), rule("Two.", scope="pool:x"), rule("Three.")])
    put(store, [fact("Porto", created_at=LATER), episode("Theirs.", scope="other", event_time=LATER)])
    store.forget(act(LATER), turns[2].id)
    store.forget(act(LATER), forgotten.id)
    stats = store.stats(CALLER, LATER)
    assert (stats.tenant_id, stats.agent) == ("default", "aide")
    assert stats.episodes == EpisodeStats(
        total=3,
        unconsolidated=3,
        given_up=0,
        backlog_age_hours=1.0,
        sessions=1,
        speakers=2,
        first_event_at=NOON,
        last_event_at=NOON + timedelta(minutes=1),
    )
    assert stats.facts == FactStats(active=2, fading=0, superseded=1, expired=1, retracted=0)
    assert stats.rules == RuleStats(candidate=1, established=0, proven=0, anti_pattern=0, forgotten=1)
    assert store.get(CALLER, [first.id])[0].validity == "superseded"


def test_stats_of_nothing(store):
    put(store, [episode("Theirs.", scope="other"), fact("Theirs", tenant_id="other"), rule(tenant_id="other")])
    stats = store.stats(CALLER, NOON)
    counted = {**stats.episodes.to_dict(), **stats.facts.to_dict(), **stats.rules.to_dict()}
    assert {name for name, value in counted.items() if value != 0} == {
        *("backlog_age_hours", "first_event_at", "last_event_at"),
    }
    assert {counted["backlog_age_hours"], stats.episodes.first_event_at, stats.episodes.last_event_at} == {None}
    assert stats.pending_embeddings == 0


@pytest.mark.req("B22.1")
def test_stats_tell_how_long_the_oldest_has_waited_to_be_consolidated(store):
    waiting = [episode(created_at=NOON + timedelta(hours=hours)) for hours in (2, 5)]
    put(store, [*waiting, *(episode(consolidation_status=each) for each in ("consolidated", "failed", "dead_letter"))])
    put(store, [episode(scope="other", created_at=NOON - timedelta(days=9))])
    episodes = store.stats(CALLER, NOON + timedelta(hours=12)).episodes
    assert (episodes.total, episodes.unconsolidated, episodes.given_up, episodes.backlog_age_hours) == (5, 2, 2, 10.0)
    store.forget(act(NOON + timedelta(hours=12)), waiting[0].id)
    assert store.stats(CALLER, NOON + timedelta(hours=13)).episodes.backlog_age_hours == 8.0


@pytest.mark.req("B22.2")
@pytest.mark.req("B22.3")
def test_stats_count_facts_and_rules_by_how_they_stand(store):
    states = {"active": 1, "superseded": 2, "expired": 3, "retracted": 4}
    facts = [
        fact(subject=f"{state} {place}", validity=state) for state, count in states.items() for place in range(count)
    ]
    fading = [fact(subject=f"fading {place}", metadata={"status": "fading"}) for place in range(5)]
    gone = [fact(subject="gone", validity="retracted", metadata={"status": "fading"})]
    odd = [fact(subject="odd", metadata={"status": ["fading"]})]
    maturities = {"candidate": 1, "established": 2, "proven": 3, "anti_pattern": 4}
    rules = [rule(maturity=maturity) for maturity, count in maturities.items() for _ in range(count)]
    forgotten = [rule(maturity="proven", metadata={"forgotten": True}), rule(metadata={"forgotten": "true"})]
    put(store, [*facts, *fading, *gone, *odd, *rules, *forgotten])
    stats = store.stats(CALLER, LATER)
    assert stats.facts == FactStats(active=2, fading=5, superseded=2, expired=3, retracted=5)
    assert stats.rules == RuleStats(candidate=2, established=2, proven=3, anti_pattern=4, forgotten=1)
    assert (stats.facts.live, stats.rules.live) == (7, 11)


@pytest.mark.req("B22.4")
def test_stats_of_a_scope_count_facts_and_rules_of_it_and_the_global_one(store):
    for scope in ("global", "aide", "pool:team", "other"):
        put(store, [fact(scope=scope), rule(scope=scope), episode(scope=scope)])
    for scope, count in ((None, 3), ("aide", 2), ("pool:team", 2), ("global", 1), ("other", 1)):
        stats = store.stats(TEAM, LATER, scope=scope)
        assert (stats.facts.active, stats.rules.candidate, stats.episodes.total) == (count, count, 3)


@settings(max_examples=30)
@given(st.lists(MEMORIES, max_size=10))
def test_stats_agree_with_what_recent_shows(backend, memories):
    with backend.fresh() as store:
        put(store, memories)
        live = store.recent(Request(caller=CALLER, filter=Filter(), now=NOON), 99)
        episodes = [each for each in live if isinstance(each, Episode)]
        stats = store.stats(CALLER, NOON)
        kinds = Counter(each.kind for each in live)
        counts = (stats.episodes.total, stats.facts.live, stats.rules.live)
        assert counts == (kinds["episode"], kinds["fact"], kinds["rule"])
        assert stats.episodes.sessions == len({each.session for each in episodes} - {None})
        assert stats.episodes.speakers == len({each.speaker for each in episodes} - {None})
        assert stats.episodes.first_event_at == min((each.event_time for each in episodes), default=None)
        assert stats.episodes.last_event_at == max((each.event_time for each in episodes), default=None)


def test_health_of_a_used_store_is_sound(store):
    turns = put(store, conversation(*(f"Turn {place}." for place in range(9))))
    put(store, [fact("Lisbon")])
    put(store, [fact("Porto", created_at=LATER), fact("x", validity="retracted", subject="Z")])
    embed_all(store, {turn.id: axis(0) for turn in turns[:4]})
    store.forget(act(LATER), turns[0].id)
    put(store, [episode("Unsettled.", session="monday")])
    health = store.health()
    assert health.problems == ()
    assert (health.memories, health.embedded) == (13, 3)
    flush_index(store)
    health = store.health()
    assert health.problems == ()
    assert (health.indexed, health.embedded, health.waiting) == (10, 3, 7)
    assert health.embedder == "test:axes"
    assert store.health(thorough=False) == health


def test_closing_twice_is_closing_once(store):
    put(store, [episode("One.")])
    store.close()
    store.close()
