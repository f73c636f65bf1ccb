"""What a server does with messages that are none, calls that are taken back, and another server on the same file."""

import json
import os
import subprocess
import sys

import pytest

from engrain import Memory
from tests.support.mcp_clients import AGENT, BROKEN, SETTINGS, TENANT, WAYS

ENTITIES = [{"name": f"E{number}", "entityType": "x", "observations": ["a", "b"]} for number in range(150)]


def test_lines_that_are_no_message_leave_a_server_on_pipes_alive(tmp_path):
    """Each is followed by a proper one, which is answered; what was broken is told nothing that it did not say."""
    command = [sys.executable, "-m", "engrain", "mcp", "--profile", "notes", "--db", tmp_path / "memory.db"]
    environment = {**os.environ, "ENGRAIN_EMBEDDING__MODEL": "none"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    with subprocess.Popen(command, env=environment, cwd=tmp_path, **pipes) as server:

        def write(line):
            server.stdin.write(line + b"\n")
            server.stdin.flush()

        def ask(id_, method, **params):
            write(json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}).encode())
            said = []
            while True:
                said.append(json.loads(server.stdout.readline()))
                if said[-1].get("id") == id_:
                    return said

        assert "result" in ask("hello", "initialize", **hello)[-1]
        write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        for what, line in BROKEN.items():
            write(line)
            said = ask(what, "tools/call", name="list_notes", arguments={})
            assert said[-1]["result"]["isError"] is False, what
            assert all("error" in each or each["result"]["isError"] for each in said[:-1]), (what, said)
        server.stdin.close()
        assert b"Traceback" not in server.stdout.read()
    assert server.returncode == 0


@pytest.mark.parametrize("way", ["over pipes", "over pipes, by handshake", "over http"])
def test_a_call_that_is_taken_back_is_done_whole_or_not_at_all(tmp_path, way):
    path = tmp_path / "memory.db"
    with WAYS[way](path, "graph") as tools:
        for part in range(0, 150, 50):
            call = {"entities": ENTITIES[part : part + 50]}
            tools.portal.start_task_soon(tools.client.call_tool, "create_entities", call).cancel()
        assert tools.call("add_observations", observations=[])["results"] == []  # alive
    with Memory.open(path, settings=SETTINGS) as memory:
        kept = memory.agent().graph.read().entities
        assert {int(each.name[1:]) // 50 for each in kept} == {
            part for part in range(3) if sum(int(each.name[1:]) // 50 == part for each in kept) == 50
        }
        assert all(each.observations == ("a", "b") for each in kept)
        assert memory.health(thorough=True).problems == ()


def test_two_servers_that_write_one_file_at_once_lose_nothing(tmp_path):
    path = tmp_path / "memory.db"
    with WAYS["over pipes"](path, "notes") as one, WAYS["over http"](path, "notes") as other:
        asked = [
            tools.portal.start_task_soon(
                tools.client.call_tool, "save_note", {"key": f"{who} {number}", "content": "x"}
            )
            for number in range(20)
            for who, tools in (("one", one), ("other", other))
        ]
        assert not any(each.result().is_error for each in asked)
        assert len(one.call("list_notes", limit=100)["notes"]) == 40
    with Memory.open(path, settings=SETTINGS) as memory:
        assert len(memory.agent(AGENT, tenant=TENANT).notes.list(100)) == 40
        assert memory.health(thorough=True).problems == ()
