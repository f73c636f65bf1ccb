"""What a client on pipes asks first: answered before the SDK is loaded, as the SDK would answer it."""

import io
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from engrain import Memory
from engrain.interfaces.mcp.handshake import HANDSHAKE_VERSIONS, MODERN_VERSIONS, answer_opening
from engrain.interfaces.mcp.instructions import PROFILES
from engrain.interfaces.mcp.server import make_server
from tests.support.mcp_clients import SETTINGS

META = "io.modelcontextprotocol/"
WHO = {"name": "test", "version": "1"}
ENVELOPE = {f"{META}protocolVersion": MODERN_VERSIONS[0], f"{META}clientCapabilities": {}, f"{META}clientInfo": WHO}
# Ends the process when the SDK is about to be loaded, and says what is loaded by then.
BARRIER = """
import sys
class Barrier:
    def find_spec(self, name, path=None, target=None):
        if name == "mcp_types" or name.startswith("mcp."):
            print("loaded:", *sys.modules, file=sys.stderr, flush=True)
            import os
            os._exit(7)
sys.meta_path.insert(0, Barrier())
from engrain.interfaces.cli import main
sys.exit(main(sys.argv[1:]))
"""


def message(method, id_=1, **params):
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def hello(version="2025-06-18", **changes):
    return message("initialize", **{"protocolVersion": version, "capabilities": {}, "clientInfo": WHO, **changes})


def discovery(**changes):
    return message("server/discover", id_="probe", _meta={**ENVELOPE, **changes})


ANSWERED = {
    **{version: hello(version) for version in (*HANDSHAKE_VERSIONS, "1999-01-01")},
    "more of the client": hello(capabilities={"roots": {}, "own": {"a": 1}}, clientInfo={**WHO, "title": "Test"}),
    "discovery": discovery(),
    "discovery without the client": message("server/discover", _meta={k: v for k, v in ENVELOPE.items() if v != WHO}),
    "discovery of another version": discovery(**{f"{META}protocolVersion": "2099-01-01"}),
}
LEFT = {
    "another method": message("tools/list"),
    "a notification": {"jsonrpc": "2.0", "method": "notifications/initialized"},
    "no version": message("initialize", capabilities={}, clientInfo=WHO),
    "no client": hello(clientInfo={"name": "test"}),
    "a context": hello(_meta={"request_context": 5}),
    "an id that is none": {**hello(), "id": {"a": 1}},
    "an id that is true": {**hello(), "id": True},
    "no id": {name: value for name, value in hello().items() if name != "id"},
    "discovery without an envelope": message("server/discover"),
    "half an envelope": message("server/discover", _meta={f"{META}protocolVersion": MODERN_VERSIONS[0]}),
    "discovery with a context": discovery(request_context=5),
    "a list": [hello()],
}


async def answer_of_the_sdk(server, sent):
    """What the SDK's own loop answers to a first message."""
    core = server._lowlevel_server
    to_server, reading = anyio.create_memory_object_stream(1)
    writing, from_server = anyio.create_memory_object_stream(1)
    async with to_server, from_server, anyio.create_task_group() as group:
        group.start_soon(core.run, reading, writing, core.create_initialization_options())
        await to_server.send(SessionMessage(jsonrpc_message_adapter.validate_python(sent)))
        answer = await from_server.receive()
        group.cancel_scope.cancel()
    return answer.message.model_dump(mode="json", by_alias=True, exclude_unset=True)


@pytest.mark.parametrize("profile", PROFILES)
def test_an_answer_is_that_of_the_sdk(tmp_path, profile):
    with Memory.open(tmp_path / "memory.db", settings=SETTINGS) as memory:
        server = make_server(memory, profile)
        for what, sent in ANSWERED.items():
            said = io.StringIO()
            answer_opening(profile, io.StringIO(json.dumps(sent) + "\n"), said)
            assert json.loads(said.getvalue()) == anyio.run(answer_of_the_sdk, server, sent), what


