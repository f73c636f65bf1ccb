"""One idempotency key is one call: a repeat is answered as the first, and another call is refused, not lost."""

from datetime import UTC, datetime, timedelta

import pytest

from engrain import InvalidInput, Memory

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
USED = "idempotency_key 'k' was used for another"


class Days:
    """A clock that stands still, at noon of a day that a test sets."""

    at = NOON

    def __call__(self):
        return self.at


@pytest.fixture
def clock():
    return Days()


@pytest.fixture
def memory(tmp_path, clock):
    with Memory.open(tmp_path / "agent.db", embedder="none", clock=clock) as memory:
        yield memory


@pytest.fixture
def agent(memory):
    return memory.agent("assistant", session="s1")


def state_of(agent):
    return agent.stats(), agent.events(), agent.list().items


SAID = {"content": "hi", "speaker": "Ana", "event_time": "2026-11-01"}
KNOWN = {"content": "Lisbon", "subject": "Ana", "predicate": "lives in", "valid_from": "2026-11-01"}
RULE = {"content": "Ask first."}
CALLS = {
    "observe": (lambda agent, **said: agent.observe(**said), SAID),
    "hooks.message": (lambda agent, **said: agent.hooks.message(**said).episode, SAID),
    "remember": (lambda agent, **said: agent.remember(**said), KNOWN),
    "rules.add": (lambda agent, **said: agent.rules.add(**said), RULE),
}
OTHERS = [
    *(
        (verb, {name: value})
        for verb in ("observe", "hooks.message")
        for name, value in [
            ("content", "ho"),
            ("role", "assistant"),
            ("speaker", "Bo"),
            ("speaker", None),
            ("event_time", "2026-11-02"),
        ]
    ),
    ("observe", {"session": "s2"}),
    *(
        ("remember", {name: value})
        for name, value in [
            ("content", "Porto"),
            ("subject", "Bo"),
            ("predicate", "works in"),
            ("scope", "global"),
            ("valid_from", "2026-11-02"),
        ]
    ),
    ("rules.add", {"content": "Ask twice."}),
    ("rules.add", {"scope": "global"}),
]


@pytest.mark.parametrize(("verb", "change"), OTHERS)
def test_another_call_under_a_key_is_refused_and_a_repeat_is_answered_as_the_first(agent, verb, change):
    call, said = CALLS[verb]
    first = call(agent, **said, idempotency_key="k")
    before = state_of(agent)
    with pytest.raises(InvalidInput, match=USED):
        call(agent, **{**said, **change}, idempotency_key="k")
    assert call(agent, **said, idempotency_key="k") == first
    assert state_of(agent) == before
    assert call(agent, **{**said, **change}, idempotency_key="k2").id != first.id


def test_a_session_is_the_views_where_none_is_given(memory, agent):
    first = agent.observe("yes", idempotency_key="k")
    assert memory.agent("assistant").observe("yes", session="s1", idempotency_key="k") == first
    for view in (memory.agent("assistant"), memory.agent("assistant", session="s2")):
        with pytest.raises(InvalidInput, match=USED):
            view.observe("yes", idempotency_key="k")


def test_a_host_reads_a_message_again_in_a_session_that_was_forked(memory, agent):
    """Its key names the message, wherever it is read."""
    first = agent.hooks.message("yes", idempotency_key="k")
    assert memory.agent("assistant", session="fork").hooks.message("yes", idempotency_key="k") == first


def test_what_tells_no_statement_may_differ_in_a_repeat(agent):
    first = agent.observe("hi", importance=2, tags=["a"], metadata={"try": 1}, idempotency_key="k")
    assert agent.observe(" hi ", role="user", importance=3, idempotency_key="k") == first
    known = agent.remember("Lisbon", subject="Ana", predicate="is in", confidence=0.5, idempotency_key="l")
    assert agent.remember("Lisbon", subject="Ana", predicate="is in", category="trip", idempotency_key="l") == known


