"""The table of verbs has a row for every verb of the library, and each row fits its method."""

import inspect
from collections import Counter
from string import Formatter
from typing import get_args

import pytest

from engrain.agent.wiring.view import View
from engrain.domain.records import Kind
from engrain.service import Memory
from engrain.verbs.chat_words import Tools
from engrain.verbs.signatures import NO_DEFAULT, json_type, signature, signatures
from engrain.verbs.table import VERBS, by_name
from engrain.verbs.words import Kinds, Time

# Methods that make views or speak to this process alone: no surface offers them.
OF_THIS_PROCESS = set("agent caller close flush health llm_usage metrics open parts readiness reembed settings".split())
NOT_A_VERB = {"keys.authenticate"}  # the door of every surface


def methods(owner, prefix=""):
    for name in dir(owner):
        if name.startswith("_") or (not prefix and name in OF_THIS_PROCESS):
            continue
        value = getattr(owner, name)
        if isinstance(value, View):
            yield from methods(value, f"{name}.")
        elif callable(value):
            yield prefix + name


def placeholders(template):
    return [name for _, name, _, _ in Formatter().parse(template or "") if name]


def test_every_verb_of_the_library_has_a_row():
    with Memory.open(":memory:", settings={"embedding": {"model": "none"}}) as memory:
        verbs = {*methods(memory.agent()), *methods(memory)} - NOT_A_VERB
    rows = {".".join(filter(None, (verb.group, verb.method_name))) for verb in VERBS}
    assert rows == verbs


@pytest.mark.parametrize("column", ["name", "identifier", "route", "command"])
def test_no_two_rows_share(column):
    values = Counter(getattr(verb, column) for verb in VERBS if getattr(verb, column) is not None)
    assert [value for value, count in values.items() if count > 1] == []


def test_a_row_fits_its_method(subtests):
    for name in by_name():
        with subtests.test(name=name):
            found = signature(name)
            given = {parameter.name for parameter in found.parameters}
            in_path, by_place = placeholders(found.verb.route), placeholders(found.verb.command)
            assert {*in_path, *by_place} <= given
            assert found.summary
            assert (found.verb.field is not None) == (found.answer in (int, str, bool) or is_bare(found.answer))


def is_bare(answer):
    """Whether JSON has no object for it: a list of texts, or a mapping without fields."""
    return get_args(answer)[:1] == (str,)


def test_every_bound_and_example_is_of_the_words_type():
    for found in signatures():
        for parameter in found.parameters:
            if parameter.word.low is not None or parameter.word.high is not None:
                assert parameter.json_type in (int, float)
            if parameter.default is not NO_DEFAULT and parameter.word.low is not None and parameter.default is not None:
                assert parameter.word.low <= parameter.default


def test_every_word_is_a_sentence():
    words = {id(parameter.word): parameter.word for found in signatures() for parameter in found.parameters}
    assert [word.sentence for word in words.values() if not word.sentence.endswith(".")] == []


def test_a_json_type_is_derived_from_the_librarys():
    assert json_type(Time) is str
    assert json_type(get_args(Kinds)[0]) == list[Kind]
    assert str(json_type(get_args(Tools)[0])) == "list[dict[str, typing.Any] | str] | int"


def test_a_verb_that_reads_needs_a_reader_and_every_other_at_least_a_writer():
    for verb in VERBS:
        assert (verb.role == "reader") <= (verb.effect == "reads")
        assert inspect.isfunction(signature(verb.name).method)
