"""One fact, one place: spellings, names of a subject, many values, and what is said again."""

from datetime import timedelta

import pytest

from engrain.errors import InvalidInput, NotFound
from engrain.service import Memory
from tests.support.clock import Clock
from tests.support.sample_records import NOON

LATER = NOON + timedelta(days=1)


@pytest.fixture
def clock():
    return Clock(microseconds=1)


@pytest.fixture
def aide(location, clock):
    with Memory.open(location, settings={"embedding": {"model": "none"}}, clock=clock) as memory:
        yield memory.agent("aide")


def contents(page):
    return sorted(fact.content for fact in page)


def test_all_spellings_of_a_statement_have_one_place(aide):
    first = aide.remember("Lisbon", subject="Ana", predicate="lives in")
    moved = aide.remember("Porto", subject="ANA", predicate="resides_in")
    assert moved.supersedes_id == first.id
    assert (moved.subject, moved.predicate) == ("ANA", "resides_in")  # as it was written
    assert moved.to_dict()["predicate_key"] == "lives in"
    for subject, predicate in (("ana", "Lives In"), ("Ana", "live in"), ("Ana", None)):
        assert contents(aide.facts(subject, predicate)) == ["Porto"]
    assert [fact.id for fact in aide.history(first.id)] == [first.id, moved.id]


def test_values_stand_side_by_side_where_a_subject_has_many(aide):
    jazz = aide.remember("jazz", subject="user", predicate="likes")
    oboe = aide.remember("the oboe", subject="I", predicate="loves")
    assert contents(aide.facts("user", "likes")) == ["jazz", "the oboe"]
    blues = aide.correct(jazz.id, "blues")
    assert contents(aide.facts("user", "likes")) == ["blues", "the oboe"]
    assert (blues.supersedes_id, aide.get(jazz.id).validity) == (jazz.id, "superseded")
    assert [fact.id for fact in aide.history(blues.id)] == [jazz.id, blues.id]
    assert [fact.id for fact in aide.history(oboe.id)] == [oboe.id]


def test_what_is_said_again_is_confirmed(aide):
    first = aide.remember("Lisbon", subject="Ana", predicate="lives in")
    turn = aide.observe("I am still in Lisbon.", speaker="Ana")
    again = aide.remember("lisbon.", subject="ana", predicate="lives_in", source_episode_id=turn.id)
    assert (again.id, again.content) == (first.id, "Lisbon")
    assert again.last_confirmed_at > first.last_confirmed_at
    assert [link.target_id for link in aide.links(first.id, relation="derived_from")] == [turn.id]
    assert [event.event_type for event in aide.events(first.id)][-1] == "fact_created"
    assert len(aide.history(first.id)) == 1


@pytest.mark.parametrize(
    "news", [{"permanence": "permanent"}, {"valid_from": "2020-01-01"}, {"tags": ["home"]}, {"metadata": {"by": "Bo"}}]
)
def test_what_says_more_than_before_is_a_version(aide, news):
    first = aide.remember("Lisbon", subject="Ana", predicate="lives in", confidence=0.9)
    again = aide.remember("Lisbon", subject="Ana", predicate="lives in", confidence=0.9, **news)
    assert again.supersedes_id == first.id


def test_a_confirmation_is_made_once_for_a_key(aide):
    first = aide.remember("Lisbon", subject="Ana", predicate="lives in")
    confirmed = aide.remember("Lisbon", subject="Ana", predicate="lives in", idempotency_key="k")
    porto = aide.remember("Porto", subject="Ana", predicate="lives in")
    assert aide.remember("Lisbon", subject="Ana", predicate="lives in", idempotency_key="k").id == first.id
    assert confirmed.id == first.id
    assert contents(aide.facts("Ana", "lives in")) == [porto.content]
    with pytest.raises(InvalidInput, match="names no episode"):
        aide.remember("Porto", subject="Ana", predicate="lives in", source_episode_id="nowhere")


def test_a_subject_has_all_names_of_its_entity(aide):
    before = aide.remember("Lisbon", subject="Cati", predicate="lives in")
    entity = aide.entities.create("Catarina", "person", aliases=["Cati", "my sister"])
    after = aide.remember("Porto", subject="Catarina", predicate="lives in")
    assert after.supersedes_id == before.id
    named = aide.remember("Faro", subject="my sister", predicate="lives in", entity_id=entity.id)
    assert named.supersedes_id == after.id
    for name in ("Catarina", "cati", "My sister"):
        assert contents(aide.facts(name)) == ["Faro"]
        profile = aide.entities.profile(name)
        assert [fact.content for fact in profile.facts["lives in"]] == ["Lisbon", "Porto", "Faro"]


def test_a_name_of_several_entities_stands_for_none_of_them(aide):
    aide.entities.create("Ana Silva", "person", aliases=["Ana"])
    aide.entities.create("Ana Costa", "person", aliases=["Ana"])
    aide.remember("Lisbon", subject="Ana Silva", predicate="lives in")
    aide.remember("Porto", subject="Ana", predicate="lives in")
    assert contents(aide.facts("Ana Silva")) == ["Lisbon"]
    assert contents(aide.facts("Ana")) == ["Porto"]


