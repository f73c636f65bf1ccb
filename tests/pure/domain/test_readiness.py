from datetime import timedelta

import pytest

from engrain.domain.maintenance import readiness
from engrain.domain.maintenance.readiness import Bounds, EmbedderState, judge_readiness
from engrain.domain.maintenance.vitals import JobVitals, Vitals
from engrain.errors import DatabaseFull, DatabaseUnreachable, EngineUnavailable
from tests.support.sample_records import NOON

BOUNDS = Bounds(embedding_lag_s=300, job_lag_s=900)
SOUND = EmbedderState(name="minilm:v1")


def vitals(**changed):
    values = {
        "schema": "mem_003",
        "newest_schema": "mem_003",
        "memories": {"episode": 1, "fact": 0, "rule": 0},
        "size_bytes": 4096,
        "without_vector": 0,
        "without_vector_since": None,
        "jobs": JobVitals(),
        "pool": None,
    }
    return Vitals(**values | changed)


def ago(seconds):
    return NOON - timedelta(seconds=seconds)


def summarize(readiness):
    """The status of all, and the checks that are not ok."""
    return readiness.status, {check.name: check.status for check in readiness.checks if check.status != "ok"}


def test_a_sound_memory_is_ready_and_every_check_says_so():
    readiness = judge_readiness(vitals(), SOUND, BOUNDS, NOON)
    assert summarize(readiness) == ("ok", {})
    assert readiness.is_ready
    assert [check.name for check in readiness.checks] == ["database", "schema", "embedder", "embeddings", "jobs"]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"schema": "mem_004"}, ("failed", {"schema": "failed"})),
        ({"schema": ""}, ("failed", {"schema": "failed"})),
        ({"without_vector": 3, "without_vector_since": ago(299)}, ("ok", {})),
        ({"without_vector": 3, "without_vector_since": ago(301)}, ("degraded", {"embeddings": "degraded"})),
        ({"jobs": JobVitals(overdue=1, overdue_since=ago(899))}, ("ok", {})),
        ({"jobs": JobVitals(overdue=1, overdue_since=ago(901))}, ("degraded", {"jobs": "degraded"})),
        ({"jobs": JobVitals(dead_letters=1)}, ("degraded", {"jobs": "degraded"})),
        (
            {"schema": "mem_001", "jobs": JobVitals(dead_letters=1)},
            ("failed", {"schema": "failed", "jobs": "degraded"}),
        ),
    ],
)
def test_the_worst_check_is_the_status(changed, expected):
    readiness = judge_readiness(vitals(**changed), SOUND, BOUNDS, NOON)
    assert summarize(readiness) == expected
    assert readiness.is_ready == (expected[0] != "failed")


def test_without_one_of_its_further_servers_a_memory_serves_the_tenants_of_the_others():
    readiness = judge_readiness(vitals(), SOUND, BOUNDS, NOON, absent={"b": DatabaseUnreachable("no route")})
    assert summarize(readiness) == ("degraded", {"database": "degraded"})
    assert readiness.checks[0].detail == "no tenant of these servers is served: b: no route"


def test_of_a_database_that_does_not_answer_nothing_else_is_known():
    readiness = judge_readiness(DatabaseUnreachable("no route to the database"), SOUND, BOUNDS, NOON)
    assert summarize(readiness) == ("failed", {"database": "failed"})
    assert [check.name for check in readiness.checks] == ["database", "embedder"]


@pytest.mark.parametrize(
    ("state", "status", "text"),
    [
        (EmbedderState(name=None), "ok", "none is configured"),
        (EmbedderState(name="minilm:v1", failure=EngineUnavailable("no")), "degraded", "minilm:v1 failed last time"),
        (
            EmbedderState(name="minilm:v1", failure=DatabaseFull("no room")),
            "degraded",
            "vectors of minilm:v1 were not stored, and are tried again: no room",
        ),
        (EmbedderState(name=None, unused_because="run engrain reembed"), "degraded", "run engrain reembed"),
    ],
)
def test_a_memory_without_its_embedder_serves_with_less(state, status, text):
    check = readiness.check_embedder(state)
    assert (check.status, text in check.detail) == (status, True)


def test_where_nobody_makes_vectors_nothing_is_late():
    waiting = vitals(without_vector=9, without_vector_since=ago(86_400))
    assert judge_readiness(waiting, EmbedderState(name=None), BOUNDS, NOON).status == "ok"


def test_a_clock_that_is_behind_makes_nothing_late():
    readiness = judge_readiness(vitals(without_vector=1, without_vector_since=ago(-5)), SOUND, BOUNDS, NOON)
    assert readiness.status == "ok"
