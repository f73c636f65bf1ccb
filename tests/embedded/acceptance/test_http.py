"""The memory over HTTP, by a client on a real socket."""

import base64
import json
import socket
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from engrain import Memory
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from tests.support.asgi import serving

PROBLEM = "application/problem+json"
FACT = {"content": "Lisbon", "subject": "Ana", "predicate": "lives in"}
PATIENCE_S = 120


def until(is_so):
    """Waits for what another thread does."""
    turn = threading.Event()
    for _ in range(PATIENCE_S * 100):
        if is_so():
            return
        turn.wait(0.01)
    raise AssertionError("it never came to be so")


def served(memory):
    return serving(create_app(memory, gate=Gate(memory, keys_required=False)))


@pytest.fixture(scope="module")
def server():
    """An application that is served; each test has a memory of its own in it."""
    with Memory.open(":memory:", embedder="none") as memory:
        app = create_app(memory, gate=Gate(memory, keys_required=False))
    with serving(app) as url, httpx2.Client(base_url=url, timeout=60) as client:
        yield app, client


@pytest.fixture
def memory(server):
    app, _ = server
    with Memory.open(":memory:", embedder="none") as memory:
        app.state.memory, app.state.gate = memory, Gate(memory, keys_required=False)
        yield memory


@pytest.fixture
def client(server, memory):  # noqa: ARG001  # which it serves
    return server[1]


def test_what_was_observed_is_recalled_and_is_what_the_library_says(client, memory):
    who = {"Engrain-Agent": "helper", "Engrain-Session": "monday", "X-Request-ID": "r-1"}
    told = client.post("/v1/episodes", json={"content": "I moved to Lisbon in May.", "speaker": "Ana"}, headers=who)
    assert (told.status_code, told.headers["X-Request-ID"]) == (201, "r-1")
    helper = memory.agent("helper")
    [event] = helper.events(told.json()["id"])
    assert (event.request_id, told.json()["session"]) == ("r-1", "monday")
    found = client.post("/v1/recall", json={"query": "Where does Ana live?"}, headers={"Engrain-Agent": "helper"})
    assert found.json()["hits"][0]["memory"] == {**told.json(), "reference_count": 0}
    assert client.post("/v1/recall", json={"query": "Ana"}, headers={"Engrain-Agent": "other"}).json()["hits"] == []


def test_a_request_without_an_id_is_given_one(client):
    first, second = (client.post("/v1/recall", json={"query": "x"}).headers["X-Request-ID"] for _ in range(2))
    assert first != second


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"{", 400, "the body is no JSON"),
        (b"[" * 100_000, 400, "body"),
        (b'\xff"', 400, "the body is no JSON"),
        (b'{"content": "x", "contnt": 1}', 422, "did you mean content?"),
        (b'{"content": "x", "idempotency_key": "z"}', 422, "send it in the header Idempotency-Key"),
        (b'{"content": "x", "user": "ana"}', 422, "field 'user' is unknown; send it in the header Engrain-User"),
        (b'{"content": 7}', 422, "body.content"),
        (b"[]", 422, "the body must be a JSON object"),
        (b"", 422, "the body must be a JSON object"),
        (b'{"content": "x", "importance": NaN}', 422, "importance"),
        (b'{"content": "x", "tokens": ' + b"9" * 4000 + b"}", 422, "tokens"),
        (b'{"content": "x", "tokens": ' + b"9" * 5000 + b"}", 400, "body"),
        (b'{"content": "\\u0000"}', 422, "content is empty"),
    ],
)
def test_a_body_that_is_wrong_is_refused_and_nothing_is_written(client, memory, body, status, said):
    refused = client.post("/v1/episodes", content=body, headers={"Content-Type": "application/json"})
    assert (refused.status_code, refused.headers["Content-Type"]) == (status, PROBLEM)
    assert said in refused.json()["detail"]
    assert memory.agent().stats().episodes.total == 0


@pytest.mark.parametrize(
    ("call", "status", "code"),
    [
        (("GET", "/v1/nothing"), 404, "no_such_route"),
        (("GET", "/v1/memory"), 404, "no_such_route"),
        (("GET", "/nothing"), 404, "no_such_route"),
        (("DELETE", "/v1/episodes"), 405, "method_not_allowed"),
        (("DELETE", "/v1/facts"), 405, "method_not_allowed"),
        (("GET", "/v1/memories/x"), 404, "not_found"),
        (("GET", "/v1/memories/x%2Fy"), 404, "not_found"),
        (("GET", "/v1/memories/x/y"), 404, "no_such_route"),
        (("GET", "/api/v1/memories/x%2fy"), 404, "no_such_route"),
        (("GET", "/v1/facts?limit=9999"), 422, "invalid_input"),
        (("GET", "/v1/facts?limit=x"), 422, "invalid_input"),
        (("GET", "/v1/facts?subjct=Ana"), 422, "invalid_input"),
        (("GET", "/v1/events?id=%00"), 422, "invalid_input"),
        (("GET", "/v1/entities?after=x"), 422, "invalid_input"),
        (("GET", "/v1/audit?kinds=odd"), 422, "invalid_input"),
        (("POST", "/v1/recall"), 415, "unsupported_media_type"),
    ],
)
def test_what_is_not_there_or_not_asked_rightly_is_a_problem(client, call, status, code):
    refused = client.request(*call)
    assert (refused.status_code, refused.headers["Content-Type"], refused.json()["code"]) == (status, PROBLEM, code)


