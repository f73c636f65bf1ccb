from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engrain.storage.search.doc_slots import DocSlots

DOCS = st.integers(1, 2**63 - 1) | st.integers(1, 40)
STEPS = st.lists(st.tuples(st.sampled_from(["append", "drop"]), st.sets(DOCS, max_size=30)), max_size=30)


def docs_of(docs) -> np.ndarray:
    return np.array(list(docs), dtype=np.int64)


@given(STEPS)
def test_every_doc_is_found_where_moves_put_its_row(steps):
    """A list of rows that follows `append` and `drop` as the index's arrays do is the model."""
    slots = DocSlots()
    rows: list[int] = []
    for act, docs in steps:
        if act == "append":
            new = docs_of(docs - set(rows))
            assert slots.append(new).tolist() == list(range(len(rows), len(rows) + len(new)))
            rows += new.tolist()
        else:
            known = docs_of(docs & set(rows))
            holes, movers = slots.drop(known)
            for hole, mover in zip(holes.tolist(), movers.tolist(), strict=True):
                rows[hole] = rows[mover]
            del rows[len(rows) - len(known) :]
        assert slots.docs.tolist() == rows
        assert slots.find(docs_of(rows)).tolist() == list(range(len(rows)))
        assert slots.find(docs_of(docs - set(rows))).tolist() == [-1] * len(docs - set(rows))


def test_many_docs_are_found_after_many_drops():
    rng = np.random.default_rng(7)
    slots = DocSlots()
    docs = rng.permutation(np.arange(1, 200_001, 5))
    slots.append(docs)
    gone, kept = docs[:30_000], docs[30_000:]
    slots.drop(gone)
    assert np.array_equal(slots.docs[slots.find(kept)], kept)
    assert not np.any(slots.find(gone) >= 0)


def test_dropping_and_adding_the_same_docs_for_ever_takes_no_more_room():
    slots = DocSlots()
    slots.append(np.arange(1, 1001))
    before = slots.nbytes
    for start in range(1, 20_001, 50):
        slots.append(np.arange(start + 1000, start + 1050))
        slots.drop(np.arange(start, start + 50))
    assert len(slots) == 1000
    assert slots.nbytes <= 3 * before


def test_a_doc_costs_less_than_forty_bytes():
    slots = DocSlots()
    for start in range(1, 50_001, 250):
        slots.append(np.arange(start, start + 250))
    assert slots.nbytes / len(slots) < 40
