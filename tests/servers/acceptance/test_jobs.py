"""Scheduled jobs, on both databases: at their time, once, with a report."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from engrain import AsyncMemory, InvalidInput, Memory, NotFound
from engrain.engines.callables import CallableNames
from engrain.jobs.worker import Worker
from tests.support.clock import Clock
from tests.support.learning_memories import LLM, NOTHING, fact, reply

EVENING = datetime(2026, 11, 21, 20, tzinfo=UTC)  # a Saturday
NIGHTLY = ["enrichment", "consolidation", "decay", "cleanup", "compaction"]
WEEKLY = ["reflection"]
DAY = timedelta(days=1)


class EveningClock(Clock):
    def at(self, hour, *, days=1):
        """So many days after that evening, at an hour."""
        self.now = EVENING.replace(hour=0) + days * DAY + timedelta(hours=hour)


@pytest.fixture
def clock():
    return EveningClock(EVENING)


def opened(location, clock, *, llm=None, name_finder=None, **settings):
    given = {"embedding": {"model": "none"}, "consolidation": {"on_session_switch": False}, **settings}
    return Memory.open(location, settings=given, clock=clock, llm=llm, name_finder=name_finder)


def names(jobs):
    return [job.name for job in jobs]


@pytest.mark.req("Y07", "B32.1", "B32.2", "N04")
def test_a_sunday_night_does_what_it_says_in_every_tenant_and_once(location, clock):
    with opened(location, clock, cleanup={"max_entries": 1}) as memory:
        agents = [memory.agent("ana", tenant=tenant) for tenant in ("acme", "beta")]
        fading = [owner.remember("tea", subject="Ana", predicate="likes", permanence="volatile") for owner in agents]
        rules = [owner.rules.add("Ask before booking.") for owner in agents]
        for agent in agents:
            agent.remember("Lisbon", subject="Ana", predicate="lives in", permanence="permanent")
            agent.observe("Soon forgotten.", ttl_days=1)
            for number in range(3):
                agent.observe(f"Turn {number}", session="s")
            agent.consolidation.mark_session("s")
        worker = Worker(memory)
        clock.at(1, days=57)  # a Sunday
        assert worker.run_due() == []
        assert {job.status for job in memory.jobs.list()} == {"skipped"}

        done = {}
        for hour, due in (
            (2, ["enrichment"]),
            (3, ["consolidation", "reflection"]),
            (3.9, []),
            (4, ["decay"]),
            (4.4, []),
            (4.5, ["cleanup"]),
            (5, ["compaction"]),
        ):
            states = {agent.get(fact.id).state for agent, fact in zip(agents, fading, strict=True)}
            assert states == {"fading" if "decay" in done else "active"}
            clock.at(hour, days=57)
            found = worker.run_due()
            assert names(found) == due
            assert {job.status for job in found} <= {"done"}
            done |= {job.name: job.report for job in found}
        assert done["decay"]["facts"] == {"looked_at": 2, "fading": 2, "recovered": 0, "expired": 0}
        assert done["decay"]["rules"]["looked_at"] == 2
        assert (done["cleanup"]["expired_deleted"], done["cleanup"]["capacity_deleted"]) == (2, 4)
        for agent, fact_, rule in zip(agents, fading, rules, strict=True):
            assert agent.events(fact_.id)[0].event_type == "fact_fading"
            assert agent.get(rule.id) is not None
            assert agent.stats().episodes.total == 1

        before = [agent.events() for agent in agents]
        again = [memory.jobs.run(name) for name in (*NIGHTLY, *WEEKLY)]
        assert {job.status for job in again} == {"done"}
        assert [agent.events() for agent in agents] == before


@pytest.mark.req("Y07", "B32.1")
def test_each_schedule_makes_up_for_its_last_firing_and_no_other(location, clock):
    with opened(location, clock) as memory:
        assert Worker(memory).run_due() == []
        clock.at(12, days=15)  # a Sunday
        done = Worker(memory).run_due()
        assert sorted(names(done)) == sorted([*NIGHTLY, *WEEKLY])
        assert {job.name: (job.run_at.day, job.run_at.hour) for job in done} == {
            "enrichment": (6, 2),
            "consolidation": (6, 3),
            "reflection": (6, 3),
            "decay": (6, 4),
            "cleanup": (6, 4),
            "compaction": (6, 5),
        }
        assert Worker(memory).run_due() == []
        clock.now -= 3 * DAY  # put back
        assert Worker(memory).run_due() == []


@pytest.mark.req("N04")
def test_many_workers_do_each_firing_once(location, clock):
    with opened(location, clock) as first, opened(location, clock) as second:
        Worker(first).run_due()
        clock.at(12)
        with ThreadPoolExecutor(4) as pool:
            done = pool.map(lambda memory: Worker(memory).run_due(), [first, second, first, second])
        assert sorted(name for job in done for name in names(job)) == sorted([*NIGHTLY, *WEEKLY])


@pytest.mark.req("B32.2")
def test_the_cleanup_cron_removes_what_ran_out(clock):
    with opened(
        ":memory:", clock, jobs={"schedules": {"cleanup": "0 12 * * *"}, "timezone": "America/New_York"}
    ) as memory:
        worker = Worker(memory)
        worker.run_due()
        gone, kept = (memory.agent().observe("Hello.", ttl_days=days) for days in (0.1, 100))
        clock.at(16.9)
        worker.run_due()
        assert memory.agent().get(gone.id) is not None
        clock.at(17)
        assert "cleanup" in names(worker.run_due())
        assert [memory.agent().get(turn.id) is None for turn in (gone, kept)] == [True, False]


@pytest.mark.req("Y06")
def test_the_enrichment_reads_the_memories_of_every_agent_of_every_tenant_for_names(location, clock):
    finder = CallableNames(lambda text: [{"text": "Ana", "kind": "person"}] if "Ana" in text else [], name="test")
    with opened(location, clock, name_finder=finder) as memory:
        told = [
            memory.agent(agent, tenant=tenant).observe("Ana came by.")
            for tenant, agent in (("acme", "one"), ("acme", "two"), ("beta", "one"))
        ]
        told.append(memory.agent("two").remember("Ana", subject="The boss", predicate="is", scope="global"))
        done = memory.jobs.run("enrichment")
        assert done.report == {"agents": 4, "enriched": 4, "links": 1, "created": 1}
        assert "enriched_at" in memory.agent("one", tenant="beta").get(told[2].id).metadata
        assert memory.jobs.run("enrichment").report["enriched"] == 0
        assert memory.jobs.run("enrichment", tenant="acme").report["agents"] == 2


@pytest.mark.req("Y12")
def test_the_weekly_reflection_is_kept_once(clock):
    with opened(":memory:", clock) as memory:
        worker = Worker(memory)
        worker.run_due()
        for number in range(4):
            memory.agent("ana").remember(f"walk {number}", subject=f"Day {number}", predicate="had")
        clock.at(12)
        [done] = [job for job in worker.run_due() if job.name == "reflection"]
        assert done.report == {"agents": 1, "reflected": 1, "failures": 0}
        assert memory.agent("ana").latest_reflection() is not None
        assert memory.jobs.run("reflection").report["reflected"] == 0


def test_the_consolidation_learns_and_says_how_much(clock):
    llm = LLM([reply(fact("Ana", "lives in", "Lisbon", "I live in Lisbon"))])
    with opened(":memory:", clock, llm=llm) as memory:
        memory.agent().observe("I live in Lisbon.", speaker="Ana")
        counts = {"batches": 1, "episodes": 1, "failures": 0, "new": 1, "updated": 0, "confirmed": 0}
        assert memory.jobs.run("consolidation").report == counts
        assert memory.jobs.run("consolidation").report == dict.fromkeys(counts, 0)


def test_backups_are_whole_and_the_newest_stay(clock, tmp_path):
    folder = tmp_path / "backups"
    with opened(tmp_path / "m.db", clock, jobs={"backup_folder": str(folder), "backup_keep": 2}) as memory:
        turn = memory.agent().observe("I live in Lisbon.")
        (folder / "sub").mkdir(parents=True)
        (folder / "mine.gz").write_text("not ours")
        worker = Worker(memory)
        worker.run_due()
        for days in range(1, 5):
            clock.at(12, days=days)
            assert "backup" in names(worker.run_due())
    assert sorted(job.name for job in folder.iterdir()) == [
        "engrain-20261124T120000Z.backup.gz",
        "engrain-20261125T120000Z.backup.gz",
        "mine.gz",
        "sub",
    ]
    with opened(":memory:", clock) as other:
        other.restore(folder / "engrain-20261125T120000Z.backup.gz")
        assert other.agent().get(turn.id).content == turn.content


@pytest.mark.req("G22")
def test_a_compaction_forgets_jobs_that_were_over_for_ninety_days(clock):
    with opened(":memory:", clock) as memory:
        old = memory.jobs.run("decay")
        clock.now += 89 * DAY
        young = memory.jobs.run("decay")
        assert memory.jobs.run("compaction").report["jobs"] == 0
        clock.now += 2 * DAY
        assert memory.jobs.run("compaction").report["jobs"] == 1
        assert [job.id for job in memory.jobs.list(name="decay")] == [young.id]
        assert old.id not in {job.id for job in memory.jobs.list()}


def test_a_job_that_fails_is_tried_again_later_each_time_until_it_is_given_up_and_asked_for(clock, tmp_path):
    folder = tmp_path / "backups"
    folder.write_text("a file is in the way: SECRET")
    schedules = dict.fromkeys([*NIGHTLY, *WEEKLY], "")
    jobs = {"backup_folder": str(folder), "schedules": schedules, "max_attempts": 3, "retry_pause_s": 100}
    with opened(":memory:", clock, jobs=jobs) as memory:
        worker = Worker(memory)
        worker.run_due()
        clock.at(6)
        for pause_s in (100, 200):
            [failed] = worker.run_due()
            assert (failed.status, failed.run_at - clock.now) == ("waiting", timedelta(seconds=pause_s))
            clock.now += timedelta(seconds=pause_s - 1)
            assert worker.run_due() == []
            clock.now += timedelta(seconds=1)
        [dead] = worker.run_due()
        assert (dead.status, dead.attempts, dead.last_error) == ("dead_letter", 3, "unexpected: FileExistsError")
        assert memory.jobs.list(status="dead_letter") == [dead]
        folder.unlink()
        assert memory.jobs.retry(dead.id).status == "waiting"
        [done] = worker.run_due()
        assert (done.id, done.status, done.last_error, done.attempts) == (dead.id, "done", None, 1)
        with pytest.raises(InvalidInput, match="only a dead letter"):
            memory.jobs.retry(done.id)


def test_a_job_that_is_asked_for_and_fails_raises_and_is_a_dead_letter(clock, tmp_path):
    (tmp_path / "backups").write_text("in the way")
    with opened(":memory:", clock, jobs={"backup_folder": str(tmp_path / "backups")}) as memory:
        with pytest.raises(FileExistsError):
            memory.jobs.run("backup")
        [dead] = memory.jobs.list()
        assert (dead.status, dead.attempts) == ("dead_letter", 1)


def test_an_error_that_may_quote_a_memory_is_told_by_its_code_alone(clock):
    def breaks(_):
        raise InvalidInput("no name in: Ana hates early flights")

    with opened(":memory:", clock, name_finder=CallableNames(breaks, name="broken")) as memory:
        memory.agent().observe("Ana hates early flights.")
        with pytest.raises(InvalidInput):
            memory.jobs.run("enrichment")
        assert memory.jobs.list()[0].last_error == "invalid_input: InvalidInput"


def test_a_job_may_be_left_to_a_worker_and_be_of_one_tenant(location, clock):
    with opened(location, clock) as memory:
        for tenant in ("acme", "beta"):
            memory.agent("ana", tenant=tenant).remember("tea", subject="Ana", predicate="likes", permanence="volatile")
        clock.now += 60 * DAY
        left = memory.jobs.run("decay", tenant="beta", enqueue=True)
        assert (left.status, left.attempts) == ("waiting", 0)
        [done] = Worker(memory).run_due()
        assert (done.id, done.tenant_id, done.report["tenants"]) == (left.id, "beta", 1)
        assert [memory.agent("ana", tenant=tenant).facts("Ana")[0].state for tenant in ("acme", "beta")] == [
            "active",
            "fading",
        ]
        assert memory.jobs.list(tenant="beta") == [done]
        assert memory.jobs.list(tenant="acme") == []
        with pytest.raises(NotFound):
            memory.jobs.retry(done.id, tenant="acme")


def test_what_is_no_job_is_refused(clock):
    with opened(":memory:", clock) as memory:
        for wrong in ("sweep", "", None, 7):
            with pytest.raises(InvalidInput, match="name"):
                memory.jobs.run(wrong)
        for of_all in ("compaction", "backup"):
            with pytest.raises(InvalidInput, match="whole database"):
                memory.jobs.run(of_all, tenant="acme")
        with pytest.raises(InvalidInput, match=r"jobs\.backup_folder"):
            memory.jobs.run("backup")
        for tenant in ("", " ", 5):
            with pytest.raises(InvalidInput):
                memory.jobs.run("decay", tenant=tenant)
        with pytest.raises(InvalidInput, match="status"):
            memory.jobs.list(status="lost")
        with pytest.raises(InvalidInput, match="limit"):
            memory.jobs.list(limit=-1)
        assert memory.jobs.list() == []


class Asked:
    """A model that says when it is asked, and answers when it may."""

    name = "slow"

    def __init__(self):
        self.is_asked, self.may_answer = threading.Event(), threading.Event()

    def complete(self, prompt, *, timeout_s):
        self.is_asked.set()
        assert self.may_answer.wait(60)
        return LLM([NOTHING]).complete(prompt, timeout_s=timeout_s)


@pytest.fixture
def asked():
    model = Asked()
    yield model
    model.may_answer.set()


def at_work(memory, asked):
    """A worker in the middle of a consolidation, and the thread's end."""
    memory.agent().observe("I live in Lisbon.")
    memory.jobs.run("consolidation", enqueue=True)
    worker, is_over = Worker(memory), threading.Event()
    worker.start(at_end=is_over.set)
    assert asked.is_asked.wait(60)
    return worker, is_over


