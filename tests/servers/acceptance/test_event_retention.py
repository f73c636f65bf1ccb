"""Retention of the audit log: old events go, what they prove stays, and a verification knows what is gone."""

import json
import re
import threading

import pytest

from engrain import Memory
from engrain.errors import InvalidInput
from engrain.interfaces.cli.rendering import reports
from tests.support.backups import everything
from tests.support.clock import NOON, Clock
from tests.support.learning_memories import LLM, fact, reply

KEEP = 30
KEY = "a key of the installation, and long enough"


@pytest.fixture
def clock():
    return Clock(microseconds=1)


def opened(location, clock, *, keep_days=KEEP, llm=None, **cleanup):
    settings = {
        "events": {"keep_days": keep_days},
        "cleanup": cleanup,
        "backup": {"signing_key": KEY},
        "consolidation": {"on_session_switch": False},
    }
    return Memory.open(location, embedder="none", llm=llm, settings=settings, clock=clock)


@pytest.fixture
def memory(location, clock):
    with opened(location, clock) as opened_memory:
        yield opened_memory


def talk(memory, turns=3, **caller):
    """Facts that nobody removes, as only their events are old."""
    agent = memory.agent("ana", **caller)
    made = [
        agent.remember(f"{number}", subject="Ana", predicate=f"says {number}", permanence="permanent")
        for number in range(turns)
    ]
    return [one.id for one in made]


def add_turns(memory, count):
    for first in range(0, count, 1_000):
        numbers = range(first, min(first + 1_000, count))
        turns = [{"role": "user", "content": f"Turn {number}"} for number in numbers]
        memory.agent("ana").add(turns, learn="later")


def alter(memory, statement, **bound):
    """A statement of somebody who can write the database, as its owner can."""
    named = {"tenant_id": "default", **bound}
    memory.parts.store.maintain("default", lambda tx: tx.ask(f"{statement} RETURNING 1", named))


def types(memory, **caller):
    return [event.event_type for event in memory.agent("ana", **caller).events(limit=1_000)]


def verdict(memory, **asked):
    found = memory.verify_events(**asked)
    return found.is_whole, found.reason, found.broken


def rows_but_log(memory):
    """Every row but the events and their seals."""
    return {name: rows for name, rows in everything(memory).items() if name not in {"memory_events", "memory_metadata"}}


def test_without_a_setting_events_stay_for_ever(location, clock):
    with opened(location, clock, keep_days=0) as memory:
        talk(memory)
        clock.pass_time(days=9_000)
        assert memory.cleanup().events_deleted == 0
        assert len(types(memory)) == 3
        assert memory.agent("ana").events().to_dict().keys() == {"items", "next"}


def test_old_events_go_and_nothing_else(location, clock):
    tenants = {"other": {"event_days": 0}, "brief": {"event_days": 1}}
    with opened(location, clock, tenants=tenants) as memory:
        for tenant in ("default", "other", "brief"):
            talk(memory, tenant=tenant)
            talk(memory, 2, tenant=tenant, user="zoe")
        clock.pass_time(days=KEEP)
        for tenant in ("default", "brief"):
            talk(memory, 1, tenant=tenant)
        before = rows_but_log(memory)
        planned = memory.cleanup(dry_run=True)
        report = memory.cleanup()
        assert planned.to_dict() == {**report.to_dict(), "dry_run": True}
        assert (report.events_deleted, report.unverified_logs, memory.cleanup().events_deleted) == (10, 0, 0)
        assert rows_but_log(memory) == before
        assert types(memory) == types(memory, tenant="brief") == ["events_removed", "fact_confirmed"]
        assert len(types(memory, tenant="other")) == 3
        found = memory.verify_events()
        assert (found.is_whole, found.sealed, found.removed, found.unsealed) == (True, 1, 5, 1)
        memory.seal_events()
        assert memory.verify_events().to_dict() == {**found.to_dict(), "sealed": 2, "unsealed": 0, "head": head(memory)}
        assert memory.verify_events(tenant="other").unsealed == 5


