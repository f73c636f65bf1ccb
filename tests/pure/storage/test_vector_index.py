from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.storage.sqlite.vector_index import VectorIndex, _likely


def unit(rows) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def clustered(count: int, dims: int, *, topics: int, rng, mean: float = 0.5) -> np.ndarray:
    """Unit rows like those of an embedder: a mean that all share, topics of unequal size, uneven dimensions."""
    spread = 1 / np.sqrt(1 + np.arange(dims) / 40)
    shared = unit(rng.standard_normal(dims)) * mean
    centres = unit(rng.standard_normal((topics, dims)) * spread) * 0.6
    sizes = 1 / np.sqrt(1 + np.arange(topics))
    topic = rng.choice(topics, count, p=sizes / sizes.sum())
    noise = unit(rng.standard_normal((count, dims)) * spread) * 0.8
    return unit(shared + centres[topic] + noise)


class Truth:
    """The float32 rows by doc, and the answer by brute force: what the store keeps and the index is held to."""

    def __init__(self, dims: int) -> None:
        self.dims = dims
        self.rows: dict[int, np.ndarray] = {}

    def put(self, docs, vectors) -> None:
        self.rows.update(zip(docs.tolist(), vectors, strict=True))

    def exact(self, docs) -> np.ndarray:
        return np.array([self.rows[doc] for doc in docs.tolist()], np.float32).reshape(-1, self.dims)

    def nearest(self, query, limit, among=None):
        docs = np.array(sorted(set(self.rows) if among is None else set(self.rows) & set(among)), np.int64)
        cosines = np.vecdot(self.exact(docs), query)
        order = np.lexsort((-docs, -cosines))[:limit]
        return docs[order], cosines[order]


def filled(vectors, docs=None) -> tuple[VectorIndex, Truth]:
    docs = np.arange(1, len(vectors) + 1) if docs is None else docs
    index, truth = VectorIndex(vectors.shape[1]), Truth(vectors.shape[1])
    index.put(docs, vectors)
    truth.put(docs, vectors)
    return index, truth


def recall(index, truth, vectors, queries, limit) -> float:
    """The share of the true nearest that is found; doc n is row n - 1 of `vectors`."""
    cosines = queries @ vectors.T
    true = np.argpartition(cosines, -limit, axis=1)[:, -limit:] + 1
    found = [index.nearest(query, limit, exact=truth.exact)[0] for query in queries]
    return float(np.mean([np.isin(row, docs).mean() for row, docs in zip(true, found, strict=True)]))


def assert_same(got, expected) -> None:
    assert got[0].tolist() == expected[0].tolist()
    np.testing.assert_array_equal(got[1], expected[1])


# Vectors whose cosines to the queries are further apart than int8 can err: then the answer of the index must be that of
# brute force to the last bit, ties and all. The seeds were searched for.
DRAWN = {dims: unit(np.random.default_rng(seed).standard_normal((14, dims))) for dims, seed in ((3, 2), (70, 61))}
DISTINCT = {dims: rows[:12] for dims, rows in DRAWN.items()}
QUERIES = {dims: rows[12:] for dims, rows in DRAWN.items()}


@pytest.mark.parametrize(("dims", "gap"), [(3, 0.025), (70, 0.008)])
def test_the_vectors_of_the_model_are_told_apart_by_int8(dims, gap):
    for query in QUERIES[dims]:
        assert np.diff(np.sort(DISTINCT[dims] @ query)).min() > gap


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "drop"]),
        st.lists(st.tuples(st.integers(1, 90), st.integers(0, 11)), max_size=60, unique_by=lambda pair: pair[0]),
    ),
    max_size=12,
)


@given(
    dims=st.sampled_from(sorted(DISTINCT)),
    steps=STEPS,
    limit=st.integers(0, 100),
    which=st.integers(0, 1),
    among=st.none() | st.lists(st.integers(1, 110)),
)
def test_any_sequence_of_writes_answers_as_brute_force(dims, steps, limit, which, among):
    index, truth = VectorIndex(dims), Truth(dims)
    query = QUERIES[dims][which]
    for act, pairs in steps:
        docs = np.array([doc for doc, _ in pairs], np.int64)
        vectors = DISTINCT[dims][[vector for _, vector in pairs]].reshape(-1, dims)
        if act == "put":
            index.put(docs, vectors)
            truth.put(docs, vectors)
        else:
            index.drop(docs)
            for doc in docs.tolist():
                truth.rows.pop(doc, None)
        assert len(index) == len(truth.rows)
        wanted = None if among is None else np.array(among, np.int64)
        assert_same(index.nearest(query, limit, exact=truth.exact, among=wanted), truth.nearest(query, limit, among))


