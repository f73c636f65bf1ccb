"""The audit of a memory with one planted problem of every kind, and of one with none."""

import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engrain.domain.maintenance.findings import FINDING_KINDS
from engrain.domain.records import Caller
from engrain.errors import InvalidInput
from engrain.interfaces.cli.commands import parser
from engrain.lifecycle.audit import AuditOptions, audit
from engrain.service import Memory
from tests.pure.domain.test_secrets import HARMLESS
from tests.support.clock import Clock
from tests.support.one_call import OneCall
from tests.support.sqlite_statements import statements

SAMPLE = Path(__file__).parents[3] / "examples" / "two_friends.jsonl"
BEGIN = datetime(2026, 1, 1, 9, tzinfo=UTC)
TRAMS = "The early tram to the old harbour leaves from platform nine every morning"
PASSWORD = "blue42" + "horse"


@pytest.fixture
def clock():
    return Clock(BEGIN)


@pytest.fixture
def memory(tmp_path, clock):
    with Memory.open(tmp_path / "memory.db", embedder="none", clock=clock) as memory:
        yield memory


def plant(memory, clock):
    """One problem of each kind; the ids of what each finding is about."""
    agent = memory.agent("aide", session="monday")
    planted = {"secret": {agent.observe(f"My wifi password is {PASSWORD}.").id}}
    planted["contradiction"] = {
        agent.remember("Lisbon", subject="Ana", predicate="lives in", scope="global").id,
        agent.remember("Porto", subject="ana", predicate="lives in", scope="aide").id,
    }
    planted["duplicate"] = {
        agent.rules.add(text, scope="global", tags=[tag]).id  # or the second would confirm the first
        for text, tag in [("Ask before booking.", "travel"), ("ask before  BOOKING", "work")]
    }
    clock.pass_time(seconds=1)
    planted["near_duplicate"] = {agent.rules.add(TRAMS).id, agent.rules.add(f"{TRAMS} sharp").id}
    source = agent.observe("Ben said that he plays the violin.")
    orphan = agent.remember("violin", subject="Ben", predicate="plays", source_episode_id=source.id)
    nobody = agent.entities.create("Nobody Atall", "person")
    agent.forget(source.id)
    planted["orphaned"] = {orphan.id, nobody.id}
    over = agent.remember("the market hall", subject="Cid", predicate="works in", valid_to="2026-02-01")
    planted["stale"] = {over.id}
    clock.pass_time(days=60)
    recalled = agent.remember("a red bicycle with a wooden basket", subject="Dora", predicate="rides to the market on")
    agent.recall("Which bicycle does Dora ride to the market?")
    clock.pass_time(seconds=30)
    echo = agent.observe("Dora rides to the market on a red bicycle with a wooden basket.", role="assistant")
    planted["echo"] = {recalled.id, echo.id}
    return agent, planted


def rows(memory):
    store = OneCall(memory.parts.store)
    return {table: store.rows(table, after=None, limit=10_000) for table in store.tables}


def test_problems_of_every_kind_are_found_and_nothing_else(memory, clock):
    agent, planted = plant(memory, clock)
    found = agent.audit(limit=1_000, unused_days=30)
    about = {
        kind: {id_ for finding in found.findings if finding.kind == kind for id_ in finding.ids}
        for kind in FINDING_KINDS
    }
    unused = about.pop("never_recalled")
    assert about == planted
    assert {type(agent.get(id_)).__name__ for id_ in unused} == {"Fact", "Rule"}
    assert planted["echo"].isdisjoint(unused)
    assert found.is_complete
    assert found.counts["orphaned"] == 2


def test_every_suggested_command_is_one(memory, clock):
    agent, _ = plant(memory, clock)
    typed = {command for finding in agent.audit(limit=1_000).findings for command in finding.command.split("; ")}
    assert len(typed) > 5
    for line in typed:
        name, *rest = line.split()
        group = parser().commands[rest[0]]
        command = group.commands[rest[1]] if hasattr(group, "commands") else group
        assert name == "engrain"
        assert command.command.params, line


