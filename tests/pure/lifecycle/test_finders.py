from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.memories.decay import DecayPolicy
from engrain.domain.records import Link
from engrain.domain.text.secrets import find_secrets
from engrain.lifecycle import finders
from engrain.lifecycle.duplicates import build_sketch
from engrain.lifecycle.finders import ECHO_WITHIN, AuditSnapshot
from tests.support.sample_records import NOON, entity, episode, fact, link, rule

LATER = NOON + timedelta(days=100)
TRAMS = "The early tram to the old harbour leaves from platform nine every morning"


def looked(*memories, **changes):
    values = {
        "now": LATER,
        "memories": {memory.id: memory for memory in memories},
        "sketches": {memory.id: build_sketch(memory) for memory in memories},
        "vectors": {},
        "subjects": {},
        "secrets": {memory.id: found for memory in memories if (found := find_secrets(memory.content))},
        "links": [],
        "gone": {},
        "entities": [],
        "decay": DecayPolicy(),
        "unused_days": 30,
    }
    return AuditSnapshot(**{**values, **changes})


def ids_of(findings):
    return [finding.ids for finding in findings]


def days(count):
    return NOON + timedelta(days=count)


def test_a_secret_is_named_and_never_shown():
    told = episode("My wifi password is blue42horse.")
    [finding] = finders.find_secrets(looked(told, episode("nothing here")))
    assert (finding.ids, finding.severity, finding.command) == ((told.id,), "high", f"engrain erase {told.id}")
    assert "blue42horse" not in str(finding.to_dict())


@pytest.mark.parametrize(
    ("changes", "severity"),
    [
        ({"scope": "aide"}, "medium"),
        ({"scope": "aide", "subject": " ANA "}, "medium"),
        ({"entity_id": "ana", "predicate": "Lives  in"}, "high"),
        ({"scope": "aide", "valid_from": days(10)}, "medium"),
    ],
)
def test_two_facts_of_one_subject_and_predicate_contradict_each_other(changes, severity):
    older, newer = fact("Lisbon"), fact("Porto", created_at=days(1), **changes)
    [finding] = finders.find_contradictions(looked(newer, older))
    assert (finding.ids, finding.severity) == ((older.id, newer.id), severity)
    assert finding.command == f"engrain forget {older.id}"


@pytest.mark.parametrize(
    "other",
    [
        fact("lisbon.", scope="aide"),
        fact("Porto", scope="aide", subject="Ben"),
        fact("Porto", scope="aide", predicate="was born in"),
        fact("Porto", scope="aide", valid_from=days(5)),
        fact("Porto", entity_id="another Ana"),
        episode("Porto"),
    ],
)
def test_what_can_be_true_beside_it_is_no_contradiction(other):
    one = fact("Lisbon", valid_to=days(5), entity_id="ana" if other.kind == "fact" and other.entity_id else None)
    assert list(finders.find_contradictions(looked(one, other))) == []


def test_what_is_linked_as_contradicting_is_found_while_both_are_there():
    one, other = rule("Book early flights."), episode("Never book early flights.", created_at=days(1))
    says = link(other, one, "contradicts", weight=0.7)
    [finding] = finders.find_contradictions(looked(one, other, links=[says]))
    assert (finding.ids, finding.evidence["weight"]) == ((one.id, other.id), 0.7)
    assert list(finders.find_contradictions(looked(other, links=[says]))) == []
    assert list(finders.find_contradictions(looked(one, other, links=[link(other, one, "supports")]))) == []


def test_duplicates_keep_the_oldest():
    first, second, third = (rule(TRAMS, created_at=days(count)) for count in (3, 1, 2))
    [finding] = finders.find_duplicates(looked(first, second, third))
    assert finding.ids == (second.id, third.id, first.id)
    assert finding.command == f"engrain forget {third.id}; engrain forget {first.id}"


