"""Consolidation of recorded dialogues and replies, fact by fact, on both databases."""

from datetime import UTC, datetime, timedelta

import pytest

from engrain import Memory
from engrain.domain.memories.statement_times import read_said_at
from engrain.domain.runs.plans import DOUBTED_CONFIDENCE
from engrain.engines.llms.scripted import ScriptedLLM
from engrain.learning.consolidation.planner import PHOTO_CONFIDENCE
from engrain.learning.consolidation.reply_parser import NO_JSON
from tests.support.clock import NOON, Clock
from tests.support.recorded_replies import NAMES, recorded

SETTINGS = {"embedding": {"model": "none"}, "consolidation": {"on_session_switch": False}}


@pytest.fixture
def opened(location):
    """A memory whose language model gives some replies."""
    made = []

    def make(*replies, **settings):
        llm = ScriptedLLM(replies)
        chosen = {name: {**SETTINGS.get(name, {}), **settings.get(name, {})} for name in {*SETTINGS, *settings}}
        memory = Memory.open(location, llm=llm, clock=Clock(seconds=1), settings=chosen)
        made.append(memory)
        memory.asked = llm.prompts
        return memory

    yield make
    for memory in made:
        memory.close()


def keep(agent, known):
    """Store what a dialogue's agent knew before it; its id, which the reply names."""
    given = dict(known)
    kind, key = given.pop("kind"), given.pop("key")
    keeping = agent.remember if kind == "fact" else agent.rules.add
    return keeping(given.pop("content"), idempotency_key=key, **given).id


def tell(agent, turns):
    return [agent.observe(**turn) for turn in turns]


@pytest.fixture
def played(opened):
    """A recorded dialogue, consolidated: the agent, its episodes, the report."""

    def play(name, **settings):
        dialogue = recorded(name)
        memory = opened(dialogue.reply, **settings)
        agent = memory.agent("assistant")
        for known in dialogue.known:
            keep(agent, known)
        episodes = tell(agent, dialogue.turns)
        report = memory.consolidate()
        return agent, episodes, report

    return play


def facts(agent, **conditions):
    return sorted((fact.subject, fact.predicate, fact.content) for fact in agent.facts(**conditions))


def rules(agent):
    return sorted(hit.memory.content for hit in agent.recall("", kinds="rule"))


def reasons(report):
    return [(rejection.kind, rejection.reason) for rejection in report.rejected]


def sources(agent, id_):
    return [link.target_id for link in agent.links(id_, direction="outgoing", relation="derived_from")]


def fact(agent, content):
    return next(fact for fact in agent.facts() if fact.content == content)


LISBON = "00000000-0000-7bdf-baf9-ce1a2c0069ad"
TEA = "00000000-0000-7423-91f3-08622b494bd7"
MEETINGS = "00000000-0000-76f9-af60-de45bc0f9a5b"


def test_every_recorded_reply_is_played_below():
    told = {name.removeprefix("test_reply_") for name in globals() if name.startswith("test_reply_")}
    assert told == set(NAMES)


@pytest.mark.req("B12.2", "B13.1", "B14.1", "B14.3", "Y08")
def test_reply_prose_around_fence(played):
    agent, episodes, report = played("prose_around_fence")
    assert facts(agent) == [("Ana", "lives in", "Porto"), ("Ana", "works as", "radiologist at a hospital")]
    home, work = fact(agent, "Porto"), fact(agent, "radiologist at a hospital")
    assert (home.scope, home.agent, home.permanence, home.importance, home.tags) == (
        *("assistant", "assistant", "stable", 7, ("home",)),
    )
    assert (home.source, home.source_episode_id) == ("I moved to Porto last month", episodes[0].id)
    assert (home.valid_from, read_said_at(home.metadata)) == (None, episodes[0].event_time)
    assert sources(agent, home.id) == [episodes[0].id]
    assert sources(agent, work.id) == [episodes[2].id]
    assert [agent.get(episode.id).consolidation_status for episode in episodes] == ["consolidated"] * 3
    assert (report.new, report.updated, report.confirmed, report.episodes, report.batches) == (2, 0, 0, 3, 1)
    assert (report.rejected, report.parse_errors, report.failures) == ((), (), ())
    assert report.usage.calls == 1
    assert [(group.agent, group.episodes, group.sessions) for group in report.groups] == [("assistant", 3, 1)]