def test_head_is_answered_as_get_without_the_body(memory):
    with served(memory) as url:
        for path in ("/healthz", "/readyz", "/metrics", "/v1/stats", "/v1/export", "/openapi.json", "/"):
            got, head = httpx2.get(f"{url}{path}", timeout=60), httpx2.head(f"{url}{path}", timeout=60)
            assert (head.status_code, head.content) == (200, b""), path
            assert head.headers["Content-Type"] == got.headers["Content-Type"]
        assert httpx2.head(f"{url}/v1/memories/x", timeout=60).status_code == 404
        assert httpx2.head(f"{url}/v1/recall", timeout=60).status_code == 405


def test_what_a_path_takes_is_said_in_full(client):
    assert client.options("/v1/facts").headers["Allow"] == "GET, POST"


def test_what_is_not_found_is_named_by_what_was_asked(client):
    nothing = "get finds nothing of id 'abc' that this agent sees"
    assert client.get("/v1/memories/abc").json()["detail"] == nothing
    of_then = client.get("/v1/memories/abc?as_of=2026-05-01").json()["detail"]
    assert of_then == nothing.replace("'abc'", "'abc', as_of '2026-05-01'")


def test_the_nearest_parameter_is_named(client):
    assert "did you mean subject?" in client.get("/v1/facts?subjct=Ana").json()["detail"]


def test_names_in_headers_are_unicode(client):
    who = {"Engrain-Agent": "Zoë 雪".encode(), "Engrain-Session": "déjà vu".encode()}
    told = client.post("/v1/episodes", json={"content": "x"}, headers=who).json()
    assert (told["agent"], told["session"]) == ("Zoë 雪", "déjà vu")
    assert client.get("/v1/caller", headers={"Engrain-Agent": b"\xff\xfe"}).status_code == 422


def test_text_is_kept_as_the_library_keeps_it(client, memory):
    said = "\U0001f600 \x00 'quoted' \u202e"
    body = json.dumps({"content": said}).replace("\\u0000", "\\ud800")
    told = client.post("/v1/episodes", content=body, headers={"Content-Type": "application/json"}).json()
    assert told["content"] == "\U0001f600 \ufffd 'quoted' \u202e" == memory.agent().get(told["id"]).content


def test_a_repeat_with_the_same_key_stores_nothing_and_another_body_is_refused(client, memory):
    key = {"Idempotency-Key": "k-1"}
    first, second = (client.post("/v1/facts", json=FACT, headers=key) for _ in range(2))
    assert first.json() == second.json()
    assert memory.agent().stats().facts.active == 1
    other = client.post("/v1/facts", json={**FACT, "content": "Porto"}, headers=key)
    assert (other.status_code, other.json()["code"]) == (422, "invalid_input")
    assert "k-1" in other.json()["detail"]
    confirmed = client.post(f"/v1/memories/{first.json()['id']}/confirm", headers=key)
    assert (confirmed.status_code, confirmed.json()["detail"]) == (
        422,
        "confirm takes no Idempotency-Key; leave it out",
    )


def test_a_key_of_any_letters_is_the_same_over_http_and_in_the_library(client, memory):
    key = "é" * 300
    over_http = client.post("/v1/facts", json=FACT, headers={"Idempotency-Key": key.encode()}).json()
    assert memory.agent().remember(**FACT, idempotency_key=key).id == over_http["id"]
    assert memory.agent().stats().facts.active == 1
    refused = client.post("/v1/facts", json=FACT, headers={"Idempotency-Key": b"\xff\xfe"})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")
    assert "header Idempotency-Key is not UTF-8" in refused.json()["detail"]


def test_what_is_known_already_is_not_sent_again(client):
    fact = client.post("/v1/facts", json=FACT)
    place = fact.headers["Location"]
    read = client.get(place)
    again = client.get(place, headers={"If-None-Match": f'"other", {read.headers["ETag"]}'})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", read.headers["ETag"])
    client.post(f"{place}/forget")
    changed = client.get(place, headers={"If-None-Match": read.headers["ETag"]})
    assert (changed.status_code, changed.json()["state"]) == (200, "retracted")


