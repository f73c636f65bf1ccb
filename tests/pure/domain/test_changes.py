"""Short statements of users, the changes among them, and what these correct."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.text import changes
from engrain.domain.text.changes import (
    UNSTATED,
    asks_for_present,
    describe_statement,
    find_names,
    weigh_correction,
)


@pytest.mark.parametrize(
    "content",
    [
        "Actually I moved to Porto on Saturday.",
        "The rent is 11,500 kroner now, much better.",
        "I renamed the module dumper to exporter.",
        "Sorry, not Felipe, it's Mette who does the music.",
        "I misread the plate: it ends in 09.",
        "We don't eat meat any more.",
        "My new favourite soup is laksa.",
        "The report has been postponed to April.",
        "We swapped back, I have the top shelf again.",
        "Leave it at the kiosk instead.",
        "We extend the sprint to the 24th of April.",
        "I put the spare key into the desk.",
        "Sunday doesn't work for Piet.",
        "The bill says 58 euros, not 62.",
    ],
)
def test_a_change_is_told_from_other_statements(content):
    assert describe_statement(content, role="user", asking=0.0).states_change


@pytest.mark.parametrize("content", ["I live in Lisbon.", "The report is due in March.", "I know Otto.", ""])
def test_other_statements_are_no_changes(content):
    assert not describe_statement(content, role="user", asking=0.0).states_change


@given(st.from_regex(changes._CHANGE))
def test_no_change_is_missed_for_want_of_a_hint(content):
    assert changes._may_state_change(content)


def test_a_statement_has_the_terms_of_its_names_and_numbers():
    assert find_names("Staging of Atlas runs on port 9090, on port 9090.") == {"atlas", "9090"}


@pytest.mark.parametrize(
    ("content", "role", "asking"),
    [("I moved.", "assistant", 0.0), ("I moved.", None, 0.0), ("Who moved?", "user", 1.0), ("now " * 41, "user", 0.0)],
)
def test_what_is_no_short_statement_of_a_user_is_not_described(content, role, asking):
    assert describe_statement(content, role=role, asking=asking) == UNSTATED


@pytest.mark.parametrize("query", ["Where do I live?", "Who owns billing?", "Is issue 88 fixed?", "rent"])
def test_a_question_about_the_present(query):
    assert asks_for_present(query)


@pytest.mark.parametrize(
    "query", ["Where did I live?", "What was it before?", "my old address", "When has it changed?", "Who won in 2019?"]
)
def test_a_question_about_the_past(query):
    assert not asks_for_present(query)


@pytest.mark.parametrize(
    ("newer", "names", "asked", "weight"),
    [
        ("rent 700", "", "rent", 2),  # what is asked for counts twice
        ("wen left ravi", "wen", "bill", 2),  # a name of the older one
        ("wen left", "wen", "wen", 2),  # named, and asked for
        ("left ravi", "wen", "wen", 0),
        ("dog", "", "rent", 0),
        ("rent", "", "rent flat", 2),  # one word of the question is missing
        ("rent", "", "rent flat own", 0),
    ],
)
def test_a_correction_weighs_the_terms_of_both(newer, names, asked, weight):
    older = frozenset("wen own bill rent flat 900".split())
    asks = {"names": frozenset(names.split()), "query_terms": frozenset(asked.split())}
    assert weigh_correction(frozenset(newer.split()), older, **asks) == weight
