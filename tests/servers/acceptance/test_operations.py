"""What monitors and orchestrators are told, by a client on a real socket and with a real database behind it."""

import httpx2
import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families

from engrain import Memory, metrics
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from tests.support.asgi import serving
from tests.support.engines import FaultyEmbedder
from tests.support.postgres import server
from tests.support.redis import url_of_some_server


def key(memory, role="admin", **more):
    return {"Authorization": f"Bearer {memory.keys.create(role=role, **more).secret}"}


class Serving:
    """Serves a memory while a test asks, who shows a key of whoever runs it where nothing else is said."""

    def __init__(self, memory):
        self._serving = serving(create_app(memory, gate=Gate(memory, keys_required=True)))
        self._key = key(memory)

    def __enter__(self):
        self._client = httpx2.Client(base_url=self._serving.__enter__(), headers=self._key, timeout=60)
        return self._client

    def __exit__(self, *error):
        self._client.close()
        self._serving.__exit__(*error)


@pytest.fixture
def memory(tmp_path):
    with Memory.open(tmp_path / "memory.db", embedder="none") as opened:
        yield opened


@pytest.fixture
def client(memory):
    with Serving(memory) as asked:
        yield asked


def families(client):
    answer = client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    return {each.name: each for each in text_string_to_metric_families(answer.text)}


def values(family):
    return {tuple(each.labels.values()): each.value for each in family.samples}


STRANGER = {"Authorization": ""}


def test_alive_and_ready_are_told_to_anybody_and_why_to_who_runs_it(memory, client):
    assert client.get("/healthz", headers=STRANGER).json() == {"status": "alive"}
    stranger, reader = (client.get("/readyz", headers=each) for each in (STRANGER, key(memory, "reader")))
    assert stranger.json() == reader.json()
    assert {each["name"]: each["status"] for each in stranger.json()["checks"]} == dict.fromkeys(
        ("database", "schema", "embedder", "embeddings", "jobs"), "ok"
    )
    assert (stranger.status_code, "detail" in stranger.text) == (200, False)
    said = client.get("/readyz").json()
    assert [each["detail"] for each in said["checks"]][2] == "none is configured; searches go by words"


def test_numbers_are_for_who_runs_it(memory, client):
    before = metrics.snapshot()
    shown = [STRANGER, key(memory, "writer"), key(memory, tenant="acme"), key(memory, agent="ana"), key(memory)]
    assert [client.get("/metrics", headers=each).status_code for each in shown] == [401, 403, 403, 403, 200]
    for reason, times in (("unauthenticated", 1), ("forbidden", 3)):
        name = f'rejected_requests{{reason="{reason}"}}'
        assert metrics.snapshot()[name] - before.get(name, 0) == times


@pytest.mark.req("G19")
def test_the_numbers_of_the_seed_are_there_as_prometheus_has_them(memory, client):
    agent = memory.agent("ana")
    agent.observe("The tram was late, and the river was high. Nobody had told Ben.", session="monday")
    agent.remember("Lisbon", subject="Ana", predicate="lives in")
    agent.recall("tram")
    agent.summarize(session="monday", target_tokens=8)
    memory.flush()
    found = families(client)
    assert values(found["engrain_memories"]) == {("episode",): 1, ("fact",): 1, ("rule",): 0}
    assert values(found["engrain_storage_bytes"])[()] > 4096
    assert 0 < values(found["engrain_recall_hit_ratio"])[()] <= 1
    for name in ("engrain_store_seconds", "engrain_recall_seconds", "engrain_verb_seconds"):
        assert found[name].type == "histogram"
        buckets = [each for each in found[name].samples if each.name.endswith("_bucket")]
        assert {each.labels["le"] for each in buckets} >= {"0.0005", "0.1", "30.0", "+Inf"}
    store = {each.name: each.value for each in found["engrain_store_seconds"].samples if "le" not in each.labels}
    infinite = [each.value for each in found["engrain_store_seconds"].samples if each.labels.get("le") == "+Inf"]
    assert infinite == [store["engrain_store_seconds_count"]]
    tiny = [each.value for each in found["engrain_store_seconds"].samples if each.labels.get("le") == "0.0005"]
    assert tiny == [
        next(iter(each.samples[0].buckets)) for each in memory.metrics().families if each.name == "store_seconds"
    ]
    for name in ("engrain_summarization_runs", "engrain_summarization_tokens_saved"):
        assert (found[name].type, found[name].samples[0].name) == ("counter", f"{name}_total")
    assert values(found["engrain_summarization_runs"])[()] >= 1
    assert values(found["engrain_database_up"])[()] == 1
    assert "process_resident_memory_bytes" in found
    assert all(each.documentation for each in found.values())


@pytest.mark.req("G19")
def test_the_numbers_of_a_server_and_of_redis_are_there(tmp_path):
    with url_of_some_server(tmp_path) as url:
        settings = {"redis": {"url": url, "prefix": tmp_path.name}, "storage": {"pool_size": 3}}
        with Memory.open(server().new_database(), embedder="none", settings=settings) as memory:
            found = memory.metrics()
    assert found["redis_connected"] == 1
    assert found["pool_connections_most"] == 3
    assert 1 <= found["pool_connections_in_use"] <= 3  # the one that answers, and those that are being made
    settings["redis"]["url"] = "redis://127.0.0.1:1"
    with Memory.open(":memory:", embedder="none", settings=settings) as memory:
        assert memory.metrics()["redis_connected"] == 0


def test_a_database_that_hangs_is_told_in_time_and_process_numbers_are_still_there():
    """Somebody holds a table, as a migration does; the verbs' own threads would all wait for it."""
    url = server().new_database()
    settings = {"monitoring": {"timeout_s": 1.0}}
    with Memory.open(url, embedder="none", settings=settings) as memory, Serving(memory) as client:
        with psycopg.connect(url) as other:
            other.execute("LOCK TABLE namespaces IN ACCESS EXCLUSIVE MODE")
            ready = client.get("/readyz")
            numbers = families(client)
            other.execute("LOCK TABLE access_keys IN ACCESS EXCLUSIVE MODE")
            assert client.get("/metrics").status_code == 503  # whose key it is cannot be told
            assert client.get("/healthz").status_code == 200
            other.rollback()
        assert ready.status_code == 503
        assert {each["name"]: each["status"] for each in ready.json()["checks"]}["database"] == "failed"
        assert "detail" not in ready.text
        assert values(numbers["engrain_database_up"])[()] == 0
        assert "engrain_memories" not in numbers
        while client.get("/readyz").status_code != 200:
            pass


def test_a_closed_memory_is_not_ready(memory, client):
    memory.close()
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (503, "failed")


def test_an_embedder_that_fails_leaves_a_memory_ready_and_degraded():
    def fault(_rows):
        raise ValueError("what nobody shall see")

    with Memory.open(":memory:", embedder=FaultyEmbedder(fault)) as memory:
        memory.agent("ana").observe("The tram was late.")
        memory.parts.queue.wait(30)
        found = memory.readiness()
        memory.close(flush=False)
    assert (found.status, found.is_ready) == ("degraded", True)
    [embedder] = [each for each in found.checks if each.name == "embedder"]
    assert embedder.detail == "test:hash failed last time, and is tried again"


def test_numbers_are_a_mapping_and_json(memory):
    memory.agent("ana").observe("The tram was late.")
    memory.flush()
    found = memory.metrics()
    assert found['memories{kind="episode"}'] == 1
    assert found.to_dict() == dict(found)
    assert len(found) == len(list(found))
