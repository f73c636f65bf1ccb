"""The library's verbs as tools of the profile `all`: what they take, answer and refuse."""

import pytest

from engrain import Memory
from engrain.verbs.table import VERBS
from tests.support.mcp_clients import AGENT, SETTINGS, in_memory

CONTEXT = {"request_id": "req-7", "session_id": "monday"}
ABOUT = {"subject": "Ana", "predicate": "lives in"}
NOBODY = "nobody's"


@pytest.fixture
def tools(path):
    with in_memory(path, "all") as tools:
        yield tools


def answer(tools, tool, **arguments):
    """What a tool answers where what it names is there."""
    result = tools.call(tool, **arguments)
    assert result["found"]
    return result["answer"]


def of_the_library(path, question):
    with Memory.open(path, settings=SETTINGS) as memory:
        return question(memory)


def test_the_tools_are_the_verbs_that_are_offered_by_their_own_names(tools):
    listed = {tool.name for tool in tools.portal.call(tools.client.list_tools).tools}
    assert listed == {verb.identifier for verb in VERBS if verb.tool}


def test_a_turn_is_kept_with_all_that_is_known_of_it_and_stays(tools, path):
    given = {"role": "tool", "speaker": "clerk", "tokens": 3, "model": "m", "tags": ["x"], "metadata": {"a": [1]}}
    result = tools.call("observe", content="Booked", tool_calls=[{"name": "book"}], request_context=CONTEXT, **given)
    turn = result["answer"]
    assert {name: turn[name] for name in given} == given
    assert (turn["session"], turn["expires_at"], result["request_id"]) == ("monday", None, "req-7")
    created_at = turn["created_at"]
    assert turn == of_the_library(path, lambda memory: memory.agent().get(turn["id"], as_of=created_at).to_dict())
    assert answer(tools, "observe", content="Said", session="tuesday")["session"] == "tuesday"
    [event] = answer(tools, "events", id=turn["id"])["items"]
    assert (event["event_type"], event["actor"], event["request_id"]) == ("episode_created", AGENT, "req-7")


def test_a_block_is_text_for_a_model_and_memories_for_a_program(tools):
    turn = answer(tools, "observe", content="The canoe costs 900", session="monday")["id"]
    fact = answer(tools, "remember", content="Lisbon", **ABOUT, confidence=0.5, source="a letter")["id"]
    block = tools.raw("context", query="Ana in Lisbon, the canoe", with_sources=True)
    structure = block.structured_content["answer"]
    assert block.content[0].text == structure["text"]
    assert "a letter" in structure["text"]
    assert {memory["id"] for memory in structure["memories"]} == {turn, fact}
    here = answer(tools, "context", query="Ana in Lisbon, the canoe", request_context={"session_id": "monday"})
    assert {memory["id"] for memory in here["memories"]} == {fact}
    prompt = {"asked": "Where is Ana?", "system": "Be brief.", "tools": [{"name": "f"}], "window_tokens": 3000}
    chat = tools.call("messages", **prompt)["answer"]
    assert [message["role"] for message in chat["messages"]] == ["system", "system", "user"]
    assert chat["messages"][0]["content"] == "Be brief."


def test_what_is_no_more_can_be_asked_for_and_says_since_when(tools):
    porto = answer(tools, "remember", content="Porto", **ABOUT)
    lisbon = answer(tools, "correct", id=porto["id"], content="Lisbon", confidence=0.75)
    assert (lisbon["supersedes_id"], lisbon["confidence"]) == (porto["id"], 0.75)
    history = answer(tools, "history", id=lisbon["id"])["items"]
    assert [fact["content"] for fact in history] == ["Porto", "Lisbon"]
    then = porto["created_at"]
    assert tools.call("get", id=lisbon["id"], as_of=then)["found"] is False
    assert [fact["content"] for fact in answer(tools, "facts", subject="Ana", as_of=then)["items"]] == ["Porto"]
    [hit] = answer(tools, "recall", query="Porto", as_of=then, explain=True)["hits"]
    assert hit["memory"]["id"] == porto["id"]
    assert sum(part["value"] for part in hit["why"]["contributions"]) == pytest.approx(hit["score"])


