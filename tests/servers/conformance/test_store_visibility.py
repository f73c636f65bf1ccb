"""Who sees what: `get`, `forget`, and the walls between tenants, agents and pools."""

from dataclasses import replace
from datetime import timedelta

import pytest

from engrain.domain import events
from engrain.domain.filters import Filter
from engrain.domain.records import Caller
from engrain.domain.requests import Request
from engrain.domain.text.analysis import terms
from tests.support.sample_records import CALLER, LATER, NOON, act, episode, fact, request, rule
from tests.support.store_samples import axis, conversation, embed_all, flush_index, keyword, nearest, put

STRANGERS = [
    Caller(agent="other"),
    Caller(agent="other", pools=("aide",)),
    Caller(tenant_id="other", agent="aide", pools=("team",)),
]
REMOVE = {
    "erased": lambda store, id_: store.erase(act(LATER), [id_]),
    "forgotten": lambda store, id_: store.forget(act(LATER), id_),
}


def test_get_answers_in_the_order_asked(store):
    stored = put(store, [episode("One."), fact("Two"), episode("Three.")])
    ids = [stored[place].id for place in (2, 0, 1)]
    assert [each.id for each in store.get(CALLER, ids)] == ids


def test_get_leaves_unknown_ids_out_and_says_a_repeated_one_once(store):
    [stored] = put(store, [episode("One.")])
    assert store.get(CALLER, ["nothing", stored.id, "", stored.id]) == [stored]
    assert store.get(CALLER, []) == []


def test_get_answers_about_a_thousand_ids(store):
    stored = put(store, [episode(f"Number {place}.") for place in range(1_000)])
    assert store.get(CALLER, [each.id for each in reversed(stored)]) == stored[::-1]


def test_get_shows_what_has_expired(store):
    [stored] = put(store, [episode("Gone.", expires_at=NOON)])
    assert store.recent(request(now=NOON), 10) == []
    assert store.get(CALLER, [stored.id]) == [stored]


def test_a_caller_sees_everybodys_scope_its_own_and_its_pools(store):
    stored = put(store, [fact("One", scope=scope) for scope in ("global", "aide", "pool:team", "pool:others", "other")])
    ids = [each.id for each in stored]
    assert store.get(CALLER, ids) == stored[:2]
    assert store.get(replace(CALLER, pools=("team",)), ids) == stored[:3]
    assert store.get(Caller(agent="other", pools=("others",)), ids) == [stored[0], stored[3], stored[4]]


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda caller: f"{caller.tenant_id}-{caller.agent}")
def test_strangers_find_nothing_by_any_read(store, stranger):
    turns = put(store, conversation("Bread.", "Tram.", scope="pool:team", speaker="Ana"))
    known = embed_all(store, {turn.id: axis(0) for turn in turns}, replace(CALLER, pools=("team",)))
    member, outsider = replace(CALLER, pools=("team",)), replace(stranger, pools=())
    asked = {who: Request(caller=who, filter=Filter(), now=LATER) for who in (member, outsider)}
    reads = {
        "get": lambda who: store.get(who, [turn.id for turn in turns]),
        "keyword": lambda who: store.keyword(asked[who], {"bread"}, 9),
        "nearest": lambda who: store.nearest(asked[who], axis(0), 9, also=list(known)),
        "speakers": lambda who: store.speakers(asked[who]),
        "traits": lambda who: list(store.traits(asked[who], list(known))),
        "newest": lambda who: store.newest(asked[who], 9),
        "important": lambda who: store.important(asked[who], 9),
        "load": lambda who: list(store.load(asked[who], list(known))),
        "recent": lambda who: store.recent(asked[who], 9),
        "neighbours": lambda who: store.neighbours(asked[who], turns[0], 1),
    }
    assert {name for name, read in reads.items() if read(member)} == set(reads)
    assert {name for name, read in reads.items() if read(outsider)} == set()


