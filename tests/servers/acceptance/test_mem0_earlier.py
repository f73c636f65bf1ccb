"""What clients of earlier versions of mem0's platform ask, and those of its self-hosted server, over a real socket."""

from types import SimpleNamespace

import httpx2
import pytest

from engrain import Memory
from tests.support.engrain import EngrainServer

LISBON, SUNNY, OSLO = "I moved to Lisbon in May", "Lisbon is sunny in May", "I moved to Oslo in May"
SAID = [{"role": "user", "content": LISBON}, {"role": "assistant", "content": SUNNY}]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "memory.db"
    with Memory.open(path, settings={"embedding": {"model": "none"}}) as memory:
        keys = {role: memory.keys.create(role=role).secret for role in ("reader", "writer", "admin")}
    with EngrainServer(path, "--keys", "--mem0") as server:
        yield SimpleNamespace(address=server.address, keys=keys)


@pytest.fixture
def ask(server):
    """Asks with a key in one of both headers, and expects a status; everything is as new."""
    with httpx2.Client(base_url=f"{server.address}/mem0", timeout=60) as client:

        def ask(method, path, *, role="writer", header="X-API-Key", status=200, **request):
            key = server.keys[role]
            headers = {header: key if header == "X-API-Key" else f"Token {key}"}
            answer = client.request(method, path, headers=headers, **request)
            assert answer.status_code == status, answer.text
            return answer.json()

        ask("POST", "/reset", role="admin")
        yield ask


def texts(documents):
    return [document["memory"] for document in documents]


@pytest.fixture
def earlier(ask):
    """As the client of mem0ai 0.1 asks."""

    def earlier(method, path, **request):
        return ask(method, path, header="Authorization", **request)

    return earlier


class TestEarlierVersions:
    def test_an_add_answers_a_list_or_an_object_of_them(self, earlier):
        added = earlier("POST", "/v1/memories/", json={"messages": SAID, "user_id": "alice", "version": "v1"})
        assert [(each["data"]["memory"], each["event"], each["status"]) for each in added] == [
            (LISBON, "ADD", "SUCCEEDED"),
            (SUNNY, "ADD", "SUCCEEDED"),
        ]
        body = {"messages": SAID, "user_id": "alice", "output_format": "v1.1", "async_mode": True}
        assert len(earlier("POST", "/v1/memories/", json=body)["results"]) == 2
        [alone] = earlier("POST", "/v1/memories/", json={"messages": OSLO, "user_id": "alice"})
        assert alone["data"]["memory"] == OSLO

    def test_lists_are_bare_or_by_pages(self, earlier):
        earlier("POST", "/v1/memories/", json={"messages": SAID, "user_id": "alice", "run_id": "trip"})
        earlier("POST", "/v1/memories/", json={"messages": SAID[:1], "user_id": "bob"})
        asked = {"user_id": "alice"}
        assert texts(earlier("GET", "/v1/memories/", params=asked)) == [SUNNY, LISBON]
        page = earlier("GET", "/v1/memories/", params={**asked, "page": 2, "page_size": 1})
        assert (page["count"], page["next"], texts(page["results"])) == (2, None, [LISBON])
        filters = {"AND": [{"user_id": "alice"}, {"run_id": "trip"}]}
        assert texts(earlier("POST", "/v2/memories/", json={"filters": filters})) == [SUNNY, LISBON]
        page = earlier("POST", "/v2/memories/", json={"filters": filters, "page": 0, "page_size": 1})
        assert (page["count"], texts(page["results"])) == (2, [SUNNY])
        page = earlier("POST", "/v2/memories/?page=2&page_size=1", json={"filters": filters})
        assert texts(page["results"]) == [LISBON]

    def test_searches_name_the_owner_beside_the_question_or_in_filters(self, earlier):
        body = {"messages": SAID, "user_id": "alice", "metadata": {"k": 1}}
        earlier("POST", "/v1/memories/", json=body)
        found = earlier("POST", "/v1/memories/search/", json={"query": "moved to Lisbon", "user_id": "alice"})
        assert texts(found) == [LISBON, SUNNY]
        assert all(0 < document["score"] < 1 for document in found)
        body = {"query": "moved", "filters": {"OR": [{"user_id": "alice"}]}, "top_k": 1, "output_format": "v1.1"}
        assert texts(earlier("POST", "/v2/memories/search/", json=body)["results"]) == [LISBON]
        body = {"query": "moved", "user_id": "alice", "metadata": {"k": {"ne": 1}}}
        assert earlier("POST", "/v1/memories/search/", json=body) == []

    @pytest.mark.parametrize(
        ("method", "path", "body"),
        [
            ("POST", "/v1/memories/", {"messages": SAID}),
            ("GET", "/v1/memories/", None),
            ("POST", "/v2/memories/", {}),
            ("POST", "/v2/memories/", {"filters": {"user_id": "alice"}, "page": "one"}),
            ("POST", "/v1/memories/search/", {"query": "moved"}),
            ("POST", "/v2/memories/search/", {"query": "x", "filters": {"OR": [{"user_id": "a"}, {"user_id": "b"}]}}),
        ],
    )
    def test_what_names_no_one_owner_is_refused(self, earlier, method, path, body):
        refused = earlier(method, path, status=400, **({} if body is None else {"json": body}))
        assert (refused["status"], refused["code"]) == (400, "invalid_input")


