"""Bytes that verbs write to a server's log, which replicas and archives take, too."""

import functools
import json

import psycopg
import pytest

from bench.speed import language
from bench.speed.vectors import RandomVectors
from bench.tenants.footprint import measure_log
from engrain import Memory
from tests.support.postgres import server

ROUNDS = 20


@functools.cache
def said():
    return language.talk(600)


def observe(agent, turn, session):
    agent.observe(turn.content, session=session, speaker=turn.speaker, event_time=turn.said_at)


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    """A memory of 600 turns in a database of its own."""
    url, path = server().new_database(has_schema=True), tmp_path_factory.mktemp("talk") / "talk.jsonl"
    lines = [{"session": turn.session, "speaker": turn.speaker, "content": turn.content} for turn in said()]
    path.write_text("".join(json.dumps({"role": "user", **line}) + "\n" for line in lines))
    with Memory.open(url, embedder=RandomVectors()) as opened:
        opened.agent("aide").import_file(path, format="jsonl")
        opened.flush()
        yield opened
    server().drop_database(url)


@pytest.fixture
def bytes_of(memory):
    """Measure the bytes of the log for a call."""
    with psycopg.connect(server().url, autocommit=True) as db:
        yield lambda call: measure_log(db, memory, call, ROUNDS)


def test_an_observe_writes_no_keyword_index_of_a_small_namespace(memory, bytes_of):
    """Of 600 memories none has its words there, which with those of the two turns before it were 11 KB."""
    agent = memory.agent("aide")
    assert bytes_of(lambda number: observe(agent, said()[number], "new")) < 8_000


def test_a_recall_counts_its_references_without_an_index(memory, bytes_of):
    """Ten rows of 90 bytes, and pages that are cleared of old versions: with the indexes it was five times as much."""
    questions = language.questions(said(), ROUNDS, naming=True)

    def recall(number):
        assert len(memory.agent("aide").recall(questions[number])) == 10
        memory.parts.references.flush()

    assert bytes_of(recall) < 2_000
