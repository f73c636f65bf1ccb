"""mem0's own client against a memory of ours, over a real socket."""

import json
import uuid
import warnings
from functools import partial
from types import SimpleNamespace

import httpx
import pytest

from engrain import Memory
from engrain.interfaces.access import Gate
from engrain.interfaces.compat.mem0 import routes
from engrain.interfaces.http.app import create_app
from tests.support.asgi import serving
from tests.support.engrain import EngrainServer
from tests.support.learning_memories import LLM, opened, reply

LISBON, SUNNY, OSLO = "I moved to Lisbon in May", "Lisbon is sunny in May", "I moved to Oslo in May"


@pytest.fixture(scope="module")
def mem0(tmp_path_factory):
    """The package, which looks at the environment when it is imported, and would report to its makers."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("MEM0_TELEMETRY", "False")
        patch.setenv("MEM0_DIR", str(tmp_path_factory.mktemp("mem0")))
        import mem0

        yield mem0


@pytest.fixture(scope="module")
def served(mem0, tmp_path_factory):
    """A server that asks for keys, and a client for each of them."""
    path = tmp_path_factory.mktemp("served") / "memory.db"
    with Memory.open(path, settings={"embedding": {"model": "none"}}) as memory:
        made = {role: memory.keys.create(role=role).secret for role in ("reader", "writer", "admin")}
        made["alices"] = memory.keys.create(role="writer", user="alice").secret
        made["stranger"] = memory.keys.create(role="admin", tenant="elsewhere").secret
    few = {"RETRIEVAL__MAX_LIMIT": "20"}  # so that what lies beyond one search is soon there
    with EngrainServer(path, "--keys", "--mem0", **few) as server:
        host = f"{server.address}/mem0"
        clients = {name: mem0.MemoryClient(api_key=secret, host=host) for name, secret in made.items()}
        yield SimpleNamespace(server=server, host=host, secrets=made, path=path, **clients)
        for each in clients.values():
            each.client.close()


@pytest.fixture
def client(served):
    """Everything is as new."""
    owners = served.admin.users()["results"]
    if owners:
        served.admin.reset()
    return served.writer


def texts(found):
    return [each["memory"] for each in found["results"]]


def search(client, query, *, user="alice", **more):
    return client.search(query, filters={"user_id": user}, **more)


class TestWhatIsKept:
    def test_messages_are_kept_as_they_were_said_and_found_again(self, client):
        said = [{"role": "user", "content": LISBON, "name": "Alice"}, {"role": "assistant", "content": SUNNY}]
        added = client.add(said, user_id="alice", run_id="trip", agent_id="guide", metadata={"topic": "travel"})
        assert [(each["memory"], each["event"]) for each in added["results"]] == [(LISBON, "ADD"), (SUNNY, "ADD")]
        found = search(client, "moved to Lisbon")
        assert texts(found) == [LISBON, SUNNY]
        first = found["results"][0]
        assert first["id"] == added["results"][0]["id"]
        assert first["score"] >= found["results"][1]["score"]
        whose = {name: first[name] for name in ("user_id", "agent_id", "run_id", "app_id", "metadata")}
        expected = {"user_id": "alice", "agent_id": "guide", "run_id": "trip", "app_id": None}
        assert whose == {**expected, "metadata": {"topic": "travel"}}
        assert {name: first[name] for name in whose} == {name: client.get(first["id"])[name] for name in whose}

    def test_for_our_own_verbs_they_are_episodes_of_the_user(self, client, served):
        client.add([{"role": "assistant", "content": SUNNY}], user_id="alice", run_id="trip", timestamp=1_700_000_000)
        headers = {
            "Authorization": f"Bearer {served.secrets['writer']}",
            "Engrain-Agent": "mem0",
            "Engrain-User": "alice",
        }
        [hit] = served.server.ask("POST", "/v1/recall", {"query": "sunny"}, **headers).json["hits"]
        kept = hit["memory"]
        assert (kept["kind"], kept["role"], kept["session"], kept["scope"]) == (
            *("episode", "assistant", "trip"),
            "user:alice/mem0",
        )
        assert kept["event_time"] == "2023-11-14T22:13:20Z"

    def test_text_alone_is_a_message_and_stays_word_for_word(self, client):
        for infer in (True, False):
            client.add(f"{LISBON} {infer}", user_id="alice", infer=infer)
        assert sorted(texts(search(client, "Lisbon"))) == [f"{LISBON} False", f"{LISBON} True"]

    def test_of_parts_the_text_is_kept(self, client):
        parts = [{"type": "text", "text": LISBON}, {"type": "image_url", "image_url": {"url": "data:x"}}]
        client.add([{"role": "user", "content": parts}], user_id="alice")
        assert texts(search(client, "Lisbon")) == [LISBON]

    def test_an_expiration_is_kept_and_may_be_changed(self, client):
        id_ = client.add(LISBON, user_id="alice", expiration_date="2099-01-31")["results"][0]["id"]
        assert client.get(id_)["expiration_date"] == "2099-01-31"
        assert client.update(id_, expiration_date=None)["expiration_date"] is None


class TestOneMemory:
    def test_it_is_updated_under_its_id_and_has_a_history(self, client):
        id_ = client.add(LISBON, user_id="alice", run_id="trip", metadata={"n": 1})["results"][0]["id"]
        client.update(id_, text="I moved to Porto")
        updated = client.update(id_, metadata={"n": 2})
        assert (updated["id"], updated["memory"], updated["metadata"]) == (id_, "I moved to Porto", {"n": 2})
        assert updated["run_id"] == "trip"
        assert client.get(id_) == updated
        assert texts(search(client, "Lisbon Porto moved")) == ["I moved to Porto"]
        client.delete(id_)
        told = [(each["event"], each["old_memory"], each["new_memory"]) for each in client.history(id_)]
        assert [each["metadata"] for each in client.history(id_)] == [{"n": 1}, {"n": 1}, {"n": 2}, {"n": 2}]
        porto = "I moved to Porto"
        assert told == [
            *(("ADD", None, LISBON), ("UPDATE", LISBON, porto), ("UPDATE", porto, porto)),
            ("DELETE", porto, None),
        ]

    def test_what_is_deleted_is_gone(self, client, mem0):
        id_ = client.add(LISBON, user_id="alice")["results"][0]["id"]
        client.delete(id_)
        assert texts(search(client, "Lisbon")) == texts(client.get_all(filters={"user_id": "alice"})) == []
        for again in (client.get, client.delete, lambda each: client.update(each, text="no")):
            with pytest.raises(mem0.exceptions.MemoryNotFoundError):
                again(id_)

    def test_an_id_is_a_uuid_alone(self, client):
        for owner in ({"user_id": "alice"}, {"agent_id": "guide"}, {"run_id": "trip"}):
            added = client.add(LISBON, **owner)
            for id_ in (added["results"][0]["id"], added["event_id"]):
                assert str(uuid.UUID(id_)) == id_
            changed = client.update(added["results"][0]["id"].upper(), text=OSLO)
            assert (changed["id"], {name: changed[name] for name in owner}) == (added["results"][0]["id"], owner)
            assert client.get(changed["id"])["memory"] == OSLO

    def test_a_memory_of_no_owner_of_mem0s_is_none(self, client, served, mem0):
        ask = partial(served.server.ask, Authorization=f"Bearer {served.secrets['writer']}")
        said = json.dumps({"content": "said to an agent"}).encode()
        made = ask("POST", "/v1/episodes", said, **{"Content-Type": "application/json"}).json
        for id_ in (made["id"], "01a202e5-39d9-78ca-aa23-c61b054e8963"):
            with pytest.raises(mem0.exceptions.MemoryNotFoundError):
                client.get(id_)

    @pytest.mark.parametrize("id_", ["nothing", "01a202e5-39d9-78ca-aa23-c61b054e8963~dXNlcjphbGljZQ", "~"])
    def test_what_cannot_be_an_id_is_refused(self, client, mem0, id_):
        with pytest.raises(mem0.exceptions.ValidationError, match="no id"):
            client.get(id_)

    def test_an_add_is_an_event_that_is_done(self, client, served):
        messages = [{"role": "user", "content": LISBON}, {"role": "assistant", "content": SUNNY}]
        added = client.add(messages, user_id="alice")
        client.add(OSLO, user_id="alice")
        assert added["status"] == "SUCCEEDED"
        client.update(added["results"][1]["id"], text="changed")
        headers = {"Authorization": f"Token {served.secrets['reader']}"}
        event = served.server.ask("GET", f"/mem0/v1/event/{added['event_id']}/", **headers).json
        assert (event["id"], event["event_type"], event["status"]) == (added["event_id"], "ADD", "SUCCEEDED")
        assert [(result["id"], result["data"]) for result in event["results"]] == [
            (added["results"][0]["id"], {"memory": LISBON}),
            (added["results"][1]["id"], {"memory": "changed"}),
        ]
        client.delete_all(user_id="alice")
        assert served.server.ask("GET", f"/mem0/v1/event/{added['event_id']}/", **headers).status == 404

    def test_several_at_once(self, client):
        ids = [client.add(f"turn {number}", user_id="alice")["results"][0]["id"] for number in range(4)]
        client.batch_update([{"memory_id": each, "text": f"changed {each}"} for each in ids[:2]])
        client.batch_delete([{"memory_id": each} for each in ids[2:]])
        assert sorted(texts(client.get_all(filters={"user_id": "alice"}))) == sorted(
            f"changed {each}" for each in ids[:2]
        )


class TestLists:
    def test_they_come_newest_first_and_by_pages(self, client):
        for number in range(5):
            client.add(f"turn {number}", user_id="alice")
        pages = [client.get_all(filters={"user_id": "alice"}, page=page, page_size=2) for page in (1, 2, 3)]
        assert [texts(each) for each in pages] == [["turn 4", "turn 3"], ["turn 2", "turn 1"], ["turn 0"]]
        assert {each["count"] for each in pages} == {5}
        assert [each["next"] is None for each in pages] == [False, False, True]
        assert pages[0]["previous"] is None

    def test_more_than_one_search_may_return_are_listed_and_deleted(self, client, served):
        """Turns of one moment, and with others' memories that everybody sees between them."""
        with Memory.open(served.path, settings={"embedding": {"model": "none"}}) as memory:
            alice = memory.agent("mem0", user="alice")
            for number in range(1_003):
                alice.observe(f"turn {number}", event_time="2026-01-01")
            memory.agent("other").remember("seen by all", subject="everybody", predicate="sees")
        assert client.get_all(filters={"user_id": "alice"}, page_size=1)["count"] == 1_003
        client.delete_all(user_id="alice")
        assert client.get_all(filters={"user_id": "alice"})["count"] == 0

    def test_filters_narrow(self, client):
        client.add("one", user_id="alice", run_id="r1", agent_id="a", metadata={"k": 1}, timestamp=1_000_000_000)
        client.add("two", user_id="alice", run_id="r2", agent_id="b", metadata={"k": 2}, timestamp=1_100_000_000)
        client.add("three", user_id="alice", timestamp=1_200_000_000)

        def listed(*conditions):
            return texts(client.get_all(filters={"AND": [{"user_id": "alice"}, *conditions]}))

        assert listed() == listed({"run_id": "*"}) == ["three", "two", "one"]
        assert listed({"run_id": "r1"}) == listed({"agent_id": "a"}) == listed({"metadata": {"k": 1}}) == ["one"]
        assert listed({"run_id": {"in": ["r1", "r2"]}}) == ["two", "one"]
        assert listed({"created_at": {"gte": "2002-01-01", "lt": "2006-01-01"}}) == ["two"]
        assert listed({"agent_id": "a"}, {"run_id": "r2"}) == []
        assert texts(client.get_all(filters={"user_id": "alice"}, end_date="2002-01-01")) == ["one"]
        assert texts(search(client, "one two", metadata={"k": 2})) == ["two"]

    def test_one_branch_is_no_choice(self, client):
        client.add(LISBON, user_id="alice", agent_id="guide")
        for filters in (
            {"OR": [{"user_id": "alice"}]},
            {"AND": [{"OR": [{"user_id": {"eq": "alice"}}]}, {"agent_id": {"in": ["guide"]}}]},
        ):
            assert texts(client.search("Lisbon", filters=filters)) == [LISBON]

    def test_choices_and_what_is_left_out(self, client):
        for number, text in enumerate(("one", "two", "three", "four")):
            ids = {"agent_id": "a" if number % 2 else "b", "run_id": f"r{number}"}
            client.add(text, user_id="alice", metadata={"n": number}, timestamp=1_000_000_000 + number * 1_000, **ids)
        client.add("five", user_id="alice")
        client.add("bob's", user_id="bob", metadata={"n": 0})

        def listed(**conditions):
            found = texts(client.get_all(filters={"user_id": "alice", **conditions}))
            searched = client.search("one two three four five", filters={"AND": [{"user_id": "alice"}, conditions]})
            assert sorted(texts(searched)) == sorted(found)
            return found

        assert listed(OR=[{"run_id": "r0"}, {"metadata": {"n": 3}}]) == ["four", "one"]
        assert listed(OR=[{"agent_id": "a", "metadata": {"n": {"gt": 1}}}, {"run_id": "r2"}]) == ["four", "three"]
        assert listed(NOT=[{"run_id": "r0"}, {"run_id": "r1"}]) == listed(NOT={"run_id": {"in": ["r0", "r1"]}})
        assert listed(NOT=[{"run_id": "r0"}, {"run_id": "r1"}]) == ["five", "four", "three"]
        assert listed(NOT=[{"agent_id": "*"}]) == ["five"]
        assert listed(NOT=[{"OR": [{"agent_id": "a"}, {"metadata": {"n": 0}}]}]) == ["five", "three"]
        assert listed(OR=[{"AND": [{"agent_id": "b"}, {"NOT": [{"run_id": "r0"}]}]}, {"run_id": "r1"}]) == [
            "three",
            "two",
        ]
        assert listed(NOT=[{"created_at": {"gte": "2001-09-09T02:00:00Z"}}]) == ["one"]
        assert listed(OR=[{"user_id": "bob"}, {"run_id": "r1"}]) == ["two"]
        assert listed(AND=[{"OR": [{"user_id": "bob"}, {"user_id": "alice"}]}, {"run_id": "r1"}]) == ["two"]

    def test_metadata_is_compared_by_operators(self, client):
        for text, own in {
            "one": {"n": 1, "tags": ["A", "b"], "city": "Lisbon"},
            "two": {"n": 2, "tags": [], "city": "oslo"},
            "none": None,
        }.items():
            client.add(text, user_id="alice", metadata=own)

        def listed(**metadata):
            return texts(client.get_all(filters={"user_id": "alice", "metadata": metadata}))

        assert listed(n={"eq": 1}) == listed(n=1) == ["one"]
        assert listed(n={"ne": 1}) == ["none", "two"]
        assert listed(n={"gt": 1}) == listed(n={"gte": 2}) == listed(n={"gt": 0, "ne": 1}) == ["two"]
        assert listed(n={"lt": 2}) == listed(n={"lte": 1}) == ["one"]
        assert listed(n={"gt": "a"}) == []
        assert (
            listed(n={"in": [1, 3]}) == listed(city={"icontains": "lis"}) == listed(tags={"contains": "A"}) == ["one"]
        )
        assert listed(n={"nin": [1]}) == ["none", "two"]
        assert listed(city={"contains": "lis"}) == listed(tags={"contains": "a"}) == []
        assert listed(tags={"icontains": "B"}) == ["one"]
        assert listed(n="*") == ["two", "one"]
        assert texts(search(client, "one two none", metadata={"n": {"ne": 2}})) == ["none", "one"]

    def test_a_search_may_say_how_many_how_good_and_what_of_them(self, client):
        for text in (LISBON, SUNNY, OSLO):
            client.add(text, user_id="alice")
        assert len(texts(search(client, "May", top_k=2))) == 2
        scores = [each["score"] for each in search(client, "moved to Lisbon in May")["results"]]
        assert all(0 < score < 1 for score in scores)
        assert texts(search(client, "moved to Lisbon in May", threshold=scores[0])) == [LISBON]
        assert texts(search(client, "May", threshold=1)) == []
        assert set(search(client, "Lisbon", fields=["score"])["results"][0]) == {"id", "memory", "score"}
        assert texts(search(client, "Oslo", rerank=True))[0] == OSLO

    def test_owners_are_listed_and_erased(self, client, served):
        client.add(LISBON, user_id="alice")
        client.add(OSLO, agent_id="a bot/of mine")
        client.add(OSLO, run_id="trip")
        owners = {(each["type"], each["name"]): each["total_memories"] for each in client.users()["results"]}
        assert owners == {("user", "alice"): 1, ("agent", "a bot/of mine"): 1, ("run", "trip"): 1}
        served.admin.delete_users(user_id="alice")
        assert texts(search(client, "Lisbon")) == []
        with Memory.open(served.path, settings={"embedding": {"model": "none"}}) as memory:
            left = memory.agent("mem0", user="alice").recall("", preset="recency", include_inactive=True)
            assert [hit.memory for hit in left if hit.memory.user_id == "alice" and hit.memory.kind == "episode"] == []
        served.admin.reset()
        assert served.admin.users()["results"] == []