@pytest.mark.req("B13.2")
def test_reply_bare_object(played):
    agent, episodes, report = played("bare_object")
    assert facts(agent) == [("Inês", "is allergic to", "peanuts"), ("Inês", "is daughter of", "Ana")]
    allergy = fact(agent, "peanuts")
    assert (allergy.permanence, allergy.decay_rate, allergy.importance, allergy.tags) == (
        "permanent",
        0.0,
        10,
        ("health",),
    )
    assert sources(agent, allergy.id) == [episodes[1].id]
    assert report.parse_errors == ()


def test_reply_two_blocks(played):
    agent, _, report = played("two_blocks")
    assert facts(agent) == [("booking system", "uses database", "PostgreSQL")]
    assert report.parse_errors == ("2 JSON blocks found: the last one counts",)


def test_reply_truncated(played):
    agent, [episode], report = played("truncated")
    assert facts(agent) == []
    [failure] = report.failures
    assert failure.code == "unusable_reply"
    assert failure.message.startswith(f"{NO_JSON}; the JSON that begins at character 8 is broken or cut off: ")
    after = agent.get(episode.id)
    assert (after.consolidation_status, after.consolidation_attempts) == ("pending", 1)
    assert after.last_consolidation_error == f"unusable_reply: {failure.message}"
    assert after.next_consolidation_retry_at > NOON + timedelta(minutes=4)


@pytest.mark.req("B13.3", "N16")
def test_reply_wrong_types(played):
    agent, episodes, report = played("wrong_types")
    assert facts(agent) == [("Ana", "has coach", "Tiago"), ("Ana", "trains for", "the Lisbon half marathon")]
    training, coach = fact(agent, "the Lisbon half marathon"), fact(agent, "Tiago")
    assert (training.permanence, training.importance, training.confidence, training.tags) == ("standard", 5, 1, ())
    assert (training.valid_from, read_said_at(training.metadata)) == (None, episodes[0].event_time)
    assert (coach.importance, sources(agent, coach.id)) == (1, [episodes[1].id])
    assert [error.partition(":")[0].partition(" ")[0] for error in report.parse_errors] == [
        *("new_facts[0]", "new_facts[2]", "new_facts[3]", "new_facts[4].evidence[0]", "updated_facts"),
        *("confirmations[0]", "confirmations[1]", "confirmations[2]", "unknown"),
    ]
    assert report.rejected == ()


@pytest.mark.req("B13.4", "B13.5")
def test_reply_unknown_ids(played):
    agent, _, report = played("unknown_ids")
    assert facts(agent) == [("Ana", "lives in", "Lisbon")]
    assert reasons(report) == [
        ("new_fact", "unknown_episode"),
        ("updated_fact", "unknown_target"),
        ("confirmation", "unknown_target"),
    ]
    assert report.parse_errors == (
        "updated_facts[1]: target_id 'fact-1' is neither a name such as k1 nor a valid UUID",
    )
    assert [(change.kind, change.memory_id) for change in report.learned] == [("confirmation", LISBON)]
    home = agent.get(LISBON)
    assert home.last_confirmed_at > home.created_at


def test_reply_invented_quotes(played):
    agent, _, report = played("invented_quotes")
    assert facts(agent) == [("Ana", "dislikes", "mornings")]
    assert rules(agent) == []
    assert reasons(report) == [
        ("new_fact", "quote_not_found"),
        ("new_fact", "quote_too_short"),
        ("new_fact", "no_evidence"),
        ("new_rule", "quote_not_found"),
    ]


@pytest.mark.req("B12.4")
def test_reply_hostile(played):
    """A page that was read gives orders, and the model obeys: nothing of it is stored, and its own is bounded."""
    agent, episodes, report = played("hostile")
    assert facts(agent) == [
        ("Ana", "drinks", "green tea in the morning"),
        ("Ana", "prefers", "short summaries with bullet points"),
    ]
    assert fact(agent, "short summaries with bullet points").importance == 10
    assert rules(agent) == []
    assert reasons(report) == [
        ("new_fact", "imitation"),
        ("updated_fact", "unknown_target"),
        ("updated_fact", "quote_not_found"),
        ("new_rule", "imitation"),
        ("confirmation", "unknown_target"),
        ("confirmation", "no_evidence"),
    ]
    assert agent.get(TEA).last_confirmed_at == agent.get(TEA).created_at
    assert [agent.get(episode.id).consolidation_status for episode in episodes] == ["consolidated"] * 3