def test_nothing_is_written_on_a_condition(client, memory):
    """No verb can promise that nobody writes between the look and the act, so that none pretends to."""
    place = client.post("/v1/facts", json=FACT).headers["Location"]
    refused = client.post(f"{place}/forget", headers={"If-Match": '"x"'})
    assert (refused.status_code, refused.json()["code"]) == (412, "precondition_failed")
    assert memory.agent().stats().facts.active == 1


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/v1/entities", {}),
        ("/v1/facts", {"include_inactive": True}),
        ("/v1/events", {"event_type": "fact_created"}),
        ("/v1/notes", {}),
        ("/v1/notes/list_by_category", {"category": "general"}),
        ("/v1/rules/{rule}/applications", {}),
    ],
)
def test_pages_hold_everything_once(client, path, query):
    rule = client.post("/v1/rules", json={"content": "Book an aisle seat."}).json()["id"]
    for name in "cabed":
        client.post("/v1/entities", json={"name": name})
        client.post("/v1/facts", json={**FACT, "content": name})
        client.post("/v1/notes", json={"key": name, "content": f"nothing of a kind {name}"})
        client.post(f"/v1/rules/{rule}/mark_helpful")
    path = path.format(rule=rule)
    whole = client.get(path, params=query).json()
    found, after = [], {}
    while after is not None:
        page = client.get(path, params={**query, "limit": 2, **after}).json()
        assert page["items"]
        found += page["items"]
        after = {"after": page["next"]} if page["next"] else None
    assert (found, whole["next"]) == (whole["items"], None)
    assert len(found) >= 5


def test_a_cursor_is_of_one_list(client):
    older = client.post("/v1/facts", json={**FACT, "subject": "Ben"}).json()
    client.post("/v1/facts", json=FACT)
    after = client.get("/v1/facts?limit=1").json()["next"]
    assert client.get("/v1/facts", params={"after": after, "limit": 1}).json() == {"items": [older], "next": None}
    for wrong in (after[:-3], after + "A", "", "é", base64.urlsafe_b64encode(b'["facts","no time","x"]').decode()):
        refused = client.get("/v1/facts", params={"after": wrong})
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")
    assert client.get("/v1/events", params={"after": after}).status_code == 422


def test_a_memory_goes_out_as_a_backup_and_comes_back(client, tmp_path):
    fact = client.post("/v1/facts", json=FACT).json()
    backup = client.get("/v1/backup", params={"agent": "assistant"})
    report = json.loads(backup.headers["Engrain-Report"])
    assert (report["tenant_id"], report["agent"], report["path"]) == ("default", "assistant", "engrain-backup.gz")
    assert (len(backup.content), backup.headers["Content-Type"]) == (report["bytes"], "application/gzip")
    with Memory.open(tmp_path / "other.db", embedder="none") as other, served(other) as url:
        packed = {"Content-Type": "application/gzip"}
        sent = httpx2.post(f"{url}/v1/restore", content=backup.content, headers=packed, timeout=60)
        assert (sent.status_code, sent.json()["added"]["facts"], sent.json()["path"]) == (200, 1, "backup")
        assert other.agent().get(fact["id"]).content == "Lisbon"
        broken = httpx2.post(f"{url}/v1/restore", content=backup.content[:-40], timeout=60)
    assert (broken.status_code, broken.json()["code"]) == (422, "unusable_backup")
    assert tempfile.gettempdir() not in broken.json()["detail"]


def test_an_export_is_read_back_by_an_import(client, memory):
    client.post("/v1/facts", json={**FACT, "scope": "assistant"})
    exported = client.get("/v1/export", params={"kinds": ["fact"]})
    assert json.loads(exported.headers["Engrain-Report"])["kinds"] == {"fact": 1}
    other = {"Engrain-Agent": "other"}
    imported = client.post("/v1/import_file?filename=a/b.jsonl", content=exported.content, headers=other)
    assert (imported.json()["path"], imported.json()["format"], imported.json()["broken"]) == ("b.jsonl", "jsonl", [])
    assert [each.content for each in memory.agent("other").facts("Ana")] == ["Lisbon"]


def test_nothing_is_left_of_a_client_that_goes_away(client, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    address = (client.base_url.host, client.base_url.port)
    for path in ("/v1/restore", "/v1/import_file", "/v1/episodes"):
        with socket.create_connection(address) as wire:
            wire.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n".encode())
            wire.sendall(b"Content-Length: 1000000\r\n\r\nonly this")
    assert client.get("/v1/stats").json()["episodes"]["total"] == 0
    until(lambda: list(tmp_path.iterdir()) == [])


def test_many_at_once_are_served(client, memory):
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda n: client.post("/v1/episodes", json={"content": f"turn {n}"}), range(64)))
    assert {each.status_code for each in told} == {201}
    assert memory.agent().stats().episodes.total == 64
