"""End users over the network and on the command line: no header, key or argument widens whom a caller acts for."""

import json
from types import SimpleNamespace

import pytest

from engrain import Memory
from tests.support.engrain import EngrainServer

SETTINGS = {"embedding": {"model": "none"}}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server that asks for keys; one for anybody, and one that is bound to Ana."""
    path = tmp_path_factory.mktemp("served") / "memory.db"
    with Memory.open(path, settings=SETTINGS) as memory:
        anybody = memory.keys.create(role="admin").secret
        anas = memory.keys.create(role="admin", user="ana").secret
        office = memory.agent("assistant").remember("Berlin", subject="the office", predicate="is in")
    with EngrainServer(path, "--keys", "--profile", "all") as server:
        yield SimpleNamespace(server=server, anybody=anybody, anas=anas, office=office)


def ask(served, method, path, body=None, *, key="anybody", **headers):
    authorization = f"Bearer {getattr(served, key)}"
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return served.server.ask(method, path, body, Authorization=authorization, **named)


def facts(served, **whom):
    return {fact["content"]: fact for fact in ask(served, "GET", "/v1/facts", **whom).json["items"]}


def test_a_header_says_for_whom_an_agent_acts(served):
    said = {"content": "Lisbon", "subject": "user", "predicate": "lives in"}
    created = ask(served, "POST", "/v1/facts", said, Engrain_User="Zoë".encode().decode("latin-1"))
    assert (created.status, created.json["scope"]) == (201, "user:Zoë/assistant")
    assert set(facts(served, X_Engrain_User="Zoë".encode().decode("latin-1"))) == {"Lisbon", "Berlin"}
    assert set(facts(served, Engrain_User="bob")) == set(facts(served)) == {"Berlin"}
    both = ask(served, "GET", "/v1/facts", Engrain_User="ana", X_Engrain_User="bob")
    assert (both.status, both.json["code"]) == (422, "invalid_input")
    assert ask(served, "GET", "/v1/facts", Engrain_User="").status == 422
    assert ask(served, "GET", "/v1/caller", Engrain_User="ana").json["user"] == "ana"


def test_a_key_of_a_user_acts_for_that_user_alone(served):
    kept = ask(served, "POST", "/v1/facts", {"content": "tea", "subject": "user", "predicate": "likes"}, key="anas")
    assert kept.json["scope"] == "user:ana/assistant"
    assert set(facts(served, key="anas")) == set(facts(served, Engrain_User="ana")) == {"tea", "Berlin"}
    assert ask(served, "GET", "/v1/facts", key="anas", Engrain_User="ana").status == 200
    assert ask(served, "GET", "/v1/facts", key="anas", Engrain_User="bob").status == 403
    assert ask(served, "GET", "/v1/facts", key="anas", X_Engrain_User="bob").status == 403


def test_a_key_of_a_user_writes_nothing_that_others_see(served):
    said = {"content": "x", "subject": "user", "predicate": "is", "scope": "global"}
    refused = ask(served, "POST", "/v1/facts", said, key="anas")
    assert (refused.status, refused.json["code"]) == (422, "invalid_input")
    assert "user 'ana'" in refused.json["detail"]
    for path, body in ((f"/v1/memories/{served.office.id}/forget", None), ("/v1/erase", {"ids": [served.office.id]})):
        assert ask(served, "POST", path, body, key="anas").status in {404, 422}, path
    assert set(facts(served)) >= {"Berlin"}


def test_a_key_of_a_user_makes_changes_and_deletes_no_pool(served):
    named = {"name": "team"}
    assert ask(served, "POST", "/v1/pools", {**named, "members": ["billing"]}).status == 201
    said = {"content": "gold", "subject": "user", "predicate": "plan", "scope": "pool:team"}
    assert ask(served, "POST", "/v1/facts", said, key="anas").json["scope"] == "user:ana/pool:team"
    for path, body in (
        ("/v1/pools", {"name": "other"}),
        ("/v1/pools/add", {**named, "member": "spy"}),
        ("/v1/pools/remove", {**named, "member": "billing"}),
        ("/v1/pools/delete", named),
    ):
        refused = ask(served, "POST", path, body, key="anas")
        assert (refused.status, refused.json["code"]) == (422, "invalid_input"), path
        assert "bound to user 'ana'" in refused.json["detail"]
    [pool] = ask(served, "GET", "/v1/pools").json["items"]
    assert pool["members"] == ["assistant", "billing"]
    kept = ask(served, "POST", "/v1/pools/delete", named, Engrain_User="bob")
    assert (kept.status, "holds 1 memories" in kept.json["detail"]) == (422, True)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/keys", {"role": "admin"}),
        ("GET", "/v1/keys", None),
        ("GET", "/v1/users", None),
        ("GET", "/v1/agents", None),
        ("POST", "/v1/users/erase", {"name": "bob"}),
        ("GET", "/v1/users/export?name=bob", None),
        ("GET", "/v1/export", None),
        ("POST", "/v1/consolidate", {}),
        ("POST", "/v1/cleanup", {}),
    ],
)
def test_what_concerns_all_users_is_refused_to_a_key_of_one(served, method, path, body):
    refused = ask(served, method, path, body, key="anas")
    assert (refused.status, refused.json["code"]) == (403, "forbidden"), refused.json
    assert "'ana'" in refused.json["detail"]


def test_users_are_listed_and_erased_over_http(served):
    ask(served, "POST", "/v1/episodes", {"content": "I am Carl."}, Engrain_User="carl")
    assert "carl" in [row["user_id"] for row in ask(served, "GET", "/v1/users").json["items"]]
    exported = ask(served, "GET", "/v1/users/export?name=carl")
    assert (exported.status, b"I am Carl." in exported.body) == (200, True)
    proof = ask(served, "POST", "/v1/users/erase", {"name": "carl"}).json
    assert [(part["table"], part["rows"]) for part in proof["tables"]] == [("episodes", 1)]
    assert len(proof["sha256"]) == 64
    assert "carl" not in [row["user_id"] for row in ask(served, "GET", "/v1/users").json["items"]]


def test_a_user_whom_nobody_knows_is_404(served):
    ask(served, "POST", "/v1/episodes", {"content": "I am Dora."}, Engrain_User="dora")
    for method, path, body in (
        ("POST", "/v1/users/erase", {"name": "Dora"}),
        ("GET", "/v1/users/export?name=Dora", None),
        ("GET", "/v1/backup?user=Dora", None),
    ):
        refused = ask(served, method, path, body)
        assert (refused.status, refused.json["code"]) == (404, "not_found"), path
        assert "did you mean 'dora'?" in refused.json["detail"]


def test_tools_of_a_users_key_act_for_that_user(served):
    def call(name, arguments, key):
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        headers = {"Accept": "application/json, text/event-stream"}
        return json.dumps(ask(served, "POST", "/mcp", message, key=key, **headers).json)

    assert "Berlin" in call("recall", {"query": "Berlin tea"}, "anybody")
    assert "tea" in call("recall", {"query": "tea likes"}, "anas")
    assert '"tea"' not in call("recall", {"query": "tea likes"}, "anybody")
    assert "bound to user 'ana'" in call("pools_create", {"name": "mine"}, "anas")


def test_the_command_line_acts_for_a_user(cli):
    cli("remember", "Lisbon", "--subject", "user", "--predicate", "lives in", "--user", "ana")
    cli("--user", "bob", "remember", "Porto", "--subject", "user", "--predicate", "lives in")
    assert [fact["content"] for fact in cli("facts", "--user", "ana", "--json").json["items"]] == ["Lisbon"]
    assert cli("facts", "--json").json["items"] == []
    assert [row["user_id"] for row in cli("users", "--json").json["items"]] == ["ana", "bob"]
    assert "bob" in cli("users").out
    planned = cli("erase-user", "bob", "--dry-run", "--json").json
    assert planned["tables"][0]["rows"] == 1
    assert cli("erase-user", "bob", "--yes", "--json").json["sha256"] == planned["sha256"]
    assert [row["user_id"] for row in cli("users", "--json").json["items"]] == ["ana"]
    for command in (
        ("erase-user", "Ana", "--yes"),
        ("export-user", "Ana", "a.jsonl"),
        ("backup", "a.backup", "--user", "Ana"),
    ):
        refused = cli(*command)
        assert (refused.code, refused.out) == (1, "")
        assert "did you mean 'ana'?" in refused.err
