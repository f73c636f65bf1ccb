"""The profile `graph` beside the server that it stands in for: the same calls to both, answer by answer."""

import json
import os
import shutil
import subprocess
from contextlib import contextmanager
from functools import partial
from itertools import count

import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client

from engrain import Memory
from tests.support.mcp_clients import AGENT, SETTINGS, WAYS, connected, in_memory
from tests.support.processes import engrain

PACKAGE = "@modelcontextprotocol/server-memory@2026.8.31"
ANA = {"name": "Ana Sousa", "entityType": "Seefahrerin ⛵", "observations": ["trinkt Grüntee", "lives in 東京"]}
ACME = {"name": "Acme", "entityType": "company", "observations": []}
WORKS = {"from": "Ana Sousa", "to": "Acme", "relationType": "works at"}
NOWHERE = {"from": "Nobody", "to": "Nowhere", "relationType": "waits in"}
TYPED = {"entityName": "Acme", "contents": ['says "hi"', "two\nlines", "{\u2028}", "emoji 🦊"]}

# Every tool with what is new, what is known, what is not there, nothing, and what is wrong, each on what came before.
STEPS = [
    ("read_graph", {}),
    ("create_entities", {"entities": []}),
    ("create_entities", {"entities": [ANA, ACME]}),
    ("create_entities", {"entities": [{**ANA, "observations": ["other"]}, {**ACME, "name": "acme"}]}),
    ("create_entities", {"entities": [{**ACME, "name": "Zoë", "colour": "red"}], "also": 1}),
    ("create_entities", {"entities": [{**ACME, "name": "Typeless", "entityType": ""}]}),
    ("create_relations", {"relations": [WORKS, NOWHERE]}),
    ("create_relations", {"relations": [WORKS, {**WORKS, "relationType": "owns"}]}),
    ("create_relations", {"relations": []}),
    ("add_observations", {"observations": [TYPED, {"entityName": "Ana Sousa", "contents": ["trinkt Grüntee"]}]}),
    ("add_observations", {"observations": [TYPED, {"entityName": "Nobody", "contents": ["x"]}]}),
    (
        "add_observations",
        {"observations": [{"entityName": "acme", "contents": ["x"]}, {"entityName": "Ghost", "contents": []}]},
    ),
    ("add_observations", {"observations": []}),
    ("read_graph", {}),
    ("search_nodes", {"query": "grüntee"}),
    ("search_nodes", {"query": "COMPANY"}),
    ("search_nodes", {"query": "東京"}),
    ("search_nodes", {"query": ""}),
    ("search_nodes", {"query": "no such thing"}),
    ("open_nodes", {"names": ["Acme"]}),
    ("open_nodes", {"names": ["acme", "Nobody", "Ana Sousa"]}),
    ("open_nodes", {"names": []}),
    ("create_entities", {}),
    ("create_entities", {"entities": [{"name": "B"}]}),
    ("create_entities", {"entities": [{**ACME, "name": 5}]}),
    ("open_nodes", {"names": "Acme"}),
    ("search_nodes", {"query": None}),
    ("delete_observations", {"deletions": [{"entityName": "Acme", "observations": ["two\nlines", "never said"]}]}),
    ("delete_observations", {"deletions": [{"entityName": "Ghost", "observations": ["x"]}]}),
    ("delete_relations", {"relations": [NOWHERE, {**NOWHERE, "to": "Here"}]}),
    ("read_graph", {}),
    ("delete_entities", {"entityNames": ["Acme", "Ghost"]}),
    ("read_graph", {}),
    ("create_entities", {"entities": [{**ACME, "observations": ["is back"]}]}),
    ("create_relations", {"relations": [WORKS]}),
    ("delete_relations", {"relations": []}),
    ("delete_entities", {"entityNames": []}),
    ("read_graph", {}),
]


@pytest.fixture(scope="session")
def reference_server(pytestconfig, tmp_path_factory):
    """The reference server as npm has it, installed once; once a session where pytest keeps no cache."""
    if missing := [each for each in ("node", "npm") if shutil.which(each) is None]:
        pytest.skip(f"the reference server needs {' and '.join(missing)}, which this machine does not have")
    cache = getattr(pytestconfig, "cache", None)
    folder = tmp_path_factory.mktemp("npm") if cache is None else cache.mkdir("mcp-server-memory")
    script = folder / "node_modules" / "@modelcontextprotocol" / "server-memory" / "dist" / "index.js"
    if not script.exists():
        command = ["npm", "install", "--prefix", folder, "--no-fund", "--no-audit", "--ignore-scripts", PACKAGE]
        installed = subprocess.run(command, capture_output=True, text=True, check=False)
        if "network" in installed.stderr or "ENOTFOUND" in installed.stderr:
            pytest.skip("the reference server cannot be fetched: npm reaches no registry")
        assert installed.returncode == 0, installed.stderr
    return script