def test_reply_nothing(played):
    agent, _, report = played("nothing")
    assert facts(agent) == []
    assert (report.episodes, report.learned, report.failures) == (2, (), ())
    assert agent.consolidation.is_session_consolidated("s1")


@pytest.mark.req("B14.2")
def test_reply_update(played):
    agent, episodes, report = played("update")
    assert facts(agent) == [
        ("Ana", "drinks", "espresso in the morning"),
        ("Ana", "drinks", "green tea in the morning"),
        ("Ana", "lives in", "Porto"),
    ]
    home, before = fact(agent, "Porto"), agent.get(LISBON)
    assert (home.supersedes_id, home.valid_from) == (LISBON, datetime(2024, 5, 1, tzinfo=UTC))
    assert (before.validity, before.valid_to) == ("superseded", max(before.created_at, home.valid_from))
    assert sources(agent, home.id) == [episodes[0].id]
    assert agent.history(home.id) == [before, home]
    # Everybody's fact is not this agent's to change: its own new one stands beside it.
    habit = fact(agent, "espresso in the morning")
    assert (habit.scope, habit.supersedes_id) == ("assistant", None)
    assert (agent.get(TEA).validity, agent.get(TEA).confidence) == ("active", 1)
    assert reasons(report) == [("updated_fact", "other_scope")]
    assert (report.updated, report.new) == (1, 1)


def test_reply_rules(played):
    agent, episodes, report = played("rules")
    assert rules(agent) == [
        "Answer in Portuguese when Ana writes in Portuguese.",
        "Offer meetings after ten in the morning.",
        "Run the migrations before a deploy.",
    ]
    learned = {agent.get(change.memory_id).content: change for change in report.learned}
    migrations = agent.get(learned["Run the migrations before a deploy."].memory_id)
    assert (migrations.maturity, migrations.confidence, migrations.scope) == ("candidate", 0.5, "assistant")
    assert sources(agent, migrations.id) == [episodes[2].id, episodes[3].id]
    assert learned["Offer meetings after ten in the morning."].kind == "confirmation"
    assert reasons(report) == [("new_rule", "too_little_evidence")]


@pytest.mark.req("B13.5")
def test_reply_confirmations(played):
    agent, _, report = played("confirmations")
    assert [(change.kind, change.memory_id) for change in report.learned] == [
        ("confirmation", LISBON),
        ("confirmation", TEA),
    ]
    assert all(agent.get(id_).last_confirmed_at > agent.get(id_).created_at for id_ in (LISBON, TEA))
    assert agent.get(MEETINGS).last_confirmed_at == agent.get(MEETINGS).created_at
    assert reasons(report) == [("confirmation", "no_evidence"), ("confirmation", "duplicate")]
    assert report.parse_errors == (
        "confirmations[3]: target_id 'nonsense' is neither a name such as k1 nor a valid UUID",
    )


@pytest.mark.req("Y10")
def test_reply_contradiction(played):
    agent, _, _ = played("contradiction")
    assert facts(agent, subject="Ana") == [
        ("Ana", "drinks", "green tea in the morning"),
        ("Ana", "lives in", "Lisbon"),
        ("ana", "lives now in", "Porto"),
    ]
    doubted, now = agent.get(LISBON), fact(agent, "Porto")
    assert (doubted.validity, doubted.confidence) == ("active", DOUBTED_CONFIDENCE)
    assert DOUBTED_CONFIDENCE == 0.3
    [link] = agent.links(LISBON, relation="supersedes")
    assert (link.source_id, link.target_id) == (now.id, LISBON)
    assert now.confidence == 1
    assert agent.get(TEA).confidence == 1


@pytest.mark.req("Y09")
def test_reply_duplicates(played):
    agent, _, report = played("duplicates")
    assert facts(agent) == [("Ana", "drinks", "green tea in the morning"), ("Ana", "has cat", "Pixel")]
    assert [(change.kind, change.memory_id) for change in report.learned] == [
        ("new_fact", fact(agent, "Pixel").id),
        ("confirmation", TEA),
    ]
    assert reasons(report) == [("new_fact", "duplicate")]


def test_reply_typographic(played):
    agent, [episode], report = played("typographic")
    assert facts(agent) == [("Jana Groß", "heiratet", "im Juni"), ("Jana Groß", "wohnt in", "München")]
    assert all(sources(agent, fact.id) == [episode.id] for fact in agent.facts())
    assert report.rejected == ()


