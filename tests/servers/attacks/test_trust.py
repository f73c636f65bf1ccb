"""Facts that only tools, pages or assistants have said: they wait for a confirmation, on either database."""

import pytest

from engrain import InvalidInput, Memory
from engrain.engines.llms.scripted import ScriptedLLM
from tests.support.backups import DATABASES, memory_in
from tests.support.learning_memories import fact, reply

OURS, THEIRS = "DE02 1203 0000", "DE89 3704 0044"


@pytest.fixture(params=DATABASES)
def memory(request, tmp_path):
    with memory_in(request.param, tmp_path) as opened:
        yield opened


def listed(agent, **conditions):
    return sorted((known.content, known.trust) for known in agent.facts(**conditions))


def hear(agent, content=THEIRS, role="tool", **about):
    """A fact that stands in what a tool has said, and names it as its source."""
    said = agent.observe(f"The account of Acme is {content} now.", role=role)
    named = {"subject": "Acme", "predicate": "iban", **about}
    return agent.remember(content, source_episode_id=said.id, **named)


@pytest.mark.parametrize("role", ["tool", "assistant"])
def test_what_others_say_stands_beside_what_a_user_said_until_it_is_confirmed(memory, role):
    agent = memory.agent("assistant")
    known = agent.remember(OURS, subject="Acme", predicate="iban")
    heard = hear(agent, role=role)
    assert (heard.is_pending, heard.supersedes_id, agent.get(known.id).validity) == (True, None, "active")
    assert listed(agent) == [(OURS, "user"), (THEIRS, role)]
    assert listed(agent, pending=True) == [(THEIRS, role)]
    assert listed(agent, min_trust="user") == [(OURS, "user")]
    confirmed = agent.confirm(heard.id)
    assert (confirmed.is_pending, confirmed.supersedes_id) == (False, known.id)
    [stored] = agent.facts("Acme")
    assert (stored.trust, stored.supersedes_id) == (confirmed.trust, known.id)
    assert agent.events(heard.id)[0].payload["trust"] == [role, "user"]
    assert (listed(agent), agent.get(known.id).validity) == ([(THEIRS, "user")], "superseded")
    assert agent.remember(OURS, subject="Acme", predicate="iban").supersedes_id == heard.id


def test_what_waits_is_dropped_by_forget_and_replaced_by_nothing_but_its_like(memory):
    agent = memory.agent("assistant")
    one, other = hear(agent), hear(agent, "DE11 1111 2222")
    assert listed(agent, pending=True) == [("DE11 1111 2222", "tool"), (THEIRS, "tool")]
    again = hear(agent)
    assert (again.id, agent.get(one.id).validity) == (one.id, "active")
    agent.forget(one.id)
    agent.forget(other.id)
    assert listed(agent) == []


def test_a_confirmed_value_stands_beside_the_others_of_its_predicate(memory):
    agent = memory.agent("assistant")
    agent.remember("tea", subject="Ana", predicate="likes")
    heard = hear(agent, "coffee", subject="Ana", predicate="likes")
    agent.confirm(heard.id)
    assert listed(agent, pending=True) == []
    assert listed(agent) == [("coffee", "user"), ("tea", "user")]


def test_no_pending_name_joins_somebody_to_the_user(memory):
    """What the user is called decides whose facts stand in one slot."""
    agent = memory.agent("assistant")
    agent.remember("Lisbon", subject="user", predicate="lives in")
    said = agent.observe("The user's name is Mallory.", role="tool")
    agent.remember("Mallory", subject="user", predicate="name", source_episode_id=said.id)
    agent.remember("Moscow", subject="Mallory", predicate="lives in")
    assert [known.content for known in agent.facts("user", "lives in")] == ["Lisbon"]


def test_a_search_asks_for_a_level_and_a_block_marks_what_is_below_the_users(memory):
    agent = memory.agent("assistant")
    agent.remember(OURS, subject="Acme", predicate="iban")
    hear(agent)
    agent.observe("The iban of Acme is not in my files.", role="assistant", speaker="Ana")
    question = "Which iban does Acme have?"
    levels = {
        least: {hit.memory.trust for hit in agent.recall(question, min_trust=least)}
        for least in ("tool", "assistant", "import", "user")
    }
    assert levels["tool"] == {"tool", "assistant", "user"}
    assert levels["assistant"] == {"assistant", "user"}
    assert levels["import"] == levels["user"] == {"user"}
    block = agent.context(question).text
    assert f"{THEIRS} (unconfirmed, said by a tool or page)" in block
    assert "Ana (assistant): " in block
    trusted = agent.context(question, min_trust="user").text
    assert OURS in trusted
    assert THEIRS not in trusted
    assert "Ana" not in trusted
    assert THEIRS not in str(agent.messages(question, min_trust="user").to_dict())


