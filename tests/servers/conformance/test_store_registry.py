"""The registry of entities: changed, found, merged and parted, alike on every database."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engrain.domain.entities.registry import MERGED_INTO, merged_into
from engrain.domain.records import ENTITY_TYPES, Caller
from engrain.errors import InvalidInput, NotFound
from tests.support.races import run_together
from tests.support.sample_records import CALLER, FOREIGN, LATER, NOON, act, entity, episode, fact, request, rule
from tests.support.store_samples import know, put

LAST = NOON + timedelta(hours=2)
OTHER = Caller(agent="other")


def names(entities):
    return [each.canonical_name for each in entities]


def named(store, *asked):
    return {each.id for each in store.entities_named(CALLER, asked)}


def states(store, *facts, by=CALLER):
    """Whom each fact is about now, and how it stands."""
    found = store.get(by, [each.id for each in facts])
    return [(each.entity_id, each.validity) for each in found]


def told(store, event_type, by=CALLER):
    return store.events(by, event_type=event_type)


# Changing and finding


@pytest.mark.req("B16.4")
def test_a_change_replaces_names_and_merges_metadata(store):
    [ana] = know(store, "Ana", aliases=("A.", "Annie"), metadata={"a": 1, "b": 1}, mention_count=3)
    changed = store.change_entity(
        act(LATER), ana.id, canonical_name="Ana María", aliases=["Annie", "Mimi"], metadata={"b": 2, "c": None}
    )
    wanted = replace(
        ana,
        canonical_name="Ana María",
        aliases=("Annie", "Mimi"),
        metadata={"a": 1, "b": 2, "c": None},
        updated_at=LATER,
    )
    assert changed == wanted
    assert store.entities(CALLER, [ana.id]) == [wanted]
    assert [named(store, name) for name in ("Ana", "A.", "ana maría", "MIMI")] == [set(), set(), {ana.id}, {ana.id}]
    assert store.change_entity(act(LAST), ana.id) == replace(wanted, updated_at=LAST)
    assert store.health().problems == ()
    [told_last, told_first] = told(store, "entity_updated")
    assert told_last.payload == {"metadata": []}
    assert told_first.payload == {
        "canonical_name": ["Ana", "Ana María"],
        "aliases": [["A.", "Annie"], ["Annie", "Mimi"]],
        "metadata": ["b", "c"],
    }


@pytest.mark.req("B16.2")
def test_a_change_does_not_take_a_name_that_is_taken_or_change_nobody(store):
    ana, ben = know(store, "Ana", "Ben")
    with pytest.raises(InvalidInput, match=ana.id):
        store.change_entity(act(LATER), ben.id, canonical_name="Ana")
    assert store.entities(CALLER, [ben.id]) == [ben]
    assert store.change_entity(act(LATER), "nobody", canonical_name="Zoe") is None
    assert store.change_entity(act(LATER, FOREIGN), ben.id, canonical_name="Zoe") is None
    assert told(store, "entity_updated") == []


@pytest.mark.req("B16.4", "Y14")
def test_a_spelling_is_added_to_whatever_there_is_by_then(store):
    [ana] = know(store, "Ana", aliases=("Annie",))
    changed = store.change_entity(act(LATER), ana.id, also=["annie", "A.", "ANA", "a.", "Mimi"])
    assert changed == replace(ana, aliases=("Annie", "A.", "Mimi"), updated_at=LATER)
    assert store.entities(CALLER, [ana.id]) == [changed]
    assert store.change_entity(act(LAST), ana.id, also=["MIMI"]) == changed
    assert len(told(store, "entity_updated")) == 1
    assert named(store, "mimi") == {ana.id}
    renamed = store.change_entity(act(LAST), ana.id, canonical_name="Bea", aliases=["B."], also=["bea", "Bee"])
    assert (renamed.canonical_name, renamed.aliases) == ("Bea", ("B.", "Bee"))


@pytest.mark.req("Y14")
def test_of_spellings_that_several_add_at_once_none_is_lost(store):
    [ana] = know(store, "Ana")
    spelt = [[f"{who}{number}" for number in range(8)] for who in ("ani", "bea")]
    at_once(*(lambda of=of: [store.change_entity(act(LATER), ana.id, also=[each]) for each in of] for of in spelt))
    [found] = store.entities(CALLER, [ana.id])
    assert sorted(found.aliases) == sorted(spelt[0] + spelt[1])
    assert store.health().problems == ()


def test_entities_are_found_by_name_page_by_page(store):
    know(store, "Cleo", "Ana", "ben")
    [place] = know(store, "Ana", entity_type="place")
    store.put_entity(act(caller=FOREIGN), entity("Zoe", tenant_id="other"))
    every = store.find_entities(CALLER, limit=10)
    assert [(each.canonical_name, each.entity_type) for each in every] == [
        ("Ana", "person"),
        ("Ana", "place"),
        ("Cleo", "person"),
        ("ben", "person"),
    ]
    assert store.find_entities(CALLER, limit=2, after=("Ana", "person")) == every[1:3]
    assert store.find_entities(CALLER, entity_type="place", limit=10) == [place]
    assert store.find_entities(CALLER, limit=0) == []


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    known=st.lists(st.text(alphabet="abB n%_é", min_size=1, max_size=7).filter(str.strip), unique=True, max_size=8),
    asked=st.text(alphabet="abB n%_é", max_size=5),
    fuzzy=st.booleans(),
    limit=st.integers(0, 4),
)
def test_every_database_proposes_the_same_for_a_name(backend, known, asked, fuzzy, limit):
    from tests.support.reference_store import ReferenceStore

    people = [entity(name, aliases=(name[::-1],), entity_type=ENTITY_TYPES[len(name) % 7]) for name in known]
    model = ReferenceStore()
    with backend.fresh() as store:
        for each in people:
            store.put_entity(act(), each)
            model.put_entity(act(), each)
        assert store.resembling(CALLER, asked, fuzzy=fuzzy, limit=limit) == model.resembling(
            CALLER, asked, fuzzy=fuzzy, limit=limit
        )


def test_a_name_proposes_whom_it_names_whose_names_hold_it_and_who_is_alike(store):
    ana, anatole, katherine, mail = know(store, "Ana", "Anatole", "Katherine") + know(
        store, "ana@example.org", entity_type="email"
    )
    store.put_entity(act(caller=FOREIGN), entity("Ana", tenant_id="other"))
    assert store.resembling(CALLER, "ANA", fuzzy=False, limit=9) == [ana, anatole, mail]
    assert store.resembling(CALLER, "catherine", fuzzy=False, limit=9) == []
    assert store.resembling(CALLER, "catherine", fuzzy=True, limit=9) == [katherine]
    assert store.resembling(CALLER, "ana@example.com", fuzzy=True, limit=9) == []
    assert store.resembling(CALLER, " ", fuzzy=True, limit=9) == []


# Merging


@pytest.mark.req("B18.1")
def test_facts_of_every_scope_move_and_none_is_lost(store):
    ana, annie = know(store, "Ana", "Annie")
    [old] = put(store, [fact("tea", entity_id=annie.id)])
    [new] = put(store, [fact("coffee", entity_id=annie.id)], by=CALLER)
    [private] = put(store, [fact("secret", entity_id=annie.id, scope="other")], by=OTHER)
    done = store.merge_entities(act(LATER), annie.id, ana.id)
    assert done.facts_repointed == tuple(sorted([old.id, new.id]))
    assert states(store, old, new) == [(ana.id, "superseded"), (ana.id, "active")]
    assert states(store, private, by=OTHER) == [(ana.id, "active")]
    assert [each.id for each in store.history(CALLER, new.id)] == [old.id, new.id]


@pytest.mark.req("B18.2")
@pytest.mark.parametrize(
    ("of_source", "of_target", "source_wins"), [(0.9, 0.5, True), (0.5, 0.9, False), (0.7, 0.7, False)]
)
def test_of_two_facts_for_one_place_the_one_of_lower_confidence_is_superseded(store, of_source, of_target, source_wins):
    ana, annie = know(store, "Ana", "Annie")
    mine, theirs = put(
        store,
        [
            fact("green tea", entity_id=annie.id, confidence=of_source),
            fact("black tea", entity_id=ana.id, confidence=of_target),
        ],
    )
    elsewhere = put(store, [fact("Lisbon", entity_id=annie.id, predicate="was born in")])[0]
    winner, loser = (mine, theirs) if source_wins else (theirs, mine)
    done = store.merge_entities(act(LATER), annie.id, ana.id)
    assert done.facts_superseded == (loser.id,)
    assert states(store, winner, loser, elsewhere) == [(ana.id, "active"), (ana.id, "superseded"), (ana.id, "active")]
    [gone] = store.get(CALLER, [loser.id])
    assert (gone.invalidated_at, gone.valid_to) == (LATER, NOON)
    assert [(each.source_id, each.relation) for each in store.links(CALLER, loser.id)] == [(winner.id, "supersedes")]
    [event] = told(store, "fact_superseded")
    assert (event.memory_id, event.payload["superseded_by"]) == (loser.id, winner.id)
    found = store.load(request(), [each.ref for each in store.keyword(request(), {"tea"}, 9)])
    assert {each.id for each in found.values()} == {winner.id}


@pytest.mark.req("B18.3")
def test_names_and_metadata_unite_and_the_targets_own_prevail(store):
    [ana] = know(store, "Ana", aliases=("A.",), metadata={"city": "Lisbon", "x": 1}, mention_count=2)
    [annie] = know(
        store, "Annie", aliases=("a.", "ANA", "Mimi", "mimi"), metadata={"city": "Porto", "y": 2}, mention_count=3
    )
    done = store.merge_entities(act(LATER), annie.id, ana.id)
    assert done.aliases_added == ("Annie", "Mimi")
    assert done.target == replace(
        ana,
        aliases=("A.", "Annie", "Mimi"),
        metadata={"city": "Lisbon", "x": 1, "y": 2},
        mention_count=5,
        updated_at=LATER,
    )
    assert store.entities(CALLER, [ana.id]) == [done.target]
    assert named(store, "annie") == named(store, "mimi") == {ana.id}
    assert store.health().problems == ()


@pytest.mark.req("B18.4")
def test_the_source_stays_as_a_tombstone_that_nothing_finds_and_nothing_may_name(store):
    ana, annie = know(store, "Ana", "Annie")
    [said] = put(store, [episode("Annie.")])
    store.merge_entities(act(LATER), annie.id, ana.id)
    tombstone = replace(annie, metadata={MERGED_INTO: ana.id}, updated_at=LATER)
    assert store.entities(CALLER, [annie.id]) == [tombstone]
    assert store.find_entities(CALLER, limit=9) == store.resembling(CALLER, "ann", fuzzy=True, limit=9)
    assert store.resembling(CALLER, "Annie", fuzzy=True, limit=9) == store.entities(CALLER, [ana.id])
    assert named(store, "Annie") == {annie.id, ana.id}
    for refused in (
        lambda: store.put(act(LATER), [fact("x", entity_id=annie.id)]),
        lambda: store.mention(act(LATER), said.id, [annie.id]),
        lambda: store.change_entity(act(LATER), annie.id, canonical_name="Zoe"),
    ):
        with pytest.raises(InvalidInput):
            refused()


@pytest.mark.req("B18.5")
def test_a_merge_is_told_of_once_in_each_scope_with_what_happened_there(store):
    ana, annie = know(store, "Ana", "Annie")
    [mine] = put(store, [fact("mine", entity_id=annie.id, scope="aide")])
    [theirs] = put(store, [fact("theirs", entity_id=annie.id, scope="other")], by=OTHER)
    loser, winner = put(store, [fact("x", entity_id=annie.id, confidence=0.1), fact("y", entity_id=ana.id)])
    store.merge_entities(act(LATER), annie.id, ana.id)
    by_scope = {each.scope: each for each in told(store, "entity_merge")}
    assert by_scope.keys() == {"global", "aide"}
    for each in by_scope.values():
        assert (each.actor, each.created_at, each.memory_id) == ("aide", LATER, ana.id)
        assert each.payload["source_entity_id"] == annie.id
        assert each.payload["target_entity_id"] == ana.id
        assert each.payload["aliases_added"] == ["Annie"]
    assert by_scope["aide"].payload["facts_repointed"] == [mine.id]
    assert by_scope["global"].payload["facts_repointed"] == [loser.id]
    assert by_scope["global"].payload["facts_superseded"] == [loser.id]
    assert {each.scope for each in told(store, "entity_merge", by=OTHER)} == {"global", "other"}
    assert theirs.id not in repr(told(store, "entity_merge"))
    assert winner.id


@pytest.mark.req("B18.6")
def test_what_cannot_be_merged_is_refused_and_nothing_changes(store):
    ana, ben, cleo = know(store, "Ana", "Ben", "Cleo")
    store.put_entity(act(caller=FOREIGN), entity("Zoe", id="zoe", tenant_id="other"))
    store.merge_entities(act(LATER), ben.id, ana.id)
    before = store.events(CALLER)
    for source, target in (
        (ana.id, ana.id),
        ("nobody", ana.id),
        (ana.id, "nobody"),
        ("zoe", ana.id),
        (cleo.id, "zoe"),
        (ben.id, cleo.id),  # a tombstone
        (cleo.id, ben.id),  # into a tombstone
        (ana.id, ben.id),  # in a circle
    ):
        with pytest.raises(InvalidInput):
            store.merge_entities(act(LAST), source, target)
    assert store.events(CALLER) == before
    assert [merged_into(each) for each in store.entities(CALLER, [ana.id, ben.id, cleo.id])] == [None, ana.id, None]


def test_mentions_move_and_what_mentions_both_mentions_one(store):
    ana, annie = know(store, "Ana", "Annie")
    both, one = put(store, [episode("Both."), episode("One.")])
    store.mention(act(), both.id, [ana.id, annie.id])
    store.mention(act(LATER), one.id, [annie.id])
    store.merge_entities(act(LATER), annie.id, ana.id)
    assert [each.mention_count for each in store.entities(CALLER, [ana.id, annie.id])] == [2, 0]
    assert [each.id for each in store.mentions_of(request(), ana.id, 9).memories] == [one.id, both.id]
    store.unmerge_entities(act(LAST), annie.id)
    assert [each.mention_count for each in store.entities(CALLER, [ana.id, annie.id])] == [1, 2]
    assert {each.id for each in store.mentions_of(request(), annie.id, 9).memories} == {one.id, both.id}


# Parting


FACTS = st.lists(
    st.tuples(
        st.sampled_from(["source", "target"]),
        st.sampled_from(["global", "aide", "other"]),
        st.sampled_from(["likes", "lives in"]),
        st.sampled_from([0.2, 0.5, 0.9]),
        st.sampled_from([None, None, LAST + timedelta(days=30), LAST + timedelta(days=60)]),
    ),
    max_size=8,
)
NAMES = st.lists(st.sampled_from(["Annie", "ANNIE", "Mimi", "A.", "Ana"]), max_size=3, unique=True).map(tuple)
DATA = st.dictionaries(st.sampled_from("abc"), st.integers(0, 2), max_size=3)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(facts=FACTS, aliases=st.tuples(NAMES, NAMES), data=st.tuples(DATA, DATA))
def test_a_merge_keeps_every_fact_and_its_reverse_restores_everything(backend, facts, aliases, data):
    with backend.fresh() as store:
        [source] = know(store, "Annie", aliases=aliases[0], metadata=data[0], mention_count=1)
        [target] = know(store, "Ana", aliases=aliases[1], metadata=data[1], mention_count=2)
        ids = {"source": source.id, "target": target.id}
        stored = []
        for number, (who, scope, predicate, confidence, start) in enumerate(facts):
            by = OTHER if scope == "other" else CALLER
            about = {"entity_id": ids[who], "scope": scope, "predicate": predicate, "confidence": confidence}
            about["valid_from"] = start
            stored += put(store, [fact(f"tea {number}", agent=by.agent, **about)], by=by)
        ears = [store.mention(act(), each.id, [source.id]) for each in stored if each.scope != "other"]
        before = _view(store, stored, ids)
        store.merge_entities(act(LATER), source.id, target.id)
        merged = _view(store, stored, ids)
        assert [each.id for each in merged["facts"]] == [each.id for each in before["facts"]]
        assert all(each.entity_id == target.id for each in merged["facts"])
        assert [count for count in _count_true(merged["facts"], LATER) if count > 1] == []
        assert [count for count in _count_true(merged["facts"], LAST + timedelta(days=90)) if count > 1] == []
        store.unmerge_entities(act(LAST), source.id)
        assert _view(store, stored, ids) == before
        assert store.health().problems == ()
        assert len(ears) <= len(stored)


def _count_true(facts, at):
    """How many facts of each slot are true at a time."""
    return Counter(each.slot for each in facts if each.is_live(at)).values()


def _view(store, facts, ids):
    """Everything that anybody sees of two entities, but for when they were last changed."""
    seen = {}
    for by in (CALLER, OTHER):
        asked = request(by, include_inactive=False)
        seen[by.agent] = (
            [replace(each, updated_at=NOON) for each in store.entities(by, sorted(ids.values()))],
            {each.id for each in store.load(asked, [c.ref for c in store.keyword(asked, {"tea"}, 99)]).values()},
            [
                (sorted(each.id for each in found.memories), found.first_at, found.last_at)
                for found in (store.mentions_of(asked, id_, 99) for id_ in ids.values())
            ],
            {each.id: {(link.source_id, link.target_id) for link in store.links(by, each.id)} for each in facts},
        )
    every = [each for by in (CALLER, OTHER) for each in store.get(by, [one.id for one in facts])]
    return {"facts": sorted({each.id: each for each in every}.values(), key=lambda each: each.id), **seen}


def test_what_was_done_since_a_merge_stays_when_it_is_undone(store):
    ana, annie = know(store, "Ana", "Annie")
    mine, theirs = put(
        store, [fact("a", entity_id=annie.id, confidence=0.9), fact("b", entity_id=ana.id, confidence=0.5)]
    )
    store.merge_entities(act(LATER), annie.id, ana.id)
    [since] = put(store, [fact("c", entity_id=ana.id, created_at=LATER)])
    store.change_entity(act(LATER), ana.id, aliases=["Annie", "Mimi"], metadata={"x": 1})
    parted = store.unmerge_entities(act(LAST), annie.id)
    assert states(store, mine, theirs, since) == [
        (annie.id, "superseded"),
        (ana.id, "superseded"),
        (ana.id, "active"),
    ]
    assert (parted.target.aliases, parted.target.metadata) == (("Mimi",), {"x": 1})
    assert named(store, "annie") == {annie.id}


def test_merges_come_apart_in_the_reverse_of_their_order(store):
    ana, ben, cleo, dora = know(store, "Ana", "Ben", "Cleo", "Dora")
    store.merge_entities(act(LATER), ben.id, ana.id)
    store.merge_entities(act(LATER), cleo.id, ana.id)
    store.merge_entities(act(LATER), ana.id, dora.id)
    for early, first in ((ben.id, ana.id), (cleo.id, ana.id)):
        with pytest.raises(InvalidInput, match=f"unmerge {first} first"):
            store.unmerge_entities(act(LAST), early)
    store.unmerge_entities(act(LAST), ana.id)
    with pytest.raises(InvalidInput, match=f"unmerge {cleo.id} first"):
        store.unmerge_entities(act(LAST), ben.id)
    store.unmerge_entities(act(LAST), cleo.id)
    store.unmerge_entities(act(LAST), ben.id)
    store.merge_entities(act(LAST), ben.id, ana.id)
    store.unmerge_entities(act(LAST), ben.id)
    assert [merged_into(each) for each in store.find_entities(CALLER, limit=9)] == [None] * 4
    assert len(told(store, "entity_unmerge")) == 4
    assert store.health().problems == ()


def test_what_was_not_merged_cannot_be_parted(store):
    [ana] = know(store, "Ana")
    with pytest.raises(NotFound, match="nobody"):
        store.unmerge_entities(act(), "nobody")
    with pytest.raises(NotFound):
        store.unmerge_entities(act(caller=FOREIGN), ana.id)
    with pytest.raises(InvalidInput, match=ana.id):
        store.unmerge_entities(act(), ana.id)


# At once


def at_once(*deeds):
    """Each deed in a thread of its own, all let go together; what each came to."""

    def run(deed):
        try:
            return deed()
        except Exception as error:  # noqa: BLE001  # the test judges it
            return error

    return run_together(run, deeds)


@pytest.mark.req("B18.7")
@pytest.mark.parametrize("round_", range(3))
def test_two_merges_of_the_same_pair_crosswise_end_in_one(store, round_):
    ana, ben = know(store, "Ana", "Ben")
    facts = [
        each
        for number in range(10)
        for each in put(store, [fact(f"{number}", predicate=f"p{number % 5}", entity_id=(ana, ben)[number % 2].id)])
    ]
    results = at_once(
        lambda: store.merge_entities(act(LATER), ana.id, ben.id),
        lambda: store.merge_entities(act(LATER), ben.id, ana.id),
    )
    [error] = [each for each in results if isinstance(each, Exception)]
    assert isinstance(error, InvalidInput)
    [left] = store.find_entities(CALLER, limit=9)
    assert {who for who, _ in states(store, *facts)} == {left.id}
    assert len(told(store, "entity_merge")) == 1
    assert store.health().problems == ()
    assert round_ < 3


@pytest.mark.req("B18.7")
def test_facts_and_mentions_that_come_while_entities_merge_are_not_lost(store):
    ana, *others = know(store, "Ana", "Ben", "Cleo", "Dora")
    [said] = put(store, [episode("All.")])
    stored = []

    def write(who, number):
        new = fact(f"{who.id} {number}", predicate=f"{who.id} {number}", entity_id=who.id)
        stored.extend(store.put(act(LATER), [new]))
        store.mention(act(LATER), said.id, [who.id])
        store.mention(act(LATER), new.id, [ana.id, who.id])

    deeds = [lambda who=who: store.merge_entities(act(LATER), who.id, ana.id) for who in others]
    deeds += [lambda who=who, number=number: write(who, number) for who in others for number in range(3)]
    results = at_once(*deeds)
    assert {type(each) for each in results if isinstance(each, Exception)} <= {InvalidInput}
    assert [each for each in results[:3] if isinstance(each, Exception)] == []
    assert store.find_entities(CALLER, limit=9) == store.entities(CALLER, [ana.id])
    assert {who for who, _ in states(store, *stored)} <= {ana.id}
    assert store.health().problems == ()


# Enriching, and seeing


def test_a_memory_is_enriched_once_and_told_of(store):
    [ana] = know(store, "Ana")
    said, stated, learned = put(store, [episode("Ana.", metadata={"x": 1}), fact("tea"), rule("Ask.")])
    for each in (said, stated, learned):
        assert store.enrich(act(LATER), each.id, [ana.id]) == [ana.id]
        assert store.enrich(act(LATER), each.id, [ana.id]) == []
    kept = store.get(CALLER, [said.id, stated.id])
    stamp = LATER.isoformat().replace("+00:00", "Z")
    assert [each.metadata for each in kept] == [{"x": 1, "enriched_at": stamp}, {"enriched_at": stamp}]
    assert len(told(store, "memory_enriched")) == 6
    with pytest.raises(NotFound):
        store.enrich(act(caller=OTHER), said.id, [ana.id])


@pytest.mark.req("Y06")
def test_what_mentions_few_and_was_not_read_again_is_to_be_enriched_newest_first(store):
    ana, ben = know(store, "Ana", "Ben")
    old, many, read, new = put(
        store,
        [
            episode("Old.", event_time=NOON - timedelta(days=1)),
            episode("Many."),
            episode("Read."),
            fact("New", created_at=LATER),
        ],
    )
    store.mention(act(), old.id, [ana.id])
    store.mention(act(), many.id, [ana.id, ben.id])
    store.enrich(act(), read.id, [])
    put(store, [episode("Theirs.", scope="other", agent="other")])
    asked = request(kinds=("episode", "fact"))
    assert [each.id for each in store.unenriched(asked, most_entities=1, limit=9)] == [new.id, old.id]
    assert [each.id for each in store.unenriched(asked, most_entities=2, limit=2)] == [new.id, many.id]
    assert [each.id for each in store.unenriched(request(kinds=("fact",)), most_entities=0, limit=9)] == [new.id]
    assert store.unenriched(asked, most_entities=9, limit=0) == []


def test_sightings_are_what_the_caller_sees_with_whom(store):
    ana, ben = know(store, "Ana", "Ben")
    early, late = NOON - timedelta(days=3), NOON + timedelta(days=3)
    said, stated = put(store, [episode("Both.", event_time=early), fact("tea", entity_id=ana.id, valid_from=late)])
    [theirs] = put(store, [episode("Theirs.", scope="other", event_time=early - timedelta(days=9))])
    store.mention(act(), said.id, [ana.id, ben.id])
    store.mention(act(caller=OTHER), theirs.id, [ana.id])
    store.forget(act(), stated.id)
    seen = store.mentions_of(request(), ana.id, 9)
    assert [each.id for each in seen.memories] == [stated.id, said.id]
    assert seen.mentions == {stated.id: (ana.id,), said.id: tuple(sorted([ana.id, ben.id]))}
    assert (seen.first_at, seen.last_at) == (early, late)
    assert [each.id for each in store.mentions_of(request(), ana.id, 1).memories] == [stated.id]
    assert store.mentions_of(request(), "nobody", 9).memories == ()
    assert store.mentions_of(request(OTHER), ben.id, 9).first_at is None


def test_facts_about_somebody_are_the_newest_that_the_caller_sees(store):
    ana, ben = know(store, "Ana", "Ben")
    stored = put(
        store,
        [
            fact(str(number), entity_id=who.id, predicate=str(number), created_at=NOON + timedelta(minutes=number))
            for number in range(4)
            for who in (ana, ben)
        ],
    )
    put(store, [fact("theirs", entity_id=ana.id, scope="other")], by=OTHER)
    store.forget(act(), stored[-1].id)
    found = store.facts_about(CALLER, [ana.id, ben.id], 2)
    assert [each.id for each in found] == [stored[place].id for place in (7, 6, 5, 4)]
    assert store.facts_about(CALLER, [], 2) == store.facts_about(CALLER, [ana.id], 0) == []