def test_the_user_has_a_name_once_it_is_known(aide):
    aide.remember("Lisbon", subject="user", predicate="lives in")
    aide.remember("Ana", subject="I", predicate="is called")
    moved = aide.remember("Porto", subject="Ana", predicate="lives in")
    assert contents(aide.facts("user", "lives in")) == [moved.content]
    assert [fact.content for fact in aide.entities.profile("user").facts["lives in"]] == ["Lisbon", "Porto"]
    with pytest.raises(NotFound):
        aide.entities.profile("nobody")


def test_merged_entities_keep_values_that_stand_side_by_side(aide):
    one, other = aide.entities.create("Ana", "person"), aide.entities.create("Ana Reis", "person")
    aide.remember("jazz", subject="Ana", predicate="likes", entity_id=one.id)
    aide.remember("fado", subject="Ana Reis", predicate="likes", entity_id=other.id)
    aide.remember("Lisbon", subject="Ana", predicate="lives in", entity_id=one.id)
    aide.remember("Porto", subject="Ana Reis", predicate="resides in", entity_id=other.id)
    aide.entities.merge(one.id, other.id)
    assert contents(aide.facts("Ana Reis")) == ["Porto", "fado", "jazz"]


def test_a_plan_of_a_merged_entity_ends_what_holds_until_then(aide, clock):
    bob, bobby = aide.entities.create("Bob", "person"), aide.entities.create("Bobby", "person")
    now = aide.remember("Porto", subject="Bob", predicate="lives in", entity_id=bob.id)
    start = clock() + timedelta(days=60)
    plan = aide.remember("Lisbon", subject="Bobby", predicate="lives in", entity_id=bobby.id, valid_from=start)
    aide.entities.merge(bobby.id, bob.id)
    assert aide.get(now.id).valid_to == start
    assert [link.target_id for link in aide.links(plan.id, relation="supersedes")] == [now.id]
    clock.pass_time(days=90)
    assert contents(aide.facts("Bob", "lives in")) == ["Lisbon"]
    aide.entities.unmerge(bobby.id)
    assert contents(aide.facts("Bob", "lives in")) == ["Porto"]
    assert aide.get(now.id).valid_to is None
    assert list(aide.links(plan.id)) == []


def test_a_merge_ends_a_plan_where_a_later_one_begins_and_forgetting_that_leaves_it_open(aide, clock):
    bob, bobby = aide.entities.create("Bob", "person"), aide.entities.create("Bobby", "person")
    starts = [clock() + timedelta(days=count) for count in (30, 60)]
    first = aide.remember("Porto", subject="Bobby", predicate="lives in", entity_id=bobby.id, valid_from=starts[0])
    later = aide.remember("Lisbon", subject="Bob", predicate="lives in", entity_id=bob.id, valid_from=starts[1])
    aide.entities.merge(bobby.id, bob.id)
    assert aide.get(first.id).valid_to == starts[1]
    aide.forget(later.id)
    assert aide.get(first.id).valid_to is None
    aide.entities.unmerge(bobby.id)
    assert aide.get(first.id).valid_to is None


def test_of_two_plans_for_one_day_a_merge_keeps_the_surer_one(aide, clock):
    bob, bobby = aide.entities.create("Bob", "person"), aide.entities.create("Bobby", "person")
    told = {"predicate": "lives in", "valid_from": clock() + timedelta(days=30)}
    aide.remember("Faro", subject="Bobby", predicate="lives in", entity_id=bobby.id)
    lost = aide.remember("Porto", subject="Bobby", entity_id=bobby.id, confidence=0.5, **told)
    aide.remember("Lisbon", subject="Bob", entity_id=bob.id, **told)
    merged = aide.entities.merge(bobby.id, bob.id)
    assert merged.facts_superseded == (lost.id,)
    aide.entities.unmerge(bobby.id)
    assert aide.get(lost.id).validity == "active"


def test_a_merge_ends_what_was_over_where_what_holds_now_begins(aide, clock):
    bob, bobby = aide.entities.create("Bob", "person"), aide.entities.create("Bobby", "person")
    starts = [clock() + timedelta(days=count) for count in (1, 5)]
    about = {"subject": "Bobby", "predicate": "lives in", "entity_id": bobby.id}
    over = [aide.remember("Porto", **about, valid_to=starts[1])]
    clock.pass_time(days=2)
    now = aide.remember("Lisbon", subject="Bob", predicate="lives in", entity_id=bob.id, valid_from=starts[0])
    clock.pass_time(days=10)
    over.append(aide.remember("Faro", **about, valid_to=clock() + timedelta(days=1)))
    clock.pass_time(days=10)
    ends = [aide.get(fact.id).valid_to for fact in over]
    aide.entities.merge(bobby.id, bob.id)
    assert [aide.get(fact.id).valid_to for fact in (*over, now)] == [starts[0], over[1].created_at, None]
    for day in range(0, 25, 2):
        assert len(aide.facts("Bob", valid_at=starts[0] + timedelta(days=day))) == 1
    aide.entities.unmerge(bobby.id)
    assert [aide.get(fact.id).valid_to for fact in over] == ends


