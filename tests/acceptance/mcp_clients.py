"""An MCP server as a test talks to it: by the SDK's own client, in this process or over the pipes of another one."""

import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import anyio.from_thread
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from engrain import Memory
from engrain.interfaces.mcp.server import server_of

TENANT, AGENT = "acme", "ada"
SETTINGS = {"tenant": TENANT, "agent": AGENT, "embedding": {"model": "none"}}


@dataclass(frozen=True)
class Tools:
    """The tools of one server."""

    portal: Any
    client: Any

    def call(self, tool, **arguments):
        """The structured answer of a call that is no fault."""
        result = self.raw(tool, **arguments)
        assert not result.is_error, result.content[0].text
        return result.structured_content

    def fault(self, tool, **arguments):
        """The error of a call that is one."""
        result = self.raw(tool, **arguments)
        assert result.is_error
        return result.structured_content["error"]

    def raw(self, tool, **arguments):
        return self.portal.call(self.client.call_tool, tool, arguments)


@contextmanager
def connected(server, mode):
    with (
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server, mode=mode)) as client,
    ):
        yield Tools(portal, client)


@contextmanager
def in_memory(path, profile, mode="auto"):
    with Memory.open(path, settings=SETTINGS) as memory, connected(server_of(memory, profile), mode) as tools:
        yield tools


@contextmanager
def over_pipes(path, profile, mode="auto"):
    command = ["-m", "engrain", "mcp", "--profile", profile, "--db", str(path), "--agent", AGENT, "--tenant", TENANT]
    parameters = StdioServerParameters(
        command=sys.executable, args=command, cwd=path.parent, env={**os.environ, "ENGRAIN_EMBEDDING__MODEL": "none"}
    )
    with connected(stdio_client(parameters), mode) as tools:
        yield tools


# Both eras of the protocol (`legacy` begins with a handshake) and both ways to speak it.
WAYS = {
    "in memory": in_memory,
    "in memory, by handshake": lambda path, profile: in_memory(path, profile, "legacy"),
    "over pipes": over_pipes,
    "over pipes, by handshake": lambda path, profile: over_pipes(path, profile, "legacy"),
}
