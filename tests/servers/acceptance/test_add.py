"""Adding a chat's messages: stored at once, and learned from when the caller says, on both databases."""

import threading

import pytest

from engrain.engines.endpoint import Refused
from engrain.errors import EngineUnavailable, InvalidInput
from tests.support.clock import Clock
from tests.support.learning_memories import LLM, NOTHING, opened, reply

CHAT = [
    {"role": "user", "content": "I moved to Porto last month.", "speaker": "Ana"},
    {"role": "assistant", "content": "How is it there?"},
    {
        "role": "user",
        "content": "Lovely, and I have a beagle now.",
        "name": "Ana",
        "event_time": "2026-11-20T09:00:00Z",
    },
]
PORTO = [
    "Ana",
    "lives in",
    "Ana moved to Porto in October 2026.",
    "stable 7",
    "2026-10",
    "e1 I moved to Porto last month",
]
DOG = ["Ana", "dog", "Ana has a beagle.", "", "", "e3 I have a beagle now"]


def statuses(agent, added):
    return [agent.get(episode.id).consolidation_status for episode in added.episodes]


def test_messages_are_stored_in_order_and_learned_from_now(location):
    llm = LLM([reply(PORTO, DOG)])
    with opened(location, llm) as memory:
        agent = memory.agent("assistant", session="s1")
        added = agent.add(CHAT, tags=["chat"])
        assert [(turn.turn, turn.role, turn.speaker, turn.content) for turn in added.episodes] == [
            (1, "user", "Ana", "I moved to Porto last month."),
            (2, "assistant", None, "How is it there?"),
            (3, "user", "Ana", "Lovely, and I have a beagle now."),
        ]
        assert added.episodes[2].event_time.isoformat() == "2026-11-20T09:00:00+00:00"
        assert {(turn.session, turn.tags, turn.consolidation_status) for turn in added.episodes} == {
            ("s1", ("chat",), "consolidated"),
        }
        assert added.learning == "done"
        assert sorted(fact.content for fact in added.learned) == ["Ana has a beagle.", PORTO[2]]
        assert {fact.id for fact in added.learned} == {fact.id for fact in agent.facts()}
        memory.undo(*added.run_ids)
        assert agent.facts().items == ()
        assert added.to_dict()["learning"] == "done"


def test_only_the_session_of_the_messages_is_learned_from(location):
    with opened(location, LLM([NOTHING, NOTHING])) as memory:
        agent = memory.agent("assistant")
        other = agent.observe("Elsewhere.", session="s2")
        agent.add("I moved to Porto.", session="s1")
        assert agent.get(other.id).consolidation_status == "pending"
        without = agent.add("I moved to Faro.")
        assert statuses(agent, without) == ["consolidated"]
        assert agent.get(other.id).consolidation_status == "consolidated"


def test_in_the_background_nobody_waits_for_the_model(location):
    begun, may_answer = threading.Event(), threading.Event()

    def slow(_):
        begun.set()
        assert may_answer.wait(60)
        return reply(PORTO)

    with opened(location, LLM([slow])) as memory:
        agent = memory.agent("assistant", session="s1")
        added = agent.add(CHAT, learn="background")
        assert (added.learning, added.learned) == ("background", ())
        assert begun.wait(60)
        assert statuses(agent, added) == ["pending"] * 3
        may_answer.set()
        memory.parts.learner.wait()
        assert statuses(agent, added) == ["consolidated"] * 3
        assert [fact.content for fact in agent.facts()] == [PORTO[2]]


@pytest.mark.parametrize(("llm", "learn", "learning"), [(None, "now", "no_model"), (LLM([]), "later", "later")])
def test_without_a_model_or_for_later_messages_wait(location, llm, learn, learning):
    with opened(location, llm) as memory:
        agent = memory.agent("assistant", session="s1")
        added = agent.add(CHAT, learn=learn)
        assert (added.learning, statuses(agent, added)) == (learning, ["pending"] * 3)
        assert memory.runs().items == ()


