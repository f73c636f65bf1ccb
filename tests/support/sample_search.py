"""Searches to test with: a small vocabulary, an embedder of words, and the reference store."""

import itertools
import zlib
from datetime import timedelta

import numpy as np
from hypothesis import strategies as st

from engrain.domain.records import Degraded
from engrain.domain.text.analysis import terms
from engrain.retrieval.embeddings.query_embedding import QueryEmbedding
from engrain.retrieval.presets import ENGRAIN, PRESETS
from engrain.retrieval.search import search
from engrain.retrieval.search_query import SearchQuery
from tests.support.sample_records import NOON, episode, fact, request
from tests.support.store_samples import put
from tests.support.stores import InMemoryStore
from tests.support.traits import Traits, session_key

DIMS = 8
_NUMBERS = itertools.count(1)
NO_ENGINE = Degraded(code="embedder_unavailable", message="keywords alone: the embedder is asleep")
WORDS = "tram river coffee guitar walk rain late music garden".split()
SAYINGS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
TURNS = st.builds(
    episode,
    SAYINGS,
    session=st.sampled_from([None, "monday", "friday"]),
    speaker=st.sampled_from([None, "Ana", "Ben"]),
    event_time=st.integers(-3, 0).map(lambda days: NOON + timedelta(days=days)),
    tags=st.sampled_from([(), ("travel",)]),
)
FACTS = st.builds(fact, SAYINGS, subject=st.sampled_from(["Ana", "Ben"]), predicate=st.sampled_from(["likes", "has"]))
MEMORIES = st.lists(TURNS | FACTS, max_size=6)
QUERIES = st.lists(st.sampled_from([*WORDS, "Ana", "Ben", "my", "you", "the", "?"]), max_size=5).map(" ".join)
ANY_PRESET = st.sampled_from([*PRESETS.values()])
# Whose lists are as long whatever the limit, so that a shorter answer is the beginning of a longer one.
OF_ONE_DEPTH = [preset for preset in PRESETS.values() if preset.depth]


def vector_of(text):
    """A unit vector that depends on the text's words alone."""
    seeds = [zlib.crc32(term.encode()) for term in terms(text)] or [0]
    summed = sum(np.random.default_rng(seed).normal(size=DIMS) for seed in seeds)
    return (summed / np.linalg.norm(summed)).astype(np.float32)


class WordEmbedder:
    """Vectors that depend on words alone: those of `vector_of`."""

    name, dims = "test:words", DIMS

    def embed(self, texts, *, role):  # noqa: ARG002  # the port's signature
        return np.array([vector_of(text) for text in texts], np.float32).reshape(-1, DIMS)


def traits(**changes):
    values = {"id": str(next(_NUMBERS)), "kind": "episode", "scope": "aide", "happened_at": NOON, "created_at": NOON}
    values |= {"importance": 5.0, "confirmed_at": NOON, "referenced_at": None, **changes}
    return Traits(**values | {"session": session_key(values["id"], values["scope"], changes.get("session"))})


def no_engine(_text):
    return NO_ENGINE


def no_question_expected(text):
    raise AssertionError(f"the embedder was asked for {text!r}")


def store_of(memories, *, embedded=True):
    store = InMemoryStore()
    store.use_embedder("test:words", DIMS)
    put(store, memories)
    store.flush_index()
    if embedded:
        waiting = store.unembedded(10_000)
        store.attach(
            [each.ref for each in waiting], np.array([vector_of(each.text) for each in waiting]).reshape(-1, DIMS)
        )
    return store


def recall(store, text, *, limit=10, preset=ENGRAIN, embed=vector_of, asks=None, **asked):
    """The answer of a search; `asks` are the question's own options, `asked` narrow the request."""

    def made(_):
        return QueryEmbedding(begin=lambda text: lambda: embed(text), catch_up=lambda _: False)

    narrowed = request(**asked)
    query = SearchQuery(text=text, preset=preset, limit=limit, **(asks or {}))
    answer, _ = search(store, narrowed, query, made, read=lambda *_: None)
    return answer
