"""The library's verbs as tools of the profile `all`: what they take, what they answer, and what they are told by."""

import pytest

from engrain import Memory
from tests.support.mcp_clients import AGENT, SETTINGS, in_memory

CONTEXT = {"request_id": "req-7", "session_id": "monday"}
ABOUT = {"subject": "Ana", "predicate": "lives in"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


@pytest.fixture
def tools(path):
    with in_memory(path, "all") as tools:
        yield tools


def of_the_library(path, question):
    with Memory.open(path, settings=SETTINGS) as memory:
        return question(memory)


def test_a_turn_is_kept_with_all_that_is_known_of_it_and_stays(tools, path):
    given = {"role": "tool", "speaker": "clerk", "tokens": 3, "model": "m", "tags": ["x"], "metadata": {"a": [1]}}
    turn = tools.call("observe", content="Booked", tool_calls=[{"name": "book"}], request_context=CONTEXT, **given)
    assert {name: turn["memory"][name] for name in given} == given
    assert (turn["memory"]["session"], turn["memory"]["expires_at"], turn["request_id"]) == ("monday", None, "req-7")
    created_at = turn["memory"]["created_at"]
    assert turn["memory"] == of_the_library(
        path, lambda memory: memory.agent().get(turn["id"], as_of=created_at).to_dict()
    )
    assert tools.call("observe", content="Said", session_id="tuesday")["memory"]["session"] == "tuesday"
    [event] = tools.call("events", memory_id=turn["id"])["items"]
    assert (event["event_type"], event["actor"], event["request_id"]) == ("episode_created", AGENT, "req-7")


def test_a_block_is_text_for_a_model_and_memories_for_a_program(tools):
    turn = tools.call("observe", content="The canoe costs 900", session_id="monday")["id"]
    fact = tools.call("remember", content="Lisbon", **ABOUT, confidence=0.5, source="a letter")["id"]
    block = tools.raw("context", query="Ana in Lisbon, the canoe", with_sources=True)
    said = block.structured_content
    assert block.content[0].text == said["text"]
    assert "a letter" in said["text"]
    assert {each["id"] for each in said["memories"]} == {turn, fact}
    here = tools.call("context", query="Ana in Lisbon, the canoe", request_context={"session_id": "monday"})
    assert {each["id"] for each in here["memories"]} == {fact}
    chat = tools.call("messages", asked="Where is Ana?", system="Be brief.", tools=[{"name": "f"}], window_tokens=3000)
    assert [each["role"] for each in chat["messages"]] == ["system", "system", "user"]
    assert chat["messages"][0]["content"] == "Be brief."


def test_what_is_no_more_can_be_asked_for_and_says_since_when(tools):
    porto = tools.call("remember", content="Porto", **ABOUT)
    lisbon = tools.call("correct", fact_id=porto["id"], content="Lisbon", confidence=0.75)["memory"]
    assert (lisbon["supersedes_id"], lisbon["confidence"]) == (porto["id"], 0.75)
    assert [each["content"] for each in tools.call("history", fact_id=lisbon["id"])["items"]] == ["Porto", "Lisbon"]
    then = porto["memory"]["created_at"]
    assert tools.call("get", memory_id=lisbon["id"], as_of=then)["found"] is False
    assert [each["content"] for each in tools.call("facts", subject="Ana", as_of=then)["items"]] == ["Porto"]
    [hit] = tools.call("recall", query="Porto", as_of=then, explain=True)["hits"]
    assert hit["memory"]["id"] == porto["id"]
    assert sum(each["value"] for each in hit["why"]["contributions"]) == pytest.approx(hit["score"])


def test_what_is_not_there_is_an_answer(tools):
    fact = tools.call("remember", content="Lisbon", **ABOUT)["id"]
    absent = [
        tools.call("get", memory_id="nobody's"),
        tools.call("correct", fact_id="nobody's", content="Porto"),
        tools.call("link", source_id=fact, target_id="nobody's", relation="supports"),
        tools.call("summarize", memory_ids=["nobody's"]),
        tools.call("latest_reflection"),
        tools.call("entity_unmerge", source_entity_id="nobody's"),
        tools.call("undo", run_id="nobody's"),
        *(tools.call(tool, pool="nobody's") for tool in ("pool_delete", "pool_sync")),
        *(tools.call(tool, pool="nobody's", member="ben") for tool in ("pool_add", "pool_remove")),
        tools.call("pool_contribute", pool="nobody's", memory_id=fact),
        tools.call("pool_query", pool="nobody's", query="x"),
    ]
    assert [each["found"] for each in absent] == [False] * len(absent)
    assert tools.call("erase", memory_ids=["nobody's"])["erased"] == []
    for tool, of in (
        ("history", "fact_id"),
        ("links", "memory_id"),
        ("events", "memory_id"),
        ("rule_applications", "rule_id"),
    ):
        assert tools.call(tool, **{of: "nobody's"})["items"] == []


def test_what_is_refused_names_the_value_and_nothing_is_written(tools):
    for tool, arguments, said in (
        ("observe", {"content": "x", "role": "cat"}, "role: Input should be 'user'"),
        ("observe", {"content": "x", "importance": 11}, "importance is 11.0; it must lie in [0, 10]"),
        ("observe", {"content": "x", "metadata": [1]}, "metadata: Input should be a valid dictionary"),
        ("remember", {"content": "x", **ABOUT, "scope": "pool:secret"}, "pool:secret"),
        ("remember", {"content": "x", **ABOUT, "valid_from": "soon"}, "soon"),
        ("recall", {"query": "x", "preset": "psychic"}, "psychic"),
        ("context", {"query": "x", "budget_tokens": -1}, "budget_tokens"),
        ("summarize", {}, "nothing to summarise is named"),
        ("facts", {"limit": 1001}, "limit"),
        ("pool_create", {"pool": "crew", "members": ["global"]}, "global"),
        ("audit", {"kinds": ["ugly"]}, "kinds.0: Input should be 'secret'"),
        ("decay", {"tenant": "other"}, "decay takes no tenant; it takes dry_run"),
    ):
        fault = tools.fault(tool, **arguments)
        assert fault["code"] == "invalid_input"
        assert said in fault["message"]
    assert tools.call("events")["items"] == []
    assert tools.call("pool_list")["items"] == []


def test_what_a_run_learned_is_taken_back_by_its_id(tools):
    tools.call("observe", content="The kitchen tap drips.", session_id="home")
    summary = tools.call("summarize", session_id="home", store=True)["summary"]
    [run] = tools.call("runs", kind="summary")["items"]
    assert (run["id"], run["status"]) == (summary["run_id"], "done")
    assert tools.call("get", memory_id=summary["memory_id"])["memory"]["validity"] == "active"
    undone = tools.call("undo", run_id=run["id"])
    assert (undone["run"]["status"], [each["memory_id"] for each in undone["restored"]]) == (
        "undone",
        [summary["memory_id"]],
    )
    assert tools.call("get", memory_id=summary["memory_id"])["memory"]["validity"] == "retracted"


def test_what_is_erased_leaves_nothing_but_that_it_was(tools):
    secret = tools.call("remember", content="hunter2", subject="Ana", predicate="has the password")["id"]
    [finding] = tools.call("audit", kinds=["secret"])["findings"]
    assert "hunter2" not in str(finding)
    assert tools.call("erase", memory_ids=[secret])["erased"] == [secret]
    assert tools.call("get", memory_id=secret)["found"] is False
    assert "hunter2" not in str(tools.call("events"))
    assert tools.call("audit", kinds=["secret"])["counts"]["secret"] == 0
