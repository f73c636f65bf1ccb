import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.context.excerpts import clip, find_best_sentence

TALK = "We met at noon. The ferry to Lisbon leaves at nine! Then we ate cheese.\nAnd that was all of it, I think."


def part(text, size, asked="ferry Lisbon"):
    return clip(text, asked, lambda kept: len(kept) <= size)


@given(st.text(st.sampled_from("ab .!?\n語"), max_size=300), st.text("ab ", max_size=9), st.integers(0, 200))
def test_a_part_fits_and_is_made_of_the_text(text, asked, size):
    kept = part(text, size, asked)
    if kept is not None:
        assert len(kept) <= size
        assert kept.removeprefix("… ").removesuffix(" …").strip() in " ".join(text.split())
        assert len(kept) >= 24


def test_it_begins_with_the_sentence_that_holds_most_of_what_is_asked():
    assert part(TALK, 45) == "… The ferry to Lisbon leaves at nine! Then …"


def test_it_begins_earlier_where_the_text_ends_before_the_room_does():
    assert part(TALK, 50, asked="what to think") == "… we ate cheese. And that was all of it, I think."


def test_without_such_a_sentence_it_is_the_beginning():
    assert part(TALK, 30, asked="aardvark") == "We met at noon. The ferry to …"


def test_a_text_that_fits_is_whole_and_on_one_line():
    assert part(TALK, 500) == TALK.replace("\n", " ")


@pytest.mark.parametrize("size", [0, 10, 23])
def test_too_little_is_nothing(size):
    assert part(TALK, size) is None


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
