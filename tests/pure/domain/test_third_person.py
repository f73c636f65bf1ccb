import pytest

from engrain.domain.text.dialogue.third_person import ask_as_user, is_about_user


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("user's name", "my name"),
        ("user name", "my name"),
        ("users hobbies", "my hobbies"),
        ("the user\u2019s age", "my age"),
        ("current user's timezone", "my timezone"),
        ("name of the user", "my name"),
        ("What is the name of the user?", "What is my name?"),
        ("How old is the user?", "How old am I?"),
        ("Where does the user live?", "Where do I live?"),
        ("what has the user said about Porto", "what have I said about Porto"),
        ("Did the user mention a budget?", "did I mention a budget?"),
        ("food that the user likes", "food that I likes"),  # its terms are the same
        ("Tell me about the user", "Tell me about me"),
        ("Who is the user?", "Who am I?"),
        ("Wie heißt der Nutzer?", "Wie heiße ich?"),
        ("Wie heißt die Frau des Nutzers?", "Wie heißt mein Frau?"),  # its terms are those of "meine"
        ("¿Dónde vive la usuaria?", "¿Dónde vivo?"),
        ("Comment s\u2019appelle l\u2019utilisateur ?", "comment je m'appelle ?"),
        ("Come si chiama la moglie dell'utente?", "Come si chiama mio moglie?"),
        ("Quantos anos tem o utilizador?", "Quantos anos tenho?"),
        ("Waar werkt de gebruiker?", "Waar werk ik?"),
    ],
)
def test_a_query_about_the_user_becomes_theirs(query, asked):
    assert ask_as_user(query) == asked


@pytest.mark.parametrize(
    "query",
    [
        "user",
        "users",
        "user table",
        "user interface colours",
        "Wie viele Nutzer haben wir?",
        "¿Qué dice el manual de usuario?",
        "the user table has no index",
        "How many users do we have?",
        "Where does Nora live?",
        "What does the user manual say about resets?",
        "Where is the user's session stored? " + "It is somewhere in the cluster. " * 6,
    ],
)
def test_any_other_query_stays(query):
    assert ask_as_user(query) == query


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("Where does Nora live?", "Where do I live?"),
        ("where does nora live?", "where do I live?"),
        ("Nora's job", "my job"),
        ("What do you know about Nora?", "What do you know about me?"),
        ("Noras Beruf", "mein Beruf"),
        ("alergias de Nora", "alergias"),
        ("Noras plants", "Noras plants"),
        ("Where does Eleanora live?", "Where does Eleanora live?"),
        ("Where does NORAD sit?", "Where does NORAD sit?"),
    ],
)
def test_a_user_may_be_named(query, asked):
    assert ask_as_user(query, "nora") == asked


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("Where will classes be held?", "Where will classes be held?"),
        ("Where does Will live?", "Where do I live?"),
        ("Will's job", "my job"),
    ],
)
def test_a_name_that_is_a_common_word_counts_as_it_is_written(query, asked):
    assert ask_as_user(query, "will") == asked


@pytest.mark.parametrize("user", ["u-17", "nora@example.org", "17"])
def test_an_id_is_no_name(user):
    assert ask_as_user(f"Where does {user} live?", user) == f"Where does {user} live?"


@pytest.mark.parametrize(
    ("note", "is_about"),
    [
        ("User lives in Faro.", True),
        ("The user's wife is Eva.", True),
        ("user can\u2019t eat nuts", True),
        ("The user no longer smokes.", True),
        ("User: prefers tea", True),
        ("User sessions expire after an hour.", False),
        ("The user's table has no index.", False),
        ("User table: 5 columns", False),
        ("Username is ana", False),
        ("Ana told the user's wife", False),
        ("El usuario vive en Valencia.", True),
        ("La femme de l'utilisateur s'appelle Hélène.", True),
        ("Der Nutzer mag keine langen Antworten.", True),
        ("Nutzerkonten laufen nach einem Jahr ab.", False),
    ],
)
def test_a_note_about_the_user_says_so_at_its_beginning(note, is_about):
    assert is_about_user(note) is is_about