def head(memory):
    return memory.seal_events().head


def test_the_last_page_of_events_says_what_is_gone(memory, clock):
    old, *_ = talk(memory, 3)
    clock.pass_time(days=KEEP + 1)
    talk(memory, 1, session="later")
    memory.cleanup()
    ana = memory.agent("ana")
    cutoff = ana.events().removed_before
    assert NOON < cutoff < clock()
    first = ana.events(limit=1)
    assert (len(first), first.removed_before) == (1, None)
    assert ana.events(after=first.next).removed_before == cutoff
    assert [event.event_type for event in ana.events(old)] == ["fact_confirmed"]
    assert ana.events(old).removed_before == cutoff
    assert memory.agent("zoe", user="zoe").events("none").removed_before == cutoff
    assert ana.events().to_dict()["removed_before"] == cutoff.isoformat().replace("+00:00", "Z")
    assert [one.content for one in ana.history(old)] == ["0"]  # which is in the facts themselves


def test_an_overview_says_from_when_on_it_counts(memory, clock):
    talk(memory)
    clock.pass_time(days=KEEP + 1)
    ana = memory.agent("ana")
    assert ana.overview(days=60).days_since is None
    memory.cleanup()
    assert ana.overview(days=60).days_since == ana.events().removed_before
    assert ana.overview(days=7).days_since is None


def test_many_go_a_seal_at_a_time_and_a_removal_that_was_stopped_is_finished_by_another(memory, clock):
    add_turns(memory, 2_300)
    count = len(list(memory.parts.store.inspect("default", lambda tx: tx.ask("SELECT id FROM memory_events", {}))))
    clock.pass_time(days=KEEP + 1)
    talk(memory, 1)
    removed = []

    def stop(number):
        removed.append(number)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.cleanup(max_entries=5_000, progress=stop)
    found = memory.verify_events()
    assert (removed, found.is_whole, found.removed) == ([1_000], True, 1_000)
    assert memory.agent("ana").events(event_type="fact_created").removed_before is not None
    removed.clear()
    assert memory.cleanup(max_entries=5_000, progress=removed.append).events_deleted == count - 1_000
    assert removed == [1_000, count - 2_000]
    found = memory.verify_events()
    assert (found.is_whole, found.removed) == (True, count)


