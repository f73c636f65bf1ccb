"""Context blocks and messages through the library and the command line, on a real file."""

import pytest

from engrain.context.block import mark_as_data
from engrain.domain.text.tokens import approximate_tokens
from engrain.errors import InvalidInput
from engrain.service import Memory
from tests.support.clock import Clock
from tests.support.engines import HashEmbedder
from tests.support.one_call import OneCall


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(tmp_path, clock):
    with Memory.open(tmp_path / "agent.db", embedder=HashEmbedder(), clock=clock) as opened:
        yield opened


@pytest.fixture
def aide(memory):
    return memory.agent("aide", session="today", request_id="r-7")


def ids_of(block, name):
    return next((section.ids for section in block.sections if section.name == name), ())


@pytest.mark.req("N01", "N13")
def test_a_host_gets_facts_rules_and_recent_episodes_of_its_tenant_for_a_request(memory, aide, clock):
    known = aide.remember("Lisbon", subject="Ana", predicate="flies to")
    learned = aide.rules.add("Offer Ana no early flight")
    early = memory.agent("aide", session="monday").observe("Ana: I hate early flights", speaker="Ana")
    clock.pass_time(minutes=1)
    late = memory.agent("aide", session="friday").observe("The cat sleeps", speaker="Bo")
    stranger = memory.agent("aide", tenant="elsewhere", session="monday")
    stranger.remember("Oslo", subject="Ana", predicate="flies to")
    stranger.observe("Ana flies early", speaker="Ana")
    block = aide.context("Book Ana a flight", budget_tokens=300, recent_episodes=1)
    assert [section.name for section in block.sections] == ["facts", "rules", "recent", "said"]
    assert [item.id for item in block.memories] == [known.id, learned.id, late.id, early.id]
    assert block.tokens <= 300
    assert block.request_id == "r-7"
    assert "Oslo" not in block.text


@pytest.mark.req("N13", "B34.1")
def test_the_same_store_at_the_same_moment_gives_the_same_bytes(memory, aide):
    for number in range(60):
        memory.agent("aide", session=f"s{number % 7}").observe(f"Turn about trams {number % 5}", speaker="Ana")
        aide.remember(f"tram {number % 5}", subject=f"Ana {number}", predicate="takes")
    memory.flush()
    first = aide.context("Which tram does Ana take?", budget_tokens=200)
    memory.parts.references.flush()
    assert aide.context("Which tram does Ana take?", budget_tokens=200).text == first.text
    assert first.left_out > 0


@pytest.mark.req("B20.3")
def test_a_butler_is_told_what_is_global_and_its_own_of_at_most_twenty(memory, aide):
    bo = memory.agent("bo")
    for number in range(30):
        aide.remember(f"kite {number}", subject=f"Ana {number}", predicate="owns")
    own = aide.remember("secret kite", subject="Ana", predicate="hides", scope="aide")
    bo.remember("kite of Bo", subject="Bo", predicate="hides", scope="bo")
    aide.observe("A kite was seen", session="monday")
    block = aide.context("hidden kite", recipe="butler")
    assert block.text.startswith("# Memory Context\n\n## Key Facts\n- [")
    assert own.id in ids_of(block, "facts")
    assert "kite of Bo" not in block.text
    assert len(block.memories) == 20
    assert [section.name for section in block.sections] == ["facts"]


@pytest.mark.req("B20.2")
def test_the_budget_that_nobody_names_is_the_settings_own_which_for_a_butler_is_3000_tokens(tmp_path, aide):
    assert aide.context("anything").budget_tokens == 1_000
    with Memory.open(tmp_path / "b.db", embedder="none", settings={"defaults": "butler"}) as butler:
        block = butler.agent("aide").context("tea")
        assert (block.budget_tokens, block.text) == (3_000, "# Memory Context\n")
    with Memory.open(tmp_path / "b.db", embedder="none", settings={"context": {"budget_tokens": 12}}) as other:
        other.agent("aide").remember("tea " * 100, subject="Ana", predicate="drinks")
        block = other.agent("aide").context("tea", recipe="butler")
        assert (block.budget_tokens, block.text) == (12, "# Memory Context\n")


