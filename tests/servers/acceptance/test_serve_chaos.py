"""PostgreSQL goes away under a server and a worker is killed: clients need not know, or are told to come again."""

from bench.serving import chaos
from bench.serving.clients import Work

RETRYABLE = {"503 database_unreachable", "503 database_busy", "503 outcome_unknown", "503 busy"}


def test_nothing_acknowledged_is_lost_or_doubled_and_no_job_is_done_twice():
    settings = {"EMBEDDING__MODEL": "none", "STORAGE__BUSY_TIMEOUT_S": "0.5"}
    work = Work(clients=6, talk=50, retries=True)
    found = chaos.report(work, settings, ways=("crashed", "away"), between=8, expiring=200)
    assert found["errors"] == {}
    assert set(found["retried"]) <= RETRYABLE
    assert found["retried"]
    assert (found["lost"], found["doubled"]) == (0, 0)
    assert found["acknowledged"] >= 2 * 3 * 8
    assert (found["workers_killed"], found["jobs"].get("done")) == (2, 2)
    assert found["facts_expired"] == found["events_of_that"] == 200
