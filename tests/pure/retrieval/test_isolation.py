"""What a caller finds is made of what it may see, however that was stored and whatever else is stored with it."""

import json
from dataclasses import replace
from itertools import zip_longest

from hypothesis import given
from hypothesis import strategies as st

from engrain.context.assembly import build
from engrain.context.entries import BlockSources
from tests.support.sample_records import act, episode, fact, request
from tests.support.sample_search import (
    ANY_PRESET,
    FACTS,
    MEMORIES,
    QUERIES,
    SAYINGS,
    TURNS,
    no_engine,
    recall,
    store_of,
)
from tests.support.store_samples import put
from tests.support.stores import InMemoryStore

STRANGERS = st.sampled_from(
    [
        {"tenant_id": "elsewhere"},
        {"tenant_id": "elsewhere", "scope": "global"},
        {"agent": "other", "scope": "other"},
        {"scope": "pool:other"},
    ]
)
ALONE = st.builds(replace, TURNS, session=st.none())
SECRETS = st.builds(fact, SAYINGS, subject=st.just("Cleo"))


@given(MEMORIES, MEMORIES, STRANGERS, QUERIES, ANY_PRESET)
def test_what_strangers_keep_changes_nothing(mine, theirs, stranger, text, preset):
    """Neither the hits nor a digit of their scores: a score that moved would tell of what others remember."""
    strangers = [replace(their, **stranger) for their in theirs]
    interleaved = [memory for pair in zip_longest(strangers, mine) for memory in pair if memory is not None]
    assert recall(store_of(interleaved), text, preset=preset) == recall(store_of(mine), text, preset=preset)


@given(MEMORIES, QUERIES, ANY_PRESET)
def test_memories_told_one_by_one_are_found_like_those_told_together(memories, text, preset):
    one_by_one = InMemoryStore()
    for memory in memories:
        put(one_by_one, [memory])
    together = store_of(memories, embedded=False)
    asked = {"preset": preset, "embed": no_engine}
    assert recall(one_by_one, text, **asked) == recall(together, text, **asked)


@given(MEMORIES, QUERIES)
def test_telling_again_changes_nothing(memories, text):
    store = store_of(memories)
    before = recall(store, text)
    assert put(store, memories) == []
    assert recall(store, text) == before


@given(
    st.lists(ALONE | FACTS, max_size=5), ALONE | st.builds(fact, SAYINGS, subject=st.just("Cleo")), QUERIES, ANY_PRESET
)
def test_what_was_forgotten_might_as_well_never_have_been_told(memories, secret, text, preset):
    store = store_of([secret, *memories])
    store.forget(act(), secret.id)
    assert recall(store, text, preset=preset) == recall(store_of(memories), text, preset=preset)


@given(SAYINGS, SAYINGS, QUERIES)
def test_a_fact_that_was_superseded_is_found_no_more(before, after, text):
    old, new = fact(before), fact(after)
    store = store_of([old, new])
    alone = recall(store_of([new]), text)
    hits = tuple(replace(hit, memory=replace(hit.memory, supersedes_id=old.id)) for hit in alone)
    assert recall(store, text) == replace(alone, hits=hits)


@given(st.text(), st.text(min_size=1), st.none() | st.text(min_size=1))
def test_any_question_about_any_text_has_an_answer_that_is_json_and_a_context(question, content, speaker):
    store = store_of([episode(content, speaker=speaker), fact(content)])
    answer = recall(store, question)
    assert json.loads(json.dumps(answer.to_dict()))["query"] == question
    block = build(BlockSources(hits=answer.hits), budget_tokens=100)
    assert block.tokens <= 100
    assert json.loads(json.dumps(block.to_dict()))["text"] == block.text


@given(MEMORIES, QUERIES, ANY_PRESET)
def test_asking_changes_nothing(memories, text, preset):
    store = store_of(memories)
    before = store.recent(request(), 100)
    first = recall(store, text, preset=preset)
    assert recall(store, text, preset=preset) == first
    assert store.recent(request(), 100) == before
