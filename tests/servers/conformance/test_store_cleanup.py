"""A cleanup removes what ran out, of too many the oldest consolidated, what ended, and nothing else of anybody."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain.maintenance.retention import CleanupBatch, Retention, has_ended, has_run_out
from engrain.domain.records import CONSOLIDATION_STATUSES, VALIDITIES, Caller
from engrain.domain.requests import Act
from tests.support.backups import every_row
from tests.support.sample_records import CALLER, NOON, act, entity, episode, fact, link, request, rule
from tests.support.store_samples import axis, conversation, embed_all, flush_index, keyword, nearest, put

NIGHT = NOON + timedelta(days=10)
UPKEEP = Caller(agent="upkeep")
EVERYTHING = {"include_inactive": True, "now": NIGHT}
OLD = {"expires_at": NIGHT - timedelta(days=1)}
DONE = {"consolidation_status": "consolidated"}


def clean(store, retention=Retention(), *, limit=1_000, caller=UPKEEP, dry_run=False):  # noqa: B008  # frozen
    """Batches until nothing more has to go, added up."""
    total = CleanupBatch(remaining=None)
    while total.remaining is None:
        batch = store.clean(Act(caller=caller, at=NIGHT), retention, limit=limit, dry_run=dry_run)
        assert dry_run or batch.expired + batch.capacity <= limit
        total = CleanupBatch(
            expired=total.expired + batch.expired,
            capacity=total.capacity + batch.capacity,
            remaining=batch.remaining,
        )
    return total


def ids(store):
    return {each.id for each in store.recent(request(**EVERYTHING), 100)}


@pytest.mark.req("B15.1", "B15.2", "B15.3", "N04", "N17")
@settings(max_examples=40)
@given(
    st.lists(
        st.builds(
            episode,
            created_at=st.integers(-5, 0).map(lambda days: NOON + timedelta(days=days)),
            expires_at=st.none() | st.integers(-5, 5).map(lambda days: NIGHT + timedelta(days=days)),
            consolidation_status=st.sampled_from(CONSOLIDATION_STATUSES),
            session=st.none() | st.just("monday"),
        ),
        max_size=8,
    ),
    st.none() | st.integers(0, 6),
    st.integers(0, 3),
    st.integers(1, 4),
)
def test_what_goes_is_what_ran_out_and_then_the_oldest_consolidated(backend, episodes, most, days, limit):
    retention = Retention(expired_days=days, max_entries=most)
    expired = {each.id for each in episodes if has_run_out(each, retention, now=NIGHT)}
    left = [each for each in episodes if each.id not in expired]
    loose = sorted((each for each in left if each.consolidated), key=lambda each: (each.created_at, each.id))
    over = 0 if most is None else max(len(left) - most, 0)
    surplus = {each.id for each in loose[:over]}
    with backend.fresh() as store:
        if episodes:
            put(store, episodes)
        expected = CleanupBatch(expired=len(expired), capacity=len(surplus), remaining=len(left) - len(surplus))
        assert clean(store, retention, dry_run=True) == expected
        assert ids(store) == {each.id for each in episodes}
        assert clean(store, retention, limit=limit) == expected
        assert ids(store) == {each.id for each in left} - surplus
        events = {each.memory_id: each.payload["reason"] for each in store.events(CALLER, event_type="episode_cleaned")}
        assert events == {**dict.fromkeys(expired, "expired"), **dict.fromkeys(surplus, "capacity")}
        again = clean(store, retention)
        assert (again.expired, again.capacity, again.remaining) == (0, 0, expected.remaining)
        assert store.health().problems == ()


@pytest.mark.parametrize("make", [fact, rule])
def test_a_source_stays_until_what_was_learned_of_it_is_found_by_meaning_too(store, make):
    """Else nothing would answer a question in other words while the embedder is behind."""
    source, loose, dark = put(store, [episode("One.", **DONE), episode("Two.", **DONE), episode("Three.", **DONE)])
    embed_all(store, {source.id: axis(0), loose.id: axis(1)})
    [learned] = put(store, [make("Learned.")])
    for each in (source, dark):
        store.link(act(), link(learned, each, "derived_from"))
    store.link(act(), link(learned, loose, "supports"))
    none = Retention(max_entries=0)
    expected = CleanupBatch(expired=0, capacity=2, remaining=1)
    assert clean(store, none, dry_run=True) == expected
    assert clean(store, none, limit=1) == expected
    assert ids(store) == {source.id, learned.id}
    embed_all(store, {learned.id: axis(2)})
    assert clean(store, none) == CleanupBatch(expired=0, capacity=1, remaining=0)
    assert ids(store) == {learned.id}


def test_a_source_goes_where_what_was_learned_of_it_went(store):
    [source] = put(store, [episode("One.", **DONE)])
    embed_all(store, {source.id: axis(0)})
    [learned] = put(store, [fact()])
    store.link(act(), link(learned, source, "derived_from"))
    assert clean(store, Retention(max_entries=0)).remaining == 1
    store.forget(act(), learned.id)
    assert clean(store, Retention(max_entries=0)).remaining == 0


@pytest.mark.req("B15.2")
def test_what_is_not_consolidated_and_has_not_run_out_stays_however_many_there_are(store):
    kept = put(store, [episode(f"Turn {place}.") for place in range(5)])
    [done] = put(store, [episode("Done.", **DONE)])
    assert clean(store, Retention(max_entries=2)) == CleanupBatch(expired=0, capacity=1, remaining=5)
    assert ids(store) == {each.id for each in kept}
    assert store.get(CALLER, [done.id]) == []


def test_nothing_of_what_was_cleaned_away_is_found_and_what_named_it_names_nothing(store):
    first, gone, last = put(store, [*conversation("One bread.", "Two secret.", "Three butter.", speaker="Zora")])
    store.put_entity(act(), zora := entity("Zora"))
    learned = put(store, [fact("x", source_episode_id=gone.id), rule("y", source_episode_id=gone.id)])
    store.link(act(), link(learned[0], gone, "derived_from"))
    store.mention(act(), gone.id, [zora.id])
    refs = embed_all(store, {each.id: axis(0) for each in (first, gone, last)})
    assert gone.id in keyword(store, "secret")
    store.forget(Act(caller=CALLER, at=NIGHT - timedelta(hours=1)), gone.id)
    assert clean(store) == CleanupBatch(expired=1, capacity=0, remaining=2)
    flush_index(store)
    assert keyword(store, "secret", asked=request(**EVERYTHING)) == {}
    assert set(nearest(store, axis(0), refs, **EVERYTHING)) == {first.id, last.id}
    assert store.links(CALLER, learned[0].id) == store.links(CALLER, gone.id) == []
    assert [each.source_episode_id for each in store.get(CALLER, [each.id for each in learned])] == [None, None]
    assert store.entities(CALLER, [zora.id])[0].mention_count == 0
    assert store.speakers(request()) == ["Zora"]
    assert store.events(CALLER, memory_id=gone.id)[0].event_type == "episode_cleaned"
    assert store.health().problems == ()


def test_a_session_and_a_speaker_of_whom_nothing_is_left_are_forgotten(store):
    put(store, conversation("One.", "Two.", session="monday", speaker="Zora", **OLD))
    assert clean(store).expired == 2
    assert store.speakers(request()) == []
    assert ids(store) == set()
    [again] = put(store, [episode("Three.", session="monday")])
    assert again.turn == 1


def test_a_cleanup_leaves_a_tombstone_of_what_was_forgotten_alone(store):
    [gone, forgotten] = put(store, [episode("Said.", **OLD), episode("Forgotten.")])
    store.forget(act(NOON - timedelta(days=999)), forgotten.id)
    assert clean(store).expired == 2
    assert store.put(act(NIGHT), [replace(gone, expires_at=None)]) == [replace(gone, expires_at=None)]
    assert [row["id"] for row in every_row(store)["tombstones"]] == [forgotten.id]


@pytest.mark.req("N12", "B29.2")
def test_a_cleanup_is_of_one_tenant_and_of_all_its_scopes(store):
    mine, bens, strange = episode(**OLD), episode(scope="ben", **OLD), episode(tenant_id="other", **OLD)
    for each in (mine, bens, strange):
        put(store, [each])
    assert store.tenants() == ["default", "other"]
    assert clean(store) == CleanupBatch(expired=2, capacity=0, remaining=0)
    assert store.get(Caller(agent="ben"), [bens.id]) == []
    assert store.get(Caller(tenant_id="other", agent="aide"), [strange.id]) == [strange]


@pytest.mark.req("G22")
@pytest.mark.parametrize(("days", "left"), [(89.9, 0), (90.1, 1)])
def test_what_ran_out_is_kept_for_the_days_that_retention_says(store, days, left):
    put(store, [episode(expires_at=NIGHT - timedelta(days=90))])
    assert clean(store, Retention(expired_days=days)).remaining == left


MOMENTS = st.none() | st.integers(-3, 12).map(lambda days: NOON + timedelta(days=days))
ENDING = {
    "fact": st.builds(
        fact,
        subject=st.uuids().map(str),
        scope=st.sampled_from(["global", "ben"]),
        permanence=st.sampled_from(["permanent", "volatile"]),
        validity=st.sampled_from(VALIDITIES),
        valid_to=MOMENTS,
        invalidated_at=MOMENTS,
    ),
    "rule": st.builds(
        rule, metadata=st.sampled_from([{}, {"forgotten": True}, {"forgotten": False}]), invalidated_at=MOMENTS
    ),
}


@pytest.mark.parametrize("kind", ENDING)
@settings(max_examples=30)
@given(data=st.data(), days=st.integers(0, 12), limit=st.integers(1, 4))
def test_facts_and_rules_go_that_ended_longer_ago_than_the_days_of_retention(backend, kind, data, days, limit):
    memories = data.draw(st.lists(ENDING[kind], min_size=1, max_size=8))
    retention, night = Retention(fact_days=days), Act(caller=UPKEEP, at=NIGHT)
    with backend.fresh() as store:
        put(store, memories)
        ended = sorted(memory.id for memory in memories if has_ended(memory, retention, now=NIGHT))
        found, page = [], [""]
        while days and page:
            page = store.list_ended(night, kind, retention, after=page[-1], limit=limit)
            found += page
        assert found == ended
        every = [memory.id for memory in memories]
        assert store.erase_ended(night, retention, every) == len(ended)
        rows = every_row(store)
        assert {row["id"] for row in rows[f"{kind}s"]} == {*every} - {*ended}
        assert {row["id"] for row in rows["tombstones"]} == {*ended}
        erased = [row["memory_id"] for row in rows["memory_events"] if row["event_type"] == "memory_erased"]
        assert sorted(erased) == ended
        assert store.health().problems == ()


@pytest.mark.parametrize(("days_ago", "is_gone"), [(30.1, True), (29.9, False)], ids=["longer ago", "not so long ago"])
@pytest.mark.parametrize(
    "ends",
    [
        lambda end: fact(validity="superseded", invalidated_at=end, valid_to=NOON - timedelta(days=999)),
        lambda end: fact(validity="expired", invalidated_at=end),
        lambda end: fact(validity="retracted", invalidated_at=end),
        lambda end: fact(permanence="permanent", created_at=end, valid_to=end - timedelta(days=999)),
        lambda end: fact(created_at=end - timedelta(days=9), valid_to=end),
        lambda end: rule(metadata={"forgotten": True}, invalidated_at=end),
    ],
    ids=["superseded", "expired", "retracted", "period before it was stored", "period", "forgotten rule"],
)
def test_the_days_count_from_when_it_ended_here(ends, days_ago, is_gone):
    assert has_ended(ends(NIGHT - timedelta(days=days_ago)), Retention(fact_days=30), now=NIGHT) == is_gone


@pytest.mark.parametrize("memory", [fact(permanence="permanent"), fact(permanence="ephemeral"), rule(), episode(**OLD)])
def test_what_has_not_ended_never_goes_by_age(memory):
    assert not has_ended(memory, Retention(fact_days=1), now=NIGHT + timedelta(days=30_000))


def test_a_fact_that_is_active_again_when_it_is_locked_stays(store):
    """Such as one whose successor was undone since the batch was read."""
    [live] = put(store, [fact()])
    assert store.erase_ended(Act(caller=UPKEEP, at=NIGHT), Retention(fact_days=1), [live.id]) == 0
    assert ids(store) == {live.id}
