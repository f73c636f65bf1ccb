"""Keys of facts: one place for a statement however it is written, and many values where a predicate has many."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.memories.fact_keys import fact_key, subject_key, value_key
from engrain.domain.memories.predicates import free_text_predicate, is_free_text, is_many_valued, predicate_key
from tests.support.sample_records import fact

SPELLINGS = [
    ("lives in", ["Lives In", "lives_in", "live in", "livesIn", "resides in", "is living in", " lives  in "]),
    ("likes", ["like", "Loves", "is fond of", "enjoys"]),
    ("dislikes", ["doesn't like", "does not like", "can't stand", "cannot stand", "hates"]),
    ("is written in", ["written in", "Is_Written_In"]),
    ("favourite colour", ["favorite color", "Favourite_Colour"]),
    ("study", ["studies", "study"]),
]


@pytest.mark.parametrize(("key", "spelling"), [(key, one) for key, all_ in SPELLINGS for one in [key, *all_]])
def test_a_predicate_has_one_key_in_all_spellings(key, spelling):
    assert predicate_key(spelling) == key


@pytest.mark.parametrize("word", ["status", "address", "bus", "is", "diagnosis of", "works in", "lives with"])
def test_a_word_that_is_no_verb_stays_apart_from_others(word):
    assert predicate_key(word) not in {"lives in", "employer", ""}


@given(st.text(max_size=30))
def test_the_key_of_a_key_is_itself(text):
    assert predicate_key(predicate_key(text)) == predicate_key(text)
    assert subject_key(subject_key(text)) == subject_key(text)


def test_the_first_person_is_the_user_and_an_article_is_no_part_of_a_name():
    assert {subject_key(one) for one in ("I", "me", "User", "the user", "THE_USER")} == {"user"}
    assert {subject_key(one) for one in ("the plumber", "Plumber", "The  plumber")} == {"plumber"}


def test_values_stand_side_by_side_where_a_predicate_has_many():
    assert is_many_valued(predicate_key("loves"))
    assert not is_many_valued(predicate_key("lives in"))
    assert not is_many_valued(predicate_key("was last used by"))
    assert fact("jazz", predicate="likes").slot != fact("the oboe", predicate="likes").slot
    assert fact("the oboe", predicate="likes").slot == fact("Oboe.", predicate="enjoys").slot
    assert fact("Porto").slot == fact("Lisbon", predicate="resides_in").slot


def test_facts_of_two_projects_and_of_none_have_places_of_their_own():
    shop, blog = ("project:github.com/ana/shop", "web"), ("project:github.com/ana/blog",)
    for predicate in ("port", "uses", "likes"):
        said = {"subject": "API", "predicate": predicate}
        assert len({fact("8443", **said, tags=tags).slot for tags in (shop, blog, ())}) == 3
        assert fact("8443", **said, tags=shop).slot == fact("8443", **said, tags=shop[:1]).slot
    assert (
        fact("9000", subject="API", predicate="port", tags=shop + blog).slot
        == fact("1", subject="API", predicate="port").slot
    )
    assert len({fact("Porto", subject="user", tags=tags).slot for tags in (shop, blog, ())}) == 1
    note = {"subject": "aide", "scope": "aide", "predicate": "plan"}
    assert fact("x", **note, tags=shop).slot == fact("y", **note).slot


def test_a_long_value_has_a_short_key():
    assert len(value_key("tea with milk " * 100)) < 80
    assert value_key("tea with milk " * 100) != value_key("tea with milk " * 101)


def test_a_note_has_the_key_that_it_was_given():
    """It is what an agent says of itself in its own scope; keys that differ in case are two."""
    note = {"scope": "aide", "subject": "aide", "content": "x"}
    assert fact_key(**note, predicate="Plan_B") == ("aide", "Plan_B", "")


def test_a_text_that_stands_for_itself_keeps_its_predicate():
    predicate = free_text_predicate("Ana lives in Lisbon")
    assert is_free_text(predicate)
    assert predicate_key(predicate) == predicate
    assert not is_free_text("observation of stars")