@pytest.mark.req("Y03")
def test_an_assistant_is_told_five_facts_of_other_sessions_and_the_latest_reflection(memory, clock):
    before, now = memory.agent("aide", session="monday"), memory.agent("aide", session="today")
    told, telling = before.observe("Ana saw many cities"), now.observe("Ana sees a city now")
    for number in range(8):
        now.remember(f"city {number}", subject=f"Ana {number}", predicate="saw", source_episode_id=told.id)
    fresh = now.remember("city now", subject="Ana now", predicate="saw", source_episode_id=telling.id)
    for week, insight in ((20, "Ana stayed in her city."), (21, "Ana travels more.")):
        clock.pass_time(days=7)
        now.remember(
            insight, subject=f"week {week}", predicate="insight", category="reflection", permanence="permanent"
        )
    block = now.context("Which city did Ana see now?", recipe="assistant")
    assert block.text.startswith("## Relevant memory\n- Ana ")
    assert block.text.endswith("\n\n## Weekly insight\n- Ana travels more.")
    assert len(ids_of(block, "facts")) == 5
    assert fresh.id not in ids_of(block, "facts")
    assert "Ana stayed" not in block.text
    elsewhere = memory.agent("aide", session="later").context("Which city did Ana see now?", recipe="assistant")
    assert fresh.id in ids_of(elsewhere, "facts")
    clock.pass_time(minutes=1)
    now.remember("Ana rests.", subject="week 22", predicate="insight", category="reflection")
    assert now.context("cities", recipe="assistant").text.endswith("## Weekly insight\n- Ana rests.")


def test_the_session_going_on_is_left_out_of_what_was_said_and_of_what_is_recent(memory, aide):
    aide.observe("The tram is late now")
    other = memory.agent("aide", session="monday").observe("The tram was late")
    block = aide.context("tram", recent_episodes=5)
    assert [item.id for item in block.memories] == [other.id]


def test_a_rule_of_the_session_going_on_stands_once_outcomes_have_judged_it(aide):
    rule = aide.rules.add("Take the tram", source_episode_id=aide.observe("The tram was fast").id)
    assert aide.context("tram").memories == ()
    for _ in range(3):
        aide.rules.mark_harmful(rule.id, reason="it was late")
    assert [item.id for item in aide.context("tram").memories] == [rule.id]


def test_a_block_of_tags_holds_nothing_without_them(memory, aide):
    """Not the newest turn, the profile or the reflection either: a project's block is the project's alone."""
    other = memory.agent("aide", session="monday")
    here = other.observe("The shop listens on port 8443", tags=["project:shop", "work"])
    other.observe("The blog listens on port 9000", tags=["project:blog"])
    other.observe("Dinner is at eight")
    other.remember("green tea", subject="user", predicate="likes", permanence="permanent")
    fact = other.remember("8443", subject="shop", predicate="port", tags=["project:shop"])
    asked = {"recent_episodes": 5, "tags": ["project:shop"]}
    assert {memory.id for memory in aide.context("Which port?", **asked).memories} == {here.id, fact.id}
    assert [memory.id for memory in aide.context("", **asked).memories if memory.kind == "episode"] == [here.id]
    assert aide.context("What do I like?", tags=["project:none"]).text == ""


