# ruff: noqa: RUF001  # Russian letters look like Latin ones
import pytest

from engrain.domain.text.dialogue.introductions import find_introduction

NAME, AGE, WORK, EMPLOYER = "What's my name?", "How old am I?", "What do I do for a living?", "Where do I work?"


@pytest.mark.parametrize(
    "query",
    [
        "What is my full name?",
        "what was my name again",
        "Do you remember my name?",
        "What do you call me?",
        "Wie heiße ich?",
        "¿Cómo me llamo?",
        "Comment je m'appelle ?",
        "Как меня зовут?",
        "我叫什么名字？",
        "私の名前は？",
    ],
)
def test_a_question_for_the_users_name_is_one(query):
    assert find_introduction(query) is find_introduction(NAME)


@pytest.mark.parametrize(
    "query", ["What's my age?", "do you know how old i am", "¿Cuántos años tengo?", "Wie alt bin ich?"]
)
def test_a_question_for_the_users_age_is_one(query):
    assert find_introduction(query) is find_introduction(AGE)


@pytest.mark.parametrize(
    "query",
    [
        "What's my job?",
        "what's my job right now",
        "What do I do?",
        "what is my profession again?",
        "Quel est mon métier ?",
    ],
)
def test_a_question_for_the_users_work_is_one(query):
    assert find_introduction(query) is find_introduction(WORK)


@pytest.mark.parametrize(
    "query",
    [
        "What's my cat's name?",
        "What's my username?",
        "What are my children's names?",
        "How old is Max?",
        "What do I do about the leak?",
        "What do you do?",
        "What was my job at Initech?",
        "Where do I work out?",
        "What's my name? " + "It is on the form that I filled in. " * 5,
    ],
)
def test_any_other_question_is_none(query):
    assert find_introduction(query) is None


@pytest.mark.parametrize(
    "said",
    [
        "Hi! I'm Nora.",
        "hey im tom",
        "My name is Priya and I need help.",
        "Hello, this is Priya. I have a question.",
        "Sam here, quick question",
        "you can call me Noor btw",
        "I'm Ana María from Lisbon",
        "Ich heiße Jürgen.",
        "Hallo, ich bin Peter und komme aus Bonn.",
        "Moin, hier ist Katrin.",
        "Hola, soy Lucía, tengo 41 años.",
        "Oi, eu sou a Beatriz.",
        "Moi, c'est Camille.",
        "Bonjour, je suis Camille et j'habite à Nantes.",
        "Ciao, sono Marco.",
        "Ik ben Nora, uit Gent.",
        "Меня зовут Анна.",
        "我叫王芳，住在上海。",
        "user name Nora",
    ],
)
def test_somebody_tells_their_name(said):
    assert find_introduction(NAME).search(said)


@pytest.mark.parametrize(
    "said",
    [
        "I'm Dutch.",
        "Im Sommer wollen wir nach Schweden.",
        "Letztes Jahr waren wir im Urlaub, das war herrlich.",
        "Ich bin Lehrerin.",
        "Ich bin Vegetarier und Allergiker.",
        "Je suis Belge.",
        "Soy enfermera.",
        "I'm Ana's sister.",
        "I'M LATE",
        "hey im back",
        "hi, i'm tired and hungry",
        "hi im looking for a hotel",
        "The name of the restaurant was Casa Luna.",
        "My boss is called Pieter.",
        "call me back tomorrow",
        "Nothing here works.",
    ],
)
def test_somebody_tells_no_name_of_theirs(said):
    assert not find_introduction(NAME).search(said)


@pytest.mark.parametrize(
    "said",
    [
        "I'm 34 and live in Ghent.",
        "turned 29 yesterday!",
        "I'm a 41-year-old teacher.",
        "I am now forty-two",
        "I was born in 1984.",
        "Tengo setenta y un años.",
        "user age 34",
        "Hallo, ich bin Katrin, 38, und wohne in Kassel.",
        "Hey, Marco here, 41, from Trieste.",
    ],
)
def test_somebody_tells_their_age(said):
    assert find_introduction(AGE).search(said)


