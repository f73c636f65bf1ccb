"""Keys from where they are made to where they are shown: one secret, once, and what it opens and for how long."""

import asyncio
import gzip
import hashlib
import json
import re
from datetime import UTC, datetime, timedelta

import pytest

from engrain import AsyncMemory, Memory
from engrain.domain.access.keys import Grant
from engrain.errors import InvalidInput, NotFound, Unauthenticated
from engrain.interfaces.cli.adaptations import until
from tests.support.clock import Clock
from tests.support.schemas import Postgres, Sqlite

NOW = datetime(2026, 11, 22, 9, tzinfo=UTC)
NO_EMBEDDER = {"embedding": {"model": "none"}}


@pytest.fixture
def clock():
    return Clock(NOW)


@pytest.fixture
def memory(location, clock):
    with Memory.open(location, settings=NO_EMBEDDER, clock=clock) as memory:
        yield memory


def altered(secret):
    """The same secret but for its last character."""
    return secret[:-1] + ("a" if secret[-1] != "a" else "b")


def test_a_secret_opens_what_its_key_says(memory):
    created = memory.keys.create(role="writer", tenant="acme", agent="ana", name="phone")
    assert memory.keys.authenticate(created.secret) == Grant(
        key_id=created.key.id, tenant_id="acme", agent="ana", role="writer"
    )
    anywhere = memory.keys.create(role="admin")
    assert memory.keys.authenticate(anywhere.secret).agent is None
    assert memory.keys.authenticate(anywhere.secret).tenant_id == memory.settings.tenant
    assert memory.keys.list(tenant="acme")[0].name == "phone"


def test_whatever_is_no_secret_of_a_key_that_opens_is_refused_in_the_same_words(memory, clock):
    good = memory.keys.create(role="reader", tenant="acme")
    revoked = memory.keys.create(role="reader", tenant="acme")
    expired = memory.keys.create(role="reader", tenant="acme", expires_at=NOW + timedelta(hours=1))
    memory.keys.revoke(revoked.key.id, tenant="acme")
    clock.now = NOW + timedelta(hours=1)
    stranger = memory.keys.create(role="reader", tenant="bolt").secret.split("_")
    prefix, _, tenant, random = good.secret.split("_")
    shown = [
        "",
        "ek_",
        "x" * 100_000,
        "ek_\x00_\ud800_é",
        good.secret.upper(),
        good.secret + " ",
        altered(good.secret),
        revoked.secret,
        expired.secret,
        f"{prefix}_{stranger[1]}_{tenant}_{random}",
        f"{prefix}_{good.key.id}_{stranger[2]}_{random}",
        f"{prefix}_{good.key.id}_{tenant}_{stranger[3]}",
        good.key.id,
        None,
        b"bytes",
    ]
    said = set()
    for secret in shown:
        with pytest.raises(Unauthenticated) as refused:
            memory.keys.authenticate(secret)
        said.add(str(refused.value))
    assert len(said) == 1
    assert memory.keys.authenticate(good.secret).tenant_id == "acme"


def test_a_key_that_is_revoked_elsewhere_opens_nothing_from_the_next_request_on(memory, location):
    created = memory.keys.create(role="reader")
    assert memory.keys.authenticate(created.secret)
    with Memory.open(location, settings=NO_EMBEDDER) as other:
        revoked = other.keys.revoke(created.key.id)
    with pytest.raises(Unauthenticated):
        memory.keys.authenticate(created.secret)
    assert memory.keys.revoke(created.key.id).revoked_at == revoked.revoked_at  # its use is noted when it is noted


def test_a_rotated_key_opens_beside_its_successor_until_the_overlap_is_over(memory, clock):
    old = memory.keys.create(
        role="writer", tenant="acme", agent="ana", name="phone", expires_at=NOW + timedelta(days=30)
    )
    clock.now = NOW + timedelta(days=10)
    new = memory.keys.rotate(old.key.id, overlap_days=2, tenant="acme", agent="ana")
    assert (new.key.role, new.key.agent, new.key.name) == ("writer", "ana", "phone")
    assert new.key.expires_at == clock.now + timedelta(days=30)
    for created in (old, new):
        assert memory.keys.authenticate(created.secret).key_id == created.key.id
    clock.now += timedelta(days=2)
    with pytest.raises(Unauthenticated):
        memory.keys.authenticate(old.secret)
    assert memory.keys.authenticate(new.secret).agent == "ana"
    told = [event.event_type for event in memory.agent("ana", tenant="acme").events().items]
    assert sorted(told) == ["key_created", "key_created", "key_rotated"]


