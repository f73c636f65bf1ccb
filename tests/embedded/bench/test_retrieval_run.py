"""A small corpus from its file to the figures, through the public API and a real database."""

import hashlib
import json
import re

import numpy as np
import pytest

from bench.retrieval import findings, locomo, runner, variants
from bench.retrieval.vector_cache import CachedEmbedder

SAID = [
    ("Ana", "I adopted a greyhound called Biscuit last week."),
    ("Ben", "What does your sister think of it?"),
    ("Ana", "She prefers parrots, honestly."),
    ("Ben", "I finally sold the canoe to a neighbour."),
    ("Ana", "The tram strike made everybody late today."),
]
ASKED = [
    ("Which greyhound did Ana adopt?", ["D1:1"], 4),
    ("Who bought the canoe, and why was everybody late?", ["D1:4", "D2:1"], 1),
    ("What about parrots?", ["D1:3"], 5),
    ("Unanswerable?", [], 3),
]


class WordVectors:
    """Texts that share words lie near each other: a hashed bag of words."""

    name = "bench:words"
    dims = 32

    def __init__(self, salt=""):
        self.salt = salt
        self.asked = []

    def embed(self, texts, *, role):
        self.asked += [(role, text) for text in texts]
        rows = np.full((len(texts), self.dims), 1e-3, np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                row[hashlib.sha256((self.salt + word).encode()).digest()[0] % self.dims] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def corpus():
    sessions = {"session_1": SAID[:4], "session_2": SAID[4:]}
    conversation = {
        name: [
            {"speaker": speaker, "dia_id": f"D{name[-1]}:{number}", "text": text}
            for number, (speaker, text) in enumerate(turns, start=1)
        ]
        for name, turns in sessions.items()
    }
    dates = {f"{name}_date_time": "1:56 pm on 8 May, 2023" for name in sessions}
    qa = [{"question": text, "evidence": evidence, "category": kind} for text, evidence, kind in ASKED]
    samples = [{"sample_id": "one", "conversation": {**conversation, **dates}, "qa": qa}]
    return locomo.load(json.loads(json.dumps(samples)))


@pytest.fixture
def embedder(tmp_path):
    cached = CachedEmbedder(WordVectors(), tmp_path / "cache")
    yield cached
    cached.close()


def asked_of(names, corpus, embedder, say=lambda _: None):
    return runner.run(corpus, variants.of_presets(names), embedder=embedder, say=say)


def test_hits_are_the_turns_that_were_said(corpus, embedder):
    told = []
    run = asked_of(["keyword", "engrain"], corpus, embedder, told.append)
    for asked in run.answers.values():
        assert [each.question.text for each in asked] == [text for text, evidence, _ in ASKED if evidence]
        assert asked[0].found[0] == ("s1", 1)
        assert set(asked[1].found[:2]) == {("s1", 4), ("s2", 1)}
    assert run.ingests["keyword"].memories == len(SAID)
    assert run.ingests["keyword"].embedded == len(SAID)
    assert not [line for line in told if "warning" in line]


def test_two_runs_find_the_same(corpus, embedder):
    first, second = (asked_of(["engrain"], corpus, embedder).answers["engrain"] for _ in range(2))
    assert [each.found for each in first] == [each.found for each in second]


def test_the_json_has_every_level_category_and_measure(corpus, embedder):
    run = asked_of(["keyword"], corpus, embedder)
    written = json.loads(json.dumps(findings.as_json(run)))
    assert list(written) == ["keyword"]
    assert list(written["keyword"]) == ["turn", "session", "cost"]
    for level in ("turn", "session"):
        assert set(written["keyword"][level]) == {"overall", "single-hop", "multi-hop", "adversarial"}
        assert written["keyword"][level]["overall"]["recall@10"] == 1
    cost = written["keyword"]["cost"]
    assert (cost["questions"], cost["left_out"], cost["memories"]) == (3, 1, 5)


def test_categories_apart_have_no_part_in_the_overall(corpus):
    [conversation] = corpus.conversations
    good, _, adversarial = conversation.questions
    asked = (
        runner.AnsweredQuestion(question=good, found=(("s1", 1),), seconds=0.1),
        runner.AnsweredQuestion(question=adversarial, found=(), seconds=0.1),
    )
    turn = findings.findings(asked, corpus.apart)["turn"]
    assert turn["overall"]["recall@5"] == 1
    assert turn["adversarial"]["recall@5"] == 0


def test_the_table_shows_every_preset_and_category_within_its_width(corpus, embedder):
    run = asked_of(["engrain", "semantic", "keyword", "hybrid"], corpus, embedder)
    table = findings.table(run, by_category=True)
    for shown in (*run.answers, "single-hop", "multi-hop", "adversarial", "session", "1 left out"):
        assert shown in table
    assert max(map(len, table.splitlines())) <= 120


def test_without_an_embedder_the_vectors_are_missed_aloud(corpus):
    told = []
    asked_of(["semantic"], corpus, None, told.append)
    assert [line for line in told if line.startswith("warning: 3 answers of semantic were degraded")]


def test_a_vector_comes_from_the_cache_bit_for_bit(tmp_path):
    texts = ["one turn", "another turn", "one turn"]
    first = CachedEmbedder(WordVectors(), tmp_path)
    made = first.embed(texts, role="document")
    first.close()
    inner = WordVectors()
    second = CachedEmbedder(inner, tmp_path)
    inner.asked.clear()
    assert np.array_equal(second.embed(texts, role="document"), made)
    assert inner.asked == []
    assert second.embed([], role="document").shape == (0, 32)
    second.close()


def test_a_question_is_embedded_once_and_its_time_counted_each_time(tmp_path):
    inner = WordVectors()
    cached = CachedEmbedder(inner, tmp_path)
    inner.asked.clear()
    first = cached.embed(["where?"], role="query")
    assert cached.spared_s == 0
    assert np.array_equal(cached.embed(["where?"], role="query"), first)
    assert cached.spared_s > 0
    assert inner.asked == [("query", "where?")]
    assert cached.embedded == 0
    cached.close()


def test_a_question_is_no_document_of_a_later_run(tmp_path):
    first = CachedEmbedder(WordVectors(), tmp_path)
    first.embed(["where?"], role="query")
    first.close()
    inner = WordVectors()
    second = CachedEmbedder(inner, tmp_path)
    second.embed(["where?"], role="document")
    assert ("document", "where?") in inner.asked
    second.close()


def test_another_model_of_the_same_name_starts_the_cache_anew(tmp_path):
    first = CachedEmbedder(WordVectors(), tmp_path)
    first.embed(["one turn"], role="document")
    first.close()
    changed = WordVectors(salt="new weights ")
    second = CachedEmbedder(changed, tmp_path)
    assert np.array_equal(second.embed(["one turn"], role="document"), changed.embed(["one turn"], role="document"))
    assert second.embedded == 1
    second.close()
