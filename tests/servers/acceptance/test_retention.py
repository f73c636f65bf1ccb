"""Retention of facts and of single tenants: a cleanup erases what ended long ago, and nothing that lives."""

import json

import pytest

from engrain import Memory
from engrain.errors import InvalidInput
from tests.support.backups import everything
from tests.support.clock import Clock
from tests.support.engines import HashEmbedder

SECRET = "quartzvane"
ENDED = ("superseded", "retracted", "expired", "period", "rule", "of a user")


@pytest.fixture
def clock():
    return Clock()


def opened(location, clock, **cleanup):
    settings = {"cleanup": {"fact_days": 30, **cleanup}, "embedding": {"wait_s": 60}}
    return Memory.open(location, embedder=HashEmbedder(), settings=settings, clock=clock)


def end_all(memory, clock, tenant="default"):
    """Let a fact end in each way, and a rule; the ids of these and of what lives."""
    ana, zoe = memory.agent("ana", tenant=tenant), memory.agent("ana", tenant=tenant, user="zoe")
    source = ana.observe("They moved.")
    old = ana.remember(f"{SECRET} 1", subject="Ana", predicate="lives in", source_episode_id=source.id)
    ended = {
        "superseded": old,
        "retracted": ana.remember(f"{SECRET} 2", subject="Ben", predicate="lives in", permanence="permanent"),
        "expired": ana.remember(f"{SECRET} 3", subject="Cleo", predicate="lives in", permanence="ephemeral"),
        "period": ana.remember(f"{SECRET} 4", subject="Dora", predicate="lives in", valid_to=clock()),
        "rule": ana.rules.add(f"Never name {SECRET} 5."),
        "of a user": zoe.remember(f"{SECRET} 6", subject="Zoe", predicate="lives in"),
    }
    live = {
        "successor": ana.remember("Porto", subject="Ana", predicate="lives in", permanence="permanent"),
        "stable": ana.remember("Faro", subject="Eve", predicate="lives in", permanence="stable"),
        "rule": ana.rules.add("Ask before booking."),
        "of a user": zoe.remember("Braga", subject="Zoe", predicate="works in", permanence="stable"),
    }
    ana.forget(ended["retracted"].id)
    ana.forget(ended["rule"].id)
    zoe.forget(ended["of a user"].id)
    memory.flush()
    return {name: memory.id for name, memory in ended.items()}, {name: memory.id for name, memory in live.items()}


def find(memory, ids, tenant="default"):
    """The names of those that are still there."""
    agents = [memory.agent("ana", tenant=tenant), memory.agent("ana", tenant=tenant, user="zoe")]
    return {name for name, id_ in ids.items() if any(agent.get(id_) is not None for agent in agents)}


def counts(report):
    return report.facts_deleted, report.rules_deleted


def test_what_ended_is_erased_for_good_when_its_days_are_over(location, clock):
    with opened(location, clock, fact_days=40) as memory:
        ended, live = end_all(memory, clock)
        clock.pass_time(days=39)
        memory.decay()  # lets the ephemeral one expire, today
        assert counts(memory.cleanup()) == (0, 0)
        clock.pass_time(days=2)
        planned = memory.cleanup(dry_run=True)
        assert find(memory, ended) == {*ENDED}
        progress = []
        report = memory.cleanup(progress=progress.append)
        assert planned.to_dict() == {**report.to_dict(), "dry_run": True}
        assert (counts(report), sum(progress)) == ((4, 1), 5)
        assert find(memory, ended) == {"expired"}
        clock.pass_time(days=39)
        assert counts(memory.cleanup()) == (1, 0)
        assert counts(memory.cleanup()) == (0, 0)
        assert (find(memory, ended), find(memory, live)) == (set(), {*live})
        rows = everything(memory)
        assert SECRET not in json.dumps(rows, default=str)
        assert {row["id"] for row in rows["tombstones"]} == {*ended.values()}
        ana, zoe = memory.agent("ana"), memory.agent("ana", user="zoe")
        shown = {event.memory_id for agent in (ana, zoe) for event in agent.events(event_type="memory_erased")}
        assert shown == {*ended.values()}
        assert ana.links(live["successor"]) == []
        assert ana.get(live["successor"]).supersedes_id is None
        assert memory.parts.store.health().problems == ()
        clock.pass_time(days=30_000)
        assert counts(memory.cleanup()) == (0, 0)  # what lives never goes by age