def test_two_removals_at_once_remove_each_event_once(memory, clock):
    add_turns(memory, 2_300)
    clock.pass_time(days=KEEP + 1)
    planned, done = memory.cleanup(dry_run=True, max_entries=5_000).events_deleted, []
    threads = [threading.Thread(target=lambda: done.append(memory.cleanup(max_entries=5_000))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert memory.cleanup(max_entries=5_000).events_deleted == 0
    assert sum(report.events_deleted for report in done) - planned in (0, 1)  # the record of the other's removal
    assert [report.unverified_logs for report in done] == [0, 0]
    assert verdict(memory) == (True, None, None)


def remove_old(memory, clock):
    """Two seals of which the first is spent; the hash of each."""
    talk(memory)
    heads = [head(memory)]
    clock.pass_time(days=KEEP + 1)
    talk(memory, 5)
    heads.append(head(memory))
    assert memory.cleanup().events_deleted == 3
    return heads


def test_a_hash_that_was_kept_elsewhere_still_holds(memory, clock):
    for kept in remove_old(memory, clock):
        assert verdict(memory, head=kept) == (True, None, None)


_NAMED = "WHERE tenant_id = :tenant_id AND key LIKE"
TAMPERED = {
    "an event": ("DELETE FROM memory_events WHERE tenant_id = :tenant_id AND event_type = 'fact_confirmed'", "missing"),
    "a spent seal": (f"DELETE FROM memory_metadata {_NAMED} :one", "seal_missing"),
    "its count": (f"UPDATE memory_metadata SET value = replace(value, :three, :four) {_NAMED} :one", "seal_changed"),
    "a seal made spent": (
        f"UPDATE memory_metadata SET value = replace(value, :start, :spent) {_NAMED} :two",
        "seal_changed",
    ),
    "a seal made whole": (
        f"UPDATE memory_metadata SET value = replace(value, :trim, :other) {_NAMED} :one",
        "seal_changed",
    ),
}
WORDS = {
    "one": "audit_seal/%1",
    "two": "audit_seal/%2",
    "three": '"removed": 3',
    "four": '"removed": 4',
    "start": '{"key"',
    "spent": '{"spent": true, "key"',
    "trim": '"trim"',
    "other": '"tram"',
}


@pytest.mark.parametrize(("statement", "reason"), TAMPERED.values(), ids=TAMPERED)
def test_whoever_removes_events_past_the_verbs_is_found_out_as_before(memory, clock, statement, reason):
    remove_old(memory, clock)
    named = {name: word for name, word in WORDS.items() if f":{name}" in statement}
    alter(memory, statement, **named)
    assert verdict(memory)[:2] == (False, reason)


def test_events_of_a_broken_seal_stay_as_evidence(memory, clock):
    talk(memory)
    talk(memory, tenant="other")
    memory.seal_events()
    alter(memory, "UPDATE memory_events SET actor = 'mallory' WHERE tenant_id = :tenant_id")
    clock.pass_time(days=KEEP + 1)
    report = memory.cleanup()
    assert (report.events_deleted, report.unverified_logs) == (3, 1)
    assert len(types(memory)) == 3
    assert types(memory, tenant="other") == ["events_removed"]
    assert verdict(memory)[:2] == (False, "changed")
    said = "events of 1 tenant stay, as they are not as sealed; `engrain verify-events` says why"
    assert reports.cleanup(report).splitlines()[-1] == said


def test_the_command_line_says_what_was_removed(cli, monkeypatch):
    monkeypatch.setenv("ENGRAIN_EVENTS__KEEP_DAYS", "0.00000001")
    cli("remember", "tea", "--subject", "Ana", "--predicate", "likes")
    assert cli("cleanup", "--dry-run").out.splitlines()[-1] == "would remove 1 old event"
    assert cli("cleanup").out.splitlines()[-1] == "removed 1 old event"
    listed = cli("events")
    assert "events_removed" in listed.out
    assert re.search(r"note: events before 20\d\d-.* UTC were removed \(events.keep_days\)", listed.out + listed.err)
    assert cli("verify-events", "--json").json["removed"] == 1


def test_a_run_whose_events_are_gone_cannot_be_undone_and_the_next_one_can(location, clock):
    said = [reply(fact("Ana", "lives in", place, f"I live in {place}.")) for place in ("Porto", "Braga")]
    with opened(location, clock, llm=LLM(said)) as memory:
        ana = memory.agent("ana", session="monday")
        runs = []
        for place in ("Porto", "Braga"):
            ana.observe(f"I live in {place}.")
            runs += memory.consolidate(agent="ana").run_ids
            clock.pass_time(days=KEEP - 1)
        known = rows_but_log(memory)
        memory.cleanup()
        began = r"run \S+ began on 2026-11-21, and its audit events were removed since \(events.keep_days\)"
        with pytest.raises(InvalidInput, match=f"{began}, so nothing says what it changed; correct or forget"):
            memory.undo(runs[0], agent="ana")
        assert rows_but_log(memory) == known
        assert [(item.kind, item.what) for item in memory.undo(runs[1], agent="ana").restored] != []
        assert [one.content for one in ana.facts()] == ["Porto"]


def test_what_an_undo_took_back_is_learned_again(location, clock):
    learned = reply(fact("Ana", "lives in", "Porto", "I live in Porto."))
    with opened(location, clock, llm=LLM([learned, learned])) as memory:
        ana = memory.agent("ana", session="monday")
        ana.observe("I live in Porto.")
        [run] = memory.consolidate(agent="ana").run_ids
        memory.undo(run, agent="ana")
        clock.pass_time(days=KEEP + 1)
        assert memory.cleanup().events_deleted > 0
        assert "fact_taken_back" in types(memory)
        memory.consolidate(agent="ana")
        assert [one.content for one in ana.facts()] == ["Porto"]


def test_a_merge_is_taken_back_at_any_age(memory, clock):
    ana = memory.agent("ana")
    one, two = (ana.entities.create(name, "person") for name in ("Ana Silva", "Anna Silva"))
    about = ana.remember("tea", subject="Anna Silva", predicate="likes", entity_id=two.id, permanence="permanent")
    ana.entities.merge(two.id, one.id)
    clock.pass_time(days=KEEP + 1)
    assert memory.cleanup().events_deleted > 0
    ana.entities.unmerge(two.id)
    assert ana.get(about.id).entity_id == two.id


def test_what_lost_a_merge_has_its_own_end_at_any_age(memory, clock):
    ana = memory.agent("ana")
    one, two = (ana.entities.create(name, "person") for name in ("Ana Silva", "Anna Silva"))
    about = {"predicate": "lives in", "permanence": "permanent"}
    lost = ana.remember("Porto", subject="Anna Silva", **about, entity_id=two.id)
    ana.remember("Lisbon", subject="Ana Silva", **about, entity_id=one.id)
    ana.entities.merge(two.id, one.id)
    clock.pass_time(days=KEEP + 1)
    assert memory.cleanup().events_deleted > 0
    ana.entities.unmerge(two.id)
    assert (ana.get(lost.id).validity, ana.get(lost.id).valid_to) == ("active", None)


def test_what_was_erased_stays_erased_when_an_old_backup_is_restored(memory, clock, tmp_path):
    zoe, ana = memory.agent("ana", user="zoe"), memory.agent("ana")
    zoe.remember("a street", subject="Zoe", predicate="lives in", permanence="permanent")
    zoe.entities.create("Street of Zoe", "place")
    gone, stays = talk(memory, 2)
    memory.backup(tmp_path / "old.backup", tenant="default")
    clock.pass_time(days=1)
    ana.erase([gone])
    memory.erase_user("zoe")
    memory.seal_events()
    clock.pass_time(days=KEEP + 1)
    assert memory.cleanup().events_deleted > 0
    assert set(types(memory, user="zoe")) == {"events_removed", "memory_erased", "user_erased"}
    for options in ({}, {"replace": True, "tenant": "default"}):
        report = memory.restore(tmp_path / "old.backup", **options)
        assert report.erased > 0
        assert (ana.get(gone), ana.get(stays).content) == (None, "1")
        assert [one.scope for one in zoe.list(include_inactive=True) if "zoe" in one.scope] == []
        assert (len(memory.users()), len(zoe.entities.find())) == (0, 0)
        # The restore brought old events back, which the next cleanup removes again.
        assert "fact_created" in types(memory)
        assert memory.cleanup().events_deleted > 0
        assert "fact_created" not in types(memory)
        assert verdict(memory) == (True, None, None)
        assert memory.health(thorough=True).problems == ()


def test_an_export_of_the_log_says_what_is_gone(memory, clock, tmp_path):
    remove_old(memory, clock)
    memory.export_events(tmp_path / "events.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert [line["payload"] for line in lines if line["event_type"] == "events_removed"] == [
        {"before": memory.agent("ana").events().to_dict()["removed_before"]}
    ]


def test_the_nightly_cleanup_removes_and_seals(memory, clock):
    talk(memory)
    clock.pass_time(days=KEEP + 1)
    job = memory.jobs.run("cleanup", tenant="default")
    assert (job.report["events_deleted"], job.report["sealed_events"]) == (3, 1)
    clock.pass_time(days=KEEP + 1)
    assert memory.cleanup().events_deleted == 0  # the record of the last removal is none of its own
    assert types(memory) == ["events_removed"]
    talk(memory, 1)
    clock.pass_time(days=KEEP + 1)
    assert memory.cleanup().events_deleted == 2
    assert types(memory) == ["events_removed"]