def test_what_waits_is_counted_in_the_callers_scopes_alone(store):
    put(store, [fact("Everybody's"), fact("Theirs", scope="pool:x")])
    for memory in [episode("Theirs.", scope="other"), episode("Theirs.", tenant_id="other"), episode("Mine.")]:
        put(store, [memory])
    for _ in range(2):
        assert store.waiting(CALLER) == store.stats(CALLER, LATER).pending_embeddings == 2
        assert store.waiting(Caller(agent="nobody", pools=("x",))) == 2
        assert store.waiting(Caller(tenant_id="third", agent="aide")) == 0
        flush_index(store)


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda caller: f"{caller.tenant_id}-{caller.agent}")
def test_a_stranger_forgets_nothing(store, stranger):
    stored = put(store, [episode("Mine."), fact("Mine", scope="aide")])
    for memory in stored:
        assert store.forget(act(LATER, stranger), memory.id) is None
    assert store.get(CALLER, [each.id for each in stored]) == stored


def test_forgetting_what_is_not_there_says_so(store):
    assert store.forget(act(LATER), "nothing") is None


@pytest.mark.parametrize(
    ("memory", "change"),
    [
        (episode("Gone."), {"expires_at": LATER, "metadata": {"hidden": True}}),
        (fact("Gone"), {"validity": "retracted", "invalidated_at": LATER, "metadata": {"hidden": True}}),
        (
            rule("Gone.", metadata={"a": 1}),
            {"metadata": {"a": 1, "hidden": True, "forgotten": True}, "invalidated_at": LATER},
        ),
    ],
    ids=["episode", "fact", "rule"],
)
def test_forgetting_says_so_in_the_record_and_twice_is_once(store, memory, change):
    [stored] = put(store, [memory])
    gone = replace(stored, **change)
    assert store.forget(act(LATER), stored.id) == gone
    assert store.forget(act(LATER + timedelta(days=1)), stored.id) == gone
    assert store.forget(act(LATER - timedelta(seconds=1)), stored.id) == gone
    assert store.get(CALLER, [stored.id]) == [gone]


def test_an_episode_that_would_have_expired_anyway_expires_now(store):
    [stored] = put(store, [episode("Gone.", expires_at=LATER + timedelta(days=7))])
    assert store.forget(act(LATER), stored.id).expires_at == LATER


@pytest.mark.parametrize(
    ("memory", "change"),
    [
        (episode("Bread.", expires_at=NOON), {"metadata": {"hidden": True}}),
        (
            fact("bread", validity="superseded", invalidated_at=NOON),
            {"metadata": {"hidden": True}, "validity": "retracted"},
        ),
        (
            fact("bread", validity="expired", invalidated_at=NOON),
            {"metadata": {"hidden": True}, "validity": "retracted"},
        ),
        (
            rule("Bread.", metadata={"forgotten": True}, invalidated_at=NOON),
            {"metadata": {"forgotten": True, "hidden": True}},
        ),
    ],
    ids=["episode", "superseded", "expired", "rule"],
)
def test_what_had_ended_is_forgotten_too_and_keeps_the_time_of_its_end(store, memory, change):
    before = replace(memory, created_at=NOON - timedelta(days=1))
    [stored] = put(store, [before])
    asked = request(as_of=NOON - timedelta(hours=1))
    assert store.recent(asked, 9) == [stored]
    gone = replace(stored, **change)
    assert store.forget(act(LATER), stored.id) == gone
    assert store.forget(act(LATER + timedelta(days=1)), stored.id) == gone
    assert store.get(CALLER, [stored.id]) == [gone]
    assert store.recent(asked, 9) == []
    told = [replace(event, id="") for event in store.events(CALLER)]
    assert told[:-1] == [events.memory_forgotten(act(LATER), stored, lambda: "")]


