# ruff: noqa: RUF001  # characters that look like others belong to other alphabets
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.context.excerpts import clip, find_best_sentence

TALK = "We met at noon. The ferry to Lisbon leaves at nine! Then we ate cheese.\nAnd that was all of it, I think."


def part(text, size, query="ferry Lisbon"):
    return clip(text, query, lambda kept: len(kept) <= size)


@given(st.text(st.sampled_from("ab .!?\n語"), max_size=300), st.text("ab ", max_size=9), st.integers(0, 200))
def test_a_part_fits_and_is_made_of_the_text(text, asked, size):
    kept = part(text, size, asked)
    if kept is not None:
        assert len(kept) <= size
        assert kept.removeprefix("… ").removesuffix(" …").strip() in " ".join(text.split())
        assert len(kept) >= 24


@pytest.mark.parametrize(
    ("size", "query", "expected"),
    [
        (45, "ferry Lisbon", "… The ferry to Lisbon leaves at nine! Then …"),  # from the best sentence on
        (50, "what to think", "… we ate cheese. And that was all of it, I think."),  # earlier where the text ends
        (30, "aardvark", "We met at noon. The ferry to …"),
        (500, "ferry Lisbon", TALK.replace("\n", " ")),
        *[(size, "ferry Lisbon", None) for size in (0, 10, 23)],  # so little says nothing
    ],
)
def test_the_excerpt_begins_with_the_best_sentence_and_fills_the_room(size, query, expected):
    assert part(TALK, size, query) == expected


def test_a_text_without_spaces_is_cut_all_the_same():
    kept = part("語" * 500, 100)
    assert kept.endswith(" …")
    assert 60 < len(kept) <= 100


def test_what_lies_far_behind_is_not_looked_at_and_said_to_be_missing():
    kept = clip("word " * 30_000, "", lambda _: True)
    assert kept.endswith("word …")
    assert len(kept) < 100_010


def test_the_best_sentence_is_the_one_that_holds_most_of_the_words_the_first_of_several():
    assert find_best_sentence(TALK, "When does the ferry leave?") == "The ferry to Lisbon leaves at nine!"
    assert find_best_sentence(TALK, "") == "We met at noon."
    assert find_best_sentence(" \n ", "ferry") == ""


@pytest.mark.parametrize("blank", [" ", "\n", "\t ", ". ", "'", '."'])
def test_a_page_of_blanks_is_read_in_one_go(blank):
    """A pattern that tries again from every place would not come back."""
    assert find_best_sentence(f"We met at noon{blank * 45_000}and the ferry leaves", "ferry").endswith("leaves")


@pytest.mark.parametrize(
    "character",
    [
        "e\u0301",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\u0e01\u0e34\u0e48",
        "\U0001f44d\U0001f3fd",
        "\u0915\u093f",
    ],
)
@pytest.mark.parametrize("size", range(70, 80))
def test_a_character_of_several_code_points_is_not_cut(character, size):
    assert set(part(character * 200, size).removesuffix(" \u2026").split(character)) == {""}


@pytest.mark.parametrize(
    ("text", "query", "sentence"),
    [
        (
            "今天天气很好，我们去公园散步。我住在成都。我喜欢猫和狗，也喜欢花。",
            "我住在哪里",
            "我住在成都。",
        ),
        (
            "هل تحب القهوة؟ أسكن في بيروت.",
            "أين أسكن",
            "أسكن في بيروت.",
        ),
        (
            "आज बारिश है। मैं लखनऊ में रहता हूँ।",
            "लखनऊ",
            "मैं लखनऊ में रहता हूँ।",
        ),
    ],
)
def test_a_sentence_ends_with_the_full_stop_of_its_script(text, query, sentence):
    assert find_best_sentence(text, query) == sentence
    assert part(text, 500, query) == text