def test_an_overlap_never_lengthens_a_key_and_a_dead_one_is_not_rotated(memory):
    old = memory.keys.create(role="reader", expires_at=NOW + timedelta(hours=1))
    memory.keys.rotate(old.key.id)
    assert next(key for key in memory.keys.list() if key.id == old.key.id).expires_at == NOW + timedelta(hours=1)
    for_ever = memory.keys.create(role="reader")
    assert memory.keys.rotate(for_ever.key.id, overlap_days=0).key.expires_at is None
    for key_id, error in ((for_ever.key.id, InvalidInput), ("no such key", NotFound)):
        with pytest.raises(error):
            memory.keys.rotate(key_id)
    with pytest.raises(NotFound):
        memory.keys.rotate(old.key.id, tenant="bolt")
    with pytest.raises(NotFound):
        memory.keys.rotate(old.key.id, agent="ana")


def test_a_use_is_noted_once_a_minute_and_after_the_request(location, clock):
    def used():
        with Memory.open(location, settings=NO_EMBEDDER) as memory:
            return memory.keys.list()[0].last_used_at

    with Memory.open(location, settings=NO_EMBEDDER, clock=clock) as memory:
        secret = memory.keys.create(role="reader").secret
        memory.keys.authenticate(secret)
        clock.now = NOW + timedelta(seconds=59)
        memory.keys.authenticate(secret)
    assert used() == NOW
    clock.now = NOW + timedelta(seconds=60)
    with Memory.open(location, settings=NO_EMBEDDER, clock=clock) as memory:
        memory.keys.authenticate(secret)
    assert used() == NOW
    clock.now = NOW + timedelta(seconds=61)
    with Memory.open(location, settings=NO_EMBEDDER, clock=clock) as memory:
        memory.keys.authenticate(secret)
    assert used() == NOW + timedelta(seconds=61)


@pytest.mark.parametrize(
    "wrong",
    [
        {"role": "king"},
        {"role": None},
        {"role": "reader", "agent": "global"},
        {"role": "reader", "agent": "pool:team"},
        {"role": "reader", "tenant": " "},
        {"role": "reader", "name": "x" * 600},
        {"role": "reader", "expires_at": NOW},
        {"role": "reader", "expires_at": "soon"},
    ],
)
def test_a_key_that_would_be_wrong_is_not_made(wrong):
    with Memory.open(":memory:", settings=NO_EMBEDDER, clock=Clock(NOW)) as memory:
        with pytest.raises(InvalidInput):
            memory.keys.create(**wrong)
        assert memory.keys.list() == []


def test_a_tenants_keys_are_its_own(memory):
    hers = memory.keys.create(role="admin", tenant="acme")
    assert memory.keys.list(tenant="bolt") == []
    with pytest.raises(NotFound):
        memory.keys.revoke(hers.key.id, tenant="bolt")
    assert memory.keys.authenticate(hers.secret)


def test_the_secret_is_nowhere_but_in_the_answer(memory, location, tmp_path):
    """What stands in the database is its digest, which gives nothing of it away."""
    created = memory.keys.create(role="admin")
    memory.keys.authenticate(created.secret)
    told = json.dumps([each.to_dict() for each in memory.agent().events()]) + repr(memory.keys.list())
    database = Postgres(location) if location.startswith("postgresql") else Sqlite(tmp_path)
    [(digest,)] = database.rows("SELECT digest FROM access_keys")
    assert digest == hashlib.sha256(created.secret.encode()).hexdigest()
    held = repr([database.rows(f"SELECT * FROM {table}") for table in ("access_keys", "memory_events")])
    assert created.secret.rpartition("_")[2] not in held + told
    assert digest not in told


def test_a_backup_of_everything_holds_no_key_and_lets_nobody_in_again(memory, tmp_path):
    created = memory.keys.create(role="admin")
    memory.agent().observe("Hello.")
    memory.backup(tmp_path / "all.gz")
    assert (
        hashlib.sha256(created.secret.encode()).hexdigest()
        not in gzip.decompress((tmp_path / "all.gz").read_bytes()).decode()
    )
    memory.keys.revoke(created.key.id)
    with Memory.open(tmp_path / "new.db", settings=NO_EMBEDDER) as other:
        assert other.restore(tmp_path / "all.gz").memories
        assert other.keys.list() == []
        with pytest.raises(Unauthenticated):
            other.keys.authenticate(created.secret)
    memory.restore(tmp_path / "all.gz", replace=True)
    with pytest.raises(Unauthenticated):
        memory.keys.authenticate(created.secret)


