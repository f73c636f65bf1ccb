"""The official TypeScript SDK and that of Vercel, as they are released, as clients of the tools."""

import os

import pytest

from engrain import Memory
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from engrain.interfaces.mcp.instructions import PROFILES
from engrain.interfaces.mcp.profiles import profile_of
from tests.support.asgi import serving
from tests.support.mcp_asks import asks
from tests.support.processes import engrain
from tests.support.two_tenants import AGENT, SESSION, Clock, TwoTenants


@pytest.mark.parametrize("profile", PROFILES)
def test_a_tool_answers_by_its_schema_and_its_errors_arrive(tmp_path, node, profile):
    """A call of what is there, one of what is not known, and one without what is needed."""
    clock = Clock()
    with Memory.open(tmp_path / "memory.db", settings={"embedding": {"model": "none"}}, clock=clock) as memory:
        town = TwoTenants(memory, clock)
        gate = Gate(memory, keys_required=True, rate_limit_per_minute=0)
        right = [ask.params for ask in asks(memory, profile, town.tenants["acme"].ids) if ask.method == "tools/call"]
        wrong = [{"name": call["name"], "arguments": {"nothing": "takes this"}} for call in right]
        with serving(create_app(memory, gate=gate, mcp_profile=profile)) as address:
            key = town.keys["acme", "admin"]
            headers = {"Authorization": f"Bearer {key}", "Engrain-Agent": AGENT, "Engrain-Session": SESSION}
            told = node(
                "call_tools.mjs", {"server": {"url": f"{address}/mcp", "headers": headers}, "calls": right + wrong}
            )
    names = [tool.name for tool in profile_of(profile).tools]
    assert told["tools"] == names
    assert [outcome for outcome in told["outcomes"] if "thrown" in outcome] == []
    refused = [outcome["text"] for outcome in told["outcomes"][len(names) :] if outcome["isError"]]
    assert all(text.startswith("invalid_input: ") for text in refused)
    assert len(refused) == len(names) - (profile == "graph")  # read_graph takes anything


@pytest.fixture
def stdio(tmp_path):
    """How a client starts a server of notes."""
    program, *arguments = engrain("mcp", "--db", tmp_path / "memory.db", "--profile", "notes")
    environment = {**os.environ, "ENGRAIN_EMBEDDING__MODEL": "none"}
    return {"command": program, "args": [str(argument) for argument in arguments], "env": environment}


def test_an_unknown_tool_is_an_error_of_the_protocol(node, stdio):
    calls = [{"name": "shout", "arguments": {}}, {"name": "list_notes", "arguments": {}}]
    unknown, known = node("call_tools.mjs", {"server": stdio, "calls": calls})["outcomes"]
    assert unknown["code"] == -32602
    assert "shout" in unknown["thrown"]
    assert known["isError"] is False


def test_the_vercel_ai_sdk_starts_it_every_time(node, stdio):
    asked = {"server": stdio, "times": 5, "tool": "list_notes", "arguments": {}}
    answers = node("start_ai_sdk.mjs", asked)
    assert [answer["structuredContent"]["notes"] for answer in answers] == [[]] * 5


def test_a_client_without_a_key_is_told_of_keys_and_opens_no_page(tmp_path, node):
    with Memory.open(tmp_path / "memory.db", settings={"embedding": {"model": "none"}}) as memory:
        app = create_app(memory, gate=Gate(memory, keys_required=True))
        with serving(app) as address:
            told = node("sign_in.mjs", {"url": f"{address}/mcp"})
    assert told["pages"] == []
    assert "send a key" in told["error"]