def test_superseded_facts_are_told_only_where_they_are_asked_for(aide, clock):
    cities = []
    for city in ("Oslo", "Lisbon", "Porto"):
        cities.append(aide.remember(city, subject="Ana", predicate="lives in"))
        clock.pass_time(days=1)
    gone = aide.remember("Faro", subject="Ana", predicate="was born in")
    aide.forget(gone.id)
    assert ids_of(aide.context("Ana lives"), "facts") == (cities[2].id,)
    block = aide.context("Ana lives", include_superseded=True)
    assert ids_of(block, "facts") == (cities[2].id, cities[1].id, cities[0].id)
    assert [line.split(" (")[1:] for line in block.sections[0].lines] == [
        [],
        ["superseded 2026-11-23)"],
        ["superseded 2026-11-22)"],
    ]


@pytest.mark.req("B34.2")
def test_order_and_shares_come_from_the_settings(tmp_path):
    chosen = {"context": {"order": ["said", "facts"], "quotas": {"said": 0.7, "facts": 0.1}}}
    with Memory.open(tmp_path / "a.db", embedder="none", settings=chosen) as memory:
        aide = memory.agent("aide")
        for number in range(40):
            aide.remember(f"tram {number}", subject=f"Ana {number}", predicate="takes")
            aide.observe(f"tram {number}", session="monday", speaker="Ana")
        aide.rules.add("Take the tram")
        block = aide.context("tram", budget_tokens=150)
        assert [section.name for section in block.sections] == ["said", "facts"]
        assert len(ids_of(block, "said")) > 3 * len(ids_of(block, "facts"))
    for wrong in ({"order": ["fact"]}, {"quotas": {"facts": 2.0}}, {"count_tokens": "words"}):
        with pytest.raises(InvalidInput):
            Memory.open(tmp_path / "a.db", embedder="none", settings={"context": wrong})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"budget_tokens": -1}, "budget_tokens is -1"),
        ({"budget_tokens": 1.5}, "budget_tokens must be a whole number"),
        ({"recipe": "soup"}, "recipe 'soup' is unknown; choose one of: engrain, butler, assistant"),
        ({"recent_episodes": 101}, "recent_episodes is 101"),
        ({"count_tokens": "words"}, "unknown token counter 'words'"),
        ({"count_tokens": 7}, "count_tokens must be a function"),
        ({"with_dates": 1}, "with_dates must be true or false"),
        ({"include_superseded": None}, "include_superseded must be true or false"),
    ],
)
def test_a_wrong_wish_is_refused_with_what_was_wrong(aide, given, said):
    aide.remember("Lisbon", subject="Ana", predicate="lives in")
    with pytest.raises(InvalidInput, match=said):
        aide.context("Ana", **given)


@pytest.mark.parametrize("counter", ["characters", "wordpiece", lambda text: len(text.split())])
def test_tokens_are_counted_as_the_caller_has_it(memory, aide, counter):
    for number in range(40):
        memory.agent("aide", session="monday").observe(f"The tram number {number} is antidisestablishmentarian")
    block = aide.context("tram", budget_tokens=150, count_tokens=counter)
    assert 135 < block.tokens <= 150
    assert block.left_out > 0


@pytest.mark.req("G09", "G10")
def test_messages_hold_prompt_memories_a_summary_and_what_is_asked_within_the_window(memory, aide):
    monday = memory.agent("aide", session="monday")
    for number in range(60):
        monday.observe(
            f"The ferry number {number} leaves at noon. " + "We ate cheese by the river. " * 5, speaker="Ana"
        )
    made = aide.messages(
        "When does the ferry leave?", system="You are kind.", tools=[{"name": "book"}], window_tokens=2_000
    )
    roles = [message["role"] for message in made.messages]
    assert roles == ["system", "system", "system", "user"]
    assert made.messages[0]["content"] == "You are kind."
    assert made.messages[1]["content"] == mark_as_data(made.block.text)
    assert made.messages[2]["content"].startswith("[Previous context summary]: The ferry number")
    assert made.messages[3]["content"] == "When does the ferry leave?"
    assert made.tokens + made.budget.tools + made.budget.output <= 2_000
    assert made.tokens == sum(approximate_tokens(message["content"]) + 4 for message in made.messages)
    own = aide.messages("ferry", window_tokens=2_000, summarize=lambda memories, _: f"{len(memories)} more")
    assert own.messages[-2]["content"] == f"[Previous context summary]: {len(own.summarized)} more"
    assert aide.messages("ferry").budget.window == 128_000


