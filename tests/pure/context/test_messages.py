import json

import pytest

from engrain.context.assembly import build
from engrain.context.block import mark_as_data
from engrain.context.entries import BlockSources
from engrain.context.messages import (
    SUMMARY_PREFIX,
    WindowShares,
    build_extractive_summarizer,
    build_fixed_messages,
    compose_messages,
    count_tool_tokens,
    divide_window,
)
from engrain.domain.records import Degraded
from engrain.domain.text.tokens import approximate_tokens
from engrain.errors import EngineUnavailable, InvalidInput
from tests.support.sample_records import episode, fact, hits_of

SHARES = WindowShares()
SYSTEM = "You are a travel agent."
ASKED = "When does the ferry to Lisbon leave?"


def frame(window, *, system=SYSTEM, asked=ASKED, tools=0, shares=SHARES, count=approximate_tokens):
    taken = count_tool_tokens(tools, count, shares)
    budget = divide_window(window, tools=taken, shares=shares)
    return build_fixed_messages(asked, system=system, budget=budget, shares=shares, count=count)


def composed(window, memories, *, summarize=None, **given):
    fixed = frame(window, **given)
    return compose_messages(
        fixed,
        lambda tokens: build(BlockSources(hits=hits_of(memories)), budget_tokens=tokens),
        memories,
        summarize or build_extractive_summarizer(ASKED, approximate_tokens),
    )


def turns(count):
    return [
        episode(f"Turn {number}. The ferry number {number} leaves at noon. We ate.", turn=number)
        for number in range(count)
    ]


@pytest.mark.req("G09")
@pytest.mark.parametrize(
    ("window", "parts"),
    [
        (128_000, {"system": 4_000, "tools": 1_500, "memory": 89_600, "output": 4_000}),
        (32_000, {"system": 1_600, "tools": 1_500, "memory": 22_400, "output": 3_200}),
        (8_000, {"system": 400, "tools": 1_500, "memory": 5_600, "output": 800}),
    ],
)
def test_a_window_is_divided_into_system_tools_memory_and_output(window, parts):
    assert divide_window(window, tools=count_tool_tokens(3, len, SHARES), shares=SHARES).to_dict() == {
        "window": window,
        **parts,
    }
    assert frame(window, tools=3).budget.to_dict() == {"window": window, **parts}


@pytest.mark.req("G09")
def test_memories_get_what_the_rest_leaves_where_that_is_less():
    long = "You are kind. " * 400
    made = frame(3_000, system=long)
    fixed = approximate_tokens(long) + approximate_tokens(ASKED) + 2 * SHARES.message_tokens
    assert made.budget.memory == 3_000 - 300 - fixed < 0.7 * 3_000


def test_tools_are_counted_by_their_schemas_or_by_their_number():
    schema = {"name": "search", "parameters": {"type": "object"}}
    assert count_tool_tokens([schema, "text of a tool"], len, SHARES) == len(json.dumps(schema)) + len("text of a tool")
    assert count_tool_tokens(2, len, SHARES) == 1_000
    assert count_tool_tokens((), len, SHARES) == 0
    for wrong in (-1, 1.5, True, "search", {"name": "search"}, [object()], None):
        with pytest.raises(InvalidInput, match="tools"):
            count_tool_tokens(wrong, len, SHARES)


@pytest.mark.req("G09")
def test_the_messages_are_the_system_prompt_what_is_remembered_and_what_is_asked():
    made = composed(8_000, [fact("Lisbon")])
    assert made.messages == (
        {"role": "system", "content": SYSTEM},
        {"role": "system", "content": mark_as_data("## What is known\n- Ana lives in: Lisbon")},
        {"role": "user", "content": ASKED},
    )
    assert (made.summarized, made.degraded) == ((), ())
    assert made.tokens == sum(approximate_tokens(message["content"]) + 4 for message in made.messages)
    assert composed(8_000, [], system="").messages == ({"role": "user", "content": ASKED},)
    assert made.to_dict()["messages"] == list(made.messages)


