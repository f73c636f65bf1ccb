"""Turns that arrive by columns are stored, counted and found as those that arrive as episodes."""

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain.id_columns import derive_ids
from engrain.domain.memories.turn_columns import NewTurns
from engrain.domain.text.analysis import terms
from engrain.storage.write import batches
from tests.support.sample_records import CALLER, NOON, act, episode
from tests.support.store_samples import flush_index, keyword, put

VOCABULARY = ["lisbon", "tram", "river", "Zürich", "東京都", "x2", "isn't it"]
SAYINGS = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=5).map(" ".join)
TURN = st.tuples(
    st.integers(0, 30),  # its id
    st.sampled_from([None, "monday", "tuesday", "tuesday"]),
    st.sampled_from(["user", "assistant"]),
    st.sampled_from([None, "Ana", "Bo"]),
    SAYINGS | st.just("tram " * 45),
    st.integers(0, 3_000),  # minutes
)
BATCHES = st.lists(st.lists(TURN, min_size=1, max_size=9), min_size=1, max_size=4)


def by_columns(turns, at):
    """Turns as an import has them."""
    numbers, sessions, roles, speakers, contents, minutes = zip(*turns, strict=True)
    return NewTurns(
        act=act(at),
        ids=derive_ids(("turn", [str(number) for number in numbers]), [0] * len(numbers)),
        sessions=sessions,
        roles=roles,
        speakers=speakers,
        contents=contents,
        event_times=[NOON - timedelta(minutes=count) for count in minutes],
        importances=[5.0] * len(numbers),
        metadata={"format": "jsonl"},
    )


def told(store, ids):
    """What a store says of memories: themselves, by which words each is found how well, and their events."""
    found = {term: keyword(store, term) for term in terms(" ".join([*VOCABULARY, "Ana", "Bo", "May"]))}
    created = store.events(CALLER, event_type="episode_created")
    return (
        store.get(CALLER, ids),
        found,
        sorted((event.memory_id, event.scope, str(event.payload)) for event in created),
    )


@settings(max_examples=25, deadline=None)
@given(BATCHES, st.booleans(), st.booleans())
def test_turns_by_columns_are_those_of_episodes(backend, several, is_waiting, is_forgotten):
    with backend.fresh() as columns, backend.fresh() as episodes:
        ids = []
        for place, turns in enumerate(several):
            new = by_columns(turns, NOON + timedelta(minutes=place))
            added = columns.store.write(new.act, batches.insert_turns, new)
            assert added == len(put(episodes, new.build([0] * len(turns))))
            ids += dict.fromkeys(new.ids)
            if is_forgotten:
                for store in (columns, episodes):
                    store.forget(act(), new.ids[-1])
            if is_waiting:  # for the index: one turn alone
                alone = episode("A river alone.", session="tuesday", scope=CALLER.own_scope)
                ids.append(alone.id)
                for store in (columns, episodes):
                    put(store, [alone])
        flush_index(columns)
        flush_index(episodes)
        assert told(columns, ids) == told(episodes, ids)
