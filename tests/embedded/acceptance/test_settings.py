"""What settings do to a memory, whoever gives them, and `engrain config`, which says who did."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from engrain import AsyncMemory, Memory
from engrain.errors import InvalidInput

BUTLER = """
[butler]
name = "helper"

[modules.calendar]
key = "the calendar's"

[modules.memory]
agent = "helper"
embedding.model = "none"
episodes.ttl_days = 2
decay = {fading_below = 0.9, expired_below = 0.8}
maturity = {established_successes = 1, warning_harms = 1, warning_effectiveness = 0.9}
cleanup.max_entries = 0

[modules.memory.retrieval]
default_limit = 2
default_mode = "recall"
max_limit = 3
score_weights = {relevance = 0.001, importance = 1.0, recency = 0.0, confidence = 0.0}

[modules.memory.context]
budget_tokens = 12
"""


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("butler.toml").write_text(BUTLER, encoding="utf-8")
    return "butler.toml"


@pytest.mark.req("N18", "B23.2")
def test_a_memory_does_what_the_table_of_its_host_says(config):
    with Memory.open(":memory:", config=config) as memory:
        helper = memory.agent()
        assert helper.caller.agent == "helper"
        turns = [helper.observe(f"tea {'and tea ' * place}", importance=place) for place in range(4)]
        assert all(turn.expires_at - turn.created_at == timedelta(days=2) for turn in turns)
        assert helper.observe("coffee", ttl_days=1).expires_at < turns[0].expires_at
        answer = helper.recall("tea")
        assert answer.preset == "recall"
        assert [hit.memory.importance for hit in answer] == [3, 2]  # two, and what counts is importance
        weights = {each.channel: each.weight for each in answer[0].why.contributions}
        assert weights == {"keyword": pytest.approx(0.001 * 61), "importance": 1.0}  # words alone: all of the relevance
        assert len(helper.recall("tea", limit=3)) == 3
        with pytest.raises(InvalidInput, match=r"limit is 4; it must lie in \[0, 3\]"):
            helper.recall("tea", limit=4)
        assert helper.context("tea").budget_tokens == 12
        rule = helper.rules.add("Book early.")
        assert helper.rules.mark_helpful(rule.id).maturity == "established"
        assert helper.rules.mark_harmful(rule.id).maturity == "anti_pattern"


@pytest.mark.req("N18")
def test_confidence_falls_below_the_thresholds_of_the_hosts_table(config):
    with Memory.open(":memory:", config=config) as memory:
        fact = memory.agent().remember("tea", subject="Ana", predicate="likes", confidence=0.85)
        memory.decay()
        assert memory.agent().get(fact.id).metadata["status"] == "fading"
        memory.agent().remember("rain", subject="Ana", predicate="hates", confidence=0.7)
        assert memory.decay().facts.expired == 1


def test_the_same_awaited(config):
    async def limit():
        async with await AsyncMemory.open(":memory:", config=config, settings={"retrieval": {"limit": 1}}) as memory:
            return memory.settings.retrieval.limit, memory.settings.agent

    assert asyncio.run(limit()) == (1, "helper")


class TestCommand:
    @pytest.mark.usefixtures("config")
    def test_every_setting_is_shown_with_who_gave_it(self, cli, database, monkeypatch):
        monkeypatch.setenv("ENGRAIN_EMBEDDING__KEY", "sk-secret")
        file = database.with_name("butler.toml")
        ran = cli("config", "--config", file, "--agent", "ana", "--json")
        found = {each["name"]: (each["value"], each["origin"]) for each in ran.json["settings"]}
        assert found["agent"] == ("ana", "option --agent")
        assert found["db"] == (str(database), "ENGRAIN_DB")
        assert found["embedding.key"] == ("set", "ENGRAIN_EMBEDDING__KEY")
        assert found["reranking.key"] == ("not set", "default")
        assert found["retrieval.limit"] == (2, f"[modules.memory] of {file}")
        assert found["storage.pool_size"] == (8, "default")
        assert "sk-secret" not in ran.out + cli("config").out

    def test_a_person_reads_a_line_for_each(self, cli, database):
        lines = cli("config", "--agent", "ana").out.splitlines()
        assert lines[0].split() == ["db", str(database), "ENGRAIN_DB"]
        assert [line.split() for line in lines if line.startswith("agent ")] == [["agent", "ana", "option", "--agent"]]
        assert next(line.split() for line in lines if "url" in line) == ["embedding.url", "none", "default"]

    def test_the_password_of_a_server_is_not_shown(self, cli):
        ran = cli("config", "--db", "postgresql://me:s3cret@host/memory")
        assert "s3cret" not in ran.out
        assert "host/memory" in ran.out

    def test_it_opens_nothing(self, cli, database):
        assert cli("config").code == 0
        assert not database.exists()

    def test_a_wrong_setting_is_told(self, cli, monkeypatch):
        monkeypatch.setenv("ENGRAIN_DEFAULTS", "buttler")
        ran = cli("config")
        assert ran.code == 2
        assert "setting defaults = 'buttler', given by ENGRAIN_DEFAULTS" in ran.err