class TestSelfHostedServer:
    def test_a_memory_lives_from_add_to_delete(self, ask):
        body = {"messages": SAID, "user_id": "alice", "metadata": {"k": 1}, "infer": False, "expiration_date": None}
        first, _ = ask("POST", "/memories", json=body)["results"]
        assert (first["memory"], first["event"]) == (LISBON, "ADD")
        address = f"/memories/{first['id']}"
        assert ask("GET", address)["metadata"] == {"k": 1}
        changed = ask("PUT", address, json={"text": OSLO, "metadata": {"k": 2}, "expiration_date": "2099-01-31"})
        assert changed == {"message": "Memory updated successfully!"}
        now = ask("GET", address)
        assert (now["memory"], now["metadata"], now["expiration_date"]) == (OSLO, {"k": 2}, "2099-01-31")
        ask("PUT", address, json={"expiration_date": None})
        assert ask("GET", address)["expiration_date"] is None
        assert [event["event"] for event in ask("GET", f"{address}/history")] == ["ADD", "UPDATE", "UPDATE"]
        assert ask("DELETE", address) == {"message": "Memory deleted successfully"}
        assert ask("GET", address) is None
        assert ask("GET", "/memories/nothing") is None
        for method, request in (("DELETE", {}), ("PUT", {"json": {"text": "no"}})):
            assert ask(method, address, status=404, **request)["code"] == "not_found"

    def test_memories_are_listed_searched_and_forgotten_by_owner(self, ask):
        for owner, own in (("alice", {"city": "Lisbon", "n": 1}), ("bob", {"n": 2})):
            ask("POST", "/memories", json={"messages": SAID, "user_id": owner, "agent_id": "guide", "metadata": own})
        assert texts(ask("GET", "/memories?user_id=alice")["results"]) == [SUNNY, LISBON]
        assert texts(ask("GET", "/memories?user_id=alice&top_k=1&show_expired=false")["results"]) == [SUNNY]
        assert ask("GET", "/memories", status=403)["code"] == "forbidden"
        everything = ask("GET", "/memories?top_k=3", role="admin")["results"]
        assert [(each["user_id"], each["memory"]) for each in everything] == [
            ("bob", SUNNY),
            ("bob", LISBON),
            ("alice", SUNNY),
        ]
        assert texts(ask("POST", "/search", json={"query": "moved", "user_id": "alice"})["results"]) == [LISBON]
        for condition, expected in (({"city": {"contains": "Lis"}}, 1), ({"n": 1}, 1), ({"n": {"gt": 1}}, 0)):
            body = {"query": "moved", "filters": {"user_id": "alice", **condition}, "explain": False}
            assert len(ask("POST", "/search", json=body)["results"]) == expected
        assert ask("DELETE", "/memories?user_id=bob", status=403)["code"] == "forbidden"
        ask("DELETE", "/memories?user_id=bob", role="admin")
        assert ask("GET", "/memories?user_id=bob")["results"] == []
        assert len(ask("GET", "/memories?user_id=alice")["results"]) == 2

    def test_entities_are_listed_and_erased(self, ask):
        for owner in ({"user_id": "alice"}, {"agent_id": "a bot/of mine"}, {"run_id": "trip"}):
            ask("POST", "/memories", json={"messages": SAID[:1], **owner})
        listed = [(each["type"], each["id"], each["total_memories"]) for each in ask("GET", "/entities")]
        assert listed == [("agent", "a bot/of mine", 1), ("run", "trip", 1), ("user", "alice", 1)]
        assert ask("DELETE", "/entities/agent/a bot/of mine", role="admin") == {"message": "Entity deleted"}
        assert len(ask("GET", "/entities")) == 2
        assert ask("POST", "/reset", role="admin") == {"message": "All memories reset"}
        assert ask("GET", "/entities") == []

    def test_it_is_configured_elsewhere(self, ask):
        assert ask("GET", "/configure")["vector_store"]["provider"] == "engrain"
        assert "its own settings" in ask("POST", "/configure", role="admin", status=400, json={})["detail"]

    @pytest.mark.parametrize(
        ("method", "path", "body"),
        [
            ("POST", "/memories", {"messages": SAID}),
            ("POST", "/memories", {"messages": [], "user_id": "alice"}),
            ("POST", "/memories", {"messages": SAID, "user_id": "alice", "app": "x"}),
            ("GET", "/memories?user_id=alice&top_k=many", None),
            ("GET", "/memories?user_id=alice&top_k=1001", None),
            ("GET", "/memories?user=alice", None),
            ("PUT", "/memories/nothing", {"text": "x"}),
            ("GET", "/memories/nothing/history", None),
            ("POST", "/search", {"query": "x"}),
            ("POST", "/search", {"query": "x", "user_id": "alice", "threshold": 2}),
        ],
    )
    def test_what_is_wrong_is_refused(self, ask, method, path, body):
        refused = ask(method, path, role="admin", status=400, **({} if body is None else {"json": body}))
        assert (refused["status"], refused["title"], refused["code"]) == (400, "Bad Request", "invalid_input")

    def test_a_key_that_opens_nothing_is_refused_in_either_header(self, server):
        for headers in ({"X-API-Key": "wrong"}, {"Authorization": "Bearer wrong"}, {}):
            assert httpx2.get(f"{server.address}/mem0/memories", headers=headers).status_code == 401