@pytest.fixture
def reference(reference_server, tmp_path):
    environment = {**os.environ, "MEMORY_FILE_PATH": str(tmp_path / "graph.jsonl")}
    parameters = StdioServerParameters(command="node", args=[str(reference_server)], env=environment)
    with connected(stdio_client(parameters, errlog=subprocess.DEVNULL), "legacy") as tools:
        yield tools


@pytest.fixture
def graph(tmp_path):
    with in_memory(tmp_path / "memory.db", "graph") as tools:
        yield tools


@pytest.fixture
def told(graph):
    """What the whole graph says."""
    return lambda: graph.call("read_graph")


def bare(schema):
    """A schema without what says the same in other words."""
    match schema:
        case dict():
            return {name: bare(each) for name, each in schema.items() if name not in ("$schema", "description")}
        case list():
            return [bare(each) for each in schema]
        case _:
            return schema


def test_its_tools_are_those_of_the_reference_server(reference, graph):
    wanted, offered = (
        {each.name: each for each in tools.portal.call(tools.client.list_tools).tools} for tools in (reference, graph)
    )
    assert list(offered) == list(wanted)
    for name, tool in wanted.items():
        ours = offered[name]
        assert (ours.title, ours.description.rstrip(".")) == (tool.title, tool.description)
        assert ours.annotations == tool.annotations
        assert described(ours.input_schema) == described(tool.input_schema)
        assert bare(ours.input_schema) == bare(tool.input_schema)
        assert bare(ours.output_schema) == bare(tool.output_schema)


def described(schema):
    """What is said of each thing that a client gives, in its order."""
    match schema:
        case dict():
            items = schema.get("properties", {}).items()
            own = [(name, each.get("description")) for name, each in items]
            return own + [each for value in schema.values() for each in described(value)]
        case list():
            return [each for value in schema for each in described(value)]
        case _:
            return []


def test_every_call_is_answered_as_the_reference_server_does(reference, graph):
    for place, (tool, arguments) in enumerate(STEPS):
        expected, answer = reference.raw(tool, **arguments), graph.raw(tool, **arguments)
        assert answer.is_error == expected.is_error, (place, tool, answer.content[0].text)
        if not expected.is_error:
            assert answer.structured_content == expected.structured_content, (place, tool)
            assert answer.content[0].text == expected.content[0].text, (place, tool)
    assert "Entity with name Nobody not found" in graph.fault("add_observations", **STEPS[10][1])["message"]


def test_what_one_call_says_twice_is_kept_once(graph, told):
    """The reference server keeps both."""
    twice = {**ACME, "observations": ["x", "x"]}
    assert graph.call("create_entities", entities=[twice, twice])["entities"] == [{**ACME, "observations": ["x"]}]
    assert len(graph.call("create_relations", relations=[WORKS, WORKS])["relations"]) == 1
    added = graph.call("add_observations", observations=[{"entityName": "Acme", "contents": ["y", "y", "x"]}])
    assert added["results"] == [{"entityName": "Acme", "addedObservations": ["y"]}]
    assert told() == {"entities": [{**ACME, "observations": ["x", "y"]}], "relations": [WORKS]}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("create_entities", {"entities": [ACME, {**ACME, "name": " "}]}),
        ("create_entities", {"entities": [{**ACME, "observations": ["fine", "\u0000"]}]}),
        ("create_entities", {"entities": [{**ACME, "name": "x" * 513}]}),
        ("create_entities", {"entities": [{**ACME, "name": str(each)} for each in range(1001)]}),
        ("create_relations", {"relations": [WORKS, {**WORKS, "to": ""}]}),
        ("create_relations", {"relations": [WORKS, {**WORKS, "relationType": "x" * 505}]}),
        ("add_observations", {"observations": [{"entityName": "Known", "contents": ["fine", ""]}]}),
    ],
)
def test_what_no_memory_can_hold_is_refused_whole(graph, told, tool, arguments):
    """The reference server keeps it."""
    graph.call("create_entities", entities=[{**ACME, "name": "Known"}])
    before = told()
    assert graph.fault(tool, **arguments)["code"] == "invalid_input"
    assert told() == before