def test_the_window_is_divided_as_the_settings_have_it(tmp_path):
    chosen = {"context": {"window_tokens": 10_000, "memory_share": 0.5, "output_share": 0.2, "tool_tokens": 100}}
    with Memory.open(tmp_path / "a.db", embedder="none", settings=chosen) as memory:
        budget = memory.agent("aide").messages("tea", tools=3).budget
        assert budget.to_dict() == {"window": 10_000, "system": 500, "tools": 300, "memory": 5_000, "output": 2_000}


def test_what_stands_in_messages_counts_as_a_reference(memory, aide):
    turn = memory.agent("aide", session="monday").observe("The tram is late")
    aide.messages("tram")
    memory.parts.references.flush()
    assert OneCall(memory.parts.store).get(aide.caller, [turn.id])[0].reference_count == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"asked": " "}, "asked is empty"),
        ({"asked": "x" * 10_000, "window_tokens": 1_000}, "does not fit into the window of 1,000"),
        ({"system": None}, "system must be text"),
        ({"tools": {"name": "book"}}, "tools must be a number or a list of schemas"),
        ({"window_tokens": -5}, "window_tokens is -5"),
    ],
)
def test_messages_that_cannot_be_made_are_refused(aide, given, said):
    with pytest.raises(InvalidInput, match=said):
        aide.messages(**{"asked": "tram", **given})


class TestCommandLine:
    def test_context_shows_what_the_library_gives(self, cli):
        cli("remember", "Lisbon", "--subject", "Ana", "--predicate", "lives in", "--source", "a letter")
        cli("remember", "Porto", "--subject", "Ana", "--predicate", "lives in")
        cli("observe", "I like Porto", "--speaker", "Ana", "--session", "monday", "--time", "2026-05-01")
        shown = cli(
            "context", "Ana lives in Porto", "--no-dates", "--sources", "--superseded", "--recent", 3, "--json"
        ).json
        assert [section["name"] for section in shown["sections"]] == ["facts", "recent"]
        assert [line.partition(" [")[0] for section in shown["sections"] for line in section["lines"]] == [
            "- Ana lives in: Porto",
            "- Ana lives in: Lisbon (superseded)",
            "- Ana: I like Porto",
        ]
        assert "[a letter, " in shown["text"]
        butler = cli("context", "Porto", "--recipe", "butler", "--count", "wordpiece", "--budget", 60)
        assert butler.out.startswith("# Memory Context\n\n## Key Facts\n- [Ana] [lives in]: Porto (confidence: 1.00)")
        assert cli("context", "Porto", "--recipe", "soup").code == 2

    def test_messages_are_shown_one_after_the_other(self, cli, tmp_path):
        cli("remember", "Lisbon", "--subject", "Ana", "--predicate", "lives in")
        (tmp_path / "prompt.md").write_text("You are kind.", encoding="utf-8")
        ran = cli("messages", "Where does Ana live?", "--system", "prompt.md", "--tools", 2, "--window", 4_000)
        assert ran.out == (
            "[system]\nYou are kind.\n\n"
            "[system]\n" + mark_as_data("## What is known\n- Ana lives in: Lisbon") + "\n\n"
            "[user]\nWhere does Ana live?\n"
        )
        shown = cli("messages", "Where does Ana live?", "--window", 4_000, "--json").json
        assert [message["role"] for message in shown["messages"]] == ["system", "user"]
        assert shown["budget"] == {"window": 4_000, "system": 200, "tools": 0, "memory": 2_800, "output": 400}
        missing = cli("messages", "Ana", "--system", "nowhere.md")
        assert missing.code == 2
        assert "nowhere.md" in missing.err
