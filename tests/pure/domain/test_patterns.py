"""Patterns that are compiled by their first use: each is one, and answers as the pattern itself does."""

import importlib
import pkgutil
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engrain
from engrain.domain.text import patterns
from engrain.domain.text.analysis import split_ascii
from engrain.domain.text.dialogue import changes
from engrain.domain.text.patterns import KeyedPatterns, lazy_pattern

OPTIONAL = ("engrain.integrations", "engrain.interfaces", "engrain.jobs", "engrain.__main__")


def test_a_pattern_is_compiled_when_it_is_first_used():
    broken = lazy_pattern("(")
    with pytest.raises(re.error):
        broken.search("a")


def test_a_second_call_compiles_nothing(monkeypatch):
    digits = lazy_pattern(r"\d+")
    assert digits.findall("8080, 9090") == ["8080", "9090"]
    monkeypatch.setattr(patterns, "re", None)
    assert digits.search("port 8080").span() == (5, 9)
    assert digits.sub("#", "8080") == "#"


@given(st.text("ab1 \u00df\n"), st.sampled_from([0, re.IGNORECASE]))
def test_it_answers_as_the_pattern_does(text, flags):
    source = r"(a|B)+\b|1"
    lazy, pattern = lazy_pattern(source, flags), re.compile(source, flags)
    assert lazy.findall(text) == pattern.findall(text)
    assert [match.span() for match in lazy.finditer(text)] == [match.span() for match in pattern.finditer(text)]
    assert (lazy.match(text) is None) == (pattern.match(text) is None)
    assert (lazy.fullmatch(text) is None) == (pattern.fullmatch(text) is None)
    assert lazy.split(text) == pattern.split(text)
    assert lazy.subn("-", text) == pattern.subn("-", text)
    assert (lazy.pattern, lazy.flags) == (pattern.pattern, pattern.flags)


def lazy_patterns():
    for module in pkgutil.walk_packages(engrain.__path__, "engrain."):
        if not module.name.startswith(OPTIONAL) and "revisions" not in module.name and ".versions" not in module.name:
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, patterns._LazyPattern):
                    yield f"{module.name}.{name}", value


def test_every_pattern_of_the_package_compiles():
    found = dict(lazy_patterns()) | changes._CHANGES._by_key
    assert len(found) > 150
    for name, pattern in found.items():
        assert pattern.pattern, name


PHRASES = KeyedPatterns(
    r"""
    longer anymore: no\ longer | not\ .{1,9}\ anymore
    longer: any\ longer
    new: ^new\ \w+
    """,
    words="again",
)
VOCABULARY = "no longer not anymore any new again longest renew red a, 7".split()


def test_keys_are_the_words_before_the_phrases_and_words_by_themselves():
    assert PHRASES.keys == {b"longer", b"anymore", b"new", b"again"}


@given(st.lists(st.sampled_from(VOCABULARY), max_size=7))
def test_keyed_patterns_find_what_one_pattern_of_all_phrases_finds(words):
    text = " ".join(words)
    whole = re.search(r"\b(?:no longer|not .{1,9} anymore|any longer|^new \w+|again)\b", text)
    assert PHRASES.is_in(text, split_ascii(text)) == (whole is not None)


def test_a_phrase_is_looked_for_only_where_one_of_its_keys_stands(monkeypatch):
    looked = []
    keyed = KeyedPatterns("    longer: no\\ longer\n    new: a\\ new", words="again")
    for key, pattern in keyed._by_key.items():
        monkeypatch.setattr(pattern, "search", lambda _, key=key: looked.append(key), raising=False)
    assert not keyed.is_in("a new port, no more", split_ascii("a new port, no more"))
    assert looked == [b"new"]
