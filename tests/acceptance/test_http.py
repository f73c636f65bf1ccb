"""The memory over HTTP, by a client on a real socket."""

import httpx2
import pytest

from engrain import Memory
from engrain.domain.access import Grant
from engrain.interfaces.http.app import create_app
from tests.servers.http import serving

PROBLEM = "application/problem+json"


class Open:
    """Lets everybody in, as a server on loopback without keys does."""

    def admit(self, authorization):  # noqa: ARG002  # everybody
        return Grant(key_id=None, tenant_id="default", agent=None, role="admin")


@pytest.fixture
def memory():
    with Memory.open(":memory:", embedder="none") as memory:
        yield memory


@pytest.fixture
def client(memory):
    with serving(create_app(memory, gate=Open())) as url, httpx2.Client(base_url=url) as client:
        yield client


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
        (b'{"content": 7}', 422, "body.content"),
        (b"[]", 422, "body"),
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