@pytest.mark.req("G10")
def test_what_does_not_fit_becomes_one_summary_which_says_of_whom():
    known = turns(200)
    asked = []

    def summarize(memories, tokens):
        asked.append((memories, tokens))
        return f"{len(memories)} ferries"

    made = composed(2_000, known, summarize=summarize)
    [(left_out, room)] = asked
    standing = {memory.id for memory in made.block.memories}
    assert standing
    assert [memory.id for memory in left_out] == list(made.summarized) == [e.id for e in known if e.id not in standing]
    assert 0 < room <= 0.2 * made.budget.memory
    summary = {"role": "system", "content": f"{SUMMARY_PREFIX}{len(left_out)} ferries"}
    assert made.messages[2:] == (summary, {"role": "user", "content": ASKED})


@pytest.mark.req("G10")
@pytest.mark.parametrize("summary", ["ferry " * 10_000, "", " \n"], ids=["too long", "nothing", "blank"])
def test_a_summary_that_does_not_fit_is_left_out_and_the_block_has_its_room(summary):
    known = turns(200)
    made = composed(2_000, known, summarize=lambda *_: summary)
    with_summary = composed(2_000, known)
    assert SUMMARY_PREFIX not in "".join(message["content"] for message in made.messages)
    assert made.summarized == ()
    assert len(made.block.memories) > len(with_summary.block.memories)


@pytest.mark.req("G10")
def test_without_a_model_the_summary_has_of_each_the_sentence_closest_to_what_is_asked():
    made = composed(2_000, turns(200))
    [summary] = [message["content"] for message in made.messages if message["content"].startswith(SUMMARY_PREFIX)]
    said = summary.removeprefix(SUMMARY_PREFIX).split(". ")
    assert len(said) > 5
    assert all(sentence.startswith("The ferry number") for sentence in said)
    assert len(set(said)) == len(said)


def test_nothing_is_summarized_where_everything_fits():
    def summarize(*_):
        raise AssertionError("nobody asked")

    assert composed(8_000, turns(3), summarize=summarize).summarized == ()


def test_a_summarizer_that_cannot_answer_costs_the_summary_and_is_told_of():
    def summarize(*_):
        raise EngineUnavailable("no model is there; start one")

    made = composed(2_000, turns(200), summarize=summarize)
    assert [str(reason) for reason in made.degraded] == [
        "without a summary of what did not fit: the summarizer cannot answer now: no model is there; start one"
    ]
    assert made.block.memories


def test_a_summarizer_that_returns_no_text_is_refused():
    with pytest.raises(InvalidInput, match="summarize must return text, not list"):
        composed(2_000, turns(200), summarize=lambda *_: ["a"])


def test_a_system_prompt_over_its_share_stands_and_is_told_of():
    made = composed(8_000, [fact()], system="x" * 4_000)
    assert made.degraded == (
        Degraded(code="system_prompt_too_long", message="the system prompt is 600 tokens over its 400"),
    )
    assert made.messages[0]["content"] == "x" * 4_000


@pytest.mark.parametrize("given", [{"asked": "x" * 40_000}, {"system": "x" * 40_000}, {"tools": 100}])
@pytest.mark.req("G09")
def test_what_cannot_fit_is_refused_with_the_size_of_each_part(given):
    with pytest.raises(InvalidInput, match=r"does not fit into the window of 8,000.*system prompt .*tools .*answer"):
        frame(8_000, **given)


def test_what_is_asked_may_fill_the_window_to_the_last_token():
    shares = WindowShares(message_tokens=0)
    exact = composed(1_000, [fact()], system="", asked="x" * 4 * 900, shares=shares)
    assert exact.tokens + exact.budget.output == 1_000
    assert len(exact.messages) == 1
    with pytest.raises(InvalidInput, match="901"):
        frame(1_000, system="", asked="x" * 4 * 900 + "y", shares=shares)
