"""An MCP server as a test talks to it: by the SDK's own client, in this process or over the pipes of another one."""

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio.from_thread
import httpx2
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from engrain import Memory
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from engrain.interfaces.mcp.server import make_server
from tests.support.asgi import serving
from tests.support.processes import engrain

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
        return result.meta["error"]

    def text(self, tool, **arguments):
        """The text of a call that is no fault."""
        result = self.raw(tool, **arguments)
        assert not result.is_error, result.content[0].text
        assert result.structured_content is None
        return result.content[0].text

    def raw(self, tool, *, meta=None, **arguments):
        return self.portal.call(partial(self.client.call_tool, tool, arguments, meta=meta))


@contextmanager
def connected(server, mode):
    with (
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server, mode=mode)) as client,
    ):
        yield Tools(portal, client)


@contextmanager
def in_memory(path, profile, mode="auto", settings=None):
    with (
        Memory.open(path, settings={**SETTINGS, **(settings or {})}) as memory,
        connected(make_server(memory, profile), mode) as tools,
    ):
        yield tools


@contextmanager
def over_pipes(path, profile, mode="auto", *, cwd=None):
    program, *command = engrain("mcp", "--profile", profile, "--db", path, "--agent", AGENT, "--tenant", TENANT)
    parameters = StdioServerParameters(
        command=program, args=command, cwd=cwd or path.parent, env={**os.environ, "ENGRAIN_EMBEDDING__MODEL": "none"}
    )
    with connected(stdio_client(parameters), mode) as tools:
        yield tools


@contextmanager
def over_http(path, profile, mode="auto"):
    """Without keys, as on loopback: whoever asks is an admin, and says by a header which agent speaks."""
    with Memory.open(path, settings=SETTINGS) as memory:
        app = create_app(memory, gate=Gate(memory, keys_required=False), mcp_profile=profile)
        with serving(app) as address, posted(address, mode=mode) as tools:
            yield tools


@contextmanager
def posted(address, *, key=None, mode="auto", headers=None):
    """The tools that a server has at an address, asked with a key."""
    said = {**(headers or {}), **({} if key is None else {"Authorization": f"Bearer {key}"})}
    with anyio.from_thread.start_blocking_portal() as portal:
        client = httpx2.AsyncClient(headers=said, timeout=60)
        with (
            portal.wrap_async_context_manager(client),
            portal.wrap_async_context_manager(
                Client(streamable_http_client(f"{address}/mcp", http_client=client), mode=mode)
            ) as asking,
        ):
            yield Tools(portal, asking)


# Both eras of the protocol (`legacy` begins with a handshake) and both ways to speak it.
WAYS = {
    "in memory": in_memory,
    "in memory, by handshake": lambda path, profile: in_memory(path, profile, "legacy"),
    "over pipes": over_pipes,
    "over pipes, by handshake": lambda path, profile: over_pipes(path, profile, "legacy"),
    "over http": over_http,
    "over http, by handshake": lambda path, profile: over_http(path, profile, "legacy"),
}


def message(method="tools/list", **changes):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}, **changes}).encode()


BROKEN = {
    "no JSON": b"this is no JSON",
    "no UTF-8": b"\xff\xfe{}",
    "nothing": b"",
    "another version": message(jsonrpc="1.0"),
    "a list": b"[" + message() + b"]",
    "an empty list": b"[]",
    "a number": b"7",
    "no method": b'{"jsonrpc": "2.0", "id": 1}',
    "a method that is none": message("tools/shout"),
    "no params": message("tools/call"),
    "params that are none": message("tools/call", params=[1, 2]),
    "arguments that are none": message("tools/call", params={"name": "list_notes", "arguments": "x"}),
    "an id that is none": message(id={"a": 1}),
    "a giant id": message(id=10).replace(b"10", b"9" * 5000),
    "deep": b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "a context that is none": message("tools/list", params={"_meta": {"request_context": 5}}),
}
