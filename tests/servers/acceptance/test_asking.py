"""A memory that is asked the same again and again: the answer stays the first hit, and repeats are one."""

from datetime import timedelta

import pytest

from engrain.domain.records import format_time
from engrain.service import Memory
from tests.support.clock import NOON, Clock
from tests.support.sample_search import WordEmbedder

QUESTION = "What's my cat's name?"
PARAPHRASES = (QUESTION, "What is the name of my cat?", "whats my cats name", "What did I call my cat?")
DAY = timedelta(days=1)


@pytest.fixture(params=["none", "words"])
def memory(location, request):
    embedder = WordEmbedder() if request.param == "words" else "none"
    with Memory.open(location, embedder=embedder, clock=Clock(microseconds=1)) as memory:
        yield memory


def ask(memory, count, *, stores_first=False, questions=(QUESTION,), answer="I don't know your cat's name."):
    """Tell of a cat and some other things, and ask for its name in `count` sessions."""
    told = memory.agent("aide", session="told").hooks
    told.message("My cat is called Miso.")
    told.message("I have a sister in Porto.")
    for number in range(count):
        session = memory.agent("aide", session=f"asked {number}")
        question = questions[number % len(questions)]
        if stores_first:
            session.hooks.message(question)
        session.recall(question)
        if not stores_first:
            session.hooks.message(question)
        if answer:
            session.hooks.message(answer, role="assistant")
    return memory.agent("aide", session="now")


def contents(answer):
    return [hit.memory.content for hit in answer]


@pytest.mark.parametrize(("count", "stores_first"), [(1, False), (1, True), (10, False), (100, True)])
def test_the_answer_is_the_first_hit_however_often_it_was_asked(memory, count, stores_first):
    agent = ask(memory, count, stores_first=stores_first)
    answer = agent.recall(QUESTION)
    assert contents(answer) == ["My cat is called Miso.", "I have a sister in Porto."][: len(answer)]
    block = agent.context(QUESTION).text
    assert "Miso" in block
    assert "name" not in block


def test_candidates_are_deep_enough_for_more_copies_than_a_list_holds(memory):
    agent = ask(memory, 0)
    now = NOON + DAY
    for number in range(320):
        agent.observe(QUESTION, session=f"asked {number // 40}", event_time=now)
    assert contents(agent.recall(QUESTION))[0] == "My cat is called Miso."


def test_other_words_for_the_question_do_not_outrank_the_answer(memory):
    assert contents(ask(memory, 12, questions=PARAPHRASES).recall(QUESTION))[0] == "My cat is called Miso."


def test_near_identical_turns_are_one_hit_and_one_line_with_count_and_dates(memory):
    agent = memory.agent("aide")
    for day, text in enumerate(["I ran 7 km.", "i ran 7 km", "I ran 8 km.", "Hey, I ran 7 km!"]):
        agent.observe(text, session=f"day {day}", event_time=NOON + day * DAY)
    hits = agent.recall("I ran how many km?").hits
    assert sorted(hit.memory.content.lower().strip("hey, .!") for hit in hits) == ["i ran 7 km", "i ran 8 km"]
    seven, eight = sorted(hits, key=lambda hit: hit.memory.content == "I ran 8 km.")
    assert (seven.repeats.count, eight.repeats) == (3, None)
    first, second, last = (format_time(NOON + day * DAY) for day in (0, 1, 3))
    expected = {"count": 3, "first_at": first, "last_at": last, "times": [last, second, first]}
    assert seven.to_dict()["repeats"] == expected
    block = agent.context("I ran how many km?").text
    assert block.count("7 km") == 1
    assert f"(said 3 times, {first[:10]} to {last[:10]})" in block
    recent = agent.context("I ran how many km?", recent_episodes=4, budget_tokens=60).text
    assert recent.count("7 km") == 1