@pytest.mark.parametrize(
    "memory", [episode("Some bread."), fact("bread"), rule("Bread.")], ids=["episode", "fact", "rule"]
)
def test_a_forgotten_memory_is_gone_from_every_search_and_from_the_queue(store, memory):
    [kept, gone] = put(store, [episode("More bread."), memory])
    known = embed_all(store, {kept.id: axis(0), gone.id: axis(0)})
    place = next(ref for ref, id_ in known.items() if id_ == gone.id)
    store.forget(act(LATER), gone.id)
    assert set(keyword(store, "bread")) == {kept.id}
    assert set(nearest(store, axis(0), known)) == {kept.id}
    assert [each.ref for each in store.nearest(request(), axis(0), 9, also=[place])] == [
        ref for ref, id_ in known.items() if id_ == kept.id
    ]
    assert store.recent(request(), 9) == [kept]
    assert store.load(request(), list(known)).keys() == {ref for ref, id_ in known.items() if id_ == kept.id}


@pytest.mark.parametrize("settled", [True, False], ids=["settled", "unsettled"])
def test_a_forgotten_memory_waits_for_no_vector(store, settled):
    [stored] = put(store, [episode("Gone.")])
    if settled:
        flush_index(store)
    store.forget(act(LATER), stored.id)
    flush_index(store)
    assert store.waiting(CALLER) == 0
    assert store.unembedded(9) == []
    assert store.health().problems == ()


@pytest.mark.parametrize("created_at", [NOON, LATER + timedelta(hours=1)], ids=["earlier", "later"])
def test_a_forgotten_turn_stays_forgotten_whenever_its_session_goes_on(store, created_at):
    """Clocks of two processes differ, and an import says when its turns were said: created_at orders nothing."""
    secret, _ = put(store, conversation("Secret.", "Tram."))
    store.forget(act(LATER), secret.id)
    for content in ("Bread.", "River."):
        put(store, [episode(content, session="monday", created_at=created_at)])
    put(store, [episode(content, session="monday", created_at=created_at) for content in ("Late.", "Blue.")])
    flush_index(store)
    assert keyword(store, *terms("secret")) == {}
    assert store.health().problems == ()


@pytest.mark.parametrize("remove", REMOVE)
@pytest.mark.parametrize("grouped", [True, False], ids=["together", "one by one"])
@pytest.mark.parametrize("settled", [True, False], ids=["settled", "unsettled"])
def test_the_words_of_an_erased_or_forgotten_turn_leave_its_neighbours(store, grouped, settled, remove):
    turns = conversation("Tram.", "Secret.", "Bread.", "River.")
    stored = put(store, turns) if grouped else [put(store, [turn])[0] for turn in turns]
    if settled:
        flush_index(store)
    REMOVE[remove](store, stored[1].id)
    flush_index(store)
    assert keyword(store, *terms("secret")) == {}
    assert set(keyword(store, "bread")) == {stored[0].id, stored[2].id, stored[3].id}
    [next_] = put(store, [episode("Late.", session="monday")])
    assert (next_.turn, [each.turn for each in store.neighbours(request(), next_, 9)]) == (5, [1, 3, 4])


@pytest.mark.parametrize("remove", REMOVE)
def test_a_store_without_what_was_erased_or_forgotten_ranks_the_same(backend, remove):
    turns = conversation("Tram and bread.", "A secret tram.", "Bread, bread.", "River.", "Tram.")
    removed = [episode("A secret tram."), episode("A secret tram.", session="friday"), rule("Secret tram.")]
    removed += [fact("secret tram"), fact("secret tram", predicate="took", scope="aide")]
    with backend.fresh() as forgetful, backend.fresh() as innocent:
        for memory in put(forgetful, [*turns, *removed])[len(turns) :]:
            REMOVE[remove](forgetful, memory.id)
        put(innocent, turns)
        for word in ("tram", "bread", "secret", "river"):
            assert keyword(forgetful, *terms(word)) == pytest.approx(keyword(innocent, *terms(word)))