def test_thousands_of_writes_answer_as_brute_force_ties_and_all():
    """Large enough for the bits, and each vector shared by hundreds of docs: every cut has to break ties."""
    rng = np.random.default_rng(11)
    distinct = unit(rng.standard_normal((40, 384)))
    index, truth = VectorIndex(384), Truth(384)
    for _ in range(25):
        docs = rng.choice(np.arange(1, 16_001), 800, replace=False)
        vectors = distinct[rng.integers(0, len(distinct), len(docs))]
        index.put(docs, vectors)
        truth.put(docs, vectors)
        gone = rng.choice(np.arange(1, 16_001), 250, replace=False)
        index.drop(gone)
        for doc in gone.tolist():
            truth.rows.pop(doc, None)
    assert len(index) == len(truth.rows) > 8000
    half = np.arange(16_000, 0, -2)
    for query in distinct[:8]:
        for limit in (1, 10, 50):
            assert_same(index.nearest(query, limit, exact=truth.exact), truth.nearest(query, limit))
            assert_same(
                index.nearest(query, limit, exact=truth.exact, among=half), truth.nearest(query, limit, half.tolist())
            )


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(3)
    rows = clustered(30_060, 384, topics=150, rng=rng)
    vectors, queries = rows[:30_000], rows[30_000:]
    return *filled(vectors), vectors, queries


@pytest.mark.parametrize("limit", [10, 50, 200])
def test_the_nearest_of_30k_clustered_vectors_are_found(large, limit):
    assert recall(*large, limit) >= 0.99


def test_cosines_are_those_of_float32_and_descend(large):
    index, truth, _, queries = large
    docs, cosines = index.nearest(queries[0], 20, exact=truth.exact)
    assert docs.dtype == np.int64
    assert cosines.dtype == np.float32
    np.testing.assert_array_equal(cosines, np.vecdot(truth.exact(docs), queries[0]))
    assert np.all(np.diff(cosines) <= 0)


@pytest.mark.parametrize("size", [5, 300, 5000, 25_000])
def test_among_holds_to_its_docs_and_finds_the_nearest_of_them(large, size):
    index, truth, vectors, queries = large
    rng = np.random.default_rng(size)
    among = rng.choice(np.arange(1, 30_001), size, replace=False)
    asked = np.concatenate([among, among[:3], [77_777, 88_888]])  # some twice, some unknown
    hits = []
    for query in queries[:20]:
        docs, _ = index.nearest(query, 10, exact=truth.exact, among=asked)
        assert np.isin(docs, among).all()
        order = np.argsort(-(vectors[among - 1] @ query))[:10]
        hits.append(np.isin(among[order], docs).mean())
    assert np.mean(hits) >= 0.995


def test_among_all_docs_is_among_none():
    """The order in which docs came is not that of docs."""
    rng = np.random.default_rng(4)
    index, truth = filled(unit(rng.standard_normal((600, 70))), rng.permutation(np.arange(1, 601)))
    for query in QUERIES[70]:
        assert_same(
            index.nearest(query, 10, exact=truth.exact, among=np.arange(700, 0, -1)),
            index.nearest(query, 10, exact=truth.exact),
        )