def test_reply_rows(played):
    """A strong model's reply, in rows: each update says why, a photo proves little, what is not said stays open."""
    agent, episodes, report = played("rows")
    assert (report.new, report.updated, report.parse_errors) == (3, 4, ())
    assert reasons(report) == [("updated_fact", "other_subject")]
    known = {fact.content: fact for fact in agent.facts(include_inactive=True)}

    def successor(before):
        [after] = [fact for fact in known.values() if fact.supersedes_id == known[before].id]
        return after, known[before].validity

    race, validity = successor("Ana plans to run the Porto half marathon in November 2026.")
    assert (race.predicate, race.metadata["update_reason"], validity) == (
        *("ran the Porto half marathon", "done", "superseded"),
    )
    assert (race.valid_from, race.permanence, race.importance) == (datetime(2026, 11, 22, tzinfo=UTC), "stable", 6)
    work, _ = successor("Ana works as a nurse.")
    assert (work.content, work.valid_from) == ("Ana works as a paediatric nurse.", datetime(2020, 2, 1, tzinfo=UTC))
    cat, validity = successor("Ana has a cat called Pixel.")
    assert (cat.subject, cat.metadata["update_reason"], validity) == ("Rita", "corrected", "superseded")
    flat, _ = successor("Ana is looking for a flat in Faro.")
    assert (flat.metadata["update_reason"], flat.valid_from) == ("retracted", None)
    braga = known["Rita lives in Braga."]
    assert (braga.supersedes_id, braga.valid_from) == (None, datetime(2019, 1, 1, tzinfo=UTC))
    assert known["Ana lives in Lisbon."].validity == "active"
    assert (known["Ana has a beagle."].confidence, known["Rita is Ana's sister."].confidence) == (PHOTO_CONFIDENCE, 0.9)
    assert read_said_at(known["Rita is Ana's sister."].metadata) == episodes[0].event_time
    block = agent.context("Who is Rita?", budget_tokens=500).text
    assert "- Rita is Ana's sister. (said 2026-11-24)" in block
    assert "- Rita lives in Braga. (since 2019-01-01)" in block


@pytest.mark.req("B13.6")
def test_reply_refusal(played):
    agent, [episode], report = played("refusal")
    assert facts(agent) == []
    assert [(failure.code, failure.message) for failure in report.failures] == [("unusable_reply", NO_JSON)]
    assert agent.get(episode.id).consolidation_status == "pending"


def test_a_report_says_what_waits_until_when_and_why_and_now_tries_it_at_once(opened):
    dialogue = recorded("prose_around_fence")
    memory = opened("no JSON", "no JSON", "no JSON", dialogue.reply, consolidation={"retry_pause_s": 100})
    assistant, coder, anas = memory.agent("assistant"), memory.agent("coder"), memory.agent("coder", user="ana")
    turns = tell(assistant, dialogue.turns)
    for agent in (coder, anas):
        agent.observe("We use ninja.", session="work")
    report = memory.consolidate()
    waits = [(one.agent, one.user, one.episodes) for one in report.waiting]
    assert waits == [("assistant", None, len(turns)), ("coder", None, 1), ("coder", "ana", 1)]
    assert {one.reason for one in report.waiting} == {f"unusable_reply: {NO_JSON}"}
    retry_at = min(assistant.get(turn.id).next_consolidation_retry_at for turn in turns)
    assert report.waiting[0].retry_at == retry_at
    assert memory.consolidate(dry_run=True, now=True).waiting == report.waiting  # nothing is changed by looking
    assert memory.consolidate().groups == ()
    assert [one.user for one in memory.consolidate(session="work").waiting] == [None, "ana"]
    assert memory.consolidate(agent="coder", exclude_session="work").waiting == ()
    assert memory.consolidate("rivals", now=True).waiting == ()
    asked = len(memory.asked)
    tried = memory.consolidate(now=True, agent="assistant")
    assert (tried.new > 0, tried.waiting, len(memory.asked)) == (True, (), asked + 1)
    assert [one.agent for one in memory.consolidate().waiting] == ["coder", "coder"]


def test_what_fails_when_tried_at_once_waits_again_and_is_not_tried_twice(opened):
    memory = opened(*["no JSON"] * 9, consolidation={"retry_pause_s": 100})
    turn = memory.agent("assistant").observe("My cat is called Miso.")
    for attempts in (1, 2, 3):
        report = memory.consolidate(now=True)
        assert (len(report.waiting), len(memory.asked)) == (1, attempts)
        assert memory.agent("assistant").get(turn.id).consolidation_attempts == attempts