def test_what_two_people_say_alike_is_one_hit_unless_it_is_about_them(memory):
    agent = memory.agent("aide", session="told")
    for speaker, text in [("Jo", "We need milk."), ("Kim", "We need milk!"), ("Kim", "we need milk, please")]:
        agent.hooks.message(text, speaker=speaker)
    for speaker in ("Jo", "Kim"):
        agent.hooks.message("My milk is sour.", speaker=speaker)
    hits = agent.recall("Which milk do we need?")
    assert sorted(hit.memory.content.casefold().strip("!.") for hit in hits) == [
        "my milk is sour",
        "my milk is sour",
        "we need milk" if "please" not in hits[0].memory.content else "we need milk, please",
    ]


def test_a_candidate_that_is_no_hit_says_why(memory):
    agent = ask(memory, 2)
    agent.observe("My cat is called Miso!", session="again")
    reasons = {candidate.reason for candidate in agent.recall(QUESTION, explain=True).dropped}
    same = agent.recall(QUESTION)[0]
    assert same.repeats.count == 2
    assert reasons == {"says nothing beside the query", f"says the same as {same.memory.id}"}


def test_where_there_is_nothing_else_the_question_is_a_hit(memory):
    agent = memory.agent("aide")
    agent.observe(QUESTION, session="asked")
    assert contents(agent.recall(QUESTION)) == [QUESTION]


@pytest.mark.parametrize("preset", ["hybrid", "recall", "assistant", "weighted", "semantic", "keyword"])
def test_other_rankings_hold_every_turn(memory, preset):
    assert QUESTION in contents(ask(memory, 2).recall(QUESTION, preset=preset))


def test_what_was_asked_and_not_known_is_no_evidence(location):
    with Memory.open(location, clock=Clock(microseconds=1)) as memory:
        agent = ask(memory, 3, questions=("What's my blood type?", "Which blood type do I have, positive or negative?"))
        for number in range(3):
            denial = (
                "I don't know your blood type.",
                "There is no information about your blood type.",
                "I don't know your blood type. You could ask your doctor.",
            )[number]
            memory.agent("aide", session=f"more {number}").hooks.message(denial, role="assistant")
        for limit in (1, 10):
            assert agent.recall("What's my blood type?", limit=limit).evidence == "none"
            assert agent.recall(QUESTION, limit=limit).evidence == "strong"
        agent.observe("My blood type is AB negative.", session="doctor")
        assert agent.recall("What's my blood type?").evidence == "strong"


def test_what_is_stated_before_a_question_is_evidence(location):
    with Memory.open(location, embedder=WordEmbedder(), clock=Clock(microseconds=1)) as memory:
        agent = memory.agent("aide")
        agent.observe("I live on the fourth floor without a lift, is that a problem?", speaker="Ana")
        agent.observe("I ordered a blue sofa for the other floor.", speaker="Ana")
        answer = agent.recall("On which floor do I live?")
        assert answer[0].memory.content.startswith("I live on the fourth floor")
        assert answer.evidence != "none"


def test_the_side_of_a_chat_is_no_speaker_that_a_question_names(location):
    with Memory.open(location, clock=Clock(microseconds=1)) as memory:
        agent = memory.agent("aide")
        agent.hooks.message("My assistant is Tomas, he cannot eat shellfish.", speaker="user")
        for greeting in ("Nice to meet you!", "Congratulations on the new rate!", "All the best for the wedding."):
            agent.hooks.message(greeting, role="assistant", speaker="assistant")
        answer = memory.agent("aide", session="later").recall("Who is my assistant?")
        assert answer[0].memory.content.startswith("My assistant is Tomas")
        assert answer.evidence == "strong"
        told = agent.recall("What did the assistant say about my rate?")[0]
        assert "rate" in told.memory.content
        assert "speaker" in {share.channel for share in told.why.contributions}


def test_a_question_that_only_names_a_speaker_is_judged(location):
    with Memory.open(location, clock=Clock(microseconds=1)) as memory:
        agent = memory.agent("aide")
        agent.observe("I am Ana, a carpenter from Porto.", speaker="Ana")
        agent.observe("The soup was good.", speaker="Ben")
        answer = agent.recall("Who is Ana?")
        assert answer[0].memory.speaker == "Ana"
        assert answer.evidence == "strong"


