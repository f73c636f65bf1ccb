"""Answers over a network of a memory whose engines and database are away: nothing of where they are."""

import json
import socket
from contextlib import contextmanager

import httpx2
import pytest

from engrain import Memory
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from engrain.interfaces.mcp.server import make_server
from tests.support.asgi import serving
from tests.support.mcp_clients import connected, posted

AGENT, SESSION, ASKED = "ada", "monday", "r-17"
WHO = {"Engrain-Agent": AGENT, "Engrain-Session": SESSION, "X-Request-ID": ASKED}
TURN = "The tram to the harbour was late again."


@pytest.fixture(scope="module")
def nowhere():
    """A port of this machine that nobody listens on, and nobody will: it stays bound."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.fixture(scope="module")
def memory(nowhere, tmp_path_factory):
    """One with every engine that there is, at an address where nobody is."""
    url = f"http://127.0.0.1:{nowhere}/v1"
    settings = {
        "agent": AGENT,
        "embedding": {"model": "openai:secret-embedder", "url": url, "key": "sk-of-mine", "dims": 8, "wait_s": 0},
        "reranking": {"model": "http:secret-reranker", "url": url, "key": "sk-of-mine", "budget_s": 30},
        "llm": {"model": "openai:secret-model", "url": url, "key": "sk-of-mine", "attempts": 1},
        "consolidation": {"on_session_switch": False},
    }
    with Memory.open(tmp_path_factory.mktemp("under-the-stairs") / "memory.db", settings=settings) as opened:
        agent = opened.agent(AGENT, session=SESSION)
        agent.observe(TURN, speaker="Ana")
        agent.notes.save("tram", TURN)
        yield opened


@contextmanager
def asked_over_http(memory, profile="all"):
    app = create_app(memory, gate=Gate(memory, keys_required=False), mcp_profile=profile)
    with serving(app) as url, httpx2.Client(base_url=url, headers=WHO, timeout=60) as client:
        yield client, url


def says_nothing_of(text, nowhere):
    """Whether a text holds nothing of the machine, its files or its services."""
    leaks = [str(nowhere), "127.0.0.1", "localhost", "under-the-stairs", "memory.db", "sk-of-mine", "somebody"]
    leaks += ["secret-embedder", "secret-reranker", "Errno", "Connect", "httpx", "apsw", "redis:", "http:"]
    return [each for each in leaks if each in text] == []


def logged(caplog):
    return [vars(each) for each in caplog.records if each.message == "an answer is degraded"]


def public(code, message):
    return {"code": code, "message": message, "detail": None}


EMBEDDER = public("embedder_unavailable", "keywords alone: the embedder cannot answer now")
RERANKER = public(
    "reranker_unavailable", "the order of the search stands, nothing was re-ranked: the reranker cannot answer now"
)
LLM = public("llm_unavailable", "extractive: the language model cannot answer now")
ENGINES = {
    "recall": ("/v1/recall", {"query": "tram", "deep": True}, [EMBEDDER, RERANKER]),
    "notes": ("/v1/notes/search", {"query": "tram", "mode": "deep"}, [RERANKER]),
    "context": ("/v1/context", {"query": "tram"}, [EMBEDDER]),
    "messages": ("/v1/messages", {"asked": "tram"}, [EMBEDDER]),
    "session_start": ("/v1/hooks/session_start", {"prompt": "tram"}, [EMBEDDER]),
    "summarize": ("/v1/summarize", {"session": SESSION, "strategy": "simple"}, [LLM]),
}


@pytest.mark.parametrize("verb", ENGINES)
def test_engines_that_are_away_are_told_of_in_our_own_words(memory, nowhere, caplog, verb):
    route, body, expected = ENGINES[verb]
    with asked_over_http(memory) as (client, _):
        answer = client.post(route, json=body)
    assert answer.status_code == 200, answer.text
    told = answer.json()["degraded"]
    assert [each for each in expected if each in told] == expected
    assert says_nothing_of(answer.text, nowhere)
    reasons = logged(caplog)
    assert {each["request_id"] for each in reasons} == {ASKED}
    assert sum(str(nowhere) in each["reason"] for each in reasons) >= len(expected)


def test_what_learning_failed_of_is_told_and_stored_without_the_machine(memory, nowhere, caplog):
    for number in range(10):
        memory.agent(AGENT).remember("late", subject=f"the tram of {number}", predicate="is")
    with asked_over_http(memory) as (client, _):
        learned = client.post("/v1/consolidate", json={})
        reflected = client.post("/v1/reflect", json={"force": True})
        looks = [
            client.get("/v1/runs"),
            client.get("/v1/events"),
            client.get("/v1/dashboard"),
            client.get(f"/v1/memories/{memory.agent(AGENT).recall('tram', preset='keyword')[0].memory.id}"),
            client.post("/v1/jobs", json={"name": "consolidation"}),
            client.get("/v1/jobs"),
        ]
    [failure] = learned.json()["failures"]
    assert failure.items() >= public("engine_unavailable", "the language model cannot answer now").items()
    [outcome] = reflected.json()["agents"]
    assert outcome["failure"] == public("llm_unavailable", "the language model cannot answer now")
    assert outcome["said"] == "the language model cannot answer now"
    for answer in (learned, reflected, *looks):
        assert answer.is_success, answer.text
        assert says_nothing_of(answer.text, nowhere), answer.text
    assert any(str(nowhere) in str(getattr(each, "reason", "")) for each in caplog.records)


def spoiled(memory, path):
    """The file, but for its first page, is nonsense from now on."""
    memory.parts.store.backend._connections._writer.pragma("wal_checkpoint(TRUNCATE)")
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\x5a" * (path.stat().st_size - 4096))


def test_a_database_that_cannot_be_read_and_redis_are_told_of_in_our_own_words(tmp_path, nowhere, caplog):
    (path := tmp_path / "under-the-stairs" / "memory.db").parent.mkdir()
    settings = {"embedding": {"model": "none"}, "redis": {"url": f"redis://somebody:sk-of-mine@127.0.0.1:{nowhere}/0"}}
    with Memory.open(path, settings=settings) as memory:
        memory.agent(AGENT, session=SESSION).observe(TURN)
    with Memory.open(path, settings=settings) as memory, asked_over_http(memory) as (client, _):
        spoiled(memory, path)
        answers = {
            "session_start": client.post("/v1/hooks/session_start", json={"prompt": "tram"}),
            "session_end": client.post("/v1/hooks/session_end"),
            "recent": client.get("/v1/hooks/recent"),
            "message": client.post("/v1/hooks/message", json={"content": "more"}),
        }
        failed = [client.get("/v1/stats"), client.get("/readyz", headers={"Authorization": "Bearer nobody"})]
    for name, answer in answers.items():
        assert answer.status_code == 200, answer.text
        assert "database_damaged" in {each["code"] for each in answer.json()["degraded"]}, name
    assert {each.status_code for each in failed} == {500, 503}
    for answer in (*answers.values(), *failed):
        assert says_nothing_of(answer.text, nowhere), answer.text
    reasons = [each["reason"] for each in logged(caplog)]
    assert sum("under-the-stairs" in each for each in reasons) >= len(answers)


# The tools of published profiles answer texts.
TEXTS = frozenset({"memory_search", "memory_context", "search_memory"})
TOOLS = {
    "butler": {
        "memory_search": {"query": "tram"},
        "memory_context": {"trigger_prompt": "tram", "butler": AGENT},
    },
    "orchestrator": {"search_memory": {"query": "tram"}},
    "all": {"recall": {"query": "tram"}, "context": {"query": "tram"}, "messages": {"asked": "tram"}},
}


def degraded_of(answer):
    """What a tool of any profile says it had to do without."""
    return answer.get("answer", answer)["degraded"]


def test_tools_over_http_tell_no_more_and_tools_of_whoever_runs_it_tell_all(memory, nowhere, caplog):
    """Over stdio the client was started by whoever can open the database."""
    outside, learned = {}, []
    for profile, asked in TOOLS.items():
        with asked_over_http(memory, profile) as (_, url), posted(url, headers=WHO) as tools:
            outside |= {name: tools.raw(name, **arguments) for name, arguments in asked.items()}
            memory.agent(AGENT).observe(TURN)
            if profile == "butler":
                learned.append(tools.raw("memory_run_consolidation"))
            if profile == "all":
                learned += [tools.raw("consolidate"), tools.raw("runs")]
                summary = tools.raw("summarize", session=SESSION, strategy="simple")
    for name, answer in outside.items():
        expected = EMBEDDER["message"] if name in TEXTS else EMBEDDER
        assert expected in degraded_of(answer.structured_content), name
    assert LLM in degraded_of(summary.structured_content)
    for answer in learned:
        assert "the language model cannot answer now" in json.dumps(answer.structured_content)
    for answer in (*outside.values(), *learned, summary):
        assert not answer.is_error
        assert says_nothing_of(json.dumps(answer.model_dump(mode="json")), nowhere)
    assert sum(str(nowhere) in each["reason"] for each in logged(caplog)) >= len(outside)
    for profile, asked in TOOLS.items():
        with connected(make_server(memory, profile), "auto") as tools:
            for name, arguments in asked.items():
                degraded = degraded_of(tools.call(name, **arguments))
                [said] = [text for text in map(str, degraded) if "keywords alone" in text]
                assert f"http://127.0.0.1:{nowhere}/v1" in said


def test_lines_of_text_over_http_tell_no_more_and_over_pipes_tell_all(memory, nowhere):
    for name, arguments in {"search": {"query": "tram"}, "context": {"prompt": "tram"}}.items():
        with asked_over_http(memory, "assistant") as (_, url), posted(url, headers=WHO) as tools:
            outside = tools.text(name, **arguments)
        with connected(make_server(memory, "assistant"), "auto") as tools:
            inside = tools.text(name, **arguments)
        assert "Note: " in outside
        assert says_nothing_of(outside, nowhere)
        assert f"http://127.0.0.1:{nowhere}/v1" in inside


def test_whoever_runs_it_is_told_all(memory, nowhere):
    [reason, *_] = memory.agent(AGENT).recall("tram").degraded
    assert f"http://127.0.0.1:{nowhere}/v1" in reason.detail
    assert {**reason.to_dict(), "detail": None} == EMBEDDER
    memory.agent("ben").observe(TURN)
    [failure] = memory.consolidate(agent="ben").failures
    assert str(nowhere) in failure.detail
    assert str(nowhere) in memory.agent(AGENT, session=SESSION).summarize(strategy="simple").degraded[0].detail
