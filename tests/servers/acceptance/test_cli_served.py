"""`engrain --db https://host`: commands on the memory of a server, and those that need the database itself."""

import pytest

from engrain import Memory
from tests.support.commands import SAMPLE
from tests.support.engrain import keyed_server

LISBON = "I moved to Lisbon in May."


@pytest.fixture(scope="module")
def keyed(tmp_path_factory):
    """A server that asks for keys, and one for all agents."""
    path = tmp_path_factory.mktemp("served") / "memory.db"
    with keyed_server(path, admin={"role": "admin"}) as (server, keys):
        yield server.address, keys["admin"]


@pytest.fixture
def served(cli, keyed, monkeypatch, tmp_path):
    """Runs a command on the server."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ENGRAIN_DB", keyed[0])
    monkeypatch.setenv("ENGRAIN_KEY", keyed[1])
    return cli


def test_a_command_is_a_call_of_the_server_as_the_agent_and_user_of_its_options(served, keyed):
    ana = ("--agent", "a", "--user", "ana")
    stored = served("observe", LISBON, *ana, "--session", "monday", "--json").json
    assert (stored["agent"], stored["session"]) == ("a", "monday")
    assert [hit["memory"]["id"] for hit in served("recall", "Lisbon", *ana, "--json").json["hits"]] == [stored["id"]]
    assert served("recall", "Lisbon", "--agent", "a", "--user", "bo", "--json").json["hits"] == []
    assert LISBON in served("context", "Lisbon", *ana).out
    assert served("forget", stored["id"], *ana).code == 0
    assert served("recall", "Lisbon", *ana, "--json").json["hits"] == []
    with Memory.open(keyed[0], key=keyed[1]) as memory:
        found = memory.agent("a", user="ana").get(stored["id"])
    assert found.to_dict()["content"] == served("get", stored["id"], *ana, "--json").json["content"] == LISBON


def test_who_speaks_is_the_keys_where_nobody_is_named(served, monkeypatch):
    assert served("remember", "The bar opens at six", "--json").json["agent"] == "assistant"
    monkeypatch.setenv("ENGRAIN_AGENT", "b")
    assert served("remember", "The bar closes at two", "--json").json["agent"] == "b"
    ran = served("stats", "--tenant", "other")
    assert (ran.code, "the key is of the tenant 'default'" in ran.err) == (1, True)


def test_a_key_is_an_option_too_and_a_wrong_one_opens_nothing(served, keyed, monkeypatch, tmp_path):
    monkeypatch.delenv("ENGRAIN_KEY")
    monkeypatch.delenv("ENGRAIN_DB")
    assert served("--db", keyed[0], "--key", keyed[1], "stats", "--json").json["agent"] == "assistant"
    ran = served("--db", keyed[0], "--key", "ek_wrong", "stats")
    assert (ran.code, "this key opens nothing here" in ran.err) == (1, True)
    assert keyed[1] not in served("config", "--db", keyed[0], "--key", keyed[1]).out
    assert list(tmp_path.iterdir()) == []


def test_files_are_read_and_written_here(served, tmp_path):
    first = served("import", SAMPLE, "--agent", "friends", "--json").json
    assert first["added"] > 300
    assert served("import", SAMPLE, "--agent", "friends", "--json").json["added"] == 0
    assert served("backup", tmp_path / "b.engrain").code == 0
    assert (tmp_path / "b.engrain").stat().st_size > 1_000


@pytest.mark.parametrize(
    "command",
    [
        ("worker", "--once"),
        ("reembed",),
        ("migrate", "--check"),
        ("serve", "--port", "0"),
        ("ui", "--no-open"),
        ("mcp",),
        ("mcp", "install", "claude-desktop"),
        ("tenants", "list"),
    ],
    ids=" ".join,
)
def test_what_needs_the_database_itself_says_so(served, keyed, tmp_path, command):
    ran = served(*command)
    assert (ran.code, ran.out) == (2, "")
    assert "server" in ran.err
    assert "use it there" in ran.err or f"{keyed[0]}/mcp" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_of_an_id_that_is_not_whole_it_is_said_that_a_server_knows_whole_ids_alone(served):
    stored = served("observe", LISBON, "--json").json
    for command in (
        ["get", stored["id"][:8]],
        ["forget", stored["id"][:8] + "..."],
        ["erase", stored["id"], "0123abcd", "--yes"],
    ):
        refused = served(*command)
        assert refused.code == 2
        assert "beginning of an id, and a memory on a server knows whole ids alone" in refused.err
    assert served("get", stored["id"]).code == 0