def test_questions_without_a_mark_state_nothing(location):
    with Memory.open(location, clock=Clock(microseconds=1)) as memory:
        agent = memory.agent("aide")
        for question in ("what is the last name of Henk", "where does Henk keep his chickens"):
            agent.hooks.message(question)
        agent.observe("Henk gave me a bucket of chicken manure.", session="later")
        answer = agent.recall("what did Henk give to me")
        assert answer[0].memory.content.startswith("Henk gave me a bucket")
        assert agent.recall("what is the first name of Henk").evidence == "none"


def test_a_slip_that_its_speaker_mends_in_the_next_turn_stands_below_what_mends_it(memory):
    said = memory.agent("aide", session="said").hooks
    for line in ("The guest wifi is heron-29.", "It's heron-92, typo.", "The chairs come on Thursday."):
        said.message(line, speaker="Ana")
    answer = memory.agent("aide", session="now").recall("What's the guest wifi?")
    assert contents(answer)[:2] == ["It's heron-92, typo.", "The guest wifi is heron-29."]


def test_facts_are_evidence(location):
    with Memory.open(location, clock=Clock(microseconds=1)) as memory:
        agent = ask(memory, 3, questions=("What's my blood type?",))
        agent.remember("AB negative", subject="user", predicate="blood type")
        answer = agent.recall("What's my blood type?", kinds=["fact"])
        assert answer.evidence == "strong"
        assert agent.recall("What is the capital of Mongolia?", kinds=["fact"]).evidence == "none"


LOG = "\n".join(
    f"2026-11-29 12:{number:02}:07 ERROR orders.worker line {number} in process_order: KeyError 'customer_{number}'"
    for number in range(40)
)


@pytest.mark.parametrize("prompt", [f"{QUESTION}\n\n{LOG}", f"{LOG}\n{QUESTION}", f"{LOG}\n{QUESTION}\n{LOG}"])
def test_a_log_beside_the_question_changes_no_answer(memory, prompt):
    agent = ask(memory, 0)
    for number in range(30):
        agent.observe(f"The worker has an error in line {number} of an order", session="errors")
    plain, pasted = agent.recall(QUESTION), agent.recall(prompt)
    assert contents(pasted) == contents(plain)
    assert pasted.query == QUESTION
    assert pasted.evidence == plain.evidence == "strong"
    assert agent.context(prompt).text == agent.context(QUESTION).text
    agent.notes.save("cat", "Miso is what the cat is called")
    assert agent.notes.search(prompt) == agent.notes.search(QUESTION)


def test_a_prompt_that_is_stored_first_is_no_evidence_for_itself(memory):
    agent = memory.agent("aide", session="now")
    prompt = f"{LOG}\n{QUESTION}"
    agent.hooks.message(prompt)
    assert agent.recall(prompt).evidence == "none"
    messages = agent.messages(prompt)
    assert messages.messages[-1]["content"] == prompt


def test_what_an_assistant_gives_to_a_request_stands_above_the_request(location):
    with Memory.open(location, clock=Clock(microseconds=1)) as memory:
        hooks = memory.agent("aide", session="told").hooks
        hooks.message("Write me a packing list for three days in Edinburgh in November.")
        packed = "Packing list: rain jacket, wool hat, two sweaters, waterproof shoes, adapter for UK sockets."
        hooks.message(packed, role="assistant")
        hooks.message("Give me a name for my podcast about old lighthouses.")
        names = "Some ideas: 'Keepers', 'Fresnel Tales', 'The Last Lamp'."
        hooks.message(names, role="assistant")
        memory.flush()
        agent = memory.agent("aide", session="now")
        for query, expected in (
            ("What was on my packing list for Edinburgh?", packed),
            ("Which names did you suggest for my podcast?", names),
        ):
            answer = agent.recall(query)
            assert (contents(answer)[0], answer.evidence) == (expected, "strong")
