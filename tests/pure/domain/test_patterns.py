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
    found = list(lazy_patterns())
    for phrases in (changes._CHANGES, changes._DENIALS, changes._TAKES_BACK):
        found += [(key, pattern) for key, of_key in phrases._by_key.items() for _, pattern in of_key]
    assert len(found) > 150
    for name, pattern in found:
        assert pattern.pattern, name


PHRASES = KeyedPatterns(
    r"""
    longer anymore: no\ longer | not\ .{1,9}\ anymore
    longer: any\ longer
    new: ^new\ \w+
    red+any: any\ red
    """,
    words="again",
)
VOCABULARY = "again_ againé no longer not anymore any new again longest renew red a, 7".split()


def test_keys_are_the_words_before_the_phrases_and_words_by_themselves():
    assert PHRASES.keys == {b"longer", b"anymore", b"new", b"red", b"again"}


@given(st.lists(st.sampled_from(VOCABULARY), max_size=7))
def test_keyed_patterns_find_what_one_pattern_of_all_phrases_finds(words):
    text = " ".join(words)
    whole = re.search(r"\b(?:no longer|not .{1,9} anymore|any longer|^new \w+|any red|again)\b", text)
    assert PHRASES.is_in(text, frozenset(split_ascii(text))) == (whole is not None)


def test_a_phrase_is_looked_for_only_where_its_keys_stand(monkeypatch):
    looked = []
    keyed = KeyedPatterns("    longer: no\\ longer\n    new: a\\ new\n    no+never: never\\ no", words="again")
    for key, of_key in keyed._by_key.items():
        for _, pattern in of_key:
            monkeypatch.setattr(pattern, "search", lambda _, key=key: looked.append(key), raising=False)
    assert not keyed.is_in("a new port, no more", frozenset(split_ascii("a new port, no more")))
    assert looked == [b"new"]
    assert keyed.is_in("a new port again", frozenset(split_ascii("a new port again")))
    assert looked == [b"new"]
