"""What people say: requests to forget, moves and questions about what was believed, on both databases."""

import pytest

from engrain.service import Memory
from tests.support.clock import Clock
from tests.support.sample_search import WordEmbedder


@pytest.fixture
def clock():
    return Clock(microseconds=1)


@pytest.fixture
def opened(location, clock):
    memories = []

    def open_memory(**handling):
        settings = {"handling": handling}
        memories.append(Memory.open(location, embedder=WordEmbedder(), clock=clock, settings=settings))
        return memories[-1]

    yield open_memory
    for memory in memories:
        memory.close()


@pytest.fixture
def told(opened):
    """An agent that was told of Lisbon twice by Carla and once by the assistant, and of Vienna."""
    agent = opened().agent("aide", session="monday")
    trip = agent.observe("I spent a week in Lisbon.", speaker="Carla")
    agent.observe("Lisbon is lovely in May.", role="assistant")
    tram = agent.observe("We rode the tram in Lisbon twice.", speaker="Carla")
    agent.observe("Did I mention Lisbon?", speaker="Carla")
    agent.observe("In autumn I was in Vienna.", speaker="Carla")
    fact = agent.remember("Lisbon", subject="Carla", predicate="visited", source_episode_id=trip.id)
    return agent, {trip.id, tram.id, fact.id}


def ids(memories):
    return {memory.id for memory in memories}


def test_what_stands_behind_a_request_to_forget_is_kept_without_it(opened):
    agent = opened(forget="do").agent("aide", session="monday")
    wrong = agent.observe("My PIN is 4471.")
    handled = agent.handle("Forget that. The dentist is on Friday at 9.")
    assert ids(handled.forgotten) == {wrong.id}
    assert handled.kept.content == "The dentist is on Friday at 9."
    assert [memory.content for memory in agent.list()] == ["The dentist is on Friday at 9."]


@pytest.mark.parametrize("said", ["Scratch that, it's Tuesday.", "Forget it, I'll do it myself."])
def test_what_puts_right_or_plans_is_kept_and_forgets_nothing(opened, said):
    agent = opened(forget="do").agent("aide", session="monday")
    agent.observe("The dentist is on Monday.")
    assert agent.handle(said).kept.content == said
    assert len(agent.list().items) == 2


def test_a_request_to_forget_is_answered_with_the_memories_and_what_to_call(told):
    agent, expected = told
    before = ids(agent.list())
    handled = agent.handle("Please forget what I said about Lisbon.")
    assert handled.suggestion.verb == "forget"
    assert ids(handled.suggestion.memories) == expected
    assert handled.forgotten == ()
    assert ids(agent.list()) == before  # nothing is forgotten, and the request is not stored
    for call in handled.suggestion.calls:
        agent.forget(**call)
    assert not expected & ids(agent.list())
    assert [memory["id"] for memory in handled.to_dict()["suggestion"]["memories"]] == [
        call["id_"] for call in handled.suggestion.calls
    ]


def test_without_a_word_of_who_said_it_the_assistants_turns_go_too(told):
    agent, expected = told
    proposed = ids(agent.handle("forget everything about Lisbon").suggestion.memories)
    assert expected < proposed
    assert len(proposed) == 4


def test_that_is_the_last_turn_of_the_user_or_the_fact_stored_after_it(told):
    agent, _ = told
    said = agent.observe("I had soup for lunch.", speaker="Carla")
    agent.observe("Enjoy!", role="assistant")
    assert ids(agent.handle("forget that").suggestion.memories) == {said.id}
    kept = agent.handle("I live in Lyon.", speaker="Carla").kept
    assert ids(agent.handle("Forget that.").suggestion.memories) == {kept.id}


@pytest.mark.parametrize(("policy", "route"), [("do", "forgotten"), ("leave", "kept")])
def test_a_host_sets_what_becomes_of_a_request_to_forget(told, opened, policy, route):
    _, expected = told
    agent = opened(forget=policy).agent("aide", session="monday")
    handled = agent.handle("forget what I said about Lisbon")
    assert handled.suggestion is None
    assert bool(expected & ids(agent.list())) == (policy == "leave")
    assert ids(handled.forgotten) == (expected if route == "forgotten" else set())
    assert (handled.kept is not None) == (policy == "leave")