def test_the_secret_itself_is_never_said(memory, clock):
    agent, _ = plant(memory, clock)
    found = agent.audit()
    assert PASSWORD not in str(found.to_dict())
    [secret] = [finding for finding in found.findings if finding.kind == "secret"]
    assert secret.evidence["shown"] == ["password=********"]


def test_a_fact_is_read_with_what_it_calls_its_value(memory):
    agent = memory.agent("aide")
    fact = agent.remember(PASSWORD, subject="Ana", predicate="wifi password")
    assert [finding.ids for finding in agent.audit(kinds="secret").findings] == [(fact.id,)]
    assert fact.category == "credential"


def test_nothing_is_changed_or_counted(memory, clock):
    agent, _ = plant(memory, clock)
    agent.recall("")
    memory.parts.references.flush()
    before = rows(memory)
    assert agent.audit() == agent.audit()
    assert rows(memory) == before


def test_findings_come_in_pages_and_in_one_order(memory, clock):
    agent, _ = plant(memory, clock)
    whole = agent.audit(limit=1_000)
    for kind in FINDING_KINDS:
        all_of_kind = [finding for finding in whole.findings if finding.kind == kind]
        assert len(all_of_kind) == whole.counts[kind] > 0
        pages = [agent.audit(kinds=kind, limit=1, skip=skip).findings for skip in range(len(all_of_kind) + 1)]
        assert [finding for page in pages for finding in page] == all_of_kind
        assert agent.audit(kinds=[kind]).counts == {kind: len(all_of_kind)}
    assert list(whole.counts) == list(FINDING_KINDS)


def test_an_agent_is_told_of_what_it_sees_alone(memory, clock):
    _, planted = plant(memory, clock)
    other = memory.agent("other").audit(limit=1_000)
    assert other.counts["secret"] == other.counts["contradiction"] == other.counts["echo"] == 0
    assert other.counts["duplicate"] == 1
    hidden = planted["secret"] | planted["echo"] | planted["contradiction"]
    facts = {fact.id for fact in memory.agent("other").facts(include_inactive=True)}
    assert not {id_ for finding in other.findings for id_ in finding.ids} & (hidden - facts)
    stranger = memory.agent("aide", tenant="elsewhere").audit()
    assert (stranger.memories, stranger.findings) == (0, ())


def test_a_sample_dialogue_and_harmless_sentences_are_clean(memory, clock):
    agent = memory.agent("aide")
    agent.import_file(SAMPLE)
    for sentence in HARMLESS:
        agent.observe(sentence)
    clock.pass_time(days=365)
    found = agent.audit()
    assert found.memories > 300 + len(HARMLESS)
    assert [finding.to_dict() for finding in found.findings] == []


def test_it_looks_at_no_more_than_the_setting_says(tmp_path, clock):
    with Memory.open(
        tmp_path / "small.db", embedder="none", clock=clock, settings={"audit": {"memories": 3}}
    ) as memory:
        agent = memory.agent("aide")
        for number in range(2):
            agent.remember("x", subject=f"Subject {number}", predicate="is")
            agent.observe("A turn")
        assert (agent.audit().memories, agent.audit().is_complete) == (3, False)
        agent.forget(agent.recall("turn").hits[0].memory.id)
        assert (agent.audit().memories, agent.audit().is_complete) == (3, True)


def test_progress_is_told_how_many_were_read(memory):
    agent = memory.agent("aide")
    for number in range(5):
        agent.observe(f"Turn {number}")
    told = []
    agent.audit(progress=told.append)
    assert told == [5]
    agent.rules.add("Ask first.")
    told.clear()
    agent.audit(progress=told.append)
    assert told == [1, 6]