def test_a_level_that_is_none_is_refused(memory):
    agent = memory.agent("assistant")
    with pytest.raises(InvalidInput, match="min_trust 'friend' is unknown; choose one of: tool"):
        agent.recall("Acme", min_trust="friend")
    with pytest.raises(InvalidInput, match="no pending fact has the min_trust 'user'"):
        agent.facts(pending=True, min_trust="user")


def test_a_chain_of_summaries_is_trusted_no_more_than_its_first_source(memory):
    agent = memory.agent("assistant", session="s1")
    agent.observe(f"Acme is paid to {THEIRS}.", role="tool")
    first = agent.summarize(session="s1", store=True)
    second = agent.summarize(ids=[first.memory_id], store=True)
    third = agent.remember("See the summary.", metadata={"trust": agent.get(second.memory_id).trust})
    assert [agent.get(id_).trust for id_ in (first.memory_id, second.memory_id, third.id)] == ["tool"] * 3
    assert {hit.memory.trust for hit in agent.recall("Acme paid", kinds="fact")} == {"tool"}


def test_a_copy_in_a_pool_waits_as_its_original(memory):
    ana, ben = memory.agent("ana"), memory.agent("ben")
    ana.pools.create("desk", members=["ana", "ben"])
    heard = hear(ana, scope="ana")
    ana.pools.contribute("desk", heard.id)
    assert listed(ben) == [(THEIRS, "tool")]
    ben.pools.sync_to_agent("desk")
    assert listed(ben, pending=True) == [(THEIRS, "tool"), (THEIRS, "tool")]


def test_a_backup_keeps_what_waits_in_its_place(memory, tmp_path):
    agent = memory.agent("assistant")
    agent.remember(OURS, subject="Acme", predicate="iban")
    hear(agent)
    memory.backup(tmp_path / "acme.backup")
    with Memory.open(tmp_path / "restored.db", embedder="none") as restored:
        restored.restore(tmp_path / "acme.backup", untrusted=True)
        there = restored.agent("assistant")
        assert listed(there) == [(OURS, "user"), (THEIRS, "tool")]
        there.remember("DE33", subject="Acme", predicate="iban")
        assert listed(there) == [("DE33", "user"), (THEIRS, "tool")]


def test_what_an_outside_consolidator_saves_waits_unless_a_user_has_said_it(memory):
    agent = memory.agent("assistant")
    known = agent.remember(OURS, subject="Acme", predicate="iban", scope="assistant")
    asked = agent.observe("Book me a flight to Porto.", speaker="Ana")
    page = agent.observe(f"The iban of Acme is {THEIRS}.", role="tool")
    about = {"subject": "Acme", "predicate": "iban", "content": THEIRS}
    for sources in ([page.id], [asked.id], [asked.id, page.id], []):
        [saved] = agent.consolidation.save_facts([{**about, "source_ids": sources}]).saved or [None]
        assert saved is None or saved.is_pending
    assert agent.get(known.id).validity == "active"
    flight = {"subject": "Ana", "predicate": "wants", "content": "a flight to Porto", "source_ids": [asked.id]}
    [saved] = agent.consolidation.save_facts([flight]).saved
    assert saved.trust == "user"


def test_an_undo_takes_back_what_a_user_made_of_a_pending_fact(tmp_path):
    said = reply(fact("Acme", "iban", f"Acme is paid to {THEIRS}.", f"Acme is paid to {THEIRS}"))
    for database in DATABASES:
        with memory_in(database, tmp_path, llm=ScriptedLLM([said, said])) as opened:
            agent = opened.agent("assistant")
            agent.observe(f"Acme is paid to {THEIRS}.", role="tool")
            opened.consolidate()
            [heard] = agent.facts(pending=True)
            agent.observe(f"Yes, Acme is paid to {THEIRS}.")
            run = opened.consolidate().run_ids[0]
            [believed] = agent.facts()
            assert (believed.trust, believed.supersedes_id) == ("user", heard.id)
            opened.undo(run)
            assert [known.id for known in agent.facts()] == [heard.id]