class TestOwnersAreApart:
    def test_nothing_of_one_is_in_what_another_asks(self, client):
        client.add(LISBON, user_id="alice", agent_id="guide", run_id="trip")
        client.add(OSLO, user_id="bob", agent_id="guide", run_id="trip")
        client.add("I guide people in May", agent_id="guide")
        for kind, name, own in (
            ("user", "alice", LISBON),
            ("user", "bob", OSLO),
            ("agent", "guide", "I guide people in May"),
        ):
            filters = {f"{kind}_id": name}
            assert texts(client.search("moved in May Lisbon Oslo guide", filters=filters)) == [own]
            assert texts(client.get_all(filters=filters)) == [own]
        assert texts(client.search("May", filters={"run_id": "trip"})) == []
        client.delete_all(user_id="bob")
        assert texts(search(client, "May")) == [LISBON]

    def test_what_everybody_of_the_tenant_sees_is_nobodys(self, client, served):
        with Memory.open(served.path, settings={"embedding": {"model": "none"}}) as memory:
            memory.agent("other").remember(LISBON, subject="Ana", predicate="said")
        assert texts(search(client, "Lisbon")) == texts(client.get_all(filters={"user_id": "alice"})) == []

    @pytest.mark.parametrize(
        "filters",
        [
            {"user_id": "*"},
            {"OR": [{"user_id": "alice"}, {"user_id": "bob"}]},
            {"AND": [{"user_id": "alice"}, {"user_id": "bob"}]},
            {"NOT": [{"user_id": "alice"}]},
            {"user_id": "alice", "NOT": []},
            {"user_id": "alice", "OR": {"run_id": "r"}},
            {"user_id": "alice", "OR": [{"run_id": "r"}, {}]},
            {"user_id": "alice", "NOT": [{"categories": {"contains": "travel"}}]},
            {"user_id": "alice", "OR": [{"run_id": "r"}, {"metadata": {"k": {"in": 1}}}]},
            {"user_id": "alice", "OR": [{"run_id": "r"}, {"created_at": "yesterday"}]},
            {"user_id": {"in": ["alice", "bob"]}},
            {"user_id": {"ne": "bob"}},
            {"user_id": "alice", "metadata": {"k": {"gt": 1, "other": 2}}},
            {"user_id": "alice", "metadata": {"k": {"in": 1}}},
            {"user_id": "alice", "categories": {"contains": "travel"}},
            {"user_id": "alice", "agent_id": {"icontains": "a"}},
            {"user_id": " alice"},
            {"metadata": {"k": 1}},
            {"AND": {"user_id": "alice"}},
            {},
        ],
    )
    def test_a_filter_that_is_not_understood_is_refused(self, client, mem0, filters):
        client.add(LISBON, user_id="alice")
        with pytest.raises(mem0.exceptions.MemoryError) as refused:
            client.search("Lisbon", filters=filters)
        assert refused.value.debug_info["status_code"] == 400
        with pytest.raises(mem0.exceptions.MemoryError):
            client.get_all(filters=filters)

    def test_without_an_owner_nothing_is_kept_or_deleted(self, client, mem0):
        client.add(LISBON, user_id="alice")
        for wrong in (
            lambda: client.add(LISBON),
            client.delete_all,
            lambda: client.delete_all(filters={"user_id": "alice"}),
            lambda: client.add([], user_id="alice"),
            lambda: client.add([{"role": "poet", "content": "x"}], user_id="alice"),
            lambda: client.add(LISBON, user_id="alice", metadata={"mem0": 1}),
            lambda: client.add(LISBON, user_id="alice", expiration_date="1999-01-01"),
            lambda: client.add(LISBON, user_id="alice", expiration_date="soon"),
            lambda: client.add(LISBON, user_id="alice", timestamp=1e300),
            lambda: client.add(LISBON, user_id="alice", unheard_of=True),
            lambda: client.batch_delete([]),
            lambda: client.batch_update([{"text": "no id"}]),
        ):
            with pytest.raises(mem0.exceptions.MemoryError):
                wrong()
        assert texts(client.get_all(filters={"user_id": "alice"})) == [LISBON]

    def test_a_batch_with_something_wrong_in_it_changes_nothing(self, client, mem0):
        id_ = client.add(LISBON, user_id="alice")["results"][0]["id"]
        gone = client.add(OSLO, user_id="alice")["results"][0]["id"]
        client.delete(gone)
        good = {"memory_id": id_, "text": "other words"}
        for wrong in (
            lambda: client.batch_update([good, {"memory_id": gone, "text": "too late"}]),
            lambda: client.batch_update([good, {"memory_id": id_, "text": 5}]),
            lambda: client.batch_update([good, {"memory_id": id_, "metadata": {"mem0": 1}}]),
            lambda: client.batch_delete([{"memory_id": id_}, {"memory_id": gone}]),
        ):
            with pytest.raises(mem0.exceptions.MemoryError):
                wrong()
        assert texts(client.get_all(filters={"user_id": "alice"})) == [LISBON]
        client.batch_delete([{"memory_id": id_}, {"memory_id": id_}])
        assert texts(client.get_all(filters={"user_id": "alice"})) == []

    def test_a_page_that_is_none_is_named(self, served):
        headers = {"Authorization": f"Token {served.secrets['reader']}"}
        said = served.server.ask("POST", "/mem0/v3/memories/?page=0", {"filters": {"user_id": "alice"}}, **headers)
        assert (said.status, said.json["detail"].startswith("page: ")) == (400, True)

    @pytest.mark.parametrize("path", ["v3/memories/search/", "v2/memories/search/", "v2/memories/", "search"])
    def test_who_names_no_owner_is_asked_for_one(self, served, path):
        headers = {"Authorization": f"Token {served.secrets['reader']}"}
        body = {} if path == "v2/memories/" else {"query": "Lisbon"}
        refused = served.server.ask("POST", f"/mem0/{path}", body, **headers)
        asked = "name an owner: filters must be an object with one of user_id, agent_id, app_id, run_id"
        assert (refused.status, refused.json["detail"]) == (400, asked)

    def test_filters_of_an_add_that_are_no_object_are_refused(self, served):
        headers = {"Authorization": f"Token {served.secrets['writer']}"}
        body = {"messages": [{"role": "user", "content": LISBON}], "user_id": "alice", "filters": [1]}
        said = served.server.ask("POST", "/mem0/v3/memories/add/", body, **headers)
        assert (said.status, said.json["detail"]) == (400, "filters must be an object, not list")

    def test_a_body_that_is_no_object_is_refused(self, served):
        for body in (b"[1]", b"{", b""):
            headers = {"Authorization": f"Token {served.secrets['writer']}", "Content-Type": "application/json"}
            refused = served.server.ask("POST", "/mem0/v3/memories/search/", body, **headers)
            assert refused.status == 400
            assert refused.headers["content-type"] == "application/json"


