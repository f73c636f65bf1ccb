"""Rules of the protocol that clients hold a server to, over every tool of every profile."""

import pytest
from mcp.shared.exceptions import MCPError

from engrain import Memory
from engrain.interfaces.mcp.instructions import PROFILES
from engrain.interfaces.mcp.profiles import profile_of
from engrain.interfaces.mcp.server import make_server
from tests.support.mcp_clients import SETTINGS, WAYS, connected

ERAS = ("auto", "legacy")


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("profile", PROFILES)
def test_an_error_of_a_tool_has_no_structured_content(tmp_path, profile, mode):
    """A client holds structured content to the tool's output schema, in errors too, and shows the mismatch instead."""
    with Memory.open(tmp_path / "memory.db", settings=SETTINGS) as memory:
        server = make_server(memory, profile)
        memory.close()
        with connected(server, mode) as tools:
            for tool in profile_of(profile).tools:
                result = tools.raw(tool.name)
                assert result.is_error, tool.name
                assert result.structured_content is None, tool.name
                error = result.meta["error"]
                assert error["code"] in {"invalid_input", "memory_closed"}, tool.name
                assert result.content[0].text == f"{error['code']}: {error['message']}", tool.name


@pytest.mark.parametrize("way", ["over pipes", "over pipes, by handshake", "over http", "over http, by handshake"])
def test_an_unknown_tool_is_an_error_of_the_protocol(tmp_path, way):
    with WAYS[way](tmp_path / "memory.db", "notes") as tools:
        with pytest.raises(MCPError) as refused:
            tools.raw("shout")
        assert refused.value.error.code == -32602
        assert "'shout'" in refused.value.error.message
        assert refused.value.error.data["error"]["code"] == "not_found"
        assert tools.call("list_notes")["notes"] == []