def test_keys_are_awaited_too(tmp_path):
    async def shown():
        async with await AsyncMemory.open(tmp_path / "memory.db", settings=NO_EMBEDDER) as memory:
            created = await memory.keys.create(role="reader")
            assert (await memory.keys.authenticate(created.secret)).role == "reader"
            assert [each.id for each in await memory.keys.list()] == [created.key.id]

    asyncio.run(shown())


class TestCommands:
    def test_a_key_is_made_shown_once_listed_and_revoked(self, cli, database):
        made = cli("--tenant", "acme", "keys", "create", "--role", "writer", "--agent", "ana", "--name", "phone\n")
        assert re.fullmatch(r"ek_[0-9a-f-]{36}_[a-z2-7]+_[a-z2-7]{52}\n", made.out)
        assert made.out.strip() not in made.err
        with Memory.open(database) as memory:
            grant = memory.keys.authenticate(made.out.strip())
        assert (grant.tenant_id, grant.agent, grant.role) == ("acme", "ana", "writer")
        [listed] = cli("keys", "list", "--tenant", "acme", "--json").json["items"]
        assert (listed["id"], listed["name"], listed["revoked_at"]) == (grant.key_id, "phone", None)
        shown = cli("keys", "list", "--tenant", "acme").out
        assert shown.startswith(f"{grant.key_id}  writer of tenant acme, agent ana (phone): made ")
        assert cli("keys", "revoke", grant.key_id).code == 1
        assert cli("keys", "revoke", grant.key_id, "--tenant", "acme", "--json").json["revoked_at"] is not None
        with Memory.open(database) as memory, pytest.raises(Unauthenticated):
            memory.keys.authenticate(made.out.strip())

    def test_the_help_names_the_commands_that_there_are(self, cli):
        assert "Access keys: create, rotate, list and revoke them." in cli("keys", "-h").out

    def test_the_user_of_a_key_is_shown(self, cli):
        made = cli("keys", "create", "--role", "writer", "--user", "ana")
        assert "writer of tenant default, any agent, user ana: made " in made.err
        assert "writer of tenant default, any agent, user ana: made " in cli("keys", "list").out

    def test_as_json_the_secret_stands_beside_the_key(self, cli):
        made = cli("keys", "create", "--role", "reader", "--expires", "30d", "--json").json
        assert made["secret"].startswith(f"ek_{made['key']['id']}_")
        ends = datetime.fromisoformat(made["key"]["expires_at"]) - datetime.fromisoformat(made["key"]["created_at"])
        assert timedelta(days=29, hours=23) < ends <= timedelta(days=30)
        assert cli("keys", "list", "--json").json == {"items": [made["key"]], "next": None}

    def test_what_is_wrong_is_said(self, cli):
        assert cli("keys", "create").code == 2
        assert "reader, writer, admin" in cli("keys", "create", "--role", "king").err
        assert "has passed" in cli("keys", "create", "--role", "reader", "--expires", "2001-01-01").err
        assert "expires_at" in cli("keys", "create", "--role", "reader", "--expires", "soon").err

    @pytest.mark.parametrize(
        ("text", "at"),
        [("12h", NOW + timedelta(hours=12)), ("30d", NOW + timedelta(days=30)), (" 2w ", NOW + timedelta(days=14))],
    )
    def test_a_period_is_counted_from_now(self, text, at):
        assert until(text, NOW) == at

    @pytest.mark.parametrize("text", ["2027-01-01", "-1d", "30", "d", "next friday"])
    def test_what_is_no_period_is_read_as_a_time(self, text):
        assert until(text, NOW) == text

    @pytest.mark.parametrize("text", ["0d", "30x", "30 days", "6M"])
    def test_a_period_of_another_unit_is_refused_with_those_that_there_are(self, text):
        with pytest.raises(InvalidInput, match=f"--expires '{text}' is no period such as 30d, 12h or 2w"):
            until(text, NOW)

    def test_a_period_past_the_calendar_is_refused(self):
        with pytest.raises(InvalidInput, match="calendar"):
            until("99999w", datetime(9990, 1, 1, tzinfo=UTC))


def test_the_successor_of_a_key_that_is_rotated_once_more_lives_as_long_as_the_first_was_meant_to(memory, clock):
    for user in (None, "ana"):
        for_ever = memory.keys.create(role="reader", user=user)
        month = memory.keys.create(role="reader", user=user, expires_at=clock.now + timedelta(days=30))
        for old, lifetime in ((for_ever, None), (month, timedelta(days=30))):
            memory.keys.rotate(old.key.id, overlap_days=7)
            ends = memory.keys.rotate(old.key.id, overlap_days=2).key.expires_at
            assert ends == (None if lifetime is None else clock.now + lifetime)
