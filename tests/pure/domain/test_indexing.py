from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.text.analysis import terms, words
from engrain.domain.text.indexing import (
    NEIGHBOUR_WORDS,
    embedding_text,
    fact_terms,
    near_terms,
    own_terms,
    turn_terms,
)
from tests.support.sample_records import MEMORIES, episode, fact, rule

DAY = datetime(2023, 5, 7, 23, 59, tzinfo=UTC)
MONTHS = "january february march april may june july august september october november december".split()
TEXTS = st.lists(st.sampled_from("trams river coffee's late a the 7 é!".split()), max_size=3 * NEIGHBOUR_WORDS).map(
    " ".join
)


@given(MEMORIES)
def test_a_memory_is_found_by_every_word_it_says(memory):
    assert set(terms(memory.content)) <= set(own_terms(memory))


def test_a_turn_is_found_by_what_is_said_by_whom_and_on_which_day():
    turn = episode("The trams were late.", speaker="Caroline Reyes", event_time=DAY)
    assert own_terms(turn) == ["carolin", "rey", "7", "may", "2023", "tram", "late"]
    assert turn_terms(turn.content, speaker=turn.speaker, event_time=DAY) == own_terms(turn)


def test_a_turn_that_nobody_is_named_for_is_found_by_the_rest():
    assert own_terms(episode("Late!", speaker=None, event_time=DAY)) == ["7", "may", "2023", "late"]


def test_a_fact_is_found_by_its_statement_and_by_the_day_it_began_where_that_is_known():
    assert own_terms(fact("Lisbon", subject="Ana", predicate="lives in")) == ["ana", "live", "lisbon"]
    since = fact("Lisbon", subject="Ana", predicate="lives in", valid_from=DAY)
    assert own_terms(since) == fact_terms(since) == ["ana", "live", "7", "may", "2023", "lisbon"]


def test_a_rule_is_found_by_its_guidance_alone():
    assert own_terms(rule("Book no early flights.", agent="aide", created_at=DAY)) == ["book", "earli", "flight"]


@pytest.mark.parametrize("month", range(1, 13))
def test_a_question_finds_every_month_by_its_english_name(month):
    turn = episode("x", event_time=datetime(2023, month, 1, tzinfo=UTC))
    assert own_terms(turn)[:3] == ["1", *terms(MONTHS[month - 1]), "2023"]


class Foreign(datetime):
    """A time whose own formatting speaks the language of the process's locale."""

    def strftime(self, _form):
        return "07 Mai 2023"

    def __format__(self, form):
        return self.strftime(form)


def test_the_month_is_english_in_every_locale():
    assert own_terms(episode("x", event_time=Foreign(2023, 5, 7, tzinfo=UTC)))[:3] == ["7", "may", "2023"]
    assert "may" in own_terms(fact(valid_from=Foreign(2023, 5, 7, tzinfo=UTC)))


@given(st.lists(TEXTS, max_size=4))
def test_each_neighbour_lends_the_stems_of_its_first_words(contents):
    expected = [term for content in contents for term in terms(" ".join(words(content)[:NEIGHBOUR_WORDS]))]
    assert near_terms(contents) == expected


def test_a_long_neighbour_lends_no_more_than_its_beginning():
    long = " ".join(f"w{number}" for number in range(10 * NEIGHBOUR_WORDS))
    assert near_terms([long, "tram"]) == [*(f"w{number}" for number in range(NEIGHBOUR_WORDS)), "tram"]


def test_stop_words_count_among_the_first_words():
    assert near_terms(["the " * NEIGHBOUR_WORDS + "tram"]) == []


def test_a_vector_stands_for_a_turn_with_its_speaker_a_fact_as_its_statement_and_a_rule_as_its_guidance():
    assert embedding_text(episode("I moved.", speaker="Caroline")) == "Caroline: I moved."
    assert embedding_text(episode("I moved.", speaker=None)) == "I moved."
    assert embedding_text(fact("Lisbon", subject="Ana", predicate="lives in")) == "Ana lives in: Lisbon"
    assert embedding_text(rule("Book no early flights.")) == "Book no early flights."
