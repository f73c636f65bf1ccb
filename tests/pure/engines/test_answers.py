"""What an answer has to be, and the JSON that stands in it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.runs.completions import Prompt
from engrain.engines.llms.responses import MAX_ANSWER_BYTES, extract_json, parse_text, system_prompt
from engrain.errors import EngineUnavailable

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
HOLDERS = VALUES.filter(lambda value: isinstance(value, list | dict))
PROSE = st.text(st.characters(exclude_characters="{["), max_size=30)


@given(HOLDERS, PROSE, PROSE)
def test_json_is_found_wherever_it_stands(value, before, after):
    assert extract_json(before + json.dumps(value) + after, "it") == value


@pytest.mark.parametrize(
    "said", ['```json\n{"a": [1]}\n```', 'Sure! {"a": [1]}', '<think>{hm}</think>{"a": [1]}', '{"a": [1]}{"b": 2}']
)
def test_json_is_found_in_what_models_put_around_it(said):
    assert extract_json(said, "it") == {"a": [1]}


@pytest.mark.parametrize("said", ["", "none", "{", "[1", '{"a": }', "{" * 5_000, "[" * 1_000_000])
def test_an_answer_without_json_is_a_failure_of_the_engine(said):
    with pytest.raises(EngineUnavailable, match=r"^it answered without any JSON$"):
        extract_json(said, "it")


@given(st.text(st.characters(exclude_categories=())))
def test_an_answer_is_text_that_can_be_kept_or_none(said):
    try:
        kept = parse_text(said, "it")
    except EngineUnavailable:
        assert not said.strip() or "\0" in said
    else:
        assert kept.encode().decode() == kept


@pytest.mark.parametrize("said", [b"\xff", b"\x80abc", "a\0", b"\0"])
def test_binary_data_is_no_answer(said):
    with pytest.raises(EngineUnavailable, match="answered binary data, not text"):
        parse_text(said, "it")


@pytest.mark.parametrize("said", [None, 3, ["a"]])
def test_what_is_no_text_is_no_answer(said):
    with pytest.raises(EngineUnavailable, match=rf"answered {type(said).__name__}, not text"):
        parse_text(said, "it")


def test_the_longest_answer_is_measured_in_bytes():
    assert len(parse_text("x" * MAX_ANSWER_BYTES, "it")) == MAX_ANSWER_BYTES
    for said in ("x" * (MAX_ANSWER_BYTES + 1), "é" * (MAX_ANSWER_BYTES // 2 + 1)):
        with pytest.raises(EngineUnavailable, match="answered more than 5 MB"):
            parse_text(said, "it")


def test_a_schema_is_told_where_nothing_else_holds_a_model_to_it():
    prompt = Prompt(system="Do.", user="u", schema={"type": "array"})
    assert system_prompt(prompt, mode="json_schema") == "Do."
    assert system_prompt(prompt, mode="json_object") == system_prompt(prompt) != "Do."
    assert system_prompt(prompt).endswith('{"type": "array"}')
    assert system_prompt(Prompt(system="Do.", user="u")) == "Do."
