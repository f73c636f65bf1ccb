import json
import re
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given

from engrain.domain import events
from engrain.domain.records import Caller, EmbeddingVersion, Event
from tests.support.sample_records import EPISODES, FACTS, MEMORIES, NOON, RULES, act, entity, episode, fact, link, rule

LATER = NOON + timedelta(hours=1)
WHO = Caller(tenant_id="acme", agent="other", session="monday", request_id="req-1", pools=("team",))
ACT = act(LATER, WHO)


def fresh():
    return "id-1"


def check(event, event_type, memory, payload):
    """Whether an event says who, when and on whose request, and of which memory what."""
    expected = Event(
        id="id-1",
        tenant_id="acme",
        event_type=event_type,
        scope=memory.scope,
        actor="other",
        request_id="req-1",
        memory_id=memory.id,
        payload=payload,
        created_at=LATER,
    )
    assert event == expected


@pytest.mark.req("N20")
@given(MEMORIES)
def test_every_event_of_a_memory_says_who_did_it_when_and_on_which_request(memory):
    check(events.memory_event(ACT, "memory_seen", memory, fresh, payload={"a": 1}), "memory_seen", memory, {"a": 1})


def test_a_memory_stored_says_what_it_is_and_keeps_what_it_says_to_itself():
    turn = episode("A secret.", session="monday")
    check(events.memory_created(ACT, turn, fresh), "episode_created", turn, {"session": "monday"})
    stated = fact("secret", supersedes_id="old")
    payload = {"subject": "Ana", "predicate": "lives in", "supersedes_id": "old"}
    check(events.memory_created(ACT, stated, fresh), "fact_created", stated, payload)
    guidance = rule("A secret.", maturity="proven")
    check(events.memory_created(ACT, guidance, fresh), "rule_created", guidance, {"maturity": "proven"})


def test_a_supersession_says_by_what_and_until_when_it_was_true():
    old, new = fact("Lisbon"), fact("Porto")
    payload = {"superseded_by": new.id, "valid_to": [None, "2024-05-07T12:00:00Z"]}
    check(events.fact_superseded(ACT, old, new, fresh, end=NOON), "fact_superseded", old, payload)


@pytest.mark.parametrize("made", [fact, rule])
def test_a_confirmation_says_what_it_moved_and_to_when(made):
    for before, confirmed_at in ((made(), None), (made(last_confirmed_at=NOON), "2024-05-07T12:00:00Z")):
        payload = {"last_confirmed_at": [confirmed_at, "2024-05-07T13:00:00Z"]}
        check(events.memory_confirmed(ACT, before, fresh), f"{before.kind}_confirmed", before, payload)


def test_forgetting_says_what_it_changed():
    turn = episode(expires_at=LATER + timedelta(hours=1))
    payload = {"expires_at": ["2024-05-07T14:00:00Z", "2024-05-07T13:00:00Z"]}
    check(events.memory_forgotten(ACT, turn, fresh), "episode_forgotten", turn, payload)
    endless = episode()
    payload = {"expires_at": [None, "2024-05-07T13:00:00Z"]}
    check(events.memory_forgotten(ACT, endless, fresh), "episode_forgotten", endless, payload)
    stated = fact()
    check(events.memory_forgotten(ACT, stated, fresh), "fact_retracted", stated, {"validity": ["active", "retracted"]})
    guidance = rule()
    check(events.memory_forgotten(ACT, guidance, fresh), "rule_forgotten", guidance, {"forgotten": [False, True]})


@given(MEMORIES)
def test_erasure_leaves_a_kind_and_a_digest(memory):
    payload = {"kind": memory.kind, "digest": events.digest_memory(memory)}
    check(events.memory_erased(ACT, memory, fresh), "memory_erased", memory, payload)


@given(MEMORIES)
def test_a_digest_is_of_the_whole_record(memory):
    digest = events.digest_memory(memory)
    assert re.fullmatch(r"[0-9a-f]{64}", digest)
    assert events.digest_memory(replace(memory)) == digest
    changes = {"content": f"{memory.content}!", "reference_count": 7, "scope": "elsewhere", "tags": ("x", "y", "z")}
    different = {events.digest_memory(replace(memory, **{name: value})) for name, value in changes.items()}
    assert len(different - {digest}) == len(changes)


def test_a_digest_does_not_depend_on_the_order_of_metadata():
    one, other = (fact(id="x", metadata=metadata) for metadata in ({"a": 1, "b": 2}, {"b": 2, "a": 1}))
    assert events.digest_memory(one) == events.digest_memory(other)


@pytest.mark.parametrize(
    ("source", "target", "scope"),
    [
        ("global", "global", "global"),
        ("global", "aide", "aide"),
        ("pool:team", "global", "pool:team"),
        ("aide", "aide", "aide"),
        ("pool:team", "aide", "other"),
        ("pool:team", "pool:x", "other"),
    ],
)
def test_an_edge_is_told_where_both_ends_are_seen(source, target, scope):
    """Where no scope sees both, it is told to whoever drew it."""
    ends = (fact(scope=source), rule(scope=target))
    event = events.link_created(ACT, link(*ends, "supports", weight=0.5), fresh, ends=ends)
    payload = {"target_id": ends[1].id, "relation": "supports", "weight": 0.5}
    check(replace(event, scope=source), "link_created", ends[0], payload)
    assert event.scope == scope


def test_an_entity_and_a_change_of_embedder_are_told_to_the_whole_tenant():
    ana = entity("Ana", tenant_id="acme")
    event = events.entity_created(ACT, ana, fresh)
    assert (event.event_type, event.scope, event.memory_id) == ("entity_created", "global", ana.id)
    assert event.payload == {"canonical_name": "Ana", "entity_type": "person"}
    version = EmbeddingVersion(version=2, name="test:next", dims=3, state="active", created_at=NOON)
    event = events.embeddings_switched(ACT, version, fresh)
    assert (event.event_type, event.scope, event.memory_id) == ("embeddings_switched", "global", None)
    assert event.payload == {"version": 2, "name": "test:next", "dims": 3}


@given(EPISODES, FACTS, RULES)
def test_every_payload_is_json_as_it_stands(turn, stated, guidance):
    """A store keeps payloads as JSON: what it reads must equal what was built."""
    built = [events.memory_created(ACT, memory, fresh) for memory in (turn, stated, guidance)]
    built += [events.memory_forgotten(ACT, memory, fresh) for memory in (turn, stated, guidance)]
    built += [events.memory_confirmed(ACT, memory, fresh) for memory in (stated, guidance)]
    built += [events.fact_superseded(ACT, stated, fact(), fresh, end=NOON), events.memory_erased(ACT, turn, fresh)]
    for event in built:
        assert json.loads(json.dumps(event.payload, allow_nan=False)) == event.payload