@pytest.mark.parametrize(
    "said",
    [
        "I'm 10 minutes late",
        "Ben is 36 now.",
        "I'm 80 kg",
        "I'm 90% sure",
        "I was born in Ghent.",
        "I have 34 books.",
        "Ich bin um 19.30 Uhr da.",
    ],
)
def test_somebody_tells_no_age_of_theirs(said):
    assert not find_introduction(AGE).search(said)


@pytest.mark.parametrize(
    "said",
    [
        "I'm a nurse at St. Mary's.",
        "i work as an electrician",
        "I work Saturdays at a bakery.",
        "Currently I'm a data analyst at a logistics company.",
        "I'm still a part-time music teacher",
        "I run a small bakery.",
        "I got a job at the library",
        "Je travaille comme infirmière.",
        "Ich bin gelernter Tischler.",
        "Ich bin Ärztin in Kassel.",
        "Hi, I'm Kofi, a nurse in Leeds.",
        "I am Ravi, 34, software engineer.",
        "Hallo, ich bin Miriam, Lehrerin an der Gesamtschule.",
        "Soy Lucía, enfermera en La Fe.",
        "Je suis Paul, infirmier à Lyon.",
        "Ciao, sono Marco e faccio l'infermiere.",
        "Sono insegnante.",
        "Olá, sou a Rita e sou professora.",
        "Ik ben Daan, loodgieter in Utrecht.",
        "user occupation nurse",
    ],
)
def test_somebody_tells_their_work(said):
    assert find_introduction(WORK).search(said)


@pytest.mark.parametrize(
    "said",
    [
        "I'm a bit worried about the exam.",
        "Hallo, ich bin Katrin, 38.",
        "Hallo, ich bin Peter.",
        "Ich bin mir nicht sicher.",
        "Ich bin Vegetarier.",
        "Sono stanco.",
        "Sou solteira.",
        "Sou melhor nisso.",
        "Ik ben vegetariër.",
        "I'm a vegetarian",
        "I'm a proud mother of two",
        "Our team works on an app.",
        "I'm Nora, my sister is a nurse.",
        "I'm Ann, Ben's mother.",
        "I run every day",
    ],
)
def test_somebody_tells_no_work_of_theirs(said):
    assert not find_introduction(WORK).search(said)


@pytest.mark.parametrize(
    "said",
    [
        "I work at Initech.",
        "I'm a nurse at St. Mary's.",
        "I'm Kofi, a nurse in Leeds.",
        "I just joined Acme as a designer",
        "I'm looking for a new job. Currently I'm a data analyst at Havenlink.",
    ],
)
def test_somebody_tells_their_employer(said):
    assert find_introduction(EMPLOYER).search(said)


@pytest.mark.parametrize("query", ["Where do I work at the moment?", "where do i work right now"])
def test_a_question_for_the_employer_of_today_is_one_for_the_employer(query):
    assert find_introduction(query) is find_introduction(EMPLOYER)


def test_what_somebody_does_is_no_employer():
    assert not find_introduction(EMPLOYER).search("I'm a nurse and I love it.")


@pytest.mark.parametrize(
    ("said", "is_home"),
    [
        ("I live in Graz.", True),
        ("We've just moved to Porto.", True),
        ("Our new flat is in the Rua da Rosa.", True),
        ("user live in Graz", True),
        ("User moved to Munich.", True),
        ("Is a software engineer living in Austin, Texas.", True),
        ("My sister Ida lives in Vienna.", False),
        ("Ida moved to Linz.", False),
        ("I work in Graz.", False),
    ],
)
def test_who_lives_or_moved_somewhere_tells_of_a_home(said, is_home):
    assert (find_introduction("Where do I live?").search(said) is not None) is is_home


def test_a_birthday_tells_an_age_with_its_year_alone():
    assert find_introduction(AGE).search("user birthday 3 May 1990")
    assert not find_introduction(AGE).search("user birthday on 3 May")
