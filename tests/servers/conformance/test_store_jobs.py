"""A job is claimed by one worker, ended by the one that has it, and taken over from one that is gone."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from engrain.domain.ids import IdSource
from engrain.domain.records import Caller
from engrain.domain.runs.jobs import JOB_STATUSES, Job, begin, fail, finish, firing_key, release, retry
from engrain.domain.runs.retries import Retry
from tests.support.sample_records import NOON, act, episode, fact
from tests.support.stores import SqliteStore

fresh_id = IdSource(lambda: NOON)
LEASE_S = 60.0
MOST = 3
SOON = NOON + timedelta(seconds=30)
OVER = NOON + timedelta(seconds=60)
LATER = NOON + timedelta(days=1)
POLICY = Retry(max_attempts=MOST, first_pause_s=60.0)


def job(name="decay", **changes):
    return Job(**{"id": fresh_id(), "name": name, "run_at": NOON, "created_at": NOON, **changes})


def added(store, *jobs):
    assert [store.add_job(each) for each in jobs] == [True] * len(jobs)
    return jobs


def take(store, worker="one", at=NOON, **changes):
    return store.take_job(worker, at, **{"lease_s": LEASE_S, "most_attempts": MOST, **changes})


def only(store):
    [found] = store.jobs()
    return found


def test_a_job_comes_back_as_it_was_kept(store):
    kept = job(
        tenant_id="acme", status="dead_letter", attempts=4, worker="w", dedupe_key="k", report={"facts": {"aged": 2}},
        lease_until=SOON, finished_at=LATER, last_error="database_busy",
    )  # fmt: skip
    added(store, kept)
    assert store.jobs() == [kept]


@pytest.mark.req("N04")
def test_one_key_of_a_tenant_and_name_is_one_job_for_ever(store):
    first = job(dedupe_key=firing_key(NOON))
    added(store, first)
    others = [{"name": "cleanup"}, {"tenant_id": "acme"}, {"dedupe_key": firing_key(LATER)}, {"dedupe_key": None}]
    assert not store.add_job(replace(first, id="other"))
    mine = take(store)
    store.end_job(mine, finish(mine, SOON, {}))
    assert not store.add_job(replace(first, id="other"))
    added(store, *(replace(first, id=f"other{place}", **changes) for place, changes in enumerate(others)))


def test_what_is_due_longest_is_taken_first_and_nothing_before_its_time(store):
    late = job(run_at=SOON)
    of_acme, of_all = job(tenant_id="acme"), job()
    added(store, late, of_acme, of_all, job(status="done"), job(status="dead_letter"), job(status="skipped"))
    assert take(store, at=NOON - timedelta(seconds=1)) is None
    assert [take(store), take(store), take(store)] == [
        begin(of_all, worker="one", lease_until=OVER),
        begin(of_acme, worker="one", lease_until=OVER),
        None,
    ]
    assert take(store, at=SOON).id == late.id


@pytest.mark.req("N04")
def test_who_is_gone_when_its_lease_is_over_has_lost_the_job_and_can_do_nothing_in_its_name(store):
    added(store, job())
    zombie = take(store, "zombie")
    assert take(store, "other", at=OVER - timedelta(seconds=1)) is None
    other = take(store, "other", at=OVER)
    assert (other.worker, other.attempts) == ("other", 2)
    assert not store.renew_job(zombie, LATER)
    for after in (finish(zombie, LATER, {"facts": 1}), fail(zombie, LATER, "x", POLICY), release(zombie, LATER)):
        assert not store.end_job(zombie, after)
    assert only(store) == other
    assert store.end_job(other, finish(other, LATER, {"facts": 2}))
    assert only(store).report == {"facts": 2}


def test_a_worker_that_took_a_job_twice_holds_it_in_its_last_attempt_alone(store):
    added(store, job())
    first = take(store)
    second = take(store, at=OVER)
    assert not store.end_job(first, finish(first, LATER, {}))
    assert store.end_job(second, finish(second, LATER, {}))


def test_a_lease_that_is_renewed_is_not_over(store):
    added(store, job())
    mine = take(store)
    assert store.renew_job(mine, LATER)
    assert take(store, "other", at=OVER) is None
    assert take(store, "other", at=LATER).worker == "other"


def test_a_job_that_was_ended_is_nobodys(store):
    added(store, job())
    mine = take(store)
    assert store.end_job(mine, finish(mine, SOON, {}))
    assert not store.renew_job(mine, LATER)
    assert not store.end_job(mine, fail(mine, SOON, "x", POLICY))
    assert take(store, at=LATER) is None


def test_a_job_that_failed_waits_and_is_a_dead_letter_in_the_end(store):
    added(store, job())
    at, pauses = NOON, []
    for _ in range(MOST):
        mine = take(store, at=at)
        after = fail(mine, at, "database_busy", POLICY)
        assert store.end_job(mine, after)
        pauses.append((after.run_at - at).total_seconds() if after.status == "waiting" else None)
        at = after.run_at
    assert pauses == [60.0, 120.0, None]
    assert (only(store).status, only(store).last_error, only(store).attempts) == ("dead_letter", "database_busy", MOST)
    assert take(store, at=LATER) is None


def test_a_job_that_kills_its_workers_is_a_dead_letter(store):
    added(store, job())
    at = NOON
    for _ in range(MOST):
        assert take(store, at=at) is not None
        at += timedelta(seconds=LEASE_S)
    assert take(store, at=at) is None
    assert (only(store).status, only(store).finished_at) == ("dead_letter", at)
    assert "worker was gone" in only(store).last_error


def test_a_job_that_is_given_back_is_taken_at_once_and_costs_no_attempt(store):
    added(store, job())
    mine = take(store)
    assert store.end_job(mine, release(mine, SOON))
    other = take(store, "other", at=SOON)
    assert (other.worker, other.attempts) == ("other", 1)


def test_a_dead_letter_waits_again_when_it_is_asked_for_and_nothing_else_does(store):
    dead, waiting = job(status="dead_letter", attempts=5, tenant_id="acme", last_error="x", worker="w"), job()
    added(store, dead, waiting)
    assert store.retry_job(dead.id, LATER, tenant_id="other") is None
    assert store.retry_job("nobody", LATER) is None
    assert store.retry_job(waiting.id, LATER) == waiting
    assert store.retry_job(dead.id, LATER, tenant_id="acme") == retry(dead, LATER)
    assert {each.id: each for each in store.jobs()} == {dead.id: retry(dead, LATER), waiting.id: waiting}


def test_jobs_are_listed_newest_first_and_by_what_is_asked(store):
    jobs = added(
        store,
        *(job(status=status, created_at=NOON + timedelta(hours=n)) for n, status in enumerate(JOB_STATUSES)),
        job("backup", tenant_id="acme", created_at=NOON),
        job("backup", tenant_id="acme", created_at=NOON),
    )
    newest = sorted(jobs, key=lambda each: (each.created_at, each.id), reverse=True)
    assert store.jobs() == newest
    assert store.jobs(limit=2) == newest[:2]
    assert store.jobs(limit=0) == []
    assert store.jobs(names=["backup"]) == [each for each in newest if each.name == "backup"]
    assert store.jobs(tenant_id="acme", limit=1) == [each for each in newest if each.tenant_id == "acme"][:1]
    assert store.jobs(tenant_id="") == [each for each in newest if each.tenant_id == ""]
    assert store.jobs(statuses=["done", "skipped"], names=["decay"]) == [newest[0], newest[2]]


def test_the_last_firing_is_of_every_tenants_jobs_of_that_name(store):
    assert store.last_firing("decay") is None
    added(
        store,
        job(dedupe_key=firing_key(NOON)),
        job(dedupe_key=firing_key(SOON), status="done"),
        job(dedupe_key=firing_key(LATER), tenant_id="acme"),
        job("cleanup", dedupe_key=firing_key(LATER)),
        job(),
    )
    assert store.last_firing("decay") == firing_key(SOON)


@pytest.mark.req("G22")
def test_old_jobs_are_removed_but_never_the_last_firing_of_a_schedule(store):
    ended = {"status": "done", "finished_at": NOON}
    first, last = job(dedupe_key=firing_key(NOON), **ended), job(dedupe_key=firing_key(SOON), **ended)
    asked = [job(tenant_id="acme", **ended), job(**ended), job(**{**ended, "finished_at": SOON})]
    open_ones = [job(), job(status="running", lease_until=NOON, worker="w")]
    added(store, first, last, *asked, *open_ones)
    assert store.prune_jobs(NOON, limit=10) == 0
    assert store.prune_jobs(SOON, limit=2) == 2
    assert store.prune_jobs(SOON, limit=2) == 1
    assert {each.id for each in store.jobs()} == {each.id for each in (last, asked[2], *open_ones)}


@pytest.mark.req("N04")
def test_of_many_workers_at_once_exactly_one_gets_each_job(store):
    added(store, *(job() for _ in range(12)))

    def work(name):
        return list(iter(lambda: take(store, name), None))

    with ThreadPoolExecutor(6) as pool:
        taken = [each for mine in pool.map(work, [f"worker{n}" for n in range(6)]) for each in mine]
    assert sorted(each.id for each in taken) == sorted(each.id for each in store.jobs())
    assert {each.id: each for each in store.jobs()} == {each.id: each for each in taken}


@pytest.mark.req("N04")
def test_of_many_who_see_a_schedule_fire_one_makes_its_job(store):
    with ThreadPoolExecutor(6) as pool:
        fired = list(pool.map(lambda _: store.add_job(job(dedupe_key=firing_key(NOON))), range(24)))
    assert (fired.count(True), len(store.jobs())) == (1, 1)


def test_agents_are_those_with_a_scope_of_their_own_or_in_a_pool(store):
    store.put(act(caller=Caller(agent="ana")), [episode(agent="ana", scope="ana")])
    store.put(act(), [episode(scope="global"), fact()])
    store.create_pool(act(), "team", ["dan"], {})
    assert store.agents("default") == ["aide", "ana", "dan"]
    assert store.agents("acme") == []


def test_a_compacted_store_finds_what_it_found(store):
    turns = store.put(act(), [episode(f"Turn {place} of the tram.") for place in range(30)])
    store.erase(act(), [each.id for each in turns[:25]])
    report = store.compact()
    assert report.bytes_after >= 0
    assert [each.id for each in store.get(act().caller, [each.id for each in turns])] == [
        each.id for each in turns[25:]
    ]
    assert store.health().problems == ()


@pytest.mark.req("G22")
def test_a_file_that_is_mostly_empty_becomes_small_and_says_the_same(tmp_path):
    store = SqliteStore(str(tmp_path / "memory.db"))
    turns = store.put(act(), [episode(f"{place} " + "tram " * 300) for place in range(1_000)])
    store.erase(act(), [each.id for each in turns[10:]])
    report = store.compact()
    assert report.bytes_after < report.bytes_before / 2
    assert (tmp_path / "memory.db").stat().st_size == report.bytes_after
    assert store.get(act().caller, [each.id for each in turns]) == turns[:10]
    assert store.health().problems == ()
    again_ = store.compact()
    assert again_.bytes_before == again_.bytes_after == report.bytes_after
    store.close()
