"""What notes ask of a store: the fact of a place, one put with its relations, and one in the place of several."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from engrain.domain.records import Caller, Link
from engrain.errors import InvalidInput
from engrain.storage.write import arrivals
from tests.support.reference_filters import matches
from tests.support.sample_records import CALLER, LATER, act, entity, episode, fact, link, request
from tests.support.store_samples import keyword, put

STRANGER = Caller(agent="ben")


def note(key="editor", content="vim", **changes):
    return fact(content, **{"subject": "aide", "scope": "aide", "predicate": key, **changes})


def stored_note(store, key="editor", caller=CALLER):
    return store.find_active_fact(caller, scope="aide", subject="aide", predicate=key)


@pytest.mark.req("C01")
def test_the_active_fact_of_a_place_is_found_by_it(store):
    assert stored_note(store) is None
    put(store, [note(content="emacs")])
    [vim] = put(store, [note()])
    assert stored_note(store) == vim
    store.forget(act(LATER), vim.id)
    assert stored_note(store) is None


def test_only_the_place_that_was_asked_for_counts(store):
    ana = store.put_entity(act(), entity("Ana"))
    elsewhere = [{"scope": "global"}, {"subject": "Ana"}, {"predicate": "shell"}, {"tenant_id": "other"}]
    put(store, [note(**change) for change in elsewhere])
    put(store, [note(entity_id=ana.id)])
    assert stored_note(store) is None


@pytest.mark.req("C18")
def test_a_place_outside_of_the_callers_scopes_is_empty(store):
    put(store, [note()])
    assert stored_note(store, caller=STRANGER) is None
    assert stored_note(store, caller=replace(CALLER, tenant_id="other")) is None


@pytest.mark.req("C13")
def test_a_fact_arrives_with_its_relations_and_their_events(store):
    one, two, hers = put(store, [note("a"), note("b"), fact("x", agent="ben", scope="ben")])
    new = note("c", created_at=LATER)
    stored = store.put_related(act(LATER), new, {one.id: 0.25, two.id: 0.5, hers.id: 1.0, "nobody": 1.0})
    assert stored == store.get(CALLER, [new.id])[0] == new
    made = Link(source_id=new.id, target_id=one.id, relation="related_to", weight=0.25, created_at=LATER)
    assert set(store.links(CALLER, new.id)) == {made, replace(made, target_id=two.id, weight=0.5)}
    told = [each for each in store.events(CALLER, memory_id=new.id) if each.event_type == "link_created"]
    assert {each.payload["target_id"] for each in told} == {one.id, two.id}
    assert {each.scope for each in told} == {"aide"}
    assert store.links(STRANGER, hers.id) == []


@pytest.mark.req("C13")
def test_the_relations_of_what_is_superseded_go_with_it(store):
    other, old = put(store, [note("a"), note()])
    for relation in ("related_to", "supports"):
        store.link(act(), link(old, other, relation))
        store.link(act(), link(other, old, relation))
    new = store.put_related(act(LATER), note(content="emacs", created_at=LATER), {other.id: 0.5})
    assert new.supersedes_id == old.id
    assert [each.relation for each in store.links(CALLER, old.id, direction="outgoing")] == ["supports"]
    incoming = store.links(CALLER, old.id, direction="incoming")
    assert {(each.source_id, each.relation) for each in incoming} == {
        *((other.id, relation) for relation in ("related_to", "supports")),
        (new.id, "supersedes"),
    }
    assert {each.relation for each in store.links(CALLER, new.id)} == {"supersedes", "related_to"}


def test_an_id_that_is_taken_puts_nothing(store):
    [there, other] = put(store, [note(), note("a")])
    assert store.put_related(act(LATER), replace(note("b"), id=there.id), {other.id: 0.5}) is None
    assert store.links(CALLER, there.id) == []
    assert stored_note(store) == there


def test_a_scope_that_is_not_the_callers_is_refused(store):
    [mine] = put(store, [note()])
    for refused in (note("b", scope="ben"), note("b", tenant_id="other")):
        with pytest.raises(InvalidInput):
            store.put_related(act(LATER), refused, {mine.id: 0.5})
        with pytest.raises(InvalidInput):
            store.supersede(act(LATER), refused, [mine.id])
    assert store.recent(request(), 9) == [mine]


@pytest.mark.req("C14")
def test_a_fact_takes_the_place_of_several(store):
    one, two, left = put(store, [note("a:1", "tram"), note("a:2", "river"), note("a:3", "bread")])
    summary = note("summary:a", "tram river", created_at=LATER)
    stored = store.supersede(act(LATER), summary, [one.id, two.id])
    assert stored == summary
    closed = {"validity": "superseded", "invalidated_at": LATER, "valid_to": LATER}
    assert store.get(CALLER, [one.id, two.id]) == [replace(one, **closed), replace(two, **closed)]
    assert store.recent(request(), 9) == [summary, left]
    assert set(keyword(store, "tram", "river")) == {summary.id}
    derived = Link(source_id=summary.id, target_id=one.id, relation="derived_from", created_at=LATER)
    assert set(store.links(CALLER, summary.id)) == {derived, replace(derived, target_id=two.id)}
    told = [store.events(CALLER, memory_id=id_)[0] for id_ in (one.id, two.id)]
    assert {(each.event_type, each.payload["superseded_by"]) for each in told} == {("fact_superseded", summary.id)}


@pytest.mark.req("C14")
def test_what_held_its_own_place_is_one_of_them(store):
    before, one = put(store, [note("summary:a", "bread"), note("a:1")])
    summary = store.supersede(act(LATER), note("summary:a", created_at=LATER), [one.id, before.id])
    assert summary.supersedes_id == before.id
    assert store.recent(request(), 9) == [summary]
    relations = {(each.target_id, each.relation) for each in store.links(CALLER, summary.id)}
    assert relations == {(one.id, "derived_from"), (before.id, "derived_from"), (before.id, "supersedes")}
    told = [each for each in store.events(CALLER, memory_id=before.id) if each.event_type == "fact_superseded"]
    assert len(told) == 1


def test_a_fact_may_take_a_place_without_being_derived_from_what_was_there(store):
    [before] = put(store, [note(content="vim")])
    corrected = store.supersede(act(LATER), note(content="emacs", created_at=LATER), [before.id], derives=False)
    assert (corrected.supersedes_id, stored_note(store)) == (before.id, corrected)
    edge = Link(source_id=corrected.id, target_id=before.id, relation="supersedes", created_at=LATER)
    assert store.links(CALLER, corrected.id) == [edge]


def test_a_fact_may_take_an_empty_place_alone(store):
    first = store.supersede(act(), note(content="vim"), [], derives=False)
    assert stored_note(store) == first
    assert store.supersede(act(LATER), note(content="emacs"), [], derives=False) is None
    assert stored_note(store) == first


def test_a_note_is_made_what_it_is_to_be_after_the_one_before_it(store):
    def counted(work, new):
        old = arrivals.lock_slot(work, new)
        if old is not None:
            new = replace(new, metadata={"version": old.metadata.get("version", 1) + 1})
        return arrivals.put_related(work, new, {})

    first = store.write(act(), counted, note(content="vim"))
    second = store.write(act(LATER), counted, note(content="emacs"))
    third = store.write(act(LATER), counted, note(content="ed"))
    assert [each.metadata for each in (first, second, third)] == [{}, {"version": 2}, {"version": 3}]
    assert store.get(CALLER, [second.id, third.id])[1] == stored_note(store) == third


def test_nothing_is_written_where_one_of_them_is_not_active_any_more(store):
    one, gone, hers = put(store, [note("a:1"), note("a:2"), fact("x", agent="ben", scope="ben")])
    [said] = put(store, [episode()])
    store.forget(act(), gone.id)
    before = store.events(CALLER), store.recent(request(), 9)
    for other in (gone.id, hers.id, said.id, "nobody"):
        assert store.supersede(act(LATER), note("summary:a"), [one.id, other]) is None
    assert (store.events(CALLER), store.recent(request(), 9)) == before


def test_nothing_is_written_where_somebody_else_has_the_place_or_the_id(store):
    one, there = put(store, [note("a:1"), note("summary:a")])
    assert store.supersede(act(LATER), note("summary:a"), [one.id]) is None
    assert store.supersede(act(LATER), replace(note("summary:b"), id=there.id), [one.id]) is None
    assert {each.id for each in store.recent(request(), 9)} == {one.id, there.id}


@pytest.mark.req("C01")
def test_of_many_who_save_under_one_key_one_holds_it_and_each_is_in_its_history(store):
    def save(number):
        return store.put_related(act(LATER), note(content=str(number), created_at=LATER), {})

    with ThreadPoolExecutor(4) as pool:
        saved = list(pool.map(save, range(12)))
    history = store.history(CALLER, saved[0].id)
    assert {each.id for each in history} == {each.id for each in saved}
    assert [each for each in history if each.validity == "active"] == [stored_note(store)]
    assert len({each.supersedes_id for each in history}) == 12


@pytest.mark.req("C14")
def test_of_many_who_summarize_the_same_one_does(store):
    olds = put(store, [note(f"a:{place}") for place in range(3)])

    def summarize(_):
        summary = note("summary:a", created_at=LATER)
        return store.supersede(act(LATER), summary, [each.id for each in olds])

    with ThreadPoolExecutor(4) as pool:
        done = [each for each in pool.map(summarize, range(8)) if each is not None]
    assert [each.id for each in store.recent(request(), 9)] == [each.id for each in done]
    assert len(done) == 1


def test_what_is_under_a_key_is_the_same_in_sql_and_in_python(store):
    ana = store.put_entity(act(), entity("Ana"))
    subjects = [{}, {"subject": "Aide"}, {"subject": "the aide"}, {"subject": "Ana"}, {"entity_id": ana.id}]
    keys = ["editor", "likes", "observation 0123456789ab", "observation 0123456789AB", "observation 0123456789abc"]
    others = [{"category": "summary"}, {"category": "reflection"}, {"scope": "global"}]
    others += [{"metadata": {"trust": level}} for level in ("tool", "assistant", "import", "unheard of")]
    drawn = [{"key": key, **subject} for key in keys for subject in subjects]
    drawn += [{"key": f"a:{place}", **other} for place, other in enumerate(others)]
    facts = put(store, [note(content=str(place), **changes) for place, changes in enumerate(drawn)])
    for agent in ("aide", "Aide", "ana"):
        asked = request(notes_of=agent)
        under_key = {each.id for each in facts if each.validity == "active" and matches(asked.filter, each, asked.now)}
        assert {each.id for each in store.recent(asked, 99)} == under_key
        assert under_key
