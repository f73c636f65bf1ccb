"""The same conversation and questions give the same answers, in the same order, whichever database keeps them."""

import json
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from engrain import Memory
from engrain.engines import embedder
from engrain.retrieval.presets import PRESETS
from tests.support.stores import SqliteStore
from tests.support.wiped import fresh_store

EXAMPLES = Path(__file__).parents[3] / "examples"
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
LIMIT = 20
SAME = 1e-6  # float32 sums of 384 products, in another order
NARROWINGS = [{}, {"speakers": "Noor"}, {"since": "2025-06-01"}, {"kinds": ["fact", "rule"]}, {"as_of": NOW}]


class Remembered:
    """The shipped embedder, asked once for each text."""

    def __init__(self):
        self._embedder = embedder("minilm", threads=2)
        self._rows = {}

    name = property(lambda self: self._embedder.name)
    dims = property(lambda self: self._embedder.dims)

    def embed(self, texts, *, role):
        new = [text for text in dict.fromkeys(texts) if text not in self._rows]
        self._rows.update(zip(new, self._embedder.embed(new, role=role) if new else (), strict=True))
        return np.array([self._rows[text] for text in texts], np.float32).reshape(-1, self.dims)


def fill(memory):
    """A conversation as a file, the same turns again by hand, rules, and facts of which some were superseded."""
    agent = memory.agent("aide")
    agent.import_file(EXAMPLES / "two_friends.jsonl")
    for place in range(12):
        agent.observe("The tram was late again", session="echo", speaker="Noor", event_time=NOW)
        agent.remember(f"city {place // 2}", subject=f"person {place % 3}", predicate="lives in")
        agent.rules.add(f"Ask for the tram number {place % 4}")
        agent.remember(f"the tram was {place} late", subject="aide", predicate=f"note {place}", scope="aide")
    memory.agent("stranger").observe("The tram was late, said a stranger", event_time=NOW)
    memory.flush()


@pytest.fixture(scope="module")
def agents():
    """The same agent on both databases; on PostgreSQL once with everything read and once with the indexes at work."""
    numbers = {}

    def ids(name):
        return lambda: f"018f0000-0000-7000-8000-{numbers.setdefault(name, iter(range(10**6))).__next__():012}"

    with ExitStack() as stack:
        shared = Remembered()
        stores = {
            "sqlite": SqliteStore(":memory:"),
            "postgres": stack.enter_context(fresh_store()),
            "postgres-large": stack.enter_context(fresh_store(narrow=0, read_all=0, scan_all=0)),
        }
        agents = {}
        for name, store in stores.items():
            memory = Memory(store, embedder=shared, clock=lambda: NOW, ids=ids(name))
            stack.callback(memory.close)
            fill(memory)
            agents[name] = memory.agent("aide")
        yield agents


def questions():
    asked = [each["ask"] for each in json.loads((EXAMPLES / "questions.json").read_text(encoding="utf-8"))]
    said = [json.loads(line)["content"] for line in (EXAMPLES / "two_friends.jsonl").read_text().splitlines()]
    return [*asked, *said[::50], "tram", "where does person 1 live?", "", "the of and"]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("narrowing", NARROWINGS, ids=lambda each: ",".join(each) or "all")
def test_databases_rank_alike(agents, preset, narrowing):
    """All are asked the same in the same order: what was found before counts in some rankings."""
    for question in questions()[:: 3 if narrowing else 1]:
        answers = {
            name: agent.recall(question, limit=LIMIT, preset=preset, **narrowing) for name, agent in agents.items()
        }
        expected = answers.pop("sqlite")
        for found in answers.values():
            assert [hit.memory.id for hit in found] == [hit.memory.id for hit in expected], question
            assert np.abs([a.score - b.score for a, b in zip(found, expected, strict=True)]).max(initial=0) < SAME
            assert found.degraded == expected.degraded
