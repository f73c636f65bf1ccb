"""All of a call or nothing of it, and never a mutation without its event."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain.records import KINDS
from engrain.errors import InvalidInput, NotFound
from tests.support.sample_records import CALLER, LATER, NOON, act, entity, episode, fact, request, rule
from tests.support.store_samples import flush_index, keyword, put

INVALID = {
    "of another tenant": lambda: episode("Bread.", tenant_id="other"),
    "of another scope": lambda: rule("Bread.", scope="other"),
    "about nobody": lambda: fact("bread", entity_id="nobody", subject="Ben"),
    "from nowhere": lambda: rule("Bread.", source_episode_id="nothing"),
    "superseding nothing": lambda: fact("bread", supersedes_id="nothing", subject="Ben"),
}


@pytest.mark.req("B05.2")
@pytest.mark.parametrize("reason", INVALID)
@pytest.mark.parametrize("place", [0, 1, 3])
def test_one_invalid_memory_keeps_all_the_others_out(store, reason, place):
    """Nothing is written, superseded, linked, told or found of a call that was refused."""
    [old] = put(store, [fact("Lisbon")])
    before = store.events(CALLER)
    memories = [fact("Porto bread"), episode("Bread.", session="monday"), rule("Bread.")]
    memories.insert(place, INVALID[reason]())
    with pytest.raises(InvalidInput):
        store.put(act(LATER), memories)
    flush_index(store)
    assert store.recent(request(include_inactive=True), 9) == [old]
    assert keyword(store, "bread", asked=request(include_inactive=True)) == {}
    assert store.events(CALLER) == before
    assert store.links(CALLER, old.id) == []
    assert store.history(CALLER, old.id) == [old]
    stats = store.stats(CALLER, LATER)
    assert (stats.episodes.total, stats.facts.live, stats.facts.superseded, stats.rules.live) == (0, 1, 0, 0)
    assert store.health().problems == ()


@pytest.mark.parametrize("reason", INVALID)
def test_what_was_refused_may_be_put_again_without_the_fault(store, reason):
    turns = [episode("One.", session="monday"), episode("Two.", session="monday")]
    with pytest.raises(InvalidInput):
        store.put(act(LATER), [*turns, INVALID[reason]()])
    assert [each.turn for each in store.put(act(LATER), turns)] == [1, 2]


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["put", "invalid", "forget", "confirm", "erase"]), st.sampled_from(KINDS), st.integers(0, 9)
    ),
    max_size=12,
)


@pytest.mark.req("N10", "B33.1", "B33.2")
@settings(max_examples=25)
@given(ACTS)
def test_every_change_has_its_event_and_every_event_its_change(backend, acts):
    """A record differs from what it was before a call exactly where the call wrote an event of it."""
    made = {"episode": episode, "fact": fact, "rule": rule}
    with backend.fresh() as store:
        ids = []
        for step, (verb, kind, place) in enumerate(acts):
            now = act(NOON + timedelta(minutes=step + 1))
            before = {each.id: each for each in store.get(CALLER, ids)}
            chosen = ids[place % len(ids)] if ids else "nothing"
            try:
                match verb:
                    case "put":
                        ids += [each.id for each in store.put(now, [made[kind]("x"), episode("y")])]
                    case "invalid":
                        store.put(now, [made[kind]("x"), rule("y", scope="other")])
                    case "forget":
                        store.forget(now, chosen)
                    case "confirm":
                        store.confirm(now, chosen)
                    case "erase":
                        store.erase(now, [chosen])
            except InvalidInput:
                pass
            after = {each.id: each for each in store.get(CALLER, ids)}
            changed = {id_ for id_ in before.keys() | after.keys() if before.get(id_) != after.get(id_)}
            told = {each.memory_id for each in store.events(CALLER) if each.created_at == now.at}
            # A fact that named the erased one no longer does: that is told of with the erased.
            unnamed = {id_ for id_ in changed - told if before[id_].supersedes_id and not after[id_].supersedes_id}
            assert told == changed - unnamed


def test_writers_at_once_lose_nothing_and_tell_all(store):
    who = store.put_entity(act(), entity())

    def write(place):
        stored = store.put(
            act(), [episode(f"Turn {place}.", session="monday"), fact(f"City {place}", entity_id=who.id)]
        )
        store.touch(act(), [stored[0].id])
        return stored

    with ThreadPoolExecutor(4) as pool:
        written = [each for pair in pool.map(write, range(20)) for each in pair]
    now = store.get(CALLER, [each.id for each in written])
    assert sorted(each.turn for each in now if each.kind == "episode") == list(range(1, 21))
    assert [each.reference_count for each in now if each.kind == "episode"] == [1] * 20
    assert [each.validity for each in now if each.kind == "fact"].count("active") == 1
    types = [each.event_type for each in store.events(CALLER)]
    assert [types.count(each) for each in ("episode_created", "fact_created", "fact_superseded")] == [20, 20, 19]
    assert store.health().problems == ()


def test_those_who_note_the_same_mentions_at_once_tell_each_of_them_once(store):
    people = [store.put_entity(act(), entity(name)) for name in ("Ana", "Ben", "Cleo")]
    [said] = put(store, [episode("Ana, Ben and Cleo.")])

    def note(place):
        return store.mention(act(LATER), said.id, [people[place % 3].id, people[(place + 1) % 3].id])

    with ThreadPoolExecutor(4) as pool:
        new = [id_ for ids in pool.map(note, range(12)) for id_ in ids]
    assert sorted(new) == sorted(each.id for each in people)
    told = store.events(CALLER, event_type="entities_mentioned")
    assert sorted(id_ for each in told for id_ in each.payload["entity_ids"]) == sorted(new)
    assert [each.mention_count for each in store.entities(CALLER, new)] == [1, 1, 1]


def test_a_memory_that_goes_while_it_is_mentioned_mentions_nobody(store):
    """Whichever is first: the mention goes with the memory, or finds none."""
    ana = store.put_entity(act(), entity())
    turns = put(store, [episode(f"Turn {place}.") for place in range(12)])

    def note(turn):
        try:
            return len(store.mention(act(LATER), turn.id, [ana.id]))
        except NotFound:
            return 0

    with ThreadPoolExecutor(4) as pool:
        erasing = [pool.submit(store.erase, act(LATER), [turn.id]) for turn in turns[::2]]
        noted = list(pool.map(note, turns))
        for each in erasing:
            each.result()
    assert set(noted) <= {0, 1}
    assert noted[1::2] == [1] * 6
    assert store.entities(CALLER, [ana.id])[0].mention_count == 6
    assert store.health().problems == ()
