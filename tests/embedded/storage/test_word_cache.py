"""Words in the process: the same answers as the index, whoever writes, in bounded memory."""

import random
from contextlib import ExitStack, closing

import numpy as np
import pytest

from engrain.domain.records import Caller
from engrain.domain.text import bm25
from engrain.storage.search import candidates
from engrain.storage.search.namespaces import Namespace, SearchSpace, load_search_space
from engrain.storage.search.word_columns import build_columns, merge_columns
from engrain.storage.search.word_search import search_words
from engrain.storage.sqlite.word_cache import WordCache
from engrain.storage.write import arrivals
from tests.support.sample_records import CALLER, LATER, act, episode, fact, request, rule
from tests.support.store_samples import put
from tests.support.stores import SqliteStore

WORDS = ["tram"] * 40 + ["river"] * 20 + ["coffee"] * 8 + ["harbour"] * 3 + ["zeppelin"]
QUERIES = [{"tram"}, {"river", "coffee"}, {"zeppelin", "tram", "harbour"}, {"nothing"}, {"ana", "coffee"}]
NEVER = 10**9


@pytest.fixture
def stores(tmp_path):
    """The same file by a store that has its words in the process, one that asks the index, and one that writes."""
    path = str(tmp_path / "agent.db")
    with ExitStack() as stack:
        yield [stack.enter_context(closing(SqliteStore(path, fewest_searches=n))) for n in (0, NEVER, NEVER)]


def say(draw, number, **more):
    return episode(" ".join(draw.choices(WORDS, k=6)), session=f"day {number}", turn=None, **more)


def assert_same(cached, index, limit=20):
    for query in QUERIES:
        found = cached.keyword(request(), query, limit)
        assert found == index.keyword(request(), query, limit), query
    return found


@pytest.mark.parametrize("seed", range(4))
def test_answers_are_those_of_the_index_after_every_write_of_another_process(stores, seed):
    cached, index, writer = stores
    draw = random.Random(seed)
    there = put(writer, [say(draw, 0, speaker="Ana") for _ in range(30)])

    def take():
        return there.pop(draw.randrange(len(there))).id

    def state():
        put(writer, [fact(f"{draw.choice(WORDS)} {draw.random()}", subject="Ana", predicate="takes")])

    steps = [
        lambda: there.extend(put(writer, [say(draw, draw.randrange(3), speaker=draw.choice(["Ana", "Ben", None]))])),
        lambda: there.extend(put(writer, [say(draw, draw.randrange(9)) for _ in range(draw.randrange(2, 12))])),
        lambda: there.extend(put(writer, [fact(draw.choice(WORDS), subject=f"Ana {draw.random()}")])),
        lambda: there.extend(put(writer, [rule(f"Take the {draw.choice(WORDS)} {draw.random()}.")])),
        lambda: put(writer, [say(draw, 1, expires_at=LATER)]),
        lambda: writer.forget(act(), take()),
        lambda: writer.erase(act(), [take()]),
        state,
    ]
    for step in range(60):
        draw.choices(steps, [3, 1, 1, 1, 1, 1, 1, 1])[0]()
        if step % 7 == 0:
            writer.flush_index()
        assert_same(cached, index, limit=draw.choice([1, 20, 150]))
    assert index.health().problems == ()


def test_merged_columns_hold_what_is_left_of_their_parts():
    draw = random.Random(2)
    parts = []
    for first in (1, 41, 81, 121):
        packed = [bm25.pack(draw.choices(WORDS, k=6), draw.choices(WORDS, k=4)) for _ in range(40)]
        parts.append(build_columns([(first + place, *words) for place, words in enumerate(packed)]))
    parts = [part.without(np.array(sorted(draw.sample(range(1, 161), 50)))) for part in parts]
    merged = merge_columns(parts)
    codes = merged.codes
    for found, *of_parts in zip(merged.find(codes), *(part.find(codes) for part in parts), strict=True):
        postings = sorted(zip(merged.docs[found[0]].tolist(), *(column.tolist() for column in found[1:]), strict=True))
        assert postings == sorted(
            posting
            for part, (rows, owns, nears) in zip(parts, of_parts, strict=True)
            for posting in zip(part.docs[rows].tolist(), owns.tolist(), nears.tolist(), strict=True)
        )
    lengths = {
        doc: length for part in parts for doc, length in zip(part.docs.tolist(), part.lengths.tolist(), strict=True)
    }
    assert dict(zip(merged.docs.tolist(), merged.lengths.tolist(), strict=True)).items() <= lengths.items()
    assert len(merged.docs) == sum(np.count_nonzero(~part.outdated) for part in parts)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("narrow", [False, True])
