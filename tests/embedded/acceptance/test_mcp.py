"""The MCP server as a client meets it: each profile's tools on a real file, in this process and in one of its own."""

import json
import os
import subprocess
import sys
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from engrain import Memory
from engrain.interfaces.mcp.instructions import PROFILES
from engrain.interfaces.mcp.profiles import profile_of
from engrain.interfaces.mcp.server import make_server
from tests.support.mcp_clients import AGENT, SETTINGS, TENANT, WAYS, connected, in_memory

CONTEXT = {"request_id": "req-7", "trace": {"of": "the host"}}


@pytest.fixture
def path(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("ENGRAIN_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "memory.db"


@pytest.fixture(params=["in memory", "over pipes, by handshake", "over http"])
def serve(request, path):
    """Serves a profile on the file, one way or another."""
    return lambda profile: WAYS[request.param](path, profile)


@pytest.fixture
def butler(path):
    with in_memory(path, "butler") as tools:
        yield tools


def bare(answer):
    """Without the name of the request, which HTTP gives to each."""
    return {name: value for name, value in answer.items() if name != "request_id"}


def events_of(path, id_):
    with Memory.open(path, settings=SETTINGS) as memory:
        return memory.agent().events(id_)


@pytest.mark.req("B19.1", "B19.2", "B19.4", "B19.5", "N19")
def test_a_butler_stores_finds_and_forgets(serve, path):
    with serve("butler") as tools:
        episode = tools.call("memory_store_episode", content="We talked of trams.", butler=AGENT, session_id="monday")
        assert (episode["memory"]["session"], episode["memory"]["importance"]) == ("monday", 5.0)
        lives = datetime.fromisoformat(episode["memory"]["expires_at"])
        assert lives - datetime.fromisoformat(episode["memory"]["created_at"]) == timedelta(days=7)
        fact = tools.call("memory_store_fact", subject="Ana", predicate="lives in", content="Lisbon", tags=["home"])
        rule = tools.call("memory_store_rule", content="Book trams to Lisbon early.")
        found = {hit["memory"]["id"] for hit in tools.call("memory_search", query="Lisbon trams")["hits"]}
        assert found == {episode["id"], fact["id"], rule["id"]}
        [hit] = tools.call("memory_search", query="Lisbon", types=["fact"], mode="keyword", limit=3)["hits"]
        assert hit["memory"]["content"] == "Lisbon"
        assert hit["why"]
        recalled = [each["memory"]["id"] for each in tools.call("memory_recall", topic="Lisbon")["hits"]]
        assert fact["id"] in recalled
        got = tools.call("memory_get", memory_type="fact", memory_id=fact["id"])
        assert (got["found"], got["memory"]["tags"]) == (True, ["home"])
        block = tools.raw("memory_context", trigger_prompt="Ana in Lisbon", butler=AGENT, token_budget=200)
        assert block.content[0].text == block.structured_content["text"]
        assert block.content[0].text.startswith("# Memory Context\n")
        assert block.structured_content["tokens"] <= 200
        counts = tools.call("memory_stats", scope="global")
        assert (counts["facts"]["active"], counts["rules"]["candidate"]) == (1, 1)
        forgotten = tools.call("memory_forget", memory_type="fact", memory_id=fact["id"])
        assert forgotten["memory"]["validity"] == "retracted"
        assert tools.call("memory_search", query="Lisbon", types=["fact"])["hits"] == []
    with Memory.open(path, settings=SETTINGS) as memory:
        kept = memory.agent().get(fact["id"])
        assert (kept.tenant_id, kept.agent, kept.validity) == (TENANT, AGENT, "retracted")


@pytest.mark.req("B19.3")
def test_a_butler_says_what_held_and_what_helped(butler):
    fact = butler.call("memory_store_fact", subject="Ana", predicate="likes", content="tea")
    rule = butler.call("memory_store_rule", content="Offer tea.")["id"]
    confirmed = butler.call("memory_confirm", memory_type="fact", memory_id=fact["id"])
    assert confirmed["memory"]["last_confirmed_at"] > fact["memory"]["last_confirmed_at"]
    assert confirmed["memory"]["reference_count"] == 0  # it was looked at, and given to nobody
    assert butler.call("memory_mark_helpful", rule_id=rule)["memory"]["success_count"] == 1
    assert butler.call("memory_mark_harmful", rule_id=rule, reason="It was late.")["memory"]["harmful_count"] == 1


@pytest.mark.req("B19.6")
def test_a_butler_knows_who_is_who(butler):
    ana = butler.call("entity_create", canonical_name="Ana", entity_type="person", tenant_id=TENANT, aliases=["Anita"])
    ana = ana["entity"]["id"]
    other = butler.call("entity_create", canonical_name="Ana Sousa", entity_type="person", tenant_id="default")
    [match] = butler.call("entity_resolve", name="anita")["candidates"]
    assert (match["entity_id"], match["name_match"]) == (ana, "alias")
    assert butler.call("entity_resolve", name="Anna", enable_fuzzy=True, entity_type="person")["candidates"]
    assert butler.call("entity_update", entity_id=ana, metadata={"city": "Lisbon"})["entity"]["metadata"] == {
        "city": "Lisbon"
    }
    merged = butler.call("entity_merge", source_entity_id=other["entity"]["id"], target_entity_id=ana)
    assert merged["target"]["aliases"] == ["Anita", "Ana Sousa"]
    gone = butler.call("entity_get", entity_id=other["entity"]["id"])
    assert gone["entity"]["metadata"]["merged_into"] == ana


@pytest.mark.req("B19.7")
def test_a_butler_keeps_its_house(path, butler):
    for said in ("one", "two"):
        butler.call("memory_store_episode", content=said, butler=AGENT, session_id="monday")
    due = butler.call("memory_run_consolidation")
    assert (due["dry_run"], due["due"]) == (True, 2)  # without a language model
    with Memory.open(path, settings=SETTINGS) as memory:
        assert memory.agent().consolidation.mark_session("monday") == 2
    cleaned = butler.call("memory_run_episode_cleanup", max_entries=1)
    assert {name: cleaned[name] for name in ("expired_deleted", "capacity_deleted", "remaining")} == {
        "expired_deleted": 0,
        "capacity_deleted": 1,
        "remaining": 1,
    }


@pytest.mark.req("Y17")
def test_an_orchestrator_remembers_corrects_and_protects(serve, path):
    with serve("orchestrator") as tools:
        first = tools.call("remember_fact", subject="Ana", predicate="lives in", content="Porto")
        corrected = tools.call("correct_fact", fact_id=first["id"], content="Lisbon")["memory"]
        assert corrected["supersedes_id"] == first["id"]
        protected = tools.call("confirm_fact", fact_id=corrected["id"])["memory"]
        assert (protected["content"], protected["decay_rate"], protected["confidence"]) == ("Lisbon", 0.0, 1.0)
        assert tools.call("confirm_fact", fact_id=protected["id"])["memory"]["id"] == protected["id"]
        assert tools.fault("confirm_fact", fact_id=first["id"])["code"] == "invalid_input"
        [known] = tools.call("search_memory", query="Where does Ana live, Lisbon?")["memories"]
        assert (known["id"], known["content"], known["about"]) == (protected["id"], "Lisbon", "Ana lives in")
        counts = tools.call("memory_stats")
        assert (counts["facts"]["active"], counts["facts"]["superseded"]) == (1, 2)
        assert counts["latest_at"] > protected["created_at"]  # it was confirmed after it was stored
        assert bare(tools.call("get_entity_info", name="Bela")) == {"found": False, "profile": None}
        told = tools.call("get_entity_info", name="Ana")["profile"]  # of a subject that is no entity, what is known
        assert [fact["content"] for fact in told["facts"]["lives in"]][-1] == "Lisbon"
        assert tools.call("correct_fact", fact_id="nobody's", content="x")["found"] is False
    with Memory.open(path, settings=SETTINGS) as memory:
        ana = memory.agent().entities.create("Ana", "person")
        memory.agent().remember("tea", subject="Ana", predicate="likes", entity_id=ana.id)
    with in_memory(path, "orchestrator") as tools:
        profile = tools.call("get_entity_info", name="Ana")["profile"]
        assert [fact["content"] for fact in profile["facts"]["likes"]] == ["tea"]


@pytest.mark.req("Y18")
def test_a_consolidator_learns_from_a_session(serve, path):
    with Memory.open(path, settings=SETTINGS) as memory:
        talking = memory.agent(session="monday")
        talking.remember("Porto", subject="Ana", predicate="lives in", scope="global")
        turns = [talking.observe(f"turn {number}: Ana moved to Lisbon").id for number in range(31)]
    with serve("consolidator") as tools:
        assert tools.call("is_session_consolidated", session_id="monday")["consolidated"] is False
        first = tools.call("get_episodes_for_consolidation", session_id="monday")
        second = tools.call("get_episodes_for_consolidation", session_id="monday", page=first["next_page"])
        assert [each["id"] for each in first["episodes"] + second["episodes"]] == turns
        assert second["next_page"] is None
        fact = {"subject": "Ana", "predicate": "is living in", "content": "Lisbon", "source_ids": [turns[0]]}
        saved = tools.call("save_facts_batch", facts=[fact, fact])
        assert (len(saved["saved"]), saved["repeated"]) == (1, 1)
        [old] = tools.call("detect_conflicts", fact_id=saved["saved"][0]["id"])["conflicts"]
        resolved = tools.call("resolve_conflict", old_fact_id=old["id"], new_fact_id=saved["saved"][0]["id"])
        assert resolved["memory"]["confidence"] == 0.3
        assert tools.call("mark_session_consolidated", session_id="monday")["marked"] == 31
        assert tools.call("is_session_consolidated", session_id="monday")["consolidated"] is True
        assert tools.call("detect_conflicts", fact_id="nobody's")["found"] is False
        refused = tools.fault("save_facts_batch", facts=[{**fact, "source_ids": ["nobody's"]}])
        assert refused["code"] == "not_found"


@pytest.mark.parametrize("serve", ["in memory, by handshake", "over pipes", "over http, by handshake"], indirect=True)
def test_notes_are_kept_under_keys(serve):
    with serve("notes") as tools:
        tools.call("save_note", key="project:alpha", content="The canoe needs cedar planks.")
        tools.call("save_note", key="project:beta", content="The cedar planks of the canoe cost much.")
        assert tools.call("recall_note", key="project:alpha")["note"]["content"] == "The canoe needs cedar planks."
        assert [note["key"] for note in tools.call("list_notes", limit=1)["notes"]] == ["project:beta"]
        category = tools.call("recall_note", key="project:alpha")["note"]["category"]
        assert tools.call("list_notes", category=category)["notes"]
        assert tools.call("search_notes", query="cedar cost")["hits"][0]["note"]["key"] == "project:beta"
        [related] = tools.call("related_notes", key="project:alpha")["related"]
        assert related["note"]["key"] == "project:beta"
        assert tools.call("forget_note", key="project:alpha")["note"]["archived"] is True
        assert bare(tools.call("forget_note", key="project:alpha")) == {"found": False, "note": None}


@pytest.mark.req("N20")
def test_a_request_id_comes_back_and_stands_in_the_events(path, butler):
    stored = butler.call("memory_store_rule", content="Ask first.", request_context=CONTEXT)
    marked = butler.call("memory_mark_helpful", rule_id=stored["id"], request_context=CONTEXT)
    read = butler.call("memory_recall", topic="Ask", request_context=CONTEXT)
    assert {stored["request_id"], marked["request_id"], read["request_id"]} == {"req-7"}
    assert {event.request_id for event in events_of(path, stored["id"])} == {"req-7"}
    assert butler.call("memory_get", memory_type="rule", memory_id=stored["id"])["request_id"] is None


def test_the_conversation_that_is_going_on_is_left_out_of_its_context(path, butler):
    with Memory.open(path, settings=SETTINGS) as memory:
        here = memory.agent(session="monday")
        turn = here.observe("I live in Lisbon")
        here.remember("Lisbon", subject="Ana", predicate="lives in", source_episode_id=turn.id)
    asked = {"trigger_prompt": "Lisbon", "butler": AGENT}
    assert butler.call("memory_context", **asked)["memory_ids"]
    assert butler.call("memory_context", **asked, request_context={"session_id": "monday"})["memory_ids"] == []


def test_the_same_idempotency_key_stores_once(butler):
    said = {"content": "We talked.", "butler": AGENT, "idempotency_key": "call 1"}
    assert butler.call("memory_store_episode", **said)["id"] == butler.call("memory_store_episode", **said)["id"]
    assert butler.call("memory_stats")["episodes"]["total"] == 1


def every_value(answer, name):
    """The values of all fields of that name, however deep."""
    match answer:
        case dict():
            for key, value in answer.items():
                if key == name:
                    yield value
                yield from every_value(value, name)
        case list():
            for each in answer:
                yield from every_value(each, name)


@pytest.mark.req("B27.1", "B27.2")
def test_ids_are_text_times_iso_8601_and_vectors_stay_inside(butler):
    stored = butler.raw("memory_store_fact", subject="Ana", predicate="lives in", content="Lisbon")
    found = butler.raw("memory_search", query="Lisbon")
    for result in (stored, found):
        said = json.loads(result.content[0].text)
        assert said == result.structured_content
        for id_ in every_value(said, "id"):
            assert str(UUID(id_)) == id_
        for time in every_value(said, "created_at"):
            assert datetime.fromisoformat(time).utcoffset() == timedelta(0)
        assert list(every_value(said, "embedding")) == []
    assert list(every_value(found.structured_content, "created_at"))


def test_what_is_not_there_is_an_answer(butler):
    fact = butler.call("memory_store_fact", subject="Ana", predicate="lives in", content="Lisbon")["id"]
    for tool in ("memory_get", "memory_confirm", "memory_forget"):
        assert butler.call(tool, memory_type="rule", memory_id=fact)["found"] is False
        assert butler.call(tool, memory_type="fact", memory_id="nobody's")["found"] is False
    got = butler.call("memory_get", memory_type="fact", memory_id=fact)["memory"]
    assert (got["validity"], got["reference_count"]) == ("active", 1)  # none for the wrong kind
    for tool in ("memory_mark_helpful", "memory_mark_harmful"):
        assert butler.call(tool, rule_id="nobody's")["found"] is False
    for tool in ("entity_get", "entity_update"):
        assert butler.call(tool, entity_id="nobody's") == {"request_id": None, "found": False, "entity": None}


def test_what_is_refused_is_told_by_its_code_and_the_server_lives_on(butler):
    refused = [
        butler.fault("memory_get", memory_type="thought"),
        butler.fault("memory_get", memory_type="fact", memory_id="x", memory_idd="y"),
        butler.fault("memory_store_rule", content="  "),
        butler.fault("memory_store_rule", content="x", scope="somebody else"),
        butler.fault("memory_search", query="x", scope="somebody else"),
        butler.fault("memory_search", query="x", limit=-1),
        butler.fault("memory_run_consolidation", agent="bob"),
    ]
    assert {each["code"] for each in refused} == {"invalid_input"}
    assert "memory_id: Field required" in refused[0]["message"]
    assert "memory_idd" in refused[1]["message"]
    assert butler.call("memory_stats")["rules"]["candidate"] == 0


def test_calls_that_come_together_are_all_done(butler):
    asked = [
        butler.portal.start_task_soon(butler.client.call_tool, "memory_store_rule", {"content": f"Rule {number}."})
        for number in range(8)
    ]
    assert len({each.result().structured_content["id"] for each in asked}) == 8
    assert butler.call("memory_stats")["rules"]["candidate"] == 8


def test_a_fault_of_the_memory_is_told_by_its_code(path):
    with Memory.open(path, settings=SETTINGS) as memory, connected(make_server(memory, "notes"), "auto") as tools:
        memory.close()
        assert tools.fault("list_notes")["code"] == "memory_closed"


def test_no_argument_says_who_asks(path, butler):
    with Memory.open(path, settings=SETTINGS) as memory:
        hidden = [
            memory.agent("bob").remember("42", subject="bob", predicate="secret", scope="bob"),
            memory.agent(tenant="default").remember("42", subject="default", predicate="secret"),
        ]
    asked = {"trigger_prompt": "secret 42", "butler": "bob"}
    assert "--agent" in butler.fault("memory_context", **asked)["message"]
    assert butler.fault("memory_store_episode", content="x", butler="bob")["code"] == "invalid_input"
    assert butler.fault("entity_resolve", name="x", tenant_id="rivals")["code"] == "invalid_input"
    assert butler.call("memory_search", query="secret 42")["hits"] == []
    for each in hidden:
        context = {"tenant_id": each.tenant_id, "agent": each.agent}
        found = butler.call("memory_get", memory_type="fact", memory_id=each.id, request_context=context)
        assert found["found"] is False
    created = butler.call("entity_create", canonical_name="Ana", entity_type="person", tenant_id="default")
    assert created["entity"]["tenant_id"] == TENANT


def test_stdout_carries_the_protocol_and_nothing_else(path):
    """Also where a line is no JSON, a tool is unknown, and the file is new, which is told on stderr."""

    def request(id_, method, **params):
        return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}

    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    command = [sys.executable, "-m", "engrain", "mcp", "--db", path]
    environment = {**os.environ, "ENGRAIN_EMBEDDING__MODEL": "none"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, cwd=path.parent, **pipes) as server:
        said = []

        def ask(message):
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
            while True:
                answer = json.loads(server.stdout.readline())
                said.append(answer)
                if answer.get("id") == message["id"]:
                    return answer

        assert ask(request(1, "initialize", **hello))["result"]["serverInfo"]["name"] == "engrain"
        server.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\nthis is no JSON\n')
        assert ask(request(2, "tools/call", name="shout", arguments={}))["error"]["code"] == -32602
        assert ask(request(3, "tools/call", name="profile", arguments={}))["result"]["isError"] is False
        server.stdin.close()
        said += [json.loads(line) for line in server.stdout]
        noted = server.stderr.read()
    assert {each["jsonrpc"] for each in said} == {"2.0"}
    assert server.returncode == 0
    assert str(path) in noted
    assert "Traceback" not in noted


def test_each_profile_has_instructions_and_tools():
    assert [profile_of(name).name for name in PROFILES] == list(PROFILES)


def test_an_unknown_profile_and_a_missing_package_are_told(path):
    def run(prelude, *arguments):
        script = f"{prelude}\nimport sys\nfrom engrain.interfaces.cli import main\nsys.exit(main(sys.argv[1:]))"
        command = [sys.executable, "-c", script, "mcp", "--db", path, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)

    unknown = run("", "--profile", "nobody")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "butler" in unknown.stderr
    missing = run("import sys; sys.modules['mcp'] = sys.modules['mcp_types'] = None")
    assert (missing.returncode, missing.stdout) == (5, "")
    assert "pip install 'engrain[mcp]'" in missing.stderr
    assert not path.exists()
