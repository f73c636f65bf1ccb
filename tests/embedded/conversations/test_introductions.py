"""Questions of users for their own name, age and work, with the shipped embedder."""

import pytest

NAME, AGE, WORK = "Hi! I'm Nora.", "I'm 34 and live in Ghent.", "I'm a nurse at St. Mary's."
OTHERS = (
    "The name of the restaurant was Casa Luna.",
    "My boss is called Pieter.",
    "My grandmother turned 90 last week.",
    "Ben is 36 now.",
    "The old laptop finally died.",
    "Our team works on a payroll app.",
    "The bus was late again.",
    "I'm a bit worried about the exam.",
)
ASKED = (
    ("What's my name?", NAME),
    ("What is my name again?", NAME),
    ("how old am i", AGE),
    ("What's my age?", AGE),
    ("What do I do for a living?", WORK),
    ("What's my job?", WORK),
    ("Where do I work?", WORK),
)


@pytest.fixture
def agent(memory):
    for number, said in enumerate(OTHERS):
        memory.agent("aide", user="nora", session=f"day {number}").observe(said)
    return memory.agent("aide", user="nora", session="now")


@pytest.mark.parametrize(("query", "expected"), ASKED)
def test_what_a_user_said_of_themselves_comes_first(memory, agent, query, expected):
    for said in (NAME, AGE, WORK):
        memory.agent("aide", user="nora", session="first").observe(said)
    memory.flush()
    answer = agent.recall(query)
    assert answer[0].memory.content == expected
    assert answer.evidence == "strong"
    assert expected in agent.context(query, budget_tokens=60).text


@pytest.mark.parametrize("query", [query for query, _ in ASKED])
def test_what_is_known_of_others_is_no_evidence(memory, agent, query):
    memory.flush()
    assert agent.recall(query).evidence == "none"


def test_what_an_assistant_is_called_is_no_name_of_the_user(memory, agent):
    agent.observe("Hello! I'm Iris, your assistant. How can I help?", role="assistant")
    memory.flush()
    assert agent.recall("What's my name?").evidence == "none"


def test_a_new_name_comes_before_the_old_one(memory, agent):
    agent.observe(NAME)
    agent.observe("You can call me Noor.")
    memory.flush()
    assert [hit.memory.content for hit in agent.recall("What's my name?", limit=2)] == ["You can call me Noor.", NAME]


def test_a_fact_of_the_user_answers(memory, agent):
    agent.remember("nurse", subject="user", predicate="works as")
    memory.flush()
    answer = agent.recall("What's my job?")
    assert answer[0].memory.statement == "user works as: nurse"
    assert answer.evidence == "strong"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("What colour is the living room?", "The paint in the living room is Skimming Stone."),
        ("Where is TokenBucket defined?", "The rate limiter lives in src/api/limits.py, class TokenBucket."),
    ],
)
def test_what_tells_a_value_in_other_words_is_evidence(memory, agent, query, said):
    agent.observe(said)
    memory.flush()
    assert agent.recall(query).evidence != "none"


@pytest.mark.parametrize(
    ("said", "others", "questions"),
    [
        (
            "Hallo, ich bin Katrin, 38, und wohne in Kassel.",
            ("Im Sommer wollen wir nach Schweden.", "Unser Hund heißt Bruno.", "Mein Mann heißt Jörg, Paul ist 6."),
            ("Wie heiße ich?", "Wie alt bin ich?", "Name des Nutzers"),
        ),
        (
            "Hola, soy Lucía, tengo 41 años.",
            ("Tenemos un gato que se llama Simba.", "Mi marido se llama Andrés.", "Mateo tiene 7 años."),
            ("¿Cómo me llamo?", "¿Cuántos años tengo?", "nombre del usuario"),
        ),
        (
            "Bonjour, je suis Camille, j'ai 29 ans.",
            ("Mon copain s'appelle Hugo.", "On a un lapin qui s'appelle Biscotte.", "Inès a 34 ans."),
            ("Comment je m'appelle ?", "Quel âge ai-je ?", "nom de l'utilisateur"),
        ),
        (
            "Ciao, sono Marco, ho 34 anni e faccio l'infermiere.",
            ("Abbiamo un cane, Pepe.", "Giulia compie gli anni il 3 maggio.", "Mia moglie è avvocata."),
            ("Come mi chiamo?", "Quanti anni ho?", "Che lavoro faccio?"),
        ),
        (
            "Olá, sou a Rita, tenho 29 anos e sou professora.",
            ("Temos dois gatos.", "O Tiago vai abrir um restaurante.", "O meu carro é um Clio branco."),
            ("Como me chamo?", "Que idade tenho?", "O que faço na vida?"),
        ),
        (
            "Hoi, ik ben Daan, 38, loodgieter in Utrecht.",
            ("We hebben een hond, Bobbie.", "Ik ben allergisch voor pinda's.", "Femke is arts."),
            ("Hoe heet ik?", "Hoe oud ben ik?", "Wat voor werk doe ik?"),
        ),
        (
            "Mudei-me para Braga em março.",
            ("Olá, sou a Rita, professora no Porto.", "Temos dois gatos, o Fumo e a Lua."),
            ("Onde moro agora?",),
        ),
        (
            "Ich bin im Mai nach Kiel gezogen.",
            ("Meine Schwester Ines lebt in Lyon.", "Unser Hund heißt Bruno."),
            ("Wo wohne ich?",),
        ),
    ],
    ids=["German", "Spanish", "French", "Italian", "Portuguese", "Dutch", "home in Portuguese", "home in German"],
)
def test_users_introduce_themselves_in_other_languages(memory, said, others, questions):
    for number, other in enumerate((said, *others)):
        memory.agent("aide", user="nora", session=f"day {number}").observe(other)
    memory.flush()
    agent = memory.agent("aide", user="nora", session="now")
    for query in questions:
        answer = agent.recall(query)
        assert (query, answer[0].memory.content, answer.evidence) == (query, said, "strong")


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("Mein Mann heißt Jörg.", "Wie heißt meine Mutter?"),
        ("Mi marido se llama Andrés.", "¿Cómo se llama mi madre?"),
        ("Mon copain s'appelle Hugo.", "Comment s'appelle ma mère ?"),
    ],
)
def test_the_name_of_one_of_theirs_is_no_evidence_for_that_of_another(memory, said, query):
    agent = memory.agent("aide", user="nora", session="first")
    agent.observe(said)
    memory.flush()
    assert agent.recall(query).evidence == "none"
