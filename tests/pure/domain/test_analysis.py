# ruff: noqa: RUF001  # characters that look like others are what the analyzer is about
import base64
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engrain.domain.text.analysis import MAX_INDEXED_BYTES, STOP_WORDS, stems, strip_accents, terms, words

LONGEST = 64
SNIPPETS = st.sampled_from(
    [
        "Caroline's guitar isn’t tuned, don't you think?",
        "STRASSE straße Straße İstanbul ΌΣΟΣ ǆ ﬁ ½ ㍿ ﷺ",
        "घर में पानी नहीं है।",
        "العَرَبِيَّة لُغَةٌ",
        "שָׁלוֹם עוֹלָם",
        "東京タワーへ行った。한국어 텍스트 ภาษาไทย",
        "e\u0301\u0308 \u0301lonely क\u094d\u200dष",
        "👩‍👩‍👧 👍🏽 🇵🇹 1️⃣ ❤️",
        "def f(x): return {'a': [\"b\", x_y]}  # snake_case __init__",
        'https://example.org/a%20b?q="quoted"&x=1#frag',
        base64.b64encode(bytes(range(256))).decode(),
        "\"'`´‘’“”«»\u00a0\u2003\u3000\x0b\x1f\ufeff",
        "\ud800 lone \udfff",
    ]
)
TEXTS = st.lists(
    st.one_of(st.text(), SNIPPETS, st.text(st.characters(categories=["L", "M", "N", "Cs"]))), max_size=4
).map("".join)


@given(TEXTS)
def test_any_text_gives_words_that_are_short_and_hold_neither_space_nor_quote(text):
    for word in [*words(text), *terms(text)]:
        assert 0 < len(word) <= LONGEST
        assert not any(char.isspace() or char in "\"'_" for char in word)


@given(TEXTS, TEXTS)
def test_the_words_of_two_texts_side_by_side_are_those_of_each(left, right):
    assert words(f"{left} {right}") == words(left) + words(right)


@given(TEXTS, TEXTS, TEXTS)
def test_whatever_a_text_says_it_is_found_by(before, text, after):
    """By the stems that English and its scripts give its words, whatever language it is taken for."""
    assert set(stems(words(text))) <= set(terms(f"{before}\n{text}\n{after}"))


@given(st.text(st.characters(max_codepoint=0x24F)))
@example("STRASSE straße Straße")
@example("ΌΣΟΣ όσος")
@example("ﬁne FINE ＦＩＮＥ")
def test_folding_is_idempotent(text):
    assert words(" ".join(words(text))) == words(text)


@given(TEXTS)
def test_composed_and_decomposed_text_have_the_same_words(text):
    assert words(unicodedata.normalize("NFD", text)) == words(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize(
    "alike",
    [
        ["straße", "STRASSE", "Straße", "strasse"],
        ["ΌΣΟΣ", "όσος", "όσοσ"],
        ["file", "FILE", "ﬁle", "Ｆｉｌｅ"],
        ["Café", "CAFE\u0301", "cafe\u0301"],
        ["²", "2", "②"],
    ],
)
def test_spellings_of_one_word_are_one_word(alike):
    assert len({tuple(words(text)) for text in alike}) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Caroline's", ["caroline"]),
        ("Caroline’s", ["caroline"]),
        ("the dogs' bowls", ["the", "dogs", "bowls"]),
        ("don't", ["don"]),
        ("I've", ["i"]),
        ("rock'n'roll", ["rock", "n", "roll"]),
        ("O'Brien", ["o", "brien"]),
        ("snake_case __init__", ["snake", "case", "init"]),
        ("ana@example.org", ["ana", "example", "org"]),
        ("https://x.org/a?b=1", ["https", "x", "org", "a", "b", "1"]),
        ("07 May 2023, 3.5 km", ["07", "may", "2023", "3", "5", "km"]),
        ("👩‍👩‍👧 👍🏽", []),
        ("1️⃣ ❤️", ["1"]),
    ],
)
def test_what_is_a_word(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("घर में पानी।", ["घर", "में", "पानी"]),
        ("العَرَبِيَّة، نعم", ["العَرَبِيَّة", "نعم"]),
        ("שָׁלוֹם", ["שלום"]),
        ("তুমি কেমন আছো?", ["তুমি", "কেমন", "আছো"]),
    ],
)
def test_marks_belong_to_their_word_and_the_punctuation_of_any_script_does_not(text, expected):
    assert words(text) == [unicodedata.normalize("NFKC", word) for word in expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("山", ["山"]),
        ("佐々木さんとPython入門", ["佐々", "々木", "木さ", "さん", "んと", "python", "入門"]),
        ("ไทย", ["ไท", "ทย"]),
        ("ភាសា", ["ភា", "ាស", "សា"]),
        ("한국어 텍스트", ["한국", "국어", "텍스", "스트"]),
    ],
)
def test_scripts_without_spaces_and_korean_are_read_in_pairs_of_characters(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize("sentence", ["ฉันชอบอาหารไทยมาก", "我昨天在里斯本吃了晚饭", "昨日リスボンで食べた"])
def test_a_word_inside_an_unspaced_sentence_is_found(sentence):
    for start in range(len(sentence) - 3):
        assert set(terms(sentence[start : start + 4])) <= set(terms(sentence))


def test_stop_words_are_gone_however_they_are_written():
    forms = {word: f"{word} {word.upper()} {word.title()}'s “{word}”!" for word in STOP_WORDS}
    assert {word: terms(text) for word, text in forms.items() if terms(text)} == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She was running with the dogs", ["run", "dog"]),
        ("Caroline's", ["carolin"]),
        ("don't isn't can't it's you're", []),
        ("they won't", ["won"]),
        ("whats that, i dont know, im sure thats it", ["know", "sure"]),
        ("who am I to you?", []),
        ("on 07 May 2023, at 00:30", ["7", "may", "2023", "0", "30"]),
    ],
)
def test_what_a_text_is_indexed_under(text, expected):
    assert terms(text) == expected


@given(TEXTS)
def test_terms_are_the_stems_of_the_words(text):
    own = stems(words(text))
    without_accents = stems(map(strip_accents, words(text)))
    characters = {char for word in words(text) if len(word) == 2 for char in word if "\u4e00" <= char <= "\u9fff"}
    assert set(own) <= set(terms(text)) <= {*own, *map(strip_accents, own), *without_accents, *characters}
    assert terms(text) == own or own != without_accents or characters


def test_repeats_and_order_are_kept():
    assert terms("tram, river, tram") == ["tram", "river", "tram"]


def test_a_long_word_is_cut_so_that_its_beginning_still_stands():
    assert words("a" * 1_000) == ["a" * LONGEST]
    assert words("é" * 1_000) == ["é" * LONGEST]


@pytest.mark.parametrize(("word", "size"), [("tram", 5), ("é", 3), ("語", 4), ("𠀀", 5)])
def test_only_the_first_megabyte_of_a_text_is_read(word, size):
    assert len(words(f"{word} " * 1_000_000)) == MAX_INDEXED_BYTES // size


def test_a_character_cut_by_the_limit_is_left_out():
    text = "é " * (MAX_INDEXED_BYTES // 3) + "é"
    assert len(text.encode()) == MAX_INDEXED_BYTES + 1
    assert len(words(text)) == MAX_INDEXED_BYTES // 3
