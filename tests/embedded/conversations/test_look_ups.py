"""Topics that an agent looks up by a few words, with the shipped embedder."""

import pytest

from engrain.service import Memory

TOLD = {
    "home": "Hi, I'm Nora, I live in Utrecht with my husband Bram and our two cats, Pixel and Mops.",
    "diet": "I can't eat gluten, celiac since 2015.",
    "hiking": "I love hiking and I'm scared of heights, funny combination.",
    "answers": "I prefer short answers, and please no emojis.",
    "lofoten": "We're going to Lofoten in June, booked a cabin in Reine.",
    "mother": "My mum Els lives in Arnhem and has Parkinson's.",
    "race": "I'm training for the Dam tot Damloop, 16 km.",
}


@pytest.fixture
def agent(location):
    with Memory.open(location) as memory:
        for topic, told in TOLD.items():
            memory.agent("aide", user="nora", session=topic).hooks.message(told)
        memory.agent("aide", user="nora", session="more").hooks.message("My best friend Sanne just had a baby, Fenna.")
        memory.flush()
        yield memory.agent("aide", user="nora", session="now")


@pytest.mark.parametrize(
    ("query", "topic"),
    [
        ("user dietary restrictions", "diet"),
        ("dietary restrictions", "diet"),
        ("pets", "home"),
        ("user's spouse", "home"),
        ("nora location", "home"),
        ("name", "home"),
        ("travel plans", "lofoten"),
        ("user fears", "hiking"),
        ("parents", "mother"),
        ("fitness goals", "race"),
        ("communication preferences", "answers"),
    ],
)
def test_what_tells_of_a_topic_is_found_with_evidence_and_stands_in_the_block(agent, query, topic):
    answer = agent.recall(query)
    assert answer[0].memory.content == TOLD[topic]
    assert answer.evidence in {"weak", "strong"}
    assert TOLD[topic] in agent.context(query).text


@pytest.mark.parametrize("query", ["vehicle", "siblings", "projects", "age"])
def test_of_a_topic_that_nobody_has_told_of_there_is_no_evidence(agent, query):
    assert agent.recall(query).evidence == "none"
    assert agent.context(query).text == ""


def test_what_tells_of_a_pet_without_its_name_is_no_evidence_of_the_name(memory):
    agent = memory.agent("aide", user="nora", session="trip")
    agent.hooks.message("Our neighbour Mrs. Keller will water the plants and feed the cat.")
    memory.flush()
    assert agent.recall("What is my cat's name?").evidence == "none"
    assert agent.recall("my cat").evidence != "none"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Mia's fears", "I'm scared of spiders."),
        ("Tom's pets", "I have a corgi called Duke."),
        ("Mia goals", "I want to learn the cello next year."),
    ],
)
def test_a_topic_of_one_of_several_speakers_is_looked_up_in_what_they_say(location, query, expected):
    with Memory.open(location) as memory:
        agent = memory.agent("aide", session="told")
        for speaker, said in (
            ("Tom", "I have a corgi called Duke."),
            ("Tom", "I love model trains."),
            ("Mia", "My sister Jo is a pilot."),
            ("Mia", "I'm scared of spiders."),
            ("Mia", "I want to learn the cello next year."),
            ("Tom", "We're going to Malta in March."),
        ):
            agent.hooks.message(said, speaker=speaker)
        memory.flush()
        answer = memory.agent("aide", session="now").recall(query)
        assert answer[0].memory.content == expected
        assert answer.evidence != "none"


SAID = {
    "diet": "Ich vertrage keine Laktose und Jörg isst kein Fleisch.",
    "pets": "Unser Hund heißt Bruno, und wir haben noch einen Hamster.",
    "travel": "Im Sommer wollen wir nach Schweden fahren.",
    "hobbies": "Ich spiele seit der Schule Querflöte und singe im Kirchenchor.",
    "fears": "Paul hat Angst vor Gewittern.",
    "work": "Ich arbeite als Physiotherapeutin.",
}


@pytest.mark.parametrize(
    ("query", "topic"),
    [
        ("Ernährung", "diet"),
        ("dietary restrictions", "diet"),
        ("Welche Haustiere haben wir?", "pets"),
        ("Haustiere des Nutzers", "pets"),
        ("user pets", "pets"),
        ("Urlaubspläne", "travel"),
        ("travel plans", "travel"),
        ("Katrins Hobbys", "hobbies"),
        ("Ängste", "fears"),
        ("Beruf", "work"),
    ],
)
def test_a_topic_is_looked_up_in_the_language_of_the_user_or_in_english(location, query, topic):
    with Memory.open(location) as memory:
        for number, said in enumerate((*SAID.values(), "Der Bus war zu spät.", "Mein Lieblingsbuch ist Momo.")):
            memory.agent("aide", user="katrin", session=f"day {number}").hooks.message(said)
        memory.flush()
        agent = memory.agent("aide", user="katrin", session="now")
        answer = agent.recall(query)
        assert answer[0].memory.content == SAID[topic]
        assert answer.evidence != "none"
        assert SAID[topic] in agent.context(query).text
