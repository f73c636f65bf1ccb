"""The audit log: whoever changes, removes or adds events past the verbs is found out, on either database."""

import json

import pytest
from pydantic import SecretStr

from tests.support.backups import DATABASES, memory_in


@pytest.fixture(params=DATABASES)
def memory(request, tmp_path):
    with memory_in(request.param, tmp_path) as opened:
        yield opened


def alter(memory, statement, tenant="default", **bound):
    """A statement of somebody who can write the database, as its owner can."""
    memory.parts.store.maintain(tenant, lambda tx: tx.ask(f"{statement} RETURNING 1", {"tenant_id": tenant, **bound}))


def talk(memory, turns=5, **caller):
    agent = memory.agent("assistant", **caller)
    return [agent.remember(f"Fact {number}.", subject="Ana", predicate=f"says {number}") for number in range(turns)]


def verdict(memory, **asked):
    found = memory.verify_events(**asked)
    return found.is_whole, found.reason, found.broken


def test_what_is_sealed_stands_and_what_came_since_is_counted(memory):
    talk(memory)
    assert memory.verify_events().to_dict()["unsealed"] == 5
    sealed = memory.seal_events()
    assert (sealed.events, sealed.seals, memory.seal_events().events) == (5, 1, 0)
    talk(memory, 3, user="ana")
    found = memory.verify_events(head=sealed.head)
    assert (found.sealed, found.unsealed, found.late, found.is_whole, found.head) == (5, 3, 0, True, sealed.head)
    assert memory.seal_events().events == 3
    assert memory.verify_events(head=sealed.head).sealed == 8
    assert memory.verify_events(tenant="other").sealed == 0


CHANGES = {
    "the actor": "UPDATE memory_events SET actor = 'mallory' WHERE tenant_id = :tenant_id AND id = :id",
    "the time": "UPDATE memory_events SET created_at = (SELECT max(created_at) FROM memory_events) "
    "WHERE tenant_id = :tenant_id AND id = :id",
    "the payload": "UPDATE memory_events SET payload = '[7]' WHERE tenant_id = :tenant_id AND id = :id",
    "no payload": "UPDATE memory_events SET payload = '{}' WHERE tenant_id = :tenant_id AND id = :id",
}


@pytest.mark.parametrize("statement", CHANGES.values(), ids=CHANGES)
def test_a_changed_event_is_named(memory, statement):
    facts = talk(memory)
    memory.seal_events()
    event = memory.agent("assistant").events(facts[2].id)[0]
    alter(memory, statement, id=event.id)
    assert verdict(memory) == (False, "changed", event.id)
    assert memory.verify_events().sealed < 5


def test_a_removed_event_is_named(memory):
    facts = talk(memory)
    memory.seal_events()
    event = memory.agent("assistant").events(facts[1].id)[0]
    alter(memory, "DELETE FROM memory_events WHERE tenant_id = :tenant_id AND id = :id", id=event.id)
    assert verdict(memory) == (False, "missing", event.id)


def test_seals_that_are_edited_or_cut_off_are_found_out(memory):
    heads = []
    for _ in range(3):
        talk(memory)
        heads.append(memory.seal_events().head)
    named = "WHERE tenant_id = :tenant_id AND key LIKE :key"
    alter(memory, f"DELETE FROM memory_metadata {named}", key="audit_seal/%3")
    assert verdict(memory) == (True, None, None)  # which only the hash that was kept elsewhere tells
    assert verdict(memory, head=heads[1]) == (True, None, None)
    assert verdict(memory, head=heads[2]) == (False, "head_missing", heads[2])
    alter(memory, f"DELETE FROM memory_metadata {named}", key="audit_seal/%1")
    assert verdict(memory) == (False, "seal_missing", "seal 1")
    alter(
        memory,
        f"UPDATE memory_metadata SET value = '{{}}', key = 'audit_seal/000000000001' {named}",
        key="audit_seal/%2",
    )
    assert verdict(memory) == (False, "seal_changed", "seal 1")


def test_a_seal_of_another_key_is_none_of_this_installation(memory):
    talk(memory)
    memory.seal_events()
    other = SecretStr("another key, and long enough to be one")
    object.__setattr__(memory.parts.settings.backup, "signing_key", other)
    assert verdict(memory) == (False, "other_key", "seal 1")


def test_what_is_erased_lawfully_breaks_nothing(memory):
    facts = talk(memory)
    talk(memory, user="ana")
    memory.seal_events()
    memory.agent("assistant").erase([facts[0].id])
    memory.erase_user("ana")
    found = memory.verify_events()
    assert (found.is_whole, found.erased) == (True, 6)
    memory.seal_events()
    assert memory.verify_events().is_whole


def test_an_event_that_is_put_in_between_is_counted_as_late(memory):
    talk(memory)
    memory.seal_events()
    alter(
        memory,
        "INSERT INTO memory_events (tenant_id, id, event_type, scope, actor, payload, created_at) "
        "SELECT tenant_id, '00000000-0000-7000-8000-000000000001', event_type, scope, 'mallory', payload, "
        "(SELECT min(created_at) FROM memory_events WHERE tenant_id = :tenant_id) "
        "FROM memory_events WHERE tenant_id = :tenant_id LIMIT 1",
    )
    hour = 3_600_000_000 if memory.parts.store.location.endswith(".db") else "1 hour"
    cast = ":hour" if isinstance(hour, int) else "CAST(:hour AS interval)"
    alter(
        memory,
        f"UPDATE memory_events SET created_at = created_at - {cast} WHERE tenant_id = :tenant_id AND actor = 'mallory'",
        hour=hour,
    )
    found = memory.verify_events()
    assert (found.is_whole, found.unsealed, found.late) == (True, 1, 1)
    assert (memory.seal_events().events, memory.seal_events(late=True).events) == (0, 1)
    assert memory.verify_events().sealed == 6


def test_more_events_than_a_seal_holds_take_several(memory):
    talk(memory, 1)
    agent = memory.agent("assistant")
    agent.add([{"role": "user", "content": f"Turn {number}"} for number in range(990)], learn="later")
    talk(memory, 20)
    sealed = memory.seal_events()
    assert (sealed.events, sealed.seals) == (memory.verify_events().sealed, 2)
    assert memory.verify_events().unsealed == 0


def test_the_log_is_exported_as_json_lines_oldest_first(memory, tmp_path):
    facts = talk(memory)
    talk(memory, 1, user="ana")
    report = memory.export_events(tmp_path / "events.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert report.kinds == {"event": len(lines)} == {"event": 6}
    assert [line["memory_id"] for line in lines[:5]] == [fact.id for fact in facts]
    assert lines == sorted(lines, key=lambda line: (line["created_at"], line["id"]))


def test_the_nightly_cleanup_seals(memory):
    talk(memory)
    job = memory.jobs.run("cleanup", tenant="default")
    assert job.report["sealed_events"] == memory.verify_events().sealed == 5