def test_a_topic_of_words_that_search_leaves_out_is_what_has_them_all(told):
    agent, _ = told
    will = agent.observe("I've changed my will, the house goes to Judith.", speaker="Carla")
    agent.observe("My train will be late.", speaker="Carla")
    proposed = agent.handle("Please forget what I told you about my will.").suggestion
    assert ids(proposed.memories) == {will.id}


def test_a_topic_that_nothing_is_known_of_proposes_nothing(told):
    agent, _ = told
    assert agent.handle("forget the zeppelin").suggestion.calls == ()


@pytest.mark.parametrize("policy", ["do", "propose", "leave"])
def test_a_statement_of_a_move_takes_the_place_of_the_old_home(opened, policy):
    agent = opened(remember=policy).agent("aide", session="monday")
    agent.remember("Uppsala", subject="Eva", predicate="live in", scope="aide")
    handled = agent.handle("Actually I moved to Lund last week.", speaker="Eva")
    homes = [fact.content for fact in agent.facts("Eva", "live in")]
    assert homes == (["Lund"] if policy == "do" else ["Uppsala"])
    if policy != "do":
        assert handled.kept.content == "Actually I moved to Lund last week."
    if policy == "propose":
        [call] = handled.suggestion.calls
        agent.remember(**call)
        assert [fact.content for fact in agent.facts("Eva", "live in")] == ["Lund"]


def test_what_was_believed_last_month_is_answered_as_of_then(opened, clock):
    agent = opened().agent("aide", session="monday")
    agent.remember("Helen", subject="Eva", predicate="manager", scope="aide")
    clock.pass_time(days=40)
    agent.remember("Karim", subject="Eva", predicate="manager", scope="aide")
    then = agent.handle("What did you believe last month about the manager?").answer
    assert [hit.memory.content for hit in then] == ["Helen"]
    assert [hit.memory.content for hit in agent.handle("Who is the manager?").answer] == ["Karim"]
    assert [hit.memory.content for hit in agent.handle("What did you believe last month?").answer] == ["Helen"]


@pytest.mark.parametrize("kind", ["episode", "fact", "rule"])
def test_what_was_forgotten_is_out_of_the_past_unless_inactive_memories_are_asked_for(opened, clock, kind):
    agent = opened().agent("aide", session="monday")
    stored = {
        "episode": lambda: agent.observe("The code of the gate is 4471."),
        "fact": lambda: agent.remember("4471", subject="gate", predicate="code"),
        "rule": lambda: agent.rules.add("Open the gate by 4471."),
    }[kind]()
    then = clock()
    clock.pass_time(days=1)
    assert ids(hit.memory for hit in agent.recall("gate 4471", as_of=then)) == {stored.id}
    agent.forget(stored.id)
    assert list(agent.recall("gate 4471", as_of=then)) == []
    assert ids(hit.memory for hit in agent.recall("gate 4471", as_of=then, include_inactive=True)) == {stored.id}
    assert agent.get(stored.id).id == stored.id


@pytest.mark.parametrize("end", ["superseded", "expired"])
def test_what_had_ended_before_it_was_forgotten_is_out_of_the_past_too(opened, clock, end):
    agent = opened().agent("aide", session="monday")
    if end == "superseded":
        old = agent.remember("4471", subject="gate", predicate="code")
    else:
        old = agent.observe("The code of the gate is 4471.", ttl_days=1)
    then = clock()
    clock.pass_time(days=2)
    if end == "superseded":
        agent.remember("9090", subject="gate", predicate="code")
    assert ids(hit.memory for hit in agent.recall("gate 4471", as_of=then)) == {old.id}
    agent.forget(old.id)
    assert list(agent.recall("gate 4471", as_of=then)) == []
    assert [fact.content for fact in agent.facts("gate", as_of=then)] == []
    assert [fact.content for fact in agent.facts("gate", valid_at=then)] == []
    assert "4471" not in agent.context("gate code", include_superseded=True).text
    assert agent.events(old.id)[0].event_type in {"fact_retracted", "episode_forgotten"}