def test_looking_common_words_up_for_some_rows_alone_changes_no_answer(parts, narrow):
    """Of 3,000 memories the commonest words are in most, so that rarer ones decide which are worth scoring."""
    draw = random.Random(5)
    vocabulary = [f"word{place}" for place in range(400)]
    shares = [1 / (place + 1.7) for place in range(400)]
    texts = [[draw.choices(vocabulary, shares, k=8), draw.choices(vocabulary, shares, k=12)] for _ in range(3_000)]
    rows = [(doc, *bm25.pack(*text)) for doc, text in enumerate(texts, 1)]
    size = len(rows) // parts
    columns = [build_columns(rows[start : start + size]) for start in range(0, len(rows), size)]
    table = bm25.build_table(*zip(*[row[1:] for row in rows], strict=True))
    where = space_of(memories=len(rows), words=int(table.lengths.sum()))
    among = draw.sample(range(1, 3_001), 2_000) if narrow else None
    for _ in range(60):
        terms = set(draw.choices(vocabulary[:3], k=2) + draw.choices(vocabulary, k=2) + draw.choices(["none"], k=1))
        postings = {
            term: (
                np.array([doc for doc, (own, near) in enumerate(texts, 1) if term in own or term in near], np.int64),
                np.array([doc for doc, (own, _) in enumerate(texts, 1) if term in own], np.int64),
            )
            for term in sorted(terms)
        }
        frequencies = {term: len(docs) for term, (docs, _) in postings.items()}
        corpus = bm25.Corpus(memories=where.memories, words=where.words, frequencies=frequencies)
        chosen = candidates.choose_promising(postings, corpus, 20, among)
        wanted = candidates.take_best(chosen, table.scores(terms, corpus)[chosen - 1], 20)
        found = search_words(columns, where, terms, 20, among=among)
        assert (found.docs.tolist(), found.raws.tolist()) == (wanted.docs.tolist(), wanted.raws.tolist()), terms


def space_of(*, memories, words):
    """A search space of one namespace."""
    only = Namespace("episode", "aide", 1, memories, words, has_expired=False, has_waiting=False, rewrites=0)
    return SearchSpace(
        spaces=(only,), places=(), version=None, dims=None, change=0, indexed=memories, has_unindexed=False
    )


def test_a_count_takes_a_byte_where_that_is_enough():
    packed = bm25.pack(["tram"] * 255, ["river"] * 2)
    few = build_columns([(1, packed.own, packed.near, packed.packed)])
    packed = bm25.pack(["tram"] * 256, ["river"] * 300)
    many = build_columns([(2, packed.own, packed.near, packed.packed)])
    assert [few.owns.dtype, many.owns.dtype, many.nears.dtype] == [np.uint8, np.uint16, np.uint16]
    [found] = merge_columns([few, many]).find(np.array([bm25.code("tram")], np.uint32))
    assert [column.tolist() for column in found] == [[0, 1], [255, 256], [0, 0]]


def test_what_comes_is_merged_now_and_then(stores):
    cached, index, writer = stores
    draw = random.Random(1)
    put(writer, [say(draw, place // 20) for place in range(400)])
    assert_same(cached, index)
    for place in range(12):
        put(writer, [say(draw, 20 + place) for _ in range(50)])
        assert_same(cached, index, limit=150)


def test_memories_are_read_a_part_at_a_time_while_others_write(stores):
    _, index, writer = stores
    draw = random.Random(2)
    put(writer, [say(draw, place // 10) for place in range(60)])
    cache = WordCache(2**20, fewest_searches=0, read_at_once=7)

    def look(snapshot):
        where = load_search_space(snapshot, request())
        columns = cache.find(snapshot, where)
        return columns, columns and [list(search_words(columns, where, query, 20, among=None)) for query in QUERIES]

    parts = []
    for place in range(30):
        columns, found = index.store.read(CALLER, look)
        parts.append(columns)
        if columns is not None:
            assert found == [list(index.keyword(request(), query, 20)) for query in QUERIES]
        put(writer, [say(draw, place % 6)])
        writer.flush_index()
    assert parts[:8] == [None] * 8
    assert all(parts[-5:])


def test_a_view_of_the_file_before_a_write_is_not_answered_from_after_it(stores):
    cached, index, writer = stores
    [stored] = put(writer, [episode("tram river")])
    writer.flush_index()
    backend = cached.store.backend

    def look(snapshot):
        where = load_search_space(snapshot, request())
        before = backend._words.find(snapshot, where)
        writer.forget(act(), stored.id)
        put(writer, [episode("tram again")])
        writer.flush_index()
        now = index.store.read(CALLER, lambda later: backend._words.find(later, load_search_space(later, request())))
        return before, now, backend._words.find(snapshot, where)

    before, now, after = cached.store.read(CALLER, look)
    assert [len(part.docs) for part in before] == [len(part.docs) for part in now] == [1]
    assert after is None


def test_a_transaction_that_writes_finds_what_it_has_written(stores):
    cached, *_ = stores
    put(cached, [episode("tram river")])
    assert len(cached.keyword(request(), {"tram"}, 5)) == 1

    def write_and_search(work):
        arrivals.put(work, [episode("tram again", id="again")])
        return work.search_words(request(), {"tram"}, 5)

    assert len(cached.store.write(act(), write_and_search)) == 2
    assert len(cached.keyword(request(), {"tram"}, 5)) == 2


def test_the_least_used_namespaces_leave(stores):
    _, index, writer = stores
    draw = random.Random(3)
    callers = [Caller(agent=f"agent {place}") for place in range(6)]
    for caller in callers:
        put(writer, [say(draw, 0, agent=caller.agent, scope=caller.agent) for _ in range(40)])
    writer.flush_index()
    cache = WordCache(30_000, fewest_searches=0)

    def look(snapshot):
        return cache.find(snapshot, load_search_space(snapshot, request(caller=snapshot.identity)))

    for caller in callers:
        assert index.store.read(caller, look) is not None
        assert cache.nbytes <= 30_000
    assert index.store.read(callers[-1], look) is not None


def test_a_namespace_beyond_the_bound_is_left_to_the_index(stores):
    _, index, writer = stores
    put(writer, [say(random.Random(4), 0) for _ in range(40)])
    writer.flush_index()
    cache = WordCache(1_000, fewest_searches=0)
    assert index.store.read(CALLER, lambda seen: cache.find(seen, load_search_space(seen, request()))) is None