class TestKeys:
    def test_a_role_may_what_it_may(self, client, served, mem0):
        id_ = client.add(LISBON, user_id="alice")["results"][0]["id"]
        assert texts(search(served.reader, "Lisbon")) == [LISBON]
        denied = mem0.exceptions.AuthenticationError
        for who, call in (
            (served.reader, lambda each: each.add(OSLO, user_id="alice")),
            (served.reader, lambda each: each.update(id_, text="no")),
            (served.reader, lambda each: each.delete(id_)),
            (served.reader, lambda each: each.delete_all(user_id="alice")),
            (served.writer, lambda each: each.delete_users(user_id="alice")),
        ):
            with pytest.raises(denied):
                call(who)
        assert client.get(id_)["memory"] == LISBON

    def test_a_key_of_one_agent_opens_one_owners_memories(self, client, served, mem0):
        bobs = client.add(OSLO, user_id="bob")["results"][0]["id"]
        served.alices.add(LISBON, user_id="alice")
        assert texts(search(served.alices, "May")) == [LISBON]
        assert [each["name"] for each in served.alices.users()["results"]] == ["alice"]
        for call in (
            lambda: search(served.alices, "May", user="bob"),
            lambda: served.alices.delete_all(user_id="bob"),
            lambda: served.alices.add(LISBON, user_id="bob"),
        ):
            with pytest.raises(mem0.exceptions.AuthenticationError):
                call()
        for call in (served.alices.get, served.alices.history, served.alices.delete):
            with pytest.raises(mem0.exceptions.MemoryNotFoundError):  # nor is it told that there is one
                call(bobs)
        assert client.get(bobs)["memory"] == OSLO

    def test_another_tenant_sees_nothing(self, client, served, mem0):
        id_ = client.add(LISBON, user_id="alice")["results"][0]["id"]
        assert texts(search(served.stranger, "Lisbon")) == []
        with pytest.raises(mem0.exceptions.MemoryNotFoundError):
            served.stranger.get(id_)
        assert served.stranger.users()["results"] == []

    def test_a_key_that_opens_nothing_is_told_at_once(self, served, mem0):
        with httpx.Client() as client, pytest.raises(ValueError, match="opens nothing"):
            mem0.MemoryClient(api_key="wrong", host=served.host, client=client)


