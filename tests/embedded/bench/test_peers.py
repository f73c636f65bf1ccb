"""Other stores are told and asked the same; those that are not there are named, with what would install them."""

from types import SimpleNamespace

import numpy as np
import pytest

from bench.retrieval import peers
from bench.retrieval.corpus import UnknownData
from bench.retrieval.peers import Offer, Vectors
from bench.retrieval.peers.mem0_memory import Embedder
from bench.retrieval.vector_cache import CachedEmbedder
from tests.support.bench_corpora import corpus, question, turn

TURNS = [("s1", "Ana", "aaa"), ("s1", None, "b"), ("s2", "Ben", "cccccc")]
CORPUS = corpus(
    [turn(text, session=session, speaker=speaker) for session, speaker, text in TURNS],
    [question("b?", ("s1", 2))],
    names=["one", "two"],
)


class LengthVectors:
    """A text is as long as it is."""

    name = "bench:length"
    dims = 2

    def embed(self, texts, *, role):
        return np.array([[len(text), role == "query"] for text in texts], np.float32)


class NearestLength:
    """A peer with one function for documents and questions."""

    def __init__(self, vectors, folder):
        assert not list(folder.iterdir())
        self.vectors = vectors
        self.texts = {}
        self.is_open = True

    def remember(self, namespace, texts):
        assert self.vectors.whichever(["x"]) == [[1, 0]]
        self.texts[namespace] = list(texts)

    def search(self, namespace, question, limit):
        [[wanted, is_query]] = self.vectors.whichever([question])
        assert is_query
        lengths = [abs(len(text) - wanted) for text in self.texts[namespace]]
        return sorted(range(len(lengths)), key=lengths.__getitem__)[:limit]

    def close(self):
        self.is_open = False


@pytest.fixture
def embedder(tmp_path):
    cached = CachedEmbedder(LengthVectors(), tmp_path)
    yield cached
    cached.close()


def test_a_peer_is_asked_in_the_conversation_and_answers_with_turns(embedder):
    opened = []

    def open_one(vectors, folder):
        opened.append(NearestLength(vectors, folder))
        return opened[0]

    offered = {"length": Offer(modules=("json",), install="", open=open_one)}
    answers, ingests = peers.run(CORPUS, offered, embedder=embedder, say=lambda _: None)
    [peer] = opened
    assert peer.texts == {name: ["Ana: aaa", "b", "Ben: cccccc"] for name in ("one", "two")}
    assert [asked.found for asked in answers["length"]] == [(("s1", 2), ("s1", 1), ("s2", 1))] * 2
    assert ingests["length"].memories == 6
    assert not peer.is_open


@pytest.mark.parametrize(
    ("offer", "said"),
    [
        (Offer(modules=("nowhere_to_be_found",), install="pip install it", open=NearestLength), "pip install it"),
        (Offer(modules=("nowhere.to.be.found",), install="pip install it", open=NearestLength), "pip install it"),
        (Offer(modules=("json",), install="", open=NearestLength, lacks="a moon"), "needs a moon"),
    ],
)
def test_a_peer_that_cannot_be_run_is_left_out_aloud(embedder, offer, said):
    told = []
    assert peers.run(CORPUS, {"absent": offer}, embedder=embedder, say=told.append) == ({}, {})
    assert len(told) == 1
    assert told[0].startswith("absent is left out: ")
    assert said in told[0]


def test_peers_are_chosen_by_name():
    known = peers.offers()
    assert list(peers.chosen(["txtai", "chroma"], known)) == ["txtai", "chroma"]
    assert peers.chosen([], known) == known
    with pytest.raises(UnknownData, match="nobody"):
        peers.chosen(["nobody"], known)


def test_every_offer_names_what_installs_it():
    assert set(peers.offers()) == {"langgraph", "langgraph-sqlite", "mem0", "chroma", "txtai"}
    assert all(offer.install.startswith("pip install ") for offer in peers.offers().values())


def test_what_mem0_calls_gives_questions_and_documents_their_vectors(embedder):
    hook = Embedder(SimpleNamespace(model=Vectors(embedder)))
    assert hook.embed("four", "add") == [4, 0]
    assert hook.embed("four", "search") == [4, 1]
    assert hook.embed_batch(["a", "bb"], "add") == [[1, 0], [2, 0]]