@pytest.mark.parametrize(
    ("fault", "learning", "status"),
    [
        (EngineUnavailable("away"), "waiting", "pending"),
        ("no JSON", "waiting", "pending"),
        (Refused("no"), "done", "failed"),
    ],
)
def test_a_model_that_fails_loses_no_message_and_the_answer_says_why(location, fault, learning, status):
    with opened(location, LLM([fault, NOTHING])) as memory:
        agent = memory.agent("assistant", session="s1")
        added = agent.add(CHAT)
        assert (added.learning, added.learned, len(added.failures)) == (learning, (), 1)
        assert added.failures[0].code in {"engine_unavailable", "unusable_reply"}
        assert statuses(agent, added) == [status] * 3


@pytest.mark.parametrize("key", [None, "chat 1", "019aa4f0-0000-7000-8000-ffffffffffff"])
def test_messages_of_one_call_are_listed_in_their_order(location, key):
    with opened(location, LLM([])) as memory:
        agent, turns = memory.agent("aide", session="monday"), [{"content": f"Turn {number}."} for number in range(9)]
        added = agent.add(turns, learn="later", idempotency_key=key).episodes
        for listed in (agent.episodes("monday"), agent.list("episode")):
            assert [episode.content for episode in listed] == [episode.content for episode in reversed(added)]


def test_a_key_stores_messages_once_and_no_others(location):
    with opened(location, None) as memory:
        agent = memory.agent("assistant", session="s1")
        first = agent.add(CHAT, idempotency_key="chat 1")
        again = agent.add(CHAT, idempotency_key="chat 1")
        assert [turn.id for turn in again.episodes] == [turn.id for turn in first.episodes]
        with pytest.raises(InvalidInput, match="'chat 1' was used for another episode and nothing was written"):
            agent.add([CHAT[0], {"content": "Other."}, CHAT[2], {"content": "More."}], idempotency_key="chat 1")
        assert len(agent.episodes("s1")) == 3


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([], "messages is empty"),
        (7, "a text or a list of objects, not int"),
        ({"content": "Hello."}, "not dict"),
        (["Hello."], r"messages\[0\] must be an object, not str"),
        ([CHAT[0], {"text": "Hello."}], r"messages\[1\]: field 'text' is unknown"),
        ([CHAT[0], {"role": "user"}], r"messages\[1\]: content"),
        ([CHAT[0], {"content": " "}], r"messages\[1\]: content is empty"),
        ([CHAT[0], {"role": "robot", "content": "Hello."}], r"messages\[1\]: role 'robot' is unknown"),
        ([CHAT[0]] * 1_001, "number of messages is 1001"),
    ],
)
def test_a_message_with_a_mistake_stores_nothing(location, messages, said):
    with opened(location, None) as memory:
        agent = memory.agent("assistant", session="s1")
        with pytest.raises(InvalidInput, match=said):
            agent.add(messages)
        with pytest.raises(InvalidInput, match="learn 'soon' is unknown"):
            agent.add(CHAT, learn="soon")
        assert agent.episodes("s1").items == ()


def test_a_session_that_is_added_later_has_the_earlier_ones_learned(location):
    """As with `observe`: the first turn of another session starts the learning of those before."""
    with opened(location, LLM([NOTHING]), clock=Clock(seconds=1), on_session_switch=True) as memory:
        agent = memory.agent("assistant")
        first = agent.add(CHAT, session="s1", learn="later")
        agent.add(CHAT, session="s2", learn="later")
        memory.parts.learner.wait()
        assert statuses(agent, first) == ["consolidated"] * 3


@pytest.mark.parametrize("learn", ["now", "background"])
def test_what_is_learned_with_a_user_is_that_users_alone(location, learn):
    with opened(location, LLM([reply(PORTO)])) as memory:
        ana, ben = (memory.agent("assistant", user=name, session="s1") for name in ("ana", "ben"))
        waiting = ben.observe("I moved to Faro.")
        added = ana.add(CHAT, learn=learn)
        memory.parts.learner.wait()
        assert [fact.content for fact in ana.facts("Ana")] == [PORTO[2]]
        assert ben.facts("Ana").items == memory.agent("assistant").facts("Ana").items == ()
        assert statuses(ana, added) == ["consolidated"] * 3
        assert ben.get(waiting.id).consolidation_status == "pending"
