"""Token counters by name; tiktoken with encodings of a plugin of its own, as the usual ones would be downloaded."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain import engines
from engrain.engines.token_counters import WordPieces
from engrain.errors import EngineUnavailable, InvalidInput

PLUGIN = """
def letters():
    return {"name": "letters", "pat_str": r"[\\s\\S]", "mergeable_ranks": {bytes([n]): n for n in range(256)},
            "special_tokens": {"<|end|>": 256}}

def broken():
    raise OSError("no network here")

ENCODING_CONSTRUCTORS = {"letters": letters, "broken": broken}
"""


def test_characters_are_four_to_the_token():
    assert engines.token_counter("characters")("x" * 9) == 3


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("Hello there.", 3),
        ("unbelievably", 5),
        ("\ud800 tram", 1),
        ("\u8a9e\u8a00", 2),
        ("tram " * 1_000, 1_000),
    ],
)
def test_word_pieces_are_those_of_the_embedder_without_a_limit(text, count):
    assert engines.token_counter("wordpiece")(text) == count


@given(st.lists(st.text(max_size=30), max_size=4))
def test_word_pieces_of_lines_add_up(lines):
    count = engines.token_counter("wordpiece")
    assert count("\n".join(lines)) == sum(map(count, lines))


def test_the_same_name_gives_the_same_counter():
    assert engines.token_counter("wordpiece") is engines.token_counter("wordpiece")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("words", "unknown token counter 'words'"),
        ("wordpieces", "did you mean 'wordpiece'"),
        ("tiktoken", "known are characters, wordpiece, tiktoken:MODEL"),
        ("characters:5", "known are"),
    ],
)
def test_an_unknown_counter_is_refused_with_the_known_ones(name, said):
    with pytest.raises(InvalidInput, match=said):
        engines.token_counter(name)


def test_word_pieces_without_their_file_say_what_to_do(tmp_path):
    with pytest.raises(EngineUnavailable, match=r'wordpiece cannot be loaded.*count "characters"'):
        WordPieces(tmp_path)("text")


def ran(code, folder, *names):
    """What a fresh process prints, in which tiktoken knows the encodings of the plugin and no network is needed."""
    plugin = folder / "tiktoken_ext"
    plugin.mkdir(exist_ok=True)
    (plugin / "of_ours.py").write_text(PLUGIN)
    prelude = f"import sys; sys.path.insert(0, {str(folder)!r}); from engrain import engines, errors\n"
    done = subprocess.run([sys.executable, "-c", prelude + code, *names], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_tiktoken_counts_by_its_encoding_and_takes_special_tokens_for_text(tmp_path):
    code = "print([engines.token_counter('tiktoken:letters')(text) for text in ('', 'tram', '\u00e9', '<|end|>')])"
    assert ran(code, tmp_path) == "[0, 4, 2, 7]"


REFUSED = """
try:
    engines.token_counter(sys.argv[1])("text")
except errors.EngrainError as error:
    print(type(error).__name__, error)
"""


def test_an_encoding_that_tiktoken_does_not_know_is_refused_with_those_it_knows(tmp_path):
    said = ran(REFUSED, tmp_path, "tiktoken:nonsense")
    assert said.startswith("InvalidInput the token counter tiktoken:nonsense is unknown; choose one of: ")
    assert "letters" in said


def test_a_vocabulary_that_cannot_be_had_is_told_with_what_to_do(tmp_path):
    said = ran(REFUSED, tmp_path, "tiktoken:broken")
    assert said.startswith("EngineUnavailable the token counter tiktoken:broken cannot be loaded (no network here); ")
    assert "TIKTOKEN_CACHE_DIR" in said


def test_without_the_package_it_says_what_to_install(tmp_path):
    said = ran(f"sys.modules['tiktoken'] = None\n{REFUSED}", tmp_path, "tiktoken:letters")
    assert (
        said == "EngineUnavailable the token counter tiktoken:letters needs a package: pip install 'engrain[tiktoken]'"
    )
