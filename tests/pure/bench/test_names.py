"""The measurement of name finders says what the tests hold, and what to install for the rest."""

import pytest

from bench.names.__main__ import KINDS, main, score
from engrain.engines.callables import CallableNames
from engrain.engines.name_finders.regex import RegexNames


def _ana(text):
    return {"names": [{"text": "Ana", "kind": "person"}] if "Ana" in text else []}


@pytest.mark.req("Y14")
def test_what_a_finder_finds_is_counted_by_kind():
    named = CallableNames(_ana, name="ana")
    spelt, people, every = KINDS.values()
    assert score([RegexNames()], spelt).describe().split() == ["0.968", "(", "61/", "63)", "1.000", "(", "61/", "61)"]
    alone, both = score([named], people), score([RegexNames(), named], every)
    assert 0 < alone.right <= alone.found < alone.there
    assert (both.right, both.found) == (61 + alone.right, 63 + alone.found)


def test_a_model_that_is_not_there_is_left_out_with_what_to_install(capsys):
    assert main(["--model", "no_such_model"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["regex"] * 3 + ["spacy", "both"]
    assert all("pip install" in line for line in lines[-2:])