@pytest.mark.parametrize("way", ["in memory, by handshake", "over pipes"])
def test_what_is_stored_as_a_graph_is_a_memory_like_others(tmp_path, way):
    path = tmp_path / "memory.db"
    with WAYS[way](path, "graph") as tools:
        tools.call("create_entities", entities=[ANA, ACME])
        tools.call("create_relations", relations=[WORKS])
    with Memory.open(path, settings=SETTINGS) as memory:
        other = memory.agent()
        assert {hit.memory.content for hit in other.recall("Does Ana Sousa drink Grüntee?", kinds="fact")} >= {
            "trinkt Grüntee"
        }
        [works] = [hit.memory for hit in other.recall("works at Acme") if "Acme" in hit.memory.content]
        assert (works.content, works.permanence) == ("Ana Sousa works at Acme", "permanent")
        assert {each.canonical_name for each in other.entities.profile("Acme").related} == {"Ana Sousa"}
        ana = other.entities.profile("Ana Sousa").entity
        assert ana.entity_type == "other"
        other.remember("sailing", subject="Ana Sousa", predicate="likes", entity_id=ana.id)
        memory.agent("hidden").remember("a secret", subject="Ana", predicate="has", entity_id=ana.id, scope="hidden")
    with WAYS[way](path, "graph") as tools:
        seen = tools.call("open_nodes", names=["Ana Sousa"])["entities"]
        assert seen == [{**ANA, "observations": [*ANA["observations"], "likes: sailing"]}]
        tools.call("delete_observations", deletions=[{"entityName": "Ana Sousa", "observations": ["likes: sailing"]}])
        tools.call("delete_entities", entityNames=["Ana Sousa"])
        assert tools.call("read_graph") == {"entities": [ACME], "relations": []}
    with Memory.open(path, settings=SETTINGS) as memory:
        mine = memory.agent()
        assert [hit.memory.content for hit in mine.recall("Ana Sousa Grüntee sailing works")] == []
        assert mine.get(works.id).validity == "retracted"
        assert mine.entities.find().items == (mine.entities.profile("Acme").entity,)
        [left] = memory.agent("hidden").facts("Ana")
        assert (left.content, left.entity_id) == ("a secret", None)


def test_a_file_of_the_reference_server_is_the_same_graph_once_imported(tmp_path, reference):
    many = {**ACME, "name": "Typeless", "entityType": "", "observations": [f"seen {number}" for number in range(20)]}
    reference.call("create_entities", entities=[many, ANA, ACME])
    reference.call("create_relations", relations=[WORKS, NOWHERE, {**WORKS, "relationType": "owns"}])
    with Memory.open(tmp_path / "memory.db", settings=SETTINGS) as memory:
        memory.agent(AGENT).import_file(tmp_path / "graph.jsonl")
    with in_memory(tmp_path / "memory.db", "graph") as tools:
        assert tools.call("read_graph") == reference.call("read_graph")
        assert tools.call("create_relations", relations=[WORKS])["relations"] == []
        assert tools.call("create_entities", entities=[ANA])["entities"] == []