@given(
    every=st.integers(1, 5),
    length=st.integers(1, 40_000),
    count=st.integers(1, 3000),
    top=st.sampled_from([0, 40, 380]),
    seed=st.integers(0, 99),
)
def test_a_sampled_threshold_passes_the_greatest_whatever_the_sample(every, length, count, top, seed):
    """Every so many rows score high, so that a sample taken at regular distances may see no others, or none of them."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 40, length).astype(np.uint16)
    scores[::every] += rng.integers(0, top + 1, len(scores[::every])).astype(np.uint16)
    likely = _likely(scores, np.arange(length), count)
    assert min(length, count // 2) <= len(likely) <= 3 * count
    others = np.delete(scores, likely)
    assert not len(others) or scores[likely].min() >= others.max()


def test_few_rows_are_asked_of_the_store(large):
    index, truth, _, queries = large
    asked = []

    def counted(docs):
        asked.append(len(docs))
        return truth.exact(docs)

    index.nearest(queries[0], 10, exact=counted)
    index.nearest(queries[0], 200, exact=counted)
    assert asked == [26, 225]


def test_searches_side_by_side_answer_as_one_after_the_other(large):
    index, truth, _, queries = large

    def answer(query):
        return index.nearest(query, 10, exact=truth.exact)

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(answer, queries))
    for query, got in zip(queries, together, strict=True):
        assert_same(got, answer(query))


def test_one_put_and_many_puts_give_the_same_nearest(large):
    """The centre is another at each doubling; the bits of the rows that were there follow it."""
    whole, truth, vectors, queries = large
    grown = VectorIndex(384)
    for start in range(0, 30_000, 900):
        stop = min(30_000, start + 900)
        grown.put(np.arange(start + 1, stop + 1), vectors[start:stop])
    assert recall(grown, truth, vectors, queries, 10) >= 0.995
    agreeing = [
        np.array_equal(grown.nearest(q, 10, exact=truth.exact)[0], whole.nearest(q, 10, exact=truth.exact)[0])
        for q in queries
    ]
    assert np.mean(agreeing) >= 0.95


def test_vectors_replaced_by_those_of_another_model_are_found():
    """Seen from the old mean most of the new rows look alike: the centre has to move though no doc is new."""
    rng = np.random.default_rng(5)
    old, new = (clustered(12_040, 384, topics=60, rng=rng, mean=3) for _ in range(2))
    index, truth = filled(old[:12_000])
    for start in range(0, 12_000, 1000):
        docs = np.arange(start + 1, start + 1001)
        index.put(docs, new[start : start + 1000])
        truth.put(docs, new[start : start + 1000])
    assert recall(index, truth, new[:12_000], new[12_000:], 10) >= 0.99


@pytest.mark.parametrize("dims", [1, 3, 100, 256, 384, 1536])
@pytest.mark.parametrize("count", [40, 6000])
def test_of_identical_vectors_the_newest_are_taken(dims, count):
    rng = np.random.default_rng(dims)
    same = unit(rng.standard_normal(dims))
    docs = rng.permutation(np.arange(1, count + 1))
    index, truth = filled(np.tile(same, (count, 1)), docs)
    for query in (same, unit(rng.standard_normal(dims))):
        found, cosines = index.nearest(query, 10, exact=truth.exact)
        assert found.tolist() == list(range(count, count - 10, -1))
        assert len(set(cosines.tolist())) == 1
    odd = np.arange(1, count, 2)
    assert index.nearest(same, 3, exact=truth.exact, among=odd)[0].tolist() == odd[:-4:-1].tolist()


@pytest.mark.parametrize("count", [5, 300, 6000])
def test_a_zero_query_has_cosine_zero_with_all_and_gives_the_newest(count):
    rng = np.random.default_rng(1)
    index, truth = filled(unit(rng.standard_normal((count, 384))), rng.permutation(np.arange(1, count + 1)))
    found, cosines = index.nearest(np.zeros(384, np.float32), 12, exact=truth.exact)
    assert found.tolist() == list(range(count, max(0, count - 12), -1))
    assert not cosines.any()


def test_a_zero_row_is_kept_and_has_cosine_zero():
    index, truth = filled(np.vstack([np.zeros(70), DISTINCT[70][0]]).astype(np.float32))
    found, cosines = index.nearest(DISTINCT[70][0], 5, exact=truth.exact)
    assert found.tolist() == [2, 1]
    assert cosines[1] == 0


@pytest.mark.parametrize("dims", [3, 256, 1536])
def test_dims_that_fill_no_word_and_those_that_do_find_themselves(dims):
    rng = np.random.default_rng(dims)
    index, truth = filled(unit(rng.standard_normal((4000, dims))))
    for doc in (1, 77, 4000):
        found, cosines = index.nearest(truth.rows[doc], 1, exact=truth.exact)
        assert found.tolist() == [doc]
        assert cosines[0] == pytest.approx(1)


def test_a_limit_past_the_end_gives_all_in_order():
    index, truth = filled(DISTINCT[70])
    query = QUERIES[70][0]
    assert_same(index.nearest(query, 500, exact=truth.exact), truth.nearest(query, 500))


@pytest.mark.parametrize("limit", [0, 10])
def test_an_empty_index_and_an_empty_choice_give_nothing(limit):
    empty, full = VectorIndex(70), filled(DISTINCT[70])[0]
    nothing = np.empty(0, np.int64)

    def unasked(docs):
        pytest.fail(f"asked for {docs}")

    for found, cosines in (
        empty.nearest(QUERIES[70][0], limit, exact=unasked),
        full.nearest(QUERIES[70][0], limit, exact=unasked, among=nothing),
        full.nearest(QUERIES[70][0], 0, exact=unasked),
    ):
        assert (len(found), len(cosines)) == (0, 0)


def test_dropping_all_rows_and_filling_again_starts_over():
    rng = np.random.default_rng(2)
    vectors = unit(rng.standard_normal((5000, 70)))
    index, truth = filled(vectors)
    index.drop(np.arange(1, 9000))
    assert len(index) == 0
    index.put(np.arange(1, 5001), vectors)
    assert recall(index, truth, vectors, vectors[:30], 1) == 1


def test_a_row_costs_nine_bits_per_dimension_and_little_more():
    rng = np.random.default_rng(2)
    vectors = unit(rng.standard_normal((20_000, 256)))
    at_once, grown = filled(vectors)[0], VectorIndex(256)
    assert at_once.nbytes / len(at_once) <= 256 * 9 / 8 + 30
    sizes = set()
    for start in range(0, 20_000, 100):
        grown.put(np.arange(start + 1, start + 101), vectors[start : start + 100])
        sizes.add(grown._codes.nbytes)
    assert grown.nbytes <= 1.4 * at_once.nbytes
    assert len(sizes) < 35  # the arrays are moved at each quarter more, not at each put


@pytest.mark.parametrize("before", [0, 900, 5000])
def test_rows_put_into_reserved_room_are_found_and_take_no_spare_room(large, before):
    _, truth, vectors, queries = large
    filling = VectorIndex(384)
    filling.put(np.arange(1, before + 1), vectors[:before])
    filling.reserve(30_000)
    sizes = set()
    for start in range(before, 30_000, 900):
        stop = min(30_000, start + 900)
        filling.put(np.arange(start + 1, stop + 1), vectors[start:stop])
        sizes.add(filling._codes.nbytes)
    filling.drop(np.arange(1, 500))
    filling.flush()
    assert sizes == {30_000 * 384}
    [missing] = filling.nearest(vectors[10], 1, exact=truth.exact)[0]
    assert missing >= 500
    filling.put(np.arange(1, 500), vectors[:499])
    assert recall(filling, truth, vectors, queries, 10) >= 0.995


def test_a_few_rows_in_reserved_room_stay_exact():
    rng = np.random.default_rng(3)
    vectors = unit(rng.standard_normal((1500, 32)))
    index = VectorIndex(32)
    index.reserve(1500)
    index.put(np.arange(1, 1501), vectors)
    index.flush()
    assert index.is_exact


def test_float32_rows_of_a_middling_namespace_stay_until_it_grows_large():
    rng = np.random.default_rng(4)
    vectors = unit(rng.standard_normal((16_385, 16)))
    index, _ = filled(vectors[:16_384])
    assert index.is_exact
    index.put(np.array([16_385]), vectors[16_384:])
    assert not index.is_exact
    assert not len(index.cosines(vectors[0], np.arange(1, 16_386))[0])
    index.keep(np.arange(1, 10), vectors[:9])
    assert not len(index.cosines(vectors[0], np.arange(1, 10))[0])
    assert index._exact.nbytes == 0


def begun(vectors) -> VectorIndex:
    """An index of packed rows, none of which is here in float32."""
    index, packed = VectorIndex(vectors.shape[1]), filled(vectors)[0]
    index.begin(packed._centre, len(vectors))
    scales, codes, bits = (array.tobytes() for array in (packed._scales, packed._codes, packed._bits))
    index.put_packed(np.arange(1, len(vectors) + 1), scales, codes, bits)
    return index


def test_rows_that_were_read_are_known_from_then_on_with_the_docs_they_are_of():
    """Whatever is put, kept and dropped in between."""
    rng = np.random.default_rng(5)
    vectors = unit(rng.standard_normal((5_000, 24)))
    index, truth, known = begun(vectors[:4_000]), Truth(24), set()
    truth.put(np.arange(1, 4_001), vectors[:4_000])
    assert not len(index.cosines(vectors[0], np.arange(1, 4_001))[0])
    for turn in range(40):
        docs = np.sort(rng.choice(np.arange(1, 5_001), 300, replace=False))
        there = np.array([doc for doc in docs.tolist() if doc in truth.rows])
        if turn % 4 == 0:
            index.drop(docs)
            truth.rows = {doc: row for doc, row in truth.rows.items() if doc not in docs}
            known.difference_update(docs.tolist())
        elif turn % 4 == 1:
            changed = unit(rng.standard_normal((300, 24)))
            index.put(docs, changed)
            truth.put(docs, changed)
            known.update(docs.tolist())
        else:
            index.keep(np.append(there, 9_999), np.vstack([truth.exact(there), vectors[:1]]))
            known.update(there.tolist())
        found, cosines = index.cosines(vectors[turn], np.arange(1, 5_001))
        assert set(found.tolist()) == known
        np.testing.assert_array_equal(cosines, np.vecdot(truth.exact(found), vectors[turn]))
    assert not index.is_exact
    everything = np.array(sorted(truth.rows))
    index.keep(everything, truth.exact(everything))
    assert index.is_exact
    assert_same(index.nearest(vectors[1], 20, exact=truth.exact), truth.nearest(vectors[1], 20))


def test_what_the_caller_promises_is_checked():
    index = VectorIndex(3)
    one, row = np.array([1]), np.array([[1, 0, 0]], np.float32)
    for docs, vectors in (
        (one, row[:, :2]),
        (one, row.astype(np.float64)),
        (one.astype(np.int32), row),
        (np.array([1, 1]), np.vstack([row, row])),
    ):
        with pytest.raises(AssertionError):
            index.put(docs, vectors)
    with pytest.raises(AssertionError):
        index.nearest(row[0, :2], 1, exact=lambda _: row)
    assert len(index) == 0
