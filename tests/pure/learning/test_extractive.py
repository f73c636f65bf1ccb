import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.text.tokens import approximate_tokens
from engrain.learning.summaries.extractive import clip, extract
from engrain.learning.summaries.passages import Passage

WORDS = "tram river coffee guitar walked bought Lisbon Ana the was and it never".split()
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(lambda said: " ".join(said) + ".")
TEXTS = st.one_of(st.lists(SENTENCES, max_size=6).map(" ".join), st.text(max_size=300))
PASSAGES = st.lists(st.builds(Passage, TEXTS, st.sampled_from(["", "Ana", "2023-05-08 Ana\n"])), max_size=8)
# Counters that add up, that do not, and that say nothing.
COUNTERS = st.sampled_from(
    [approximate_tokens, len, lambda text: len(text.split()), lambda text: len(text.encode()) // 3 + 2, lambda _: 1]
)
DIALOGUE = [
    Passage("Hey! Good to see you.", "Ana"),
    Passage("We bought a house in Lisbon with a garden. Wow.", "Ben"),
    Passage("The house in Lisbon! And the garden? Tell me.", "Ana"),
    Passage("Thanks a lot.", "Ben"),
    Passage("The garden has lemon trees, and Lisbon is warm.", "Ben"),
]


@pytest.mark.req("G11")
@given(PASSAGES, st.integers(0, 200), COUNTERS)
def test_the_target_is_never_exceeded(passages, target, count_tokens):
    text = extract(passages, target, count_tokens).text
    assert not text or count_tokens(text) <= target


@given(PASSAGES, st.integers(0, 200))
def test_the_same_passages_give_the_same_text(passages, target):
    assert (
        extract(passages, target, approximate_tokens).text == extract(list(passages), target, approximate_tokens).text
    )


@pytest.mark.req("G11")
@given(PASSAGES, st.integers(1, 200))
def test_nothing_is_said_that_was_not_there(passages, target):
    words = {word for passage in passages for word in f"{passage.text} {' '.join(passage.label.split())}:".split()}
    text = extract(passages, target, approximate_tokens).text
    if not text.endswith("\u2026"):
        assert set(text.split()) <= words


@pytest.mark.req("G11")
def test_what_many_say_stands_in_its_order_under_who_said_it():
    assert extract(DIALOGUE, 25, approximate_tokens).text == (
        "Ben: We bought a house in Lisbon with a garden.\nBen: The garden has lemon trees, and Lisbon is warm."
    )


def test_what_fits_whole_is_kept_whole_but_for_repeats_and_empty_talk():
    passages = [Passage("Ana moved. You too?"), Passage("ana moved!"), Passage("Ben stayed.")]
    assert extract(passages, 1_000, approximate_tokens).text == "Ana moved.\nBen stayed."


def test_a_repeat_makes_room_for_something_new():
    passages = [
        Passage("The trams in Lisbon are yellow and old."),
        Passage("The old trams of Lisbon are very yellow."),
        Passage("The concert was moved to Friday."),
    ]
    assert "concert" in extract(passages, 20, approximate_tokens).text


def test_one_long_answer_does_not_drown_a_dialogue():
    answer = " ".join(f"Option {word} costs money and takes time to plan." for word in "abcdefghij")
    asked = "My flight to Porto leaves on Friday."
    said = extract([Passage(asked, "user"), Passage(answer, "assistant")], 40, approximate_tokens).text
    assert said.startswith(f"user: {asked}")


def test_a_sentence_that_is_too_long_is_cut_at_a_word():
    text = extract([Passage("Ana walked along the river until it was dark and cold.")], 6, approximate_tokens).text
    assert text == "Ana walked along the\u2026"


@given(st.text(max_size=200), st.integers(0, 60), COUNTERS)
def test_a_cut_text_fits(text, target, count_tokens):
    cut = clip(text, target, count_tokens)
    assert not cut or count_tokens(cut) <= target


@pytest.mark.parametrize("target", [0, 1, 100])
@pytest.mark.parametrize("passages", [[], [Passage("")], [Passage("?!")], [Passage("\U0001f600")], [Passage("it was")]])
def test_what_says_nothing_has_no_summary(passages, target):
    assert extract(passages, target, approximate_tokens).text == ""


def test_a_large_text_is_summarized():
    chance = random.Random(7)
    said = " ".join(f"{' '.join(chance.choices(WORDS, k=9))} {place}." for place in range(20_000))
    text = extract([Passage(said), Passage("Ana bought a guitar.")], 100, approximate_tokens).text
    assert text
    assert approximate_tokens(text) <= 100
