"""How a name is known again, however it is written."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.text.names import name_key


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("  ANA\t María\n", "ana maría"),
        ("ana mari\u0301a", "ana maría"),
        ("\uff21\uff4e\uff41\u3000B", "ana b"),
        ("Straße", "strasse"),
        ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
        ("東京", "東京"),
        ("O\u2019Brien", "o'brien"),
        ("Jean\u2010Luc", "jean-luc"),
        ("İstanbul", "istanbul"),
        ("a\u200bna\ufeff", "ana"),
        ("مُحَمَّد", "محمد"),
        ("Алёна", "алена"),
        ("Ana-María", "ana-maría"),
        (" \u00a0\n", ""),
        ("", ""),
    ],
)
def test_a_name_is_folded(written, key):
    assert name_key(written) == key


@given(st.text())
def test_a_key_is_its_own_key_whatever_stands_around_it(text):
    key = name_key(text)
    assert name_key(key) == key
    assert name_key(f"  {key}\n") == key


def test_a_key_is_its_own_key_for_every_character():
    odd = [code for code in range(sys.maxunicode + 1) if name_key(name_key(chr(code))) != name_key(chr(code))]
    assert odd == []