@pytest.mark.parametrize("line", [*map(json.dumps, LEFT.values()), "no JSON", "[" * 100_000, ""], ids=[*LEFT, *"abc"])
def test_what_is_something_else_is_left_to_the_sdk(line):
    said, stdin = io.StringIO(), io.StringIO(f"{line}\nthe rest")
    opening = answer_opening("notes", stdin, said)
    assert (opening.line, opening.answered, said.getvalue(), stdin.read()) == (f"{line}\n", None, "", "the rest")


def test_the_handshake_is_answered_before_anything_heavy_is_loaded(tmp_path):
    """Neither the SDK nor what the memory needs: a client that waits a second has its answer on a slow machine too."""
    command = [sys.executable, "-c", BARRIER, "mcp", "--db", tmp_path / "memory.db"]
    sent = "".join(json.dumps(each) + "\n" for each in (discovery(), hello()))
    done = subprocess.run(command, input=sent, capture_output=True, text=True, check=False)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == ["probe", 1]
    assert done.returncode == 7
    [loaded] = [line for line in done.stderr.splitlines() if line.startswith("loaded:")]
    heavy = {"apsw", "engrain.agent.agent", "numpy", "onnxruntime", "sqlalchemy"}
    assert set(loaded.split()) & heavy == set()
    assert not (tmp_path / "memory.db").exists()


def open_pipes(path):
    command = [sys.executable, "-m", "engrain", "mcp", "--profile", "notes", "--db", path]
    environment = {**os.environ, "ENGRAIN_EMBEDDING__MODEL": "none"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    return subprocess.Popen(command, env=environment, cwd=path.parent, **pipes)


@contextmanager
def on_pipes(path):
    """Starts a server; gives a function that sends messages and returns as many answers."""
    with open_pipes(path) as server:

        def ask(*messages, answers):
            server.stdin.write("".join(json.dumps(each) + "\n" for each in messages))
            server.stdin.flush()
            return [json.loads(server.stdout.readline()) for _ in range(answers)]

        yield ask
        server.stdin.close()
        assert server.stdout.read() == ""  # nothing is answered twice
    assert server.returncode == 0


def test_a_client_that_gave_up_its_probe_begins_the_handshake(tmp_path):
    """What the Vercel AI SDK does; discovery decides nothing, so either era may follow."""
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    with on_pipes(tmp_path / "memory.db") as ask:
        probed, begun = ask(discovery(), hello(), answers=2)
        assert (probed["id"], begun["id"], begun["result"]["protocolVersion"]) == ("probe", 1, "2025-06-18")
        [listed] = ask(ready, message("tools/list", id_=2), answers=1)
        assert {tool["name"] for tool in listed["result"]["tools"]} >= {"save_note", "recall_note"}
        [again] = ask(hello() | {"id": 3}, answers=1)  # a second one is the SDK's to answer
        assert again["id"] == 3


def test_ctrl_c_ends_a_server_whose_client_says_nothing(tmp_path):
    """And leaves its pipe open: nothing of the server may wait for it."""
    with open_pipes(tmp_path / "memory.db") as server:
        for sent in (hello(), message("tools/list", id_=2)):
            server.stdin.write(json.dumps(sent) + "\n")
            server.stdin.flush()
            assert json.loads(server.stdout.readline())["id"] == sent["id"]
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 130
        assert server.stdout.read() == ""


def test_a_client_that_goes_on_after_its_probe_is_in_the_modern_era(tmp_path):
    with on_pipes(tmp_path / "memory.db") as ask:
        ask(discovery(), answers=1)
        ask(discovery(), answers=1)
        [saved] = ask(
            message("tools/call", name="save_note", arguments={"key": "k", "content": "tea"}, _meta=ENVELOPE), answers=1
        )
        assert saved["result"]["structuredContent"]["note"]["content"] == "tea"
        assert ask(hello(), answers=1)[0]["error"]["code"] == -32022
