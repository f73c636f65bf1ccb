"""The tools over HTTP: each request is answered for whom its key names, and for nobody else."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection

import httpx2
import pytest

from engrain import Memory
from engrain.domain.entities.graph import GraphEntity
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from engrain.interfaces.mcp.profiles import profile_of
from tests.support.asgi import serving
from tests.support.mcp_clients import BROKEN, SETTINGS, posted

PATIENCE_S = 60
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
SPEAKS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@pytest.fixture
def memory(tmp_path):
    with Memory.open(tmp_path / "memory.db", settings=SETTINGS) as memory:
        yield memory


@pytest.fixture
def address(memory):
    with serving(create_app(memory, gate=Gate(memory, keys_required=True), mcp_profile="all")) as address:
        yield address


@pytest.fixture
def key(memory):
    """A fresh key, to the tenant of the settings unless another is named."""
    return lambda role="writer", **whose: memory.keys.create(role=role, **whose).secret


def called(address, tool, arguments, *, key=None, headers=None):
    """One call as a plain request of the era with a handshake, which nothing came before."""
    shown = {} if key is None else {"Authorization": f"Bearer {key}"}
    body = {**CALL, "params": {"name": tool, "arguments": arguments}}
    return httpx2.post(f"{address}/mcp", json=body, headers={**SPEAKS, **shown, **(headers or {})}, timeout=PATIENCE_S)


def result(answer):
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


@pytest.mark.req("N21")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_two_keys_never_see_each_others_memories_however_they_come(memory, address, key, mode):
    """At once, from many clients, each in a tenant or an agent of its own."""
    whose = {
        "acme": {"tenant": "acme", "agent": "ada"},
        "rivals": {"tenant": "rivals", "agent": "ada"},
        "bob": {"tenant": "acme", "agent": "bob"},
    }
    keys = {name: key(**who) for name, who in whose.items()}
    start = threading.Barrier(len(keys) * 2)

    def talk(name):
        with posted(address, key=keys[name], mode=mode) as tools:
            start.wait()
            for number in range(4):
                tools.call("notes_save", key=f"mine {number}", content=f"the secret of {name}")
                said = tools.call("notes_list")["answer"]["items"]
                assert {each["content"] for each in said} == {f"the secret of {name}"}
                assert 1 <= tools.call("stats")["answer"]["facts"]["active"] <= 4
            return said

    with ThreadPoolExecutor(len(keys) * 2) as pool:
        done = {name: [pool.submit(talk, name) for _ in range(2)] for name in keys}
        assert all(len(each.result()[0]) for futures in done.values() for each in futures)
    for who in whose.values():
        assert memory.agent(who["agent"], tenant=who["tenant"]).stats().facts.active == 4


def test_a_session_of_another_key_is_nobodys(memory, address, key):
    """Whatever a request says of an earlier one, it is answered as whoever shows its own key."""
    ours, theirs = key(tenant="acme", agent="ada"), key(tenant="rivals", agent="ada")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    begun = httpx2.post(
        f"{address}/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        headers={**SPEAKS, "Authorization": f"Bearer {ours}"},
        timeout=PATIENCE_S,
    )
    named = {"Mcp-Session-Id": begun.headers.get("Mcp-Session-Id", "an id that somebody made up")}
    called(address, "notes_save", {"key": "k", "content": "ours"}, key=ours, headers=named)
    notes = result(called(address, "notes_list", {}, key=theirs, headers=named))["structuredContent"]["answer"]
    assert notes["items"] == []
    assert called(address, "notes_list", {}, headers=named).status_code == 401
    assert [each.content for each in memory.agent("ada", tenant="acme").notes.list()] == ["ours"]


def test_without_a_key_that_opens_nothing_is_done_and_the_answer_says_so(memory, address, key):
    revoked, expired = key(), key(expires_at=datetime.now(UTC) + timedelta(hours=1))
    told = {"key": "k", "content": "x"}
    assert called(address, "notes_save", told, key=revoked).status_code == 200
    [first] = [each for each in memory.keys.list() if each.expires_at is None]
    memory.keys.revoke(first.id)
    for shown in (None, "nonsense", revoked, f"{expired}x"):
        for body in ({**CALL, "params": {"name": "notes_save", "arguments": told}}, "no JSON"):
            said = {} if shown is None else {"Authorization": f"Bearer {shown}"}
            refused = httpx2.post(f"{address}/mcp", json=body, headers={**SPEAKS, **said}, timeout=PATIENCE_S)
            assert (refused.status_code, refused.json()["code"]) == (401, "unauthenticated")
            assert refused.headers["WWW-Authenticate"].startswith("Bearer")
    assert len(memory.agent().events()) == 1 + len(
        [each for each in memory.agent().events() if "key" in each.event_type]
    )


def test_a_key_does_what_its_role_allows(address, key):
    needs = {tool.name: tool.needs for tool in profile_of("all").tools}
    roles = ("reader", "writer", "admin")
    for role in roles:
        with posted(address, key=key(role)) as tools:
            assert {each.name for each in tools.portal.call(tools.client.list_tools).tools} == set(needs)
            for tool, needed in needs.items():
                code = tools.fault(tool, nothing_of_it="takes this")["code"]
                allowed = roles.index(role) >= roles.index(needed)
                assert code == ("invalid_input" if allowed else "forbidden"), (role, tool)
            assert tools.portal.call(tools.client.read_resource, "memory://stats").contents


def test_an_agent_is_named_by_a_header_where_the_key_names_none(memory, address, key):
    ada, anybody = key(agent="ada"), key()
    as_bob = {"Engrain-Agent": "bob", "Engrain-Session": "monday", "X-Request-ID": "r-1"}
    stored = result(called(address, "observe", {"content": "We talked."}, key=anybody, headers=as_bob))
    answer, request_id = (stored["structuredContent"][name] for name in ("answer", "request_id"))
    assert (answer["agent"], answer["session"], request_id) == ("bob", "monday", "r-1")
    assert {each.request_id for each in memory.agent("bob").events(answer["id"])} == {"r-1"}
    refused = called(address, "stats", {}, key=ada, headers=as_bob)
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    adas = key("admin", agent="ada")
    for tool in ("cleanup", "decay"):  # for the whole tenant
        assert result(called(address, tool, {}, key=adas))["_meta"]["error"]["code"] == "forbidden"
    assert result(called(address, "undo", {"run_id": "nobody's"}, key=adas))["structuredContent"]["found"] is False


@pytest.mark.req("N20")
def test_a_request_id_of_the_call_goes_before_that_of_its_request(memory, address, key):
    shown = key()
    said = {"content": "Ask first.", "idempotency_key": "k", "request_context": {"request_id": "of the call"}}
    for _ in range(2):
        stored = result(called(address, "rules_add", said, key=shown, headers={"X-Request-ID": "of-http"}))
        assert stored["structuredContent"]["request_id"] == "of the call"
    [event] = memory.agent().events(stored["structuredContent"]["answer"]["id"])
    assert event.request_id == "of the call"
    assert memory.agent().stats().rules.candidate == 1


@pytest.mark.parametrize("era", [{}, {"MCP-Protocol-Version": "2026-07-28"}, {"MCP-Protocol-Version": "1999"}])
def test_what_is_no_message_is_refused_and_the_server_lives_on(address, key, era):
    """Where there is a handshake, a message without a proper id is a notification, which has no answer."""
    shown = {**SPEAKS, "Authorization": f"Bearer {key()}", **era}
    for what, body in BROKEN.items():
        answer = httpx2.post(f"{address}/mcp", content=body, headers=shown, timeout=PATIENCE_S)
        assert answer.status_code < 500, (what, answer.text)
        assert "Traceback" not in answer.text, what
        if answer.status_code == 202:
            assert (what, era) == ("an id that is none", {})
            continue
        said = answer.json()
        assert "error" in said or said["result"]["isError"], (what, said)
    with posted(address, key=key()) as tools:
        assert tools.call("notes_list")["answer"]["items"] == []
    assert httpx2.get(f"{address}/mcp", headers=shown, timeout=PATIENCE_S).status_code == 405
    assert httpx2.delete(f"{address}/mcp", headers=shown, timeout=PATIENCE_S).status_code == 405


def test_a_fault_of_the_server_says_nothing_of_its_insides(memory, address, key, tmp_path):
    with posted(address, key=key()) as tools:
        tools.call("notes_list")
    gate = Gate(memory, keys_required=False)
    with serving(create_app(memory, gate=gate, mcp_profile="notes")) as open_address, posted(open_address) as tools:
        memory.close()
        fault = tools.fault("list_notes")
    assert fault == {"code": "memory_closed", "message": "the server is closing; try again soon"}
    assert str(tmp_path) not in json.dumps(fault)


def test_a_client_that_hangs_up_leaves_the_server_alive_and_nothing_half_written(memory, key):
    shown = key()
    entities = [{"name": f"E{number}", "entityType": "x", "observations": ["a", "b"]} for number in range(200)]
    body = {**CALL, "params": {"name": "create_entities", "arguments": {"entities": entities}}}
    with serving(create_app(memory, gate=Gate(memory, keys_required=True), mcp_profile="graph")) as graphs:
        with closing(HTTPConnection(graphs.removeprefix("http://"))) as leaving:
            headers = {**SPEAKS, "Authorization": f"Bearer {shown}"}
            leaving.request("POST", "/mcp", json.dumps(body), headers)
        with posted(graphs, key=shown) as tools:
            told = tools.call("create_entities", entities=[entities[0]])["entities"]
            assert told in ([], [entities[0]])
    graph = memory.agent().graph.read()
    assert len(graph.entities) in (1, 200)
    assert all(each.observations == ("a", "b") for each in graph.entities)


@pytest.mark.parametrize(
    ("whose", "scope"),
    [
        ({}, "global"),
        ({"agent": "bob"}, "bob"),
        ({"user": "ana"}, "user:ana"),
        ({"agent": "bob", "user": "ana"}, "user:ana"),
    ],
    ids=["anybody", "an agent", "a user", "an agent for a user"],
)
def test_what_is_stored_without_a_scope_goes_to_the_widest_that_a_key_may_write_to(memory, key, whose, scope):
    secret = key(**whose)
    with (
        serving(create_app(memory, gate=Gate(memory, keys_required=True), mcp_profile="butler")) as address,
        posted(address, key=secret) as butler,
    ):
        fact = butler.call("memory_store_fact", subject="Ana", predicate="lives in", content="Lisbon")
        rule = butler.call("memory_store_rule", content="Book early.")
        own = butler.call("memory_store_rule", content="Ask first.", scope=whose.get("agent", "ada"))
    with (
        serving(create_app(memory, gate=Gate(memory, keys_required=True), mcp_profile="graph")) as address,
        posted(address, key=secret) as graph,
    ):
        entity = {"name": "Ondina", "entityType": "boat", "observations": ["leaks"]}
        if whose == {"agent": "bob"}:  # the registry is every agent's, and so is not for the key of one
            memory.agent().graph.create_entities([GraphEntity(name="Ondina", entity_type="boat")])
            graph.call("add_observations", observations=[{"entityName": "Ondina", "contents": ["leaks"]}])
        else:
            graph.call("create_entities", entities=[entity])
        assert graph.call("read_graph")["entities"] == [entity]
    agent = memory.agent(whose.get("agent"), user=whose.get("user"))
    [leak] = agent.facts("Ondina")
    assert {agent.get(fact["id"]).scope, agent.get(rule["id"]).scope, leak.scope} == {scope}
    assert agent.get(own["id"]).scope == agent.caller.own_scope