def test_a_near_duplicate_is_no_contradiction_too():
    here, there = fact(TRAMS), fact(f"{TRAMS} sharp", scope="aide")
    both = looked(here, there)
    assert list(finders.find_near_duplicates(both)) == []
    assert len(list(finders.find_contradictions(both))) == 1
    [finding] = finders.find_near_duplicates(looked(rule(TRAMS), rule(f"{TRAMS} sharp")))
    assert finding.evidence["cosine"] is None
    assert finding.evidence["jaccard"] > 0.8


@pytest.mark.parametrize(
    ("seconds", "changes", "is_echo"),
    [
        (0, {}, True),
        (30, {"role": "assistant"}, True),
        (ECHO_WITHIN.total_seconds(), {}, True),
        (ECHO_WITHIN.total_seconds() + 1, {}, False),
        (-1, {}, False),
        (30, {"session": None}, False),
        (30, {"content": "The violin lesson in the market hall starts early today"}, False),
    ],
)
def test_an_echo_comes_soon_after_the_recall(seconds, changes, is_echo):
    recalled = fact(TRAMS, reference_count=1, last_referenced_at=days(1))
    values = {"content": f"As far as I know: Ana lives in {TRAMS}", "session": "monday"}
    said = episode(created_at=days(1) + timedelta(seconds=seconds), **{**values, **changes})
    found = finders.find_echoes(looked(recalled, said))
    assert ids_of(found) == ([(recalled.id, said.id)] if is_echo else [])


def test_stale_is_what_is_over_or_hardly_believed():
    over = fact("Lisbon", valid_to=days(99), last_confirmed_at=LATER)
    faded = rule(decay_rate=0.03, last_confirmed_at=NOON)
    unconfirmed = fact("Porto", subject="Ben")
    fresh = fact("Faro", subject="Cid", last_confirmed_at=LATER, valid_to=LATER + timedelta(days=1))
    found = list(finders.find_stale(looked(over, faded, unconfirmed, fresh, episode())))
    assert [(finding.ids[0], finding.severity, finding.command.split()[1]) for finding in found] == [
        (over.id, "medium", "forget"),
        (faded.id, "low", "confirm"),
        (unconfirmed.id, "low", "confirm"),
    ]


@given(st.floats(0, 1), st.floats(0.01, 1), st.floats(0.01, 1))
def test_a_higher_threshold_never_finds_less(confidence, one, other):
    memory = fact(confidence=confidence, last_confirmed_at=NOON)
    low, high = sorted([one, other])
    found = [
        len(list(finders.find_stale(looked(memory, decay=DecayPolicy(fading_below=below, expired_below=0)))))
        for below in (low, high)
    ]
    assert found[0] <= found[1]


def test_orphans_have_lost_what_they_came_from():
    source, basis, ana = episode(), fact("Porto", subject="Ben"), entity()
    came = rule(source_episode_id=source.id)
    drawn, held = fact("Lisbon"), fact("Faro", subject="Cid")
    links = [link(drawn, basis, "derived_from"), link(held, basis, "supersedes")]
    links.append(Link(source_id=came.id, target_id=source.id, relation="derived_from", created_at=NOON))
    gone = {source.id: source, basis.id: basis}
    found = finders.find_orphaned(looked(came, drawn, held, links=links, gone=gone, entities=[ana]))
    assert ids_of(found) == [(came.id,), (drawn.id,), (ana.id,)]
    assert list(finders.find_orphaned(looked(came, drawn, held, links=links))) == []


def test_only_facts_and_rules_that_nobody_asked_for_are_never_recalled():
    old, asked, young = rule(), rule(reference_count=1), rule(created_at=LATER - timedelta(days=29))
    important = fact(importance=9)
    found = list(finders.find_never_recalled(looked(old, asked, young, important, episode())))
    assert [(finding.ids[0], finding.command) for finding in found] == [
        (old.id, f"engrain forget {old.id}"),
        (important.id, f"engrain get {important.id}"),
    ]
    assert found[1].evidence == {"days_old": 100.0, "importance": 9.0}