def test_an_imported_graph_has_the_order_of_its_file(tmp_path):
    named = [{"name": name, "entityType": "", "observations": []} for name in ("Zoë", "Ana", "Moritz", "Bela")]
    for step, entity in enumerate(named):
        entity["observations"] = [f"{entity['name']} {number * step % 11}" for number in range(1, 11)][: 10 * step]
    lines = [json.dumps({"type": "entity", **entity}) for entity in named]
    (tmp_path / "graph.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with Memory.open(tmp_path / "memory.db", settings=SETTINGS) as memory:
        memory.agent(AGENT).import_file(tmp_path / "graph.jsonl")
    with in_memory(tmp_path / "memory.db", "graph") as tools:
        assert tools.call("read_graph")["entities"] == named


def exchange(command, environment, messages):
    """What a server on pipes says to a client that shook hands, in order, without answers to the handshake."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    said = []
    with subprocess.Popen([str(part) for part in command], env={**os.environ, **environment}, **pipes) as server:
        for id_, (method, params) in enumerate([("initialize", hello), *messages]):
            server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}) + "\n")
            server.stdin.flush()
            while True:
                said.append(json.loads(server.stdout.readline()))
                if said[-1].get("id") == id_:
                    break
            if method == "initialize":
                server.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        server.stdin.close()
    return said


def test_a_subscriber_is_told_of_changes_as_by_the_reference_server(tmp_path, reference_server):
    uri = {"uri": "memory://knowledge-graph"}

    def call(tool, **arguments):
        return "tools/call", {"name": tool, "arguments": arguments}

    messages = [
        ("resources/list", {}),
        call("create_entities", entities=[ANA]),
        ("resources/subscribe", uri),
        call("create_entities", entities=[ANA]),
        call("read_graph"),
        ("resources/read", uri),
        call("add_observations", observations=[{"entityName": "Nobody", "contents": ["x"]}]),
        call("delete_entities", entityNames=["Nobody"]),
        ("resources/unsubscribe", uri),
        call("create_relations", relations=[WORKS]),
        ("resources/read", uri),
    ]
    program = engrain("mcp", "--profile", "graph", "--db", tmp_path / "memory.db")
    ours = exchange(program, {"ENGRAIN_EMBEDDING__MODEL": "none"}, messages)
    theirs = exchange(["node", reference_server], {"MEMORY_FILE_PATH": str(tmp_path / "graph.jsonl")}, messages)
    assert ours[0]["result"]["capabilities"]["resources"]["subscribe"] is True
    for answers in (ours, theirs):
        del answers[0]
    listed = ours[0]["result"]["resources"]
    [graph] = [resource for resource in listed if resource["uri"] == uri["uri"]]
    assert [{**graph, "description": graph["description"].rstrip(".")}] == theirs[0]["result"]["resources"]
    assert [bare_message(each) for each in ours[1:]] == [bare_message(each) for each in theirs[1:]]
    assert sum(each.get("method") == "notifications/resources/updated" for each in ours) == 2


@contextmanager
def subscribed(path, user):
    """A server for a user whose client has subscribed to the graph; gives a function that returns all it is told."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    command = [str(part) for part in engrain("mcp", "--profile", "graph", "--db", path, "--user", user)]
    environment = {**os.environ, "ENGRAIN_EMBEDDING__MODEL": "none"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    numbers = count()
    with subprocess.Popen(command, env=environment, **pipes) as server:

        def ask(method, **params):
            id_, told = next(numbers), []
            server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}) + "\n")
            server.stdin.flush()
            while not told or told[-1].get("id") != id_:
                told.append(json.loads(server.stdout.readline()))
            return told

        ask("initialize", **hello)
        server.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        ask("resources/subscribe", uri="memory://knowledge-graph")
        yield ask
        server.stdin.close()


def test_a_subscriber_is_told_nothing_of_another_users_change(tmp_path):
    with subscribed(tmp_path / "memory.db", "ana") as ana, subscribed(tmp_path / "memory.db", "bob") as bob:
        told = bob("tools/call", name="create_entities", arguments={"entities": [ACME]})
        assert [message.get("method") for message in told] == ["notifications/resources/updated", None]
        for name in ("read_graph", "search_nodes", "open_nodes"):
            arguments = {"search_nodes": {"query": "Acme"}, "open_nodes": {"names": ["Acme"]}}.get(name, {})
            [answer] = ana("tools/call", name=name, arguments=arguments)  # and no notification
            assert answer["result"]["structuredContent"] == {"entities": [], "relations": []}
        [read] = ana("resources/read", uri="memory://knowledge-graph")
        assert "Acme" not in json.dumps(read)
        assert "Acme" in json.dumps(bob("resources/read", uri="memory://knowledge-graph"))


def bare_message(message):
    """A message without the words of a tool's error, which are each server's own."""
    is_error = message.get("result", {}).get("isError", False)
    return (message.get("id"), "error") if is_error else {**message, "result": bare_result(message.get("result"))}


def bare_result(result):
    return result and {name: value for name, value in result.items() if name != "isError"}


def test_two_servers_on_one_file_that_create_the_same_keep_it_once(tmp_path):
    path = tmp_path / "memory.db"
    with WAYS["over pipes"](path, "graph") as one, WAYS["in memory"](path, "graph") as other:
        waiting = [
            each.portal.start_task_soon(
                each.client.call_tool, "create_entities", {"entities": [{**ACME, "name": f"E{n}"}]}
            )
            for n in range(20)
            for each in (one, other)
        ]
        new = [each.result().structured_content["entities"] for each in waiting]
        assert sum(map(len, new)) == 20
        assert len(other.call("read_graph")["entities"]) == 20


def test_the_request_that_a_host_names_stands_in_the_events(tmp_path):
    path = tmp_path / "memory.db"
    with in_memory(path, "graph") as tools:
        meta = {"request_context": {"request_id": "r-9"}}
        call = partial(tools.client.call_tool, "create_entities", {"entities": [ACME]}, meta=meta)
        assert not tools.portal.call(call).is_error
    with Memory.open(path, settings=SETTINGS) as memory:
        assert {each.request_id for each in memory.agent().events()} == {"r-9"}
