"""Seals whose events were removed: still signed, still in the chain, and nobody without the key can make one."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.maintenance.seals import SPENT_START, has_signature, make_seal, read_seal, trim_seal
from engrain.domain.records import Event
from tests.support.sample_records import NOON

SECRET = b"a key of the installation"
EVENTS = tuple(
    Event(id=f"e{number}", tenant_id="acme", event_type="fact_created", scope="ana", actor="ana", created_at=NOON)
    for number in range(6)
)
SEAL = make_seal(None, EVENTS, SECRET)


@given(st.lists(st.sets(st.sampled_from([event.id for event in EVENTS])), min_size=1), st.booleans())
def test_a_trimmed_seal_is_signed_and_keeps_its_hash_whatever_left_it_and_when(removals, is_spent):
    seal = SEAL
    for ids in removals:
        seal = trim_seal(seal, ids, SECRET, is_spent=is_spent)
    gone = set().union(*removals)
    assert [event.id for event in seal.events] == [event.id for event in EVENTS if event.id not in gone]
    assert (seal.hash, seal.total, seal.removed, seal.is_spent) == (SEAL.hash, SEAL.total, len(gone), is_spent)
    assert has_signature(seal, SECRET)
    assert read_seal(seal.number, seal.to_json()) == seal
    assert seal.to_json().startswith(SPENT_START) == is_spent
    assert make_seal(seal, EVENTS, SECRET).previous == SEAL.hash


TRIMMED = trim_seal(SEAL, {"e0", "e3"}, SECRET, is_spent=True)


@pytest.mark.parametrize(
    "change",
    [
        {"removed": 3},
        {"is_spent": False},
        {"trim": ""},
        {"events": TRIMMED.events[1:]},
        {"events": SEAL.events},
        {"hash": "0" * 64},
        {"total": 7},
        {"number": 2},
    ],
)
def test_a_trimmed_seal_with_any_change_is_not_signed(change):
    assert has_signature(TRIMMED, SECRET)
    assert not has_signature(replace(TRIMMED, **change), SECRET)


def test_a_seal_is_trimmed_by_its_key_alone():
    assert not has_signature(trim_seal(SEAL, {"e0"}, b"another", is_spent=False), SECRET)
    assert not has_signature(replace(SEAL, is_spent=True), SECRET)