def test_facts_stay_for_ever_where_no_days_are_set(location, clock):
    with opened(location, clock, fact_days=0) as memory:
        ended, _ = end_all(memory, clock)
        clock.pass_time(days=30_000)
        assert counts(memory.cleanup()) == (0, 0)
        assert find(memory, ended) == {*ENDED}


def test_a_tenant_has_a_retention_of_its_own(location, clock):
    tenants = {
        "short": {"fact_days": 2, "retention_days": 1},
        "for ever": {"fact_days": 0},
        "nobody": {"fact_days": 1},
    }
    with opened(location, clock, retention_days=9, tenants=tenants) as memory:
        ended, turns = {}, {}
        for tenant in ("general", "short", "for ever"):
            ended[tenant], _ = end_all(memory, clock, tenant)
            agent = memory.agent("ana", tenant=tenant)
            turns[tenant] = agent.observe("Hello.").id
            agent.forget(turns[tenant])

        def remaining():
            """Tenants whose forgotten turn, and whose retracted fact, is still there."""
            return [
                {tenant for tenant, id_ in ids.items() if find(memory, {"": id_}, tenant)}
                for ids in (turns, {tenant: found["retracted"] for tenant, found in ended.items()})
            ]

        clock.pass_time(days=3)
        report = memory.cleanup()
        assert (report.tenants, report.expired_deleted, counts(report)) == (3, 1, (4, 1))
        assert remaining() == [{"general", "for ever"}, {"general", "for ever"}]
        clock.pass_time(days=30)
        [job] = [memory.jobs.run("cleanup")]
        assert (job.report["expired_deleted"], job.report["facts_deleted"], job.report["rules_deleted"]) == (2, 4, 1)
        assert remaining() == [set(), {"for ever"}]
        assert counts(memory.cleanup("for ever", max_entries=1)) == (0, 0)


def test_many_go_in_batches_and_a_cleanup_that_was_stopped_is_finished_by_another(location, clock):
    """One transaction for each batch: what was done by then stays done."""
    with opened(location, clock) as memory:
        ana = memory.agent("ana")
        for number in range(450):
            ana.remember(f"town {number}", subject="Ana", predicate="lives in")
        clock.pass_time(days=31)
        progress = []

        def stop(removed):
            progress.append(removed)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            memory.cleanup(progress=stop)
        assert memory.cleanup(progress=progress.append).facts_deleted == 249
        assert progress == [200, 200, 49]
        assert [fact.content for fact in ana.list(include_inactive=True)] == ["town 449"]
        assert memory.parts.store.health().problems == ()


@pytest.mark.parametrize(
    ("cleanup", "message"),
    [
        ({"fact_days": -1}, r"cleanup.fact_days = -1, given by the caller"),
        ({"tenants": {"acme": {"fact_days": -1}}}, r"cleanup.tenants.acme.fact_days"),
        ({"tenants": {"acme": {"facts": 1}}}, r"cleanup.tenants.acme.facts.*no setting"),
        ({"tenants": {"acme": 9}}, r"cleanup.tenants.acme.*should be a table"),
    ],
)
def test_a_wrong_retention_is_refused_by_name(cleanup, message):
    with pytest.raises(InvalidInput, match=message):
        Memory.open(":memory:", embedder="none", settings={"cleanup": cleanup})


def test_what_was_forgotten_and_cleaned_up_does_not_come_back_with_an_older_backup(location, clock, tmp_path):
    with opened(location, clock) as memory:
        ana = memory.agent("ana")
        forgotten, old = ana.observe("The safe opens with heliotrope."), ana.observe("The safe is blue.", ttl_days=1)
        memory.backup(tmp_path / "older")
        ana.forget(forgotten.id)
        clock.pass_time(days=365)
        assert memory.cleanup().expired_deleted == 2
        report = memory.restore(tmp_path / "older")
        assert (report.memories, report.erased) == (1, 1)
        assert ana.get(forgotten.id) is None
        assert ana.get(old.id) is not None
        assert memory.restore(tmp_path / "older", with_erased=True).memories == 1
        assert memory.health(thorough=True).problems == ()
