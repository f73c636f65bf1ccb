"""Keys: a tenant's own, found by id with the digest they were put with, and closed at once when they are revoked."""

from dataclasses import replace
from datetime import timedelta

import pytest

from engrain.domain.access.keys import AccessKey, StoredKey
from engrain.domain.access.scopes import GLOBAL_SCOPE
from engrain.domain.records import Caller
from engrain.domain.requests import Act
from engrain.errors import InvalidInput
from tests.support.sample_records import NOON

ANA, BOLT = Caller(tenant_id="acme", agent="ana"), Caller(tenant_id="bolt", agent="ana")
PHONE = AccessKey(
    id="01-phone",
    tenant_id="acme",
    agent="ana",
    role="writer",
    name="phone ß",
    created_at=NOON,
    expires_at=NOON + timedelta(days=30, microseconds=1),
)
DESK = AccessKey(id="02-desk", tenant_id="acme", role="admin", created_at=NOON)


def by(caller, minutes=0):
    return Act(caller=caller, at=NOON + timedelta(minutes=minutes))


def events_of(store, caller):
    told = reversed(store.events(caller))
    return [(each.event_type, each.scope, each.memory_id, dict(each.payload)) for each in told]


def test_a_key_is_as_it_was_put_and_found_with_its_digest(store):
    store.put_key(by(ANA), PHONE, "d1")
    store.put_key(by(ANA), DESK, "d2")
    assert store.find_key(ANA, PHONE.id) == StoredKey(key=PHONE, digest="d1")
    assert store.find_key(ANA, DESK.id) == StoredKey(key=DESK, digest="d2")
    assert store.find_key(ANA, "nobody's") is None


def test_keys_are_listed_newest_first(store):
    later = replace(PHONE, id="00-later", created_at=NOON + timedelta(minutes=1))
    for key in (PHONE, later, DESK):
        store.put_key(by(ANA), key, "d")
    assert store.keys(ANA) == store.keys(replace(ANA, agent="ben")) == [later, DESK, PHONE]


@pytest.mark.req("N12", "N21")
def test_a_key_is_its_tenants_alone_and_another_may_have_the_same_id(store):
    store.put_key(by(ANA), PHONE, "d1")
    assert store.keys(BOLT) == []
    assert store.find_key(BOLT, PHONE.id) is None
    assert store.revoke_key(by(BOLT), PHONE.id) is None
    assert store.use_key(by(BOLT), PHONE.id, since=NOON) is False
    theirs = replace(PHONE, tenant_id="bolt")
    store.put_key(by(BOLT), theirs, "d2")
    assert store.find_key(BOLT, PHONE.id) == StoredKey(key=theirs, digest="d2")
    store.revoke_key(by(BOLT), PHONE.id)
    assert store.find_key(ANA, PHONE.id) == StoredKey(key=PHONE, digest="d1")


def test_a_key_of_another_tenant_or_with_an_id_that_is_taken_is_refused(store):
    store.put_key(by(ANA), PHONE, "d1")
    for caller, key in ((BOLT, DESK), (ANA, replace(PHONE, role="admin"))):
        with pytest.raises(InvalidInput):
            store.put_key(by(caller), key, "d2")
    assert store.keys(ANA) == [PHONE]
    assert store.keys(BOLT) == store.events(BOLT) == []
    assert len(store.events(ANA)) == 1


def test_a_key_is_revoked_once(store):
    store.put_key(by(ANA), PHONE, "d1")
    revoked = replace(PHONE, revoked_at=NOON + timedelta(minutes=1))
    assert store.revoke_key(by(ANA, 1), PHONE.id) == revoked
    assert store.find_key(ANA, PHONE.id) == StoredKey(key=revoked, digest="d1")
    assert store.revoke_key(by(ANA, 2), PHONE.id) == revoked
    assert store.revoke_key(by(ANA), "nobody's") is None
    assert [each.event_type for each in store.events(ANA)] == ["key_revoked", "key_created"]


def test_whoever_a_key_speaks_for_is_told_of_it_and_not_of_its_digest(store):
    store.put_key(by(ANA), PHONE, "d1")
    store.put_key(by(ANA), DESK, "d2")
    ends = PHONE.expires_at.isoformat().replace("+00:00", "Z")
    of_phone = {"role": "writer", "agent": "ana", "user_id": None, "expires_at": ends}
    of_desk = {"role": "admin", "agent": None, "user_id": None, "expires_at": None}
    for_all = ("key_created", GLOBAL_SCOPE, DESK.id, of_desk)
    assert events_of(store, ANA) == [("key_created", "ana", PHONE.id, of_phone), for_all]
    assert events_of(store, replace(ANA, agent="ben")) == [for_all]


def test_the_use_of_a_key_is_noted_unless_one_was_lately_and_is_no_event(store):
    store.put_key(by(ANA), PHONE, "d1")
    assert store.use_key(by(ANA, 5), PHONE.id, since=NOON) is True
    assert store.use_key(by(ANA, 6), PHONE.id, since=NOON + timedelta(minutes=5)) is False
    assert store.find_key(ANA, PHONE.id).key.last_used_at == NOON + timedelta(minutes=5)
    assert store.use_key(by(ANA, 7), PHONE.id, since=NOON + timedelta(minutes=6)) is True
    assert store.keys(ANA) == [replace(PHONE, last_used_at=NOON + timedelta(minutes=7))]
    assert len(store.events(ANA)) == 1
