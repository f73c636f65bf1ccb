"""The budget, over ten thousand stores: never exceeded, by whatever counter."""

from random import Random

import pytest

from engrain import engines
from engrain.context.assembly import build
from engrain.context.entries import BlockSources, LineOptions
from engrain.context.messages import (
    WindowShares,
    build_extractive_summarizer,
    build_fixed_messages,
    compose_messages,
    count_tool_tokens,
    divide_window,
)
from engrain.context.recipes import RECIPES, build_recipes
from engrain.domain.text.tokens import approximate_tokens
from engrain.errors import InvalidInput
from tests.support.sample_records import NOON, episode, fact, hit, rule

STORES = 10_000
WORDS = [
    *"tram ferry Lisbon ## - 2024-05-07 a, b. c! d? <|endoftext|> antidisestablishmentarianism".split(),
    *("\u8a9e\u8a00\u6a21\u578b", "\n", "caf\u00e9", "\U0001f6b2", ""),
]
COUNTERS = [
    approximate_tokens,
    engines.token_counter("wordpiece"),
    len,
    lambda text: len(text) // 4,
    lambda text: len(text.split()),
    lambda text: len(text.encode()),
    lambda _: 1,
    lambda _: 0,
    lambda text: 7 + text.count("\n") ** 2,  # the whole is more than its parts
    lambda text: 40 - min(len(text), 200) // 8,  # more text is fewer tokens
    lambda text: len(set(text)),  # the whole is less than its parts
    lambda text: hash_of(text) % 50,  # no relation at all
]


def hash_of(text):
    return sum(map(ord, text))


def said(random, most):
    return " ".join(random.choices(WORDS, k=random.randint(1, most)))


def memories(random):
    """Sixty of every kind, most short, some long."""
    for number in range(60):
        text = said(random, random.choice([3, 12, 12, 40, 150]))
        at = NOON.replace(day=random.randint(1, 9))
        match number % 4:
            case 0:
                yield fact(
                    text, subject=said(random, 2), predicate="is", category=random.choice(["fact", "reflection"])
                )
            case 1:
                yield rule(text, maturity=random.choice(["candidate", "proven", "anti_pattern"]))
            case _:
                yield episode(text, speaker=said(random, 1), event_time=at, session=random.choice(["a", "b", None]))


def worlds(count):
    """Something found, a recipe, a counter, a budget: a random one each time, the same in every run."""
    random = Random(20)
    known = list(memories(random))
    episodes = [memory for memory in known if memory.kind == "episode"]
    reflections = [memory for memory in known if memory.kind == "fact" and memory.category == "reflection"]
    shares = [
        RECIPES,
        build_recipes(["said", "facts"], {"said": 1.0}, 150),
        build_recipes(["reflection", "rules", "facts"], {}, 9),
    ]
    for _ in range(count):
        drawn = random.sample(known, random.choice([0, 1, 2, 3, 8]))
        found = BlockSources(
            hits=[hit(memory, random.choice([-1, 0, 0.5, random.random()])) for memory in drawn],
            recent=random.sample(episodes, random.choice([0, 0, 2])),
            reflection=random.choice([None, *reflections]),
        )
        yield (
            found,
            random.choice(list(random.choice(shares).values())),
            random.choice(COUNTERS),
            random.choice(
                [random.randint(0, 9), random.randint(0, 60), random.randint(0, 300), random.randint(0, 1_500)]
            ),
            LineOptions(with_dates=random.random() < 0.5, with_sources=random.random() < 0.5),
        )


@pytest.mark.req("N13", "B20.2", "B34.2")
def test_no_budget_of_ten_thousand_is_exceeded_by_any_counter():
    texts = clips = 0
    for found, recipe, count, budget, written in worlds(STORES):
        block = build(
            found, budget_tokens=budget, count_tokens=count, recipe=recipe, options=written, query="the ferry to Lisbon"
        )
        assert block.tokens <= budget == block.budget_tokens
        assert block.tokens == (count(block.text) if block.text else 0)
        assert block.text or not block.memories
        texts += bool(block.memories)
        clips += bool(block.clipped)
    assert texts > STORES / 3
    assert clips > STORES / 50


@pytest.mark.req("G09", "G10")
def test_no_window_of_a_thousand_is_exceeded_by_any_counter():
    random = Random(3)
    made = refused = summarized = 0
    for found, recipe, count, window, _ in worlds(1_000):
        shares = WindowShares(message_tokens=random.choice([0, 4]), tool_tokens=20)
        tools = count_tool_tokens(random.choice([0, 2, [{"name": "search"}]]), count, shares)
        budget = divide_window(window, tools=tools, shares=shares)
        try:
            frame = build_fixed_messages(
                "When does the ferry go?", system="Be brief.", budget=budget, shares=shares, count=count
            )
        except InvalidInput:
            refused += 1
            continue
        messages = compose_messages(
            frame,
            lambda tokens, found=found, recipe=recipe, count=count: build(
                found, budget_tokens=tokens, count_tokens=count, recipe=recipe
            ),
            [hit.memory for hit in found.hits],
            build_extractive_summarizer("ferry", count),
        )
        assert messages.tokens + messages.budget.tools + messages.budget.output <= window
        assert messages.tokens == sum(
            count(message["content"]) + shares.message_tokens for message in messages.messages
        )
        made += 1
        summarized += bool(messages.summarized)
    assert made > 300
    assert refused > 100
    assert summarized > 8