def test_a_merge_settles_facts_that_name_an_entity_in_words(aide, clock):
    """A later fact would take the place of all: their subjects are names of one entity."""
    bob, bobby = aide.entities.create("Bob", "person"), aide.entities.create("Bobby", "person", aliases=["Roberto"])
    start = clock() + timedelta(days=30)
    lost = aide.remember("Acme", subject="Roberto", predicate="works at", confidence=0.4)
    surer = aide.remember("Initech", subject="BOB", predicate="works at", confidence=0.5)
    ended = aide.remember("Porto", subject="Bobby", predicate="lives in", entity_id=bobby.id)
    plan = aide.remember("Lisbon", subject="Bob", predicate="lives in", valid_from=start)
    others = [aide.remember("jazz", subject=name, predicate="likes") for name in ("Bob", "Bobby")]
    assert aide.entities.merge(bobby.id, bob.id).facts_superseded == (lost.id, others[1].id)
    assert contents(aide.facts("Bob")) == ["Initech", "Porto", "jazz"]
    assert (aide.get(lost.id).entity_id, aide.get(ended.id).valid_to) == (None, start)
    assert aide.audit(kinds=["contradiction"]).findings == ()
    profile = aide.entities.profile("Bob")
    assert {fact.content: fact.validity for fact in profile.facts["works at"]} == {
        "Acme": "superseded",
        "Initech": "active",
    }
    aide.entities.unmerge(bobby.id)
    assert [aide.get(fact.id).validity for fact in (lost, surer, plan, *others)] == ["active"] * 5
    assert (contents(aide.facts("Roberto", "works at")), aide.get(ended.id).valid_to) == (["Acme"], None)


def test_a_merge_leaves_what_is_said_of_another_of_that_name(location, clock):
    with Memory.open(location, settings={"embedding": {"model": "none"}}, clock=clock) as memory:
        aide, of_zoe = memory.agent("aide"), memory.agent("aide", user="zoe")
        bob, bobby = aide.entities.create("Bob", "person"), aide.entities.create("Bobby", "person")
        of_zoe.entities.create("Bob", "person")
        for agent in (of_zoe, memory.agent("aide", user="ina")):
            agent.remember("Acme", subject="Bob", predicate="works at")
            agent.remember("Globex", subject="Bobby", predicate="works at")
        aide.entities.merge(bobby.id, bob.id)
        assert contents(of_zoe.facts(predicate="works at")) == ["Acme", "Globex"]
        assert contents(memory.agent("aide", user="ina").facts(predicate="works at")) == ["Acme"]


def test_an_audit_finds_two_values_of_one_subject_under_two_names(aide):
    bob = aide.entities.create("Bob", "person")
    told = [
        aide.remember("Acme", subject="Bobby", predicate="works at", confidence=0.5),
        aide.remember("Globex", subject="Bob", predicate="works at"),
    ]
    aide.remember("Initech", subject="Carla", predicate="works at")
    assert aide.audit(kinds=["contradiction"]).findings == ()
    aide.entities.update(bob.id, aliases=["Bobby"])
    [finding] = aide.audit(kinds=["contradiction"]).findings
    assert set(finding.ids) == {fact.id for fact in told}


def test_a_fact_that_lost_a_merge_and_was_forgotten_since_does_not_come_back(aide):
    one, other = aide.entities.create("Ana", "person"), aide.entities.create("Ana Reis", "person")
    lost = aide.remember("Lisbon", subject="Ana", predicate="lives in", entity_id=one.id)
    aide.remember("Porto", subject="Ana Reis", predicate="lives in", entity_id=other.id)
    aide.entities.merge(one.id, other.id)
    aide.forget(lost.id)
    aide.entities.unmerge(one.id)
    assert contents(aide.facts("Ana")) == []
    assert aide.get(lost.id).validity == "retracted"


@pytest.mark.parametrize("predicate", ["lives in", "likes"])
def test_what_the_user_says_does_not_wait_for_a_confirmation_any_more(aide, predicate):
    said = aide.remember("Lisbon", subject="Ana", predicate=predicate)
    page = aide.observe("Ana and Porto.", role="tool")
    heard = [
        aide.remember(content, subject="Ana", predicate=predicate, source_episode_id=page.id)
        for content in ("Porto", "Faro")
    ]
    told = aide.remember("porto", subject="ana", predicate=predicate)
    assert contents(aide.facts("Ana", pending=True)) == ["Faro"]
    assert [aide.get(fact.id).validity for fact in heard] == ["superseded", "active"]
    assert told.supersedes_id == (said.id if predicate == "lives in" else heard[0].id)
    assert {link.target_id for link in aide.links(told.id)} == {heard[0].id} | (
        {said.id} if predicate == "lives in" else set()
    )
    assert contents(aide.facts("Ana", min_trust="user")) == (
        ["porto"] if predicate == "lives in" else ["Lisbon", "porto"]
    )
