"""Whole conversations through the tools of an assistant, by the official client over the pipes of a real server."""

import os
import re

import pytest

from engrain import Memory
from engrain.engines.token_counters import WordPieces
from engrain.interfaces.compat.assistant import LINE_TOKENS
from tests.support.mcp_clients import AGENT, SETTINGS, WAYS, in_memory, over_pipes

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
LONG = (
    "Yesterday we walked along the river for hours, talked about the new job and the old flat, and about the weather. "
    "The dentist's appointment of my daughter is on the ninth of March at half past ten. "
    "Afterwards we had soup at the market, the one with the pumpkin seeds, and bought bread for the whole week to come."
)


@pytest.fixture
def path(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("ENGRAIN_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "memory.db"


@pytest.fixture
def tools(path):
    with in_memory(path, "assistant") as tools:
        yield tools


def lines_of(text):
    """The lines of an answer without the notes that no embedder is there."""
    return [line for line in text.splitlines() if not line.startswith("Note: ")]


def id_in(text):
    [found] = UUID.findall(text.splitlines()[0])
    return found


@pytest.mark.parametrize("way", ["over pipes", "over pipes, by handshake", "over http"])
def test_a_conversation_is_remembered_corrected_and_forgotten(path, way):
    with WAYS[way](path, "assistant") as tools:
        assert lines_of(tools.text("search", query="What is my cat's name?")) == ["Nothing is remembered of this."]
        assert lines_of(tools.text("context", prompt="Hello!")) == ["Nothing is remembered."]
        cat = tools.text("remember", content="My cat is called Miso.")
        assert "user cat: Miso" in cat
        tools.text("remember", content="Lisbon", subject="user", predicate="lives in")
        tools.text("remember", content="The user is allergic to penicillin.")
        tools.text("remember", content="Never propose meetings before nine.")
    with WAYS[way](path, "assistant") as tools:  # another day, another process
        evidence, first, *_ = lines_of(tools.text("search", query="Where does the user live?"))
        assert evidence.startswith("Evidence: ")
        assert first.endswith("user lives in: Lisbon")
        moved = tools.text("remember", content="I moved to Porto.")
        assert "user live in: Porto" in moved
        assert "It replaces" in moved
        assert "Lisbon" not in tools.text("search", query="Where does the user live?")
        renamed = tools.text("correct", id=id_in(cat), content="called Mochi")
        assert "user cat: called Mochi" in renamed
        known = tools.text("profile")
        assert all(word in known for word in ("Mochi", "Porto", "penicillin"))
        assert "Miso" not in known
        assert "Never propose meetings before nine." in tools.text("search", query="When may meetings be?")
        block = tools.text("context", prompt="Where does the user live, and what is the cat called?")
        assert "Porto" in block
        forgotten = tools.text("forget", ids=[id_in(moved), id_in(renamed)])
        assert [line.split()[0] for line in forgotten.splitlines()] == ["Forgot", "Forgot"]
        assert "Porto" not in tools.text("profile")
        assert "Mochi" not in tools.text("search", query="What is the cat called?")
    with Memory.open(path, settings=SETTINGS) as memory:
        assert memory.agent().get(id_in(moved)).validity == "retracted"


@pytest.mark.parametrize("counter", ["characters", "wordpiece"])
def test_a_hit_is_a_line_of_few_tokens_about_what_was_asked(path, counter):
    with Memory.open(path, settings={**SETTINGS, "context": {"count_tokens": counter}}) as memory:
        for number in range(12):
            memory.agent(session=f"day {number}").observe(f"{LONG} It was day {number}.", speaker="Ana")
        memory.agent().remember(LONG, subject="Ana's daughter", predicate="has an appointment")
    with in_memory(path, "assistant", settings={"context": {"count_tokens": counter}}) as tools:
        _, *lines = lines_of(tools.text("search", query="When is the dentist's appointment?"))
        assert 1 < len(lines) <= 10
        count = WordPieces()
        for line in lines:
            assert count(line) <= LINE_TOKENS
            assert "dentist's appointment" in line
        whole = tools.text("search", query="When is the dentist's appointment?", detail=True)
        assert LONG in whole
        assert "session day " in whole
        assert "confidence 1.00" in whole


def test_words_that_say_more_than_their_fact_are_remembered_whole(tools, path):
    said = "My dog is called Rex and he needs insulin twice a day."
    fact, whole = tools.text("remember", content=said).splitlines()
    assert fact.endswith("user dog: Rex")
    assert whole.endswith(f"user: {said}")
    assert "insulin" in tools.text("search", query="insulin")
    [only] = tools.text("remember", content="My cat is called Miso.").splitlines()
    assert only.endswith("user cat: Miso")
    with Memory.open(path, settings=SETTINGS) as memory:
        assert memory.agent().get(id_in(fact)).source_episode_id == id_in(whole)


def test_what_is_no_fact_is_corrected_too(tools, path):
    with Memory.open(path, settings=SETTINGS) as memory:
        turn = memory.agent().observe("The boat is called Ondina.")
        rule = memory.agent().rules.add("Answer in French.")
    assert "The boat is called Ondine." in tools.text("correct", id=turn.id, content="The boat is called Ondine.")
    assert "Answer in German." in tools.text("correct", id=rule.id, content="Answer in German.")
    found = tools.text("search", query="boat Ondina Ondine French German")
    assert ("Ondine" in found, "German" in found) == (True, True)
    assert ("Ondina" in found, "French" in found) == (False, False)


def test_a_correction_that_is_refused_stores_nothing(path):
    with Memory.open(path, settings=SETTINGS) as memory:
        rule = memory.agent().rules.add("Answer in French.", scope="global")
        turn = memory.agent().observe("The boat is called Ondina.")
    with in_memory(path, "assistant", settings={"user": "ana"}) as tools:  # who may not change what is everybody's
        assert tools.fault("correct", id=rule.id, content="Answer in German.")["code"] == "invalid_input"
        assert lines_of(tools.text("search", query="German")) == ["Nothing is remembered of this."]
    with in_memory(path, "assistant", settings={"privacy": {"secrets": "refuse"}}) as tools:
        secret = f"The token is {TOKEN}."
        assert tools.fault("correct", id=turn.id, content=secret)["code"] == "invalid_input"
        assert "Ondina" in tools.text("search", query="Ondina")


def test_what_cannot_be_forgotten_is_told_and_the_others_go(path):
    with Memory.open(path, settings=SETTINGS) as memory:
        rule = memory.agent().rules.add("Answer in French.", scope="global")
    with in_memory(path, "assistant", settings={"user": "ana"}) as tools:
        cat, dog = (id_in(tools.text("remember", content=f"My {pet}.")) for pet in ("cat is called Miso", "dog is Rex"))
        went, kept, unknown, last = tools.text("forget", ids=[cat, rule.id, "nobody's", dog]).splitlines()
        assert (went.split()[:2], last.split()[:2]) == (["Forgot", cat], ["Forgot", dog])
        assert kept.startswith(f"Kept {rule.id}: rule {rule.id} is everybody's")
        assert unknown.startswith("No memory has the id")
        assert tools.fault("forget", ids=[rule.id])["code"] == "invalid_input"
        assert "French" in tools.text("search", query="French")


def test_what_is_not_there_is_told(tools):
    assert tools.text("correct", id="nobody's", content="x").startswith("No memory has the id")
    assert tools.text("forget", ids=["nobody's"]).startswith("No memory has the id")
    assert tools.text("forget", ids=[]) == "No ids were given; search shows them."
    assert tools.text("profile", name="Zoe") == "No facts are known about 'Zoe'; search may find what mentions it."
    assert tools.text("profile", name=" ").startswith("No facts are known about 'user'")
    assert lines_of(tools.text("search", query="")) == ["Nothing is remembered of this."]
    assert tools.fault("remember", content=" ")["code"] == "invalid_input"


def test_a_profile_names_the_facts_about_one_and_no_note(tools, path):
    with Memory.open(path, settings=SETTINGS) as memory:
        agent = memory.agent()
        agent.notes.save("project:alpha", "The canoe needs cedar planks.")
        for number in range(45):
            agent.remember(f"thing {number}", subject="Ana", predicate="likes")
    assert tools.text("profile").startswith("No facts are known about 'user'")
    *facts, more = tools.text("profile", name="ana").splitlines()
    assert (len(facts), more) == (40, "There are more; search for them.")


def test_a_profile_has_the_statements_that_name_whom_it_is_about(tools):
    for said in ("Ana is allergic to penicillin.", "The dentist of Ana Sousa is called Dr. Lind.", "Anabel likes tea."):
        tools.text("remember", content=said)
    tools.text("remember", content="Porto", subject="Ana", predicate="lives in")
    home, *texts = tools.text("profile", name="ana").splitlines()
    assert home.endswith("Ana lives in: Porto")
    assert {"penicillin" in text or "Dr. Lind" in text for text in texts} == {True}
    assert len(texts) == 2
    [dentist] = tools.text("profile", name="Ana Sousa").splitlines()
    assert "Dr. Lind" in dentist
    assert tools.text("profile", name="") == tools.text("profile")


def test_a_profile_of_the_user_tells_apart_what_may_be_about_others(tools):
    for said in ("Mirko is allergic to shellfish.", "I like chess.", "The user is allergic to penicillin."):
        tools.text("remember", content=said)
    lines = tools.text("profile").splitlines()
    bound = lines.index("Statements that may be about anybody:")
    penicillin, chess = lines[:bound]  # the newest first
    assert penicillin.endswith("The user is allergic to penicillin.")
    assert chess.endswith("I like chess.")
    [other] = lines[bound + 1 :]
    assert other.endswith("Mirko is allergic to shellfish.")


def test_lines_cannot_be_broken_by_what_is_remembered(tools, path):
    with Memory.open(path, settings=SETTINGS) as memory:
        memory.agent().observe("one\nEvidence: strong.\r\n00000000-0000-0000-0000-000000000000", speaker="A\nna")
    for detail in (False, True):
        assert len(lines_of(tools.text("search", query="one", detail=detail))) == 2


def test_the_request_is_named_in_the_results_meta(path):
    with in_memory(path, "assistant") as tools:
        meta = {"request_context": {"request_id": "req-7", "session_id": "monday"}}
        result = tools.raw("remember", meta=meta, content="My cat is called Miso.")
        assert result.meta["request_id"] == "req-7"
        stored = id_in(result.content[0].text)
    with Memory.open(path, settings=SETTINGS) as memory:
        assert {event.request_id for event in memory.agent().events(stored)} == {"req-7"}
        assert memory.agent().get(stored).agent == AGENT


def test_what_is_remembered_in_one_project_replaces_nothing_of_another(path, tmp_path):
    """A coding assistant starts one server for each project: its folder says which."""
    for name in ("shop", "blog"):
        (tmp_path / name / "src").mkdir(parents=True)
        (tmp_path / name / ".git").mkdir()
        origin = f'[remote "origin"]\n\turl = git@github.com:ana/{name}.git\n'
        (tmp_path / name / ".git" / "config").write_text(origin)
    ports = {"shop": "8443", "blog": "9000"}
    for name, port in ports.items():
        with over_pipes(path, "assistant", cwd=tmp_path / name / "src") as tools:
            said = tools.text("remember", content=f"The API listens on port {port}", subject="API", predicate="port")
            assert f"[github.com/ana/{name}] " in said
            assert "It replaces" not in said
            assert f"[github.com/ana/{name}] " in tools.text("remember", content="Never push to main.")
            tools.text("remember", content="Porto", subject="user", predicate="lives in")
            assert "It replaces" in tools.text("remember", content=f"{port}0", subject="API", predicate="port")
    with over_pipes(path, "assistant") as tools:
        tools.text("remember", content="7000", subject="API", predicate="port")
        found = lines_of(tools.text("search", query="Which port does the API listen on?"))
    assert [
        sum(f"[github.com/ana/{name}] API port: {port}0" in line for line in found) for name, port in ports.items()
    ] == [1, 1]
    with Memory.open(path, settings=SETTINGS) as memory:
        agent = memory.agent(AGENT)
        assert sorted(fact.tags for fact in agent.facts("API")) == [
            (),
            ("project:github.com/ana/blog",),
            ("project:github.com/ana/shop",),
        ]
        assert [fact.tags for fact in agent.facts("user")] == [()]
        assert len(agent.list("rule")) == 2
