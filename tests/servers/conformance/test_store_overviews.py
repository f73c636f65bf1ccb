"""What a dashboard reads: counts by day and what stands out, of what the caller sees, within bounds."""

from dataclasses import replace
from datetime import timedelta

from engrain.domain.records import Caller
from engrain.domain.requests import Act
from tests.support.sample_records import CALLER, NOON, act, entity, episode, fact, request, rule
from tests.support.store_samples import put

DAY = timedelta(days=1)
LATER = NOON + 9 * DAY


def put_on(store, day, *memories, caller=CALLER):
    return store.put(Act(caller=caller, at=NOON + day * DAY), list(memories))


def test_events_are_counted_by_day_and_type(store):
    put_on(store, 0, episode(), episode())
    [kept] = put_on(store, 1, fact("One"))
    put_on(store, 1, rule())
    store.forget(act(at=NOON + 2 * DAY), kept.id)
    store.mark(act(at=NOON + 2 * DAY), "nobody", "helpful")
    counts, cut = store.activity(CALLER, since=NOON)
    assert counts == {
        ("2024-05-07", "episode_created"): 2,
        ("2024-05-08", "fact_created"): 1,
        ("2024-05-08", "rule_created"): 1,
        ("2024-05-09", "fact_retracted"): 1,
    }
    assert cut is None
    assert store.activity(CALLER, since=NOON + timedelta(hours=1))[0].keys() == counts.keys() - {
        ("2024-05-07", "episode_created")
    }


def test_a_day_is_one_of_utc(store):
    store.put(Act(caller=CALLER, at=NOON.replace(hour=23, minute=59, second=59, microsecond=999_999)), [episode()])
    store.put(Act(caller=CALLER, at=(NOON + DAY).replace(hour=0)), [episode()])
    assert [day for day, _ in sorted(store.activity(CALLER, since=NOON)[0])] == ["2024-05-07", "2024-05-08"]


def test_of_more_events_than_may_be_looked_at_the_newest_are_counted_and_it_says_since_when(store):
    for day in range(4):
        put_on(store, day, episode())
    counts, cut = store.activity(CALLER, since=NOON, most=3)
    assert sorted(day for day, _ in counts) == ["2024-05-08", "2024-05-09", "2024-05-10"]
    assert cut == NOON + DAY


def test_only_what_happened_in_the_callers_scopes_is_counted(store):
    put_on(store, 0, episode(scope="other", agent="other"), caller=Caller(agent="other"))
    put_on(store, 0, episode(tenant_id="acme"), caller=replace(CALLER, tenant_id="acme"))
    put_on(store, 0, fact("One", scope="global"))
    assert store.activity(CALLER, since=NOON)[0] == {("2024-05-07", "fact_created"): 1}


def test_the_most_referenced_come_first_and_what_never_was_does_not(store):
    once, twice, never = put(store, [episode("a"), fact("b"), rule("c")])
    for each in (once, twice, twice):
        store.touch(act(), [each.id])
    found = store.standouts(request(), limit=5)
    assert [(each.id, each.reference_count) for each in found.most_referenced] == [(twice.id, 2), (once.id, 1)]
    assert never.id not in {each.id for each in found.most_referenced}
    assert [each.id for each in store.standouts(request(), limit=1).most_referenced] == [twice.id]
    assert store.standouts(request(), limit=0).most_referenced == ()


def test_of_equal_references_the_newest_come_first(store):
    kept = put(store, [episode(event_time=NOON + place * DAY) for place in (1, 3, 2)])
    store.touch(act(), [each.id for each in kept])
    found = store.standouts(request(now=LATER), limit=5).most_referenced
    assert [each.id for each in found] == [kept[1].id, kept[2].id, kept[0].id]


def test_entities_stand_by_how_many_active_facts_are_about_them(store):
    ana, ben = (store.put_entity(act(), entity(name)) for name in ("Ana", "Ben"))
    put(store, [fact("x", entity_id=ana.id, predicate=each) for each in ("hums", "holds")])
    put(store, [fact("x", entity_id=ben.id, predicate="hums", subject="Ben")])
    put(store, [fact("y", entity_id=ana.id, predicate="hums", created_at=NOON + DAY)])  # in the place of another
    put(store, [fact("z", predicate="sees")])
    assert store.standouts(request(now=LATER), limit=9).entities == ((ana.id, 2), (ben.id, 1))
    assert store.standouts(request(now=LATER), limit=1).entities == ((ana.id, 2),)


def test_bytes_are_those_of_the_words_and_only_the_newest_are_looked_at(store):
    put(store, [episode("äöü", event_time=NOON + place * DAY) for place in range(3)])
    put(store, [fact("abcd"), rule("ab")])
    whole = store.standouts(request(now=LATER), limit=9)
    assert whole.looked_at == {"episode": 3, "fact": 1, "rule": 1}
    assert whole.content_bytes == {"episode": 18, "fact": 4, "rule": 2}
    assert store.standouts(request(now=LATER), limit=9, most=2).content_bytes == {"episode": 12, "fact": 4, "rule": 2}


def test_what_stands_out_is_of_the_callers_scopes_and_live(store):
    hidden, gone = put(store, [fact("One", scope="other"), rule("Two")])
    put(store, [episode(tenant_id="acme")])
    store.touch(act(caller=Caller(agent="other")), [hidden.id])
    store.touch(act(), [gone.id])
    store.forget(act(), gone.id)
    found = store.standouts(request(), limit=9)
    assert (found.most_referenced, found.entities) == ((), ())
    assert sum(found.looked_at.values()) == 0
