"""What a monitor reads: few numbers over every tenant, the same on every backend."""

from datetime import timedelta

from engrain.domain.maintenance.vitals import JobVitals
from engrain.storage.migrations import HEAD
from tests.support.sample_records import LATER, NOON, act, episode, fact, rule
from tests.support.store_samples import axis, embed_all, put


def test_an_empty_database_is_counted_too(store):
    found = store.vitals(LATER)
    assert found.memories == {"episode": 0, "fact": 0, "rule": 0}
    assert (found.without_vector, found.without_vector_since) == (0, None)
    assert found.jobs == JobVitals()
    assert found.schema in {HEAD, "none"}
    assert found.newest_schema == HEAD


def test_memories_of_every_tenant_are_counted_by_kind(store):
    put(store, [episode(), episode(), fact("One"), rule()])
    put(store, [episode(tenant_id="other")])
    store.flush_index()
    assert store.vitals(LATER).memories == {"episode": 3, "fact": 1, "rule": 1}


def test_what_waits_for_a_vector_is_counted_and_the_oldest_of_it_dated(store):
    [first] = put(store, [episode(created_at=NOON)])
    [second] = put(store, [fact("One", created_at=NOON + timedelta(minutes=5))])
    before = store.vitals(LATER)
    embed_all(store, {first.id: axis(0), second.id: axis(1)})
    put(store, [rule(created_at=NOON + timedelta(minutes=9))])
    after = store.vitals(LATER)
    assert (before.without_vector, before.without_vector_since) == (2, NOON)
    assert (after.without_vector, after.without_vector_since) == (1, NOON + timedelta(minutes=9))


def test_live_memories_are_counted_by_the_agent_that_stored_them(store):
    stored = put(store, [episode(agent="aide"), episode(agent="aide"), fact("One", agent="aide"), rule(agent="ben")])
    put(store, [episode(agent="aide", expires_at=NOON), fact("Two", agent="ben", subject="Ben")])
    put(store, [episode(agent="aide", tenant_id="other")])
    store.forget(act(), stored[2].id)
    counted = {counts.agent: counts for counts in store.agent_counts(stored[0].tenant_id, LATER)}
    assert [*counted] == ["aide", "ben"]
    assert (counted["aide"].episodes, counted["aide"].facts, counted["aide"].rules) == (2, 0, 0)
    assert (counted["ben"].episodes, counted["ben"].facts, counted["ben"].rules) == (0, 1, 1)
    assert store.agent_counts("nobody", LATER) == []
