"""Words that turns lend to those around them, joined when they are read."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.text import bm25
from engrain.storage.postgres.index import read_words
from engrain.storage.search.lent_words import join_words

WORDS = st.lists(st.sampled_from("tram river bread cat salt".split()), max_size=4)
# What each of some turns says, and how much of it is lent.
TURNS = st.lists(st.tuples(WORDS, WORDS), max_size=6)


def send(order, own, lenders, docs):
    """Aggregate the turns in some order as the server does: of the columns of `words_of_all`."""
    stored = [bm25.pack_all([([bm25.encode(lent), bm25.encode(rest)], [bm25.encode(lent)])])[0] for lent, rest in own]
    lengths = [stored[at].own + sum(len(own[lender][0]) for lender in lenders[at]) for at in order]
    return (
        np.array([docs[at] for at in order], ">i8").tobytes() or None,
        np.array(lengths, ">i4").tobytes() or None,
        np.array([len(stored[at].packed) for at in order], ">i4").tobytes() or None,
        b"".join(stored[at].packed for at in order) or None,
        np.array([8 * len(lenders[at]) for at in order], ">i4").tobytes() or None,
        np.array([docs[lender] for at in order for lender in lenders[at]], ">i8").tobytes() or None,
    )


@given(TURNS, st.data())
def test_joined_words_are_those_of_a_turn_and_of_all_that_lend_it_theirs(turns, data):
    """As if they had been packed together, whatever the order of the rows, and also of some terms and docs alone."""
    docs = [(7 << 40) + 3 * at for at in range(len(turns))]
    around = [
        [near for near in range(at - 2, at + 3) if near != at and near in range(len(turns))] for at in range(len(turns))
    ]
    order = data.draw(st.permutations(range(len(turns))))
    whole = {
        docs[at]: bm25.pack([*lent, *rest], [word for near in around[at] for word in turns[near][0]])
        for at, (lent, rest) in enumerate(turns)
    }
    cut = data.draw(st.integers(0, len(turns)))
    stored = read_words(send(order[:cut], turns, around, docs)).add(read_words(send(order[cut:], turns, around, docs)))
    found, table = join_words(stored)
    assert found.tolist() == [docs[at] for at in order]
    assert table.packed == b"".join(whole[doc].packed for doc in found.tolist())
    assert table.lengths.tolist() == [whole[doc].length for doc in found.tolist()]
    assert table.sizes.tolist() == [len(whole[doc].packed) for doc in found.tolist()]

    terms, wanted = data.draw(WORDS), np.array(sorted(data.draw(st.sets(st.sampled_from(docs or [1])))), np.int64)
    few, some = join_words(stored, terms, among=wanted)
    corpus = bm25.Corpus(memories=len(turns), words=100, frequencies=table.frequencies(terms))
    among = np.isin(found, wanted)
    assert few.tolist() == found[among].tolist()
    assert some.scores(terms, corpus).tolist() == table.scores(terms, corpus)[among].tolist()
    assert set(some.codes.tolist()) <= {bm25.code(term) for term in terms}


def test_a_word_is_lent_no_more_often_than_a_count_can_hold():
    turns, docs = [(["tram"] * 40_000, []), (["tram"] * 40_000, []), (["salt"], [])], [1, 2, 3]
    _, table = join_words(read_words(send([0, 1, 2], turns, [[], [], [0, 1]], docs)), ["tram"])
    assert table.rows["near"].tolist() == [0, 0, bm25.MOST]


@pytest.mark.parametrize("terms", [None, ["tram"]])
def test_nothing_is_joined_of_no_memories(terms):
    docs, table = join_words(read_words([None] * 7), terms)
    assert (docs.tolist(), table.packed) == ([], b"")
