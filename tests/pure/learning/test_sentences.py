import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.learning.summaries import sentences

ENDS = st.sampled_from([". ", "? ", "! ", "... ", "\n", "\u3002", " ", ", ", "; Dr. ", " e.g. ", '." ', "\r\n- "])
TEXTS = st.lists(st.tuples(st.text(max_size=40), ENDS), max_size=20).map(lambda parts: "".join(map("".join, parts)))


# Abbreviations, initials and numbers end nothing.
UNDIVIDED = [
    "My name is Jonas E. Smith.",
    "Please turn to p. 55.",
    "Dr. Smith met Mrs. Jones at 5 p.m. on Jan. 3.",
    "I have lived in the U.S. for 20 years.",
    "I can see Mt. Fuji from here.",
    "Version 3.14 of example.com costs $100.00 today.",
    "That is, e.g. this, i.e. that.",
    "Das kostet ca. 5 Euro bzw. mehr.",
    "See no. 5 and Fig. 2 below.",
    "(He worked there for 5 years.) and left",
    "He stopped . . . and went on.",
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t\n ", []),
        ("Hello World. My name is Jonas.", ["Hello World.", "My name is Jonas."]),
        ("What is it? There it is! I found it.", ["What is it?", "There it is!", "I found it."]),
        ("i went there. it was nice", ["i went there.", "it was nice"]),
        ("Really?! Yes... no.", ["Really?!", "Yes... no."]),
        ("It rained... Then it stopped.", ["It rained...", "Then it stopped."]),
        ('She said "Leave." Then she left.', ['She said "Leave."', "Then she left."]),
        ('"Leave now!" he said. She did.', ['"Leave now!" he said.', "She did."]),
        ("I love it \U0001f60d. So good!", ["I love it \U0001f60d.", "So good!"]),
        ("# Plans\n- pack the tent.\n* buy fuel", ["Plans", "pack the tent.", "buy fuel"]),
        ("2) call Ana\n> as she said", ["call Ana", "as she said"]),
        *[(text, [text]) for text in UNDIVIDED],
    ],
)
def test_sentences_end_at_their_marks_and_the_marks_of_lists_are_left_out(text, expected):
    assert sentences.split(text) == expected


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("これはペンです。あれは本です。", 2),
        ("\u4f60\u597d\uff01\u4f60\u53eb\u4ec0\u4e48\uff1f\u6211\u53eb\u674e\u3002", 3),
        ("यह एक वाक्य है। दूसरा।", 2),
        ("هل أنت هنا؟ نعم أنا هنا.", 2),
        ("Привет. Как дела? Хорошо.", 3),
    ],
)
def test_other_scripts_have_marks_of_their_own(text, count):
    assert len(sentences.split(text)) == count


@given(TEXTS)
def test_nothing_is_empty_too_long_or_on_two_lines(text):
    for sentence in sentences.split(text):
        assert sentence == sentence.strip() != ""
        assert len(sentence) <= sentences.MOST_CHARACTERS
        assert len(sentence.splitlines()) == 1


@given(st.text(alphabet=st.sampled_from("abcDE19 .?!\u2026\u3002,;:'\""), max_size=2_000))
def test_only_white_space_is_lost_between_sentences(text):
    assume_no_item = "x" + text  # nothing before the first word passes for the mark of a list
    assert "".join("".join(sentences.split(assume_no_item)).split()) == "".join(assume_no_item.split())


@pytest.mark.parametrize("text", ["x" * 1_000_000, ". " * 300_000, "a. " * 200_000, "\u3002" * 500_000, "(" * 500_000])
def test_a_megabyte_of_anything_is_split(text):
    assert all(len(sentence) <= sentences.MOST_CHARACTERS for sentence in sentences.split(text))


@pytest.mark.parametrize(
    ("begins", "sign", "count"),
    [("", ".", 200_000), ("", "!", 200_000), ("! ", "! ", 50_000), ("a", "a", 200_000), ("e.g. ", "e.g. b ", 20_000)],
)
def test_a_line_of_nothing_much_is_split_in_one_go(begins, sign, count):
    """A pattern that tries again from every place would not come back."""
    text = f"{begins}{sign * count}x. Then it ends."
    assert "".join(sentences.split(text)).replace(" ", "") == text.replace(" ", "")