def test_a_secret_that_was_masked_is_the_same_in_a_repeat(agent):
    said = "The password=hunter2hunter2 is ours"
    assert agent.observe(said, idempotency_key="k") == agent.observe(said, idempotency_key="k")


@pytest.mark.parametrize("words", ["yesterday", "now", "three days ago"])
def test_a_time_in_words_means_in_a_repeat_what_it_meant_first(agent, clock, words):
    said = agent.observe("We met.", event_time=words, idempotency_key="k")
    known = agent.remember("Lisbon", subject="Ana", predicate="is in", valid_from=words, idempotency_key="l")
    [added] = agent.add([{"content": "We left.", "event_time": words}], idempotency_key="m").episodes
    clock.at = NOON + timedelta(days=3)
    assert agent.observe("We met.", event_time=words, idempotency_key="k") == said
    again = agent.remember("Lisbon", subject="Ana", predicate="is in", valid_from=words, idempotency_key="l")
    assert (again.id, again.valid_from) == (known.id, known.valid_from)
    assert agent.add([{"content": "We left.", "event_time": words}], idempotency_key="m").episodes == (added,)
    with pytest.raises(InvalidInput, match=USED):
        agent.observe("We met.", event_time="last year", idempotency_key="k")


def test_a_message_of_another_time_or_session_is_another_conversation(agent):
    chat = [{"content": "We left.", "event_time": "2026-11-01"}]
    first = agent.add(chat, idempotency_key="k").episodes
    for other, session in (([{**chat[0], "event_time": "2026-11-02"}], None), (chat, "s2")):
        with pytest.raises(InvalidInput, match=USED):
            agent.add(other, session=session, idempotency_key="k")
    assert agent.add(chat, session="s1", idempotency_key="k").episodes == first


def test_a_repeat_stays_one_whatever_became_of_the_memory(agent, clock):
    known = agent.remember("Lisbon", subject="Ana", predicate="lives in", valid_from="2026-11-01", idempotency_key="k")
    rule = agent.rules.add("Ask first.", idempotency_key="l")
    agent.confirm(known.id)
    clock.at = NOON + timedelta(days=400)
    agent.remember("Porto", subject="Ana", predicate="lives in")
    for reason in ("too slow", "rude", "late"):
        warning = agent.rules.mark_harmful(rule.id, reason)
    assert warning.content != rule.content
    again = agent.remember("Lisbon", subject="Ana", predicate="lives in", valid_from="2026-11-01", idempotency_key="k")
    assert (again.id, again.validity) == (known.id, "superseded")
    assert agent.rules.add("Ask first.", idempotency_key="l") == warning
    agent.forget(rule.id)
    assert agent.rules.add("Ask first.", idempotency_key="l").id == rule.id


def test_a_key_that_has_confirmed_a_fact_confirms_no_other(agent):
    agent.entities.create("Ana", "person", aliases=["Anita"])
    known = agent.remember("Lisbon", subject="Ana", predicate="lives in")
    assert agent.remember("lisbon", subject="Anita", predicate="lives_in", idempotency_key="k").id == known.id
    before = state_of(agent)
    assert agent.remember("lisbon", subject="Anita", predicate="lives_in", idempotency_key="k").id == known.id
    for change in ({"content": "Porto"}, {"subject": "Bo"}, {"predicate": "works in"}, {"scope": "global"}):
        with pytest.raises(InvalidInput, match="idempotency_key 'k' was used for another fact"):
            agent.remember(
                **{"content": "Lisbon", "subject": "Ana", "predicate": "lives in", **change}, idempotency_key="k"
            )
    assert state_of(agent) == before


def test_another_message_of_working_memory_under_a_key_is_refused(agent):
    agent.working.append("hi", idempotency_key="k")
    for change in ({"content": "ho"}, {"role": "assistant"}, {"event_time": "2026-11-02"}):
        with pytest.raises(InvalidInput, match=USED):
            agent.working.append(**{"content": "hi", **change}, idempotency_key="k")
    agent.working.append("hi", idempotency_key="k")
    assert [message.content for message in agent.working.messages()] == ["hi"]