def test_what_is_not_there_is_an_answer(tools):
    fact = answer(tools, "remember", content="Lisbon", **ABOUT)["id"]
    absent = [
        tools.call("get", id=NOBODY),
        tools.call("correct", id=NOBODY, content="Porto"),
        tools.call("link", source_id=fact, target_id=NOBODY, relation="supports"),
        tools.call("summarize", ids=[NOBODY]),
        tools.call("latest_reflection"),
        tools.call("entities_unmerge", source_id=NOBODY),
        tools.call("undo", run_id=NOBODY),
        *(tools.call(tool, name=NOBODY) for tool in ("pools_delete", "pools_sync_to_agent")),
        *(tools.call(tool, name=NOBODY, member="ben") for tool in ("pools_add", "pools_remove")),
        tools.call("pools_contribute", name=NOBODY, id=fact),
        tools.call("pools_query", name=NOBODY, query="x"),
    ]
    assert [(result["found"], result["answer"]) for result in absent] == [(False, None)] * len(absent)
    assert answer(tools, "erase", ids=[NOBODY]) == {"ids": [], "erased": [], "waiting": [], "derived": []}
    for tool in ("history", "links", "events", "rules_applications"):
        assert answer(tools, tool, id=NOBODY)["items"] == []


def test_what_is_refused_names_the_value_and_nothing_is_written(tools):
    for tool, arguments, message in (
        ("observe", {"content": "x", "role": "cat"}, "role: Input should be 'user'"),
        ("observe", {"content": "x", "importance": 11}, "importance is 11.0; it must lie in [0, 10]"),
        ("observe", {"content": "x", "metadata": [1]}, "metadata: Input should be a valid dictionary"),
        ("remember", {"content": "x", **ABOUT, "scope": "pool:secret"}, "pool:secret"),
        ("remember", {"content": "x", **ABOUT, "valid_from": "soon"}, "soon"),
        ("recall", {"query": "x", "preset": "psychic"}, "psychic"),
        ("context", {"query": "x", "budget_tokens": -1}, "budget_tokens"),
        ("summarize", {}, "summarize needs a query, a session or ids"),
        ("facts", {"limit": 1001}, "limit"),
        ("pools_create", {"name": "crew", "members": ["global"]}, "global"),
        ("audit", {"kinds": ["ugly"]}, "kinds.0: Input should be 'secret'"),
        ("decay", {"tenant": "other"}, "decay takes no tenant; it takes dry_run"),
    ):
        fault = tools.fault(tool, **arguments)
        assert fault["code"] == "invalid_input"
        assert message in fault["message"]
    assert answer(tools, "events")["items"] == []
    assert answer(tools, "pools_list")["items"] == []


def test_what_a_run_learned_is_taken_back_by_its_id(tools):
    answer(tools, "observe", content="The kitchen tap drips.", session="home")
    summary = answer(tools, "summarize", session="home", store=True)
    [run] = answer(tools, "runs", kind="summary")["items"]
    assert (run["id"], run["status"]) == (summary["run_id"], "done")
    assert answer(tools, "get", id=summary["memory_id"])["validity"] == "active"
    undone = answer(tools, "undo", run_id=run["id"])
    assert undone["run"]["status"] == "undone"
    assert [change["memory_id"] for change in undone["restored"]] == [summary["memory_id"]]
    assert answer(tools, "get", id=summary["memory_id"])["validity"] == "retracted"


def test_what_is_erased_leaves_nothing_but_that_it_was(tools):
    secret = answer(tools, "remember", content="hunter2", subject="Ana", predicate="has the password")["id"]
    [finding] = answer(tools, "audit", kinds=["secret"])["findings"]
    assert "hunter2" not in str(finding)
    assert answer(tools, "erase", ids=[secret])["ids"] == [secret]
    assert tools.call("get", id=secret)["found"] is False
    assert "hunter2" not in str(tools.call("events"))
    assert answer(tools, "audit", kinds=["secret"])["counts"]["secret"] == 0