def test_vectors_that_agree_make_near_duplicates(tmp_path):
    first = "Ask Ana before booking early flights to distant cities"
    second = "Always ask Ana before booking early flights to remote cities"
    for embedder, count in (("none", 0), ("minilm", 1)):
        with Memory.open(tmp_path / f"{embedder}.db", embedder=embedder) as memory:
            agent = memory.agent("aide")
            for content in (first, second, "Ben plays the violin in the market hall"):
                agent.rules.add(content)
            memory.flush()
            found = agent.audit(kinds="near_duplicate").findings
            assert len(found) == count
            assert all(finding.evidence["cosine"] > 0.93 for finding in found)


@pytest.mark.parametrize(
    "asked", [{"kinds": "nothing"}, {"limit": -1}, {"skip": -1}, {"unused_days": -1}, {"unused_days": float("nan")}]
)
def test_what_makes_no_sense_is_refused(memory, asked):
    with pytest.raises(InvalidInput):
        memory.agent("aide").audit(**asked)


def test_a_thousand_memories_cost_a_few_statements_a_page(memory):
    for number in range(1_001):
        memory.agent("aide").observe(f"Turn {number}")
    with statements(OneCall(memory.parts.store)) as ran:
        assert audit(memory.parts.store, Caller(agent="aide"), AuditOptions(), now=BEGIN).memories == 1_001
    assert Counter(re.search(r"FROM (\w+)", statement)[1] for statement in ran) == {
        **dict.fromkeys(("pool_members", "facts", "rules", "entities"), 1),
        **dict.fromkeys(("episodes", "memory_links", "embedding_versions"), 3),
    }


def test_the_command_line_shows_what_the_library_finds(cli):
    assert cli("audit").out == "0 memories looked at: nothing found\n"
    cli("remember", PASSWORD, "--subject", "Ana", "--predicate", "wifi password")
    ran = cli("audit", "--kind", "secret", "--limit", "5", "--skip", "0", "--unused-days", "30")
    assert (ran.code, PASSWORD in ran.out) == (0, False)
    [line] = [line for line in ran.out.splitlines() if line.startswith("high")]
    assert "password=********" in line
    answer = cli("audit", "--json").json
    assert answer["counts"]["secret"] == 1
    [finding] = answer["findings"]
    assert finding["command"] in line
    assert cli(*finding["command"].split()[1:], "--yes").code == 0
    assert cli("audit", "--json").json["findings"] == []
    assert "nothing" in cli("audit", "--kind", "nothing").err


def test_the_words_tell_what_nobody_said(memory):
    agent = memory.agent("aide")
    assert agent.observe("The tram was late.").importance == 5.0
    assert agent.observe("My name is Ana.").importance == 8.0
    assert agent.observe("My name is Ana.", importance=1).importance == 1.0
    assert agent.observe("exit status 1", role="tool").importance == 6.0
    assert agent.remember("I prefer tea", subject="Ana", predicate="said").importance == 8.0
    assert agent.remember("I prefer tea", subject="Ana", predicate="wrote", importance=0).importance == 0.0
    categories = {
        predicate: agent.remember("x", subject="Ana", predicate=predicate).category for predicate in ("password", "is")
    }
    assert categories == {"password": "credential", "is": "fact"}
    assert agent.remember("x", subject="Ben", predicate="password", category="riddle").category == "riddle"


def test_a_repeat_under_a_key_gives_what_was_stored(memory):
    agent = memory.agent("aide")
    first = agent.observe("My name is Ana.", importance=2, idempotency_key="one")
    assert agent.observe("My name is Ana.", idempotency_key="one") == first
    assert first.importance == 2


def test_an_import_is_scored_as_it_is_read(memory, tmp_path):
    path = tmp_path / "turns.jsonl"
    path.write_text('{"role": "user", "content": "I decided to move."}\n{"role": "user", "content": "It rains."}\n')
    agent = memory.agent("aide")
    agent.import_file(path)
    assert {hit.memory.content: hit.memory.importance for hit in agent.recall("")} == {
        "I decided to move.": 7.0,
        "It rains.": 5.0,
    }
