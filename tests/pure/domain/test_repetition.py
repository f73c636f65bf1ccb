"""Turns that say the same, and turns that say nothing beside a query."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.text.analysis import terms
from engrain.domain.text.repetition import (
    _CLAUSE_END,
    _DENIAL,
    _DENYING_WORD,
    _expand,
    describe_repetition,
    hash_words,
    mark_echoes,
    measure_repetition,
    repeat_key,
    says_nothing,
    says_the_same,
)

QUERY = "What's my cat's name?"
WORDS = st.lists(st.sampled_from("Miso cat name river 7 not Ana tram".split()), min_size=1, max_size=6)


def key(content, *, role="user", speaker=None):
    return repeat_key(content, role=role, speaker=speaker)


def echoes(content, query=QUERY, *, role="user"):
    found = describe_repetition(content, role=role, speaker=None)
    return found.says_nothing or mark_echoes([found.question_terms], terms(query)) == [True]


def repetition(content, query):
    asked = describe_repetition(content, role="user", speaker=None).question_terms
    return measure_repetition(asked or "", query)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("My cat is called Miso.", "my cat is  called Miso!"),
        ("Hey, my cat is called Miso.", "My cat is called \u201cMiso\u201d"),
        ("What's my cat's name?", "Hey, do you remember what my cat's name is?"),
        ("\U0001f44d", " \U0001f44d"),
        ("Remind me to feed Miso.", "Remind me to feed Miso, please."),
    ],
)
def test_turns_that_say_the_same_have_one_key(one, other):
    assert key(one) == key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("My cat is called Miso.", "My cat is called Moso."),
        ("I run 7 km.", "I run 17 km."),
        ("It cost 3.50.", "It cost 35.0."),
        ("It cost $5.", "It cost \u20ac5."),
        ("I write C++.", "I write C."),
        ("I eat meat.", "I do not eat meat."),
        ("I will move to Porto.", "I moved to Porto."),
        ("What is my cat's name?", "What is my dog's name?"),
        ("Did I run 7 km?", "Did I run 8 km?"),
        ("My cat is called Miso.", "Is my cat called Miso?"),
        ("\U0001f602", "\U0001f62d"),
    ],
)
def test_turns_that_say_different_things_have_two_keys(one, other):
    assert key(one) != key(other)


@pytest.mark.parametrize("content", ["ok thanks", "Haha, that sounds lovely!", "Good morning!"])
def test_small_talk_says_nothing_whoever_says_it(content):
    assert says_nothing(content, role="user")
    assert says_nothing(content, role="assistant")
    assert echoes(content, "Where is the tram?")


def test_statements_of_two_speakers_are_two_things_where_they_are_about_them_and_a_question_is_one():
    assert key("I love it!", speaker="Ana") != key("I love it!", speaker="Ben")
    assert key("Four days.", speaker="Ana") != key("Four days.", speaker="Ben")  # each may answer another question
    assert key("We need milk.", speaker="Ana") == key("We need milk!", speaker="Ben")
    assert key("I love it!") != key("I love it!", role="assistant")
    assert key(QUERY, speaker="Ana") == key(QUERY, role="assistant")


@given(WORDS, WORDS)
def test_turns_of_one_key_have_the_same_words(one, other):
    same = key(" ".join(one)) == key(" ".join(other) + " .")
    assert same == (list(map(str.lower, one)) == list(map(str.lower, other)))


@pytest.mark.parametrize(
    "content",
    [
        QUERY,
        "whats my cats name",
        "Good morning! What is my cat's name again?",
        "Do you remember the name of my cat?",
        "Tell me my cat's name",
    ],
)
def test_a_question_of_the_query_s_words_alone_is_an_echo(content):
    assert echoes(content)


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("My cat is called Miso.", QUERY),
        ("Isn't my cat's name Miso?", QUERY),
        ("What's my dog's name?", QUERY),
        ("My cat is called Miso.", "Is my cat called Miso?"),
        ("cat name Miso", "cat name Miso"),
        ("Did you sleep well?", QUERY),
    ],
)
def test_what_says_more_or_states_is_no_echo(content, query):
    assert not echoes(content, query)


@given(WORDS, WORDS)
def test_a_statement_is_never_an_echo_of_a_person(content, query):
    assert not echoes(" ".join(["So", *content]), " ".join(query))


@pytest.mark.parametrize(
    "content",
    [
        "I don't know your cat's name.",
        "I\u2019m sorry, but I don\u2019t know your cat\u2019s name. If you tell me, I'll remember it!",
        "I don't have any information about your cat.",
        "I have no record of that. Could you tell me?",
        "I have no VAT number for Hydrotec.",
        "I'm afraid I can't see your warranty here.",
        "I don't have a price for that, sorry.",
        "Nobody has told me which piece it is.",
        "Sorry, I don't.",
        "No, that hasn't come up.",
        "You haven't told me your cat's name yet.",
        "I don't think you've told me your seat.",
        "I don't believe anybody mentioned it.",
        "I'm not sure what your blood type is.",
        "There is no information about your blood type in my memory.",
        "Your cat's name has not been mentioned.",
        "Unfortunately, I cannot recall that. Let me know and I will note it.",
        "I don't know your blood type. You could ask your doctor.",
        "I don't know your blood type, and nobody at the hospital does.",
        "I haven't heard anything about your blood type.",
        "Still nothing known about your blood type.",
        "No news of your blood type yet.",
        "I don't know, there is no result from the lab yet.",
        "Das weiß ich leider noch nicht.",
        "Ich weiß deine Blutgruppe leider noch nicht.",
        "Ich finde nichts.",
    ],
)
def test_an_assistant_that_does_not_know_says_nothing(content):
    assert says_nothing(content, role="assistant")
    assert echoes(content, "What is my blood type?", role="assistant")
    assert not says_nothing(content, role="user")


@pytest.mark.parametrize(
    "content",
    [
        "Your cat is called Miso.",
        "I don't know her surname, but your sister is called Ana.",
        "I don't think you told me to book the aisle seat, you wanted the window.",
        "I don't know her surname, but nobody calls her Ana.",
        "I don't know yet. It could be the voucher.",
        "I don't have a cat, I am a program.",
        "We have no blue ones.",
        "There is no lift in the building.",
        "I haven't heard of a discount, but the price is 40 euros.",
        "I remember that you don't eat meat.",
        "You said that you know Rust.",
    ],
)
def test_an_assistant_that_tells_something_says_something(content):
    assert not says_nothing(content, role="assistant")


@given(st.from_regex(re.compile(_DENIAL.pattern, re.VERBOSE)), st.booleans())
def test_every_denial_has_a_word_by_which_it_is_looked_for(denial, is_short):
    said = (denial.replace(" not", "n't") if is_short else denial).casefold()
    denies = [_DENIAL.search(_expand(clause)) for clause in _CLAUSE_END.split(said)]
    assert _DENYING_WORD.search(said) or not any(denies)


def test_repetition_is_the_share_of_a_question_that_the_query_has():
    query = terms(QUERY)
    assert repetition("What name did I give my cat?", query) == pytest.approx(2 / 3)
    assert repetition("What did I call my cat?", query) == 0.5
    # Another question about the same, of which a half is not in the query.
    assert repetition("What food and vet does my cat named Miso have?", query) == 0.0
    assert repetition("What's my cat's name?", query) == 1.0
    assert repetition("Where did the black cat of Ana sleep?", query) == 0.0
    assert repetition("What did you say?", query) == 0.0


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_has_a_key_and_a_share(content, query):
    assert hash(key(content)) == hash(key(content))
    assert 0 <= repetition(content, terms(query)) <= 1
    assert echoes(content, query) in (True, False)


@given(WORDS, WORDS)
def test_texts_that_say_the_same_have_one_hash(one, other):
    one, other = " ".join(one), " ".join(other).upper() + "!"
    assert (hash_words(one) == hash_words(other)) == says_the_same(one, other)
