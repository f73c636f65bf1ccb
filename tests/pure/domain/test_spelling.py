import pytest

from engrain.domain.text.analysis import terms
from engrain.domain.text.spelling import correct_spelling

TEXTS = (
    "My sister Michael lives in Wroclaw.",
    "We ate at the restaurant for our anniversary.",
    "Grandma's house by the trail is quiet; my brother reads his diary there.",
    "Edinburgh castle, Katarzyna, planning the party with Christine after the launch.",
)


def correct(query):
    return correct_spelling(query, set(terms(query)), TEXTS)


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("Where does my siter live?", "Where does my sister live?"),  # a letter is missing
        ("which restaurrant", "which restaurant"),  # one too many
        ("our anniverasry", "our anniversary"),  # two exchanged
        ("what did Katarzina say", "what did Katarzyna say"),  # a vowel is another
        ("where in edinburg", "where in Edinburgh"),  # at the end of a long word
        ("what are we planing at the resturant", "what are we planning at the restaurant"),
    ],
)
def test_a_word_that_differs_by_one_letter_is_what_is_meant(query, meant):
    assert correct(query) == meant


@pytest.mark.parametrize(
    "query",
    [
        "where does Michaela live",  # the end of a name makes another
        "where does Karyn live",
        "what is grandpa's gift",
        "do we have a horse",
        "the trial was quite late",  # words of their own
        "at the lunch",
        "my brothers and sisters",  # known in another form
        "what does the vet say",  # too short
        "where is my blister",  # another first letter
        "42222 and x1234",
    ],
)
def test_a_word_of_its_own_is_left(query):
    assert correct(query) == query


def test_only_unknown_terms_are_looked_at():
    assert correct_spelling("my siter", frozenset(), TEXTS) == "my siter"


def test_the_likeliest_text_has_the_word():
    assert correct_spelling("the platn", {"platn"}, ["a plant", "a plate"]) == "the plant"
    assert correct_spelling("the statoin", {"statoin"}, ["The STATION"]) == "the STATION"