def test_what_a_user_says_is_kept_with_that_user_and_cannot_make_others_forget(opened):
    memory = opened()
    memory.agent("desk").observe("Refunds take five days.")
    ana, bo = (memory.agent("desk", session="monday", user=name) for name in ("ana", "bo"))
    shared = ana.remember("five days", subject="refunds", predicate="take", scope="global")
    kept = ana.handle("I live in Lisbon.").kept
    rule = ana.handle("Always answer in Portuguese.").kept
    assert {kept.scope, rule.scope} == {ana.caller.own_scope}
    assert bo.facts("user").items == ()
    bo.observe("My refunds never came.")
    assert shared.id not in ids(bo.handle("forget everything about refunds").suggestion.memories)
    assert ids(bo.handle("forget that").suggestion.memories) != {shared.id}
    assert ids(ana.handle("forget that").suggestion.memories) == {rule.id}


def test_words_that_say_more_than_their_fact_are_kept_too_and_forgotten_with_it(opened):
    agent = opened().agent("aide", session="monday", user="ana")
    fact = agent.handle("I moved to Lund last week with my sister.").kept
    said = agent.get(fact.source_episode_id)
    assert (fact.content, said.content) == ("Lund", "I moved to Lund last week with my sister.")
    assert ids(agent.handle("forget that").suggestion.memories) == {fact.id, said.id}


def test_what_is_told_beside_a_question_is_kept_and_a_question_alone_is_not(opened):
    agent = opened().agent("desk", session="monday", user="ana")
    handled = agent.handle("I live in Lyon. Can you recommend a good restaurant nearby for tonight?")
    assert handled.answer is not None
    assert agent.recall("Where do I live?")[0].memory.id == handled.kept.id
    assert agent.handle("Can you recommend a good restaurant nearby for tonight?").kept is None


def test_a_user_speaks_two_languages_of_one_home(opened):
    agent = opened(forget="do").agent("aide", session="monday", user="jonas")
    for said, home in (("I live in Leipzig.", "Leipzig"), ("Ich bin nach Dresden gezogen.", "Dresden")):
        agent.handle(said)
        assert [fact.content for fact in agent.facts("user", "lives in")] == [home]
    agent.handle("Meine Schwester ist nach Berlin gezogen.")
    assert [fact.content for fact in agent.facts("user", "lives in")] == ["Dresden"]
    agent.observe("Mein Blutdruck war zu hoch.")
    [gone] = agent.handle("Vergiss, was ich über meinen Blutdruck gesagt habe.").forgotten
    assert gone.content == "Mein Blutdruck war zu hoch."


def test_everything_is_what_is_remembered_of_this_user(opened):
    memory = opened()
    ana, bo = (memory.agent("aide", session="monday", user=name) for name in ("ana", "bo"))
    known = {ana.observe("My cat is Miso.").id, ana.handle("I live in Lisbon.").kept.id}
    bo.observe("I live in Porto.")
    ana.remember("open on Sundays", subject="shop", predicate="is", scope="global")
    assert ids(ana.handle("Forget everything you know about me.").suggestion.memories) == known


def test_the_turn_of_a_fact_is_linked_to_whom_it_names(location, clock):
    settings = {"entities": {"link": "fast"}}
    with Memory.open(location, embedder=WordEmbedder(), clock=clock, settings=settings) as memory:
        agent = memory.agent("aide", session="monday")
        office = agent.entities.create("office@lund.example", "email")
        kept = agent.handle("I moved to Lund, write to office@lund.example.").kept
        assert ids(agent.entities.profile(office.id).episodes) == {kept.source_episode_id}


def test_an_instruction_that_is_said_again_confirms_the_rule(opened):
    agent = opened().agent("aide", user="ana")
    first = agent.handle("Always answer in Portuguese.").kept
    again = agent.handle("always answer in Portuguese").kept
    assert (again.id, again.content) == (first.id, first.content)
    assert again.last_confirmed_at > first.last_confirmed_at
    tagged = agent.rules.add("Always answer in Portuguese.", tags=["language"])
    others = [agent.rules.add("Never answer in Portuguese."), opened().agent("aide").rules.add(first.content)]
    assert len({first.id, tagged.id, *(rule.id for rule in others)}) == 4
    keyed = agent.rules.add("Always answer in Portuguese!", idempotency_key="k")
    assert keyed.id == tagged.id == agent.rules.add("Always answer in Portuguese!", idempotency_key="k").id
    agent.forget(tagged.id)
    agent.forget(first.id)
    assert agent.rules.add(first.content).id not in {first.id, tagged.id}