def test_without_being_asked_for_the_routes_are_not_there(tmp_path):
    with EngrainServer(tmp_path / "memory.db") as server:
        assert server.ask("GET", "/mem0/v1/ping/").status == 404
        assert "/mem0/v1/ping/" not in server.ask("GET", "/openapi.json").json["paths"]


@pytest.mark.parametrize(
    ("asked", "now", "later"),
    [
        ({"async_mode": False}, ["Alice moved to Lisbon in May 2026."], True),
        ({}, [], True),
        ({"infer": False, "async_mode": False}, [], False),
    ],
)
def test_a_model_learns_from_what_is_added_now_in_the_background_or_not(asked, now, later):
    row = ["Alice", "lives in", "Alice moved to Lisbon in May 2026.", "stable", "2026-05", f"e1 {LISBON}"]
    with opened(":memory:", LLM([reply(row)])) as memory:
        app = create_app(memory, gate=Gate(memory, keys_required=False))
        app.include_router(routes.router)
        said = {"messages": [{"role": "user", "content": LISBON}], "user_id": "alice", **asked}
        with serving(app) as address:
            answer = httpx.post(f"{address}/mem0/v3/memories/add/", json=said).raise_for_status().json()
        assert [(added["memory"], added["event"]) for added in answer["results"]] == [(LISBON, "ADD")]
        assert [fact["memory"] for fact in answer["learned"]] == now
        memory.parts.learner.wait()
        assert bool(memory.agent("mem0", user="alice").facts("Alice").items) is later
