"""What somebody forgets is not learned again: not while a model reads it, and not from what was said before."""

import pytest

from engrain.errors import NotFound
from tests.support.learning_memories import LLM, fact, opened, reply

SAID = "My locker at the gym opens with 4711"
STATED = fact("user", "locker code", "4711", SAID)


def learned(memory, agent):
    report = memory.consolidate()
    return [each.content for each in agent.facts()], [rejected.reason for rejected in report.rejected], report.failures


def test_an_episode_that_is_forgotten_while_the_model_reads_it_teaches_nothing(location):
    def forget_meanwhile(_):
        assert agent.forget(turn.id)
        return reply(STATED, fact("user", "sport", "tennis", "I play tennis on Mondays", "e2"))

    with opened(location, LLM([forget_meanwhile])) as memory:
        agent = memory.agent("aide", session="monday")
        turn = agent.observe(SAID, speaker="Ana")
        agent.observe("I play tennis on Mondays", speaker="Ana")
        facts, _, failures = learned(memory, agent)
        assert facts == ["tennis"]
        assert [f"source {turn.id} was forgotten" in failure.message for failure in failures] == [True]
        assert agent.recall("locker code 4711").hits == ()


def test_a_fact_that_was_forgotten_is_not_learned_from_what_was_said_before(location):
    said_as = [STATED, {**STATED, "predicate": "has the locker code"}]
    with opened(location, LLM([reply(*said_as), reply(STATED)])) as memory:
        agent = memory.agent("aide", session="monday")
        agent.observe(SAID, speaker="Ana")
        agent.forget(agent.remember("4711", subject="user", predicate="locker code").id)
        assert learned(memory, agent) == ([], ["forgotten", "forgotten"], ())
        agent.observe(SAID, speaker="Ana")  # who says it anew wants it known
        assert learned(memory, agent) == (["4711"], [], ())


def test_a_rule_that_was_forgotten_is_not_learned_from_what_was_said_before(location):
    told = "Always book an aisle seat for me"
    rule = {"content": "Always book an aisle seat", "evidence": [{"episode": "e1", "quote": told}]}
    with opened(location, LLM([reply(new_rules=[rule]), reply(new_rules=[rule])])) as memory:
        agent = memory.agent("aide", session="monday")
        agent.observe(told, speaker="Ana")
        agent.forget(agent.rules.add("Always book an aisle seat").id)
        assert [rejected.reason for rejected in memory.consolidate().rejected] == ["forgotten"]
        assert agent.list("rule").items == ()
        agent.observe(told, speaker="Ana")
        memory.consolidate()
        assert [memory.content for memory in agent.list("rule")] == ["Always book an aisle seat"]


def test_another_users_forgetting_keeps_nobody_from_learning(location):
    with opened(location, LLM([reply(STATED)])) as memory:
        ana, ben = (memory.agent("aide", user=user, session="monday") for user in ("ana", "ben"))
        ana.observe(SAID, speaker="Ana")
        ben.forget(ben.remember("4711", subject="user", predicate="locker code").id)
        assert learned(memory, ana) == (["4711"], [], ())


def test_facts_of_a_forgotten_episode_are_not_saved(location):
    with opened(location, LLM([])) as memory:
        agent = memory.agent("aide", session="monday")
        turn = agent.observe(SAID, speaker="Ana")
        agent.forget(turn.id)
        stated = {"subject": "user", "predicate": "locker code", "content": "4711", "source_ids": [turn.id]}
        with pytest.raises(NotFound, match="was forgotten, and nobody learns from it"):
            agent.consolidation.save_facts([stated])
        assert agent.facts().items == ()