def test_a_worker_that_is_stopped_ends_the_job_in_hand(clock, asked):
    with opened(":memory:", clock, llm=asked) as memory:
        worker, is_over = at_work(memory, asked)
        with ThreadPoolExecutor(1) as pool:
            stopped = pool.submit(worker.stop, 60)
            asked.may_answer.set()
            assert stopped.result()
        assert is_over.is_set()
        assert memory.jobs.list(name="consolidation", status="done")[0].report["batches"] == 1


def test_a_job_that_takes_too_long_at_the_end_is_given_back_and_its_worker_no_longer_says_how_it_ended(clock, asked):
    with opened(":memory:", clock, llm=asked) as memory:
        worker, is_over = at_work(memory, asked)
        assert not worker.stop(0)
        [given] = memory.jobs.list(name="consolidation", status="waiting")
        assert (given.attempts, given.worker, given.last_error) == (0, None, None)
        asked.may_answer.set()
        assert is_over.wait(60)
        assert memory.jobs.list(name="consolidation", status="waiting") == [given]
        [done] = [job for job in Worker(memory).run_due() if job.id == given.id]
        assert (done.status, done.attempts) == ("done", 1)


def test_a_lease_is_renewed_while_its_job_is_done(asked):
    """The clock tells who looks at it: the thread that renews does, when a third of the lease is over."""
    renewed = threading.Event()
    now = EveningClock(EVENING)

    def clock():
        if threading.current_thread().name == "engrain-lease":
            now.now = EVENING + timedelta(seconds=50)
            renewed.set()
        return now.now

    with opened(":memory:", clock, llm=asked, jobs={"lease_s": 1}) as memory:
        worker, _ = at_work(memory, asked)
        assert renewed.wait(60)
        asked.may_answer.set()
        assert worker.stop(60)
        [done] = memory.jobs.list(name="consolidation", status="done")
        assert (done.attempts, done.finished_at) == (1, EVENING + timedelta(seconds=50))


def test_the_jobs_of_an_awaited_memory(tmp_path):
    async def live():
        async with await AsyncMemory.open(tmp_path / "m.db", settings={"embedding": {"model": "none"}}) as memory:
            done = await memory.jobs.run("decay")
            return done, await memory.jobs.list(name="decay")

    done, listed = asyncio.run(live())
    assert listed == [done]
