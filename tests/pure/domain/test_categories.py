import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.text.categories import CATEGORIES, KEYWORDS, LEAST_CONFIDENCE, categorize

EXAMPLES = {
    "credential": ("api-key", "secret token for GitHub"),
    "config": ("deploy", "set the port in config.yaml"),
    "code": ("cleanup", "refactor the function that has the bug"),
    "person": ("ana", "her birthday is in May, and her sister is a doctor"),
    "project": ("project:alpha", "the roadmap"),
    "preference": ("editor", "prefers dark mode"),
    "fact": ("geography", "Paris is the capital of France"),
    "conversation": ("standup", "we discussed it in the meeting and agreed"),
    "task": ("todo", "finish the checklist before the deadline"),
    "general": ("note", "seven grey herons"),
}
WORDS = st.sampled_from([word for words in KEYWORDS.values() for word in words] + ["heron", "grey", "Åse", ""])
LINES = st.lists(WORDS, max_size=12).map(" ".join) | st.text()


@pytest.mark.req("C03")
def test_there_are_ten_categories():
    assert (
        tuple("config code person project credential preference fact conversation task general".split()) == CATEGORIES
    )
    assert set(KEYWORDS) == set(CATEGORIES) - {"general"}


@pytest.mark.parametrize(("category", "note"), EXAMPLES.items())
def test_each_category_knows_its_own(category, note):
    assert categorize(*note).name == category


@pytest.mark.req("C02")
@given(LINES, LINES)
def test_confidence_is_nothing_or_at_least_a_tenth(key, content):
    found = categorize(key, content)
    assert found.name in CATEGORIES
    assert found.confidence == 0.0 or LEAST_CONFIDENCE <= found.confidence <= 1.0
    assert (found.confidence == 0.0) == (found.name == "general")


@given(LINES, LINES)
def test_case_does_not_matter(key, content):
    assert categorize(key.upper().lower(), content.lower()) == categorize(key.lower(), content.lower())


@pytest.mark.parametrize("category", KEYWORDS)
def test_every_keyword_speaks_for_its_category(category):
    for keyword in KEYWORDS[category]:
        assert categorize(keyword, "").confidence > 0, keyword
    assert categorize(category, " ".join(KEYWORDS[category])).name == category


def test_no_keyword_stands_in_two_categories():
    every = [word for words in KEYWORDS.values() for word in words]
    assert len(every) == len(set(every))


def test_a_phrase_is_found_as_a_whole_only():
    assert categorize("", "a dark corner of the fashion house").name == "general"
    assert categorize("", "the editor is in dark mode").name == "preference"


def test_the_key_weighs_twice_as_much_as_the_content():
    assert categorize("password", "deadline").name == "credential"
    assert categorize("deadline", "password").name == "task"


def test_more_words_for_one_category_make_it_surer():
    assert categorize("", "his wife").confidence < categorize("", "his wife and his daughter").confidence
    assert categorize("", "his wife").confidence > categorize("", "his wife hates the compiler").confidence


def test_a_huge_text_is_judged_by_its_beginning():
    assert categorize("", "password " + "grey " * 2_000_000) == categorize("", "password")
