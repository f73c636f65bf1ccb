"""How each verb of an agent is asked by somebody who wants to know what is not his.

A verb that is in neither table fails the suite.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np

from engrain import Memory
from engrain.agent import Agent
from engrain.domain.ports import Store
from engrain.domain.records import RELATIONS, Caller, Episode, Fact
from engrain.retrieval.presets import PRESETS
from tests.leaks.hearing import said
from tests.leaks.world import EMBEDDER, READ_AT, World
from tests.sample_records import NOON
from tests.sample_search import DIMS, vector_of

WRITES = frozenset("observe remember correct confirm forget erase link import_file rules.add entities.create".split())
_LONG_AGO = NOON + timedelta(minutes=40)


class WordEmbedder:
    """The vectors that a world's memories already have."""

    name = EMBEDDER
    dims = DIMS

    def embed(self, texts, *, role):  # noqa: ARG002  # a word is a word
        return np.array([vector_of(text) for text in texts], np.float32).reshape(-1, DIMS)


@dataclass(frozen=True)
class Asker:
    """An agent who knows the name of everything in the world and wants to see it."""

    agent: Agent
    world: World


Asked = Iterator[tuple[str, object]]


def memory_of(store: Store) -> Memory:
    return Memory(store, embedder=WordEmbedder(), clock=lambda: READ_AT)


def agent_of(memory: Memory, caller: Caller) -> Agent:
    return Agent(lambda: memory.parts, caller)


def verbs_of(owner: object, prefix: str = "") -> dict[str, Callable[..., Any]]:
    """What can be done with an agent, its groups' verbs by their dotted names."""
    found: dict[str, Callable[..., Any]] = {}
    for name in (name for name in dir(type(owner)) if not name.startswith("_")):
        part = getattr(owner, name)
        if inspect.ismethod(part):
            found[prefix + name] = part
        elif type(part).__module__.startswith("engrain.agent"):
            found |= verbs_of(part, f"{name}.")
    return found


def _questions(asker: Asker) -> list[str]:
    """Everybody's words and names, a few at a time."""
    names = asker.world.names
    return ["tram river coffee", "What does Ana like?", "", *(" ".join(names[start::12]) for start in range(12))]


def _counted(asker: Asker) -> Agent:
    """The agent once the references of its last answer are counted, or which thread is faster would show."""
    asker.agent._parts().references.settle()
    return asker.agent


def recall(asker: Asker) -> Asked:
    for question in _questions(asker):
        for preset in PRESETS:
            yield f"{question} {preset}", _counted(asker).recall(question, preset=preset, limit=20)
    episodes = [each for each in asker.world.memories if isinstance(each, Episode)]
    facts = [each for each in asker.world.memories if isinstance(each, Fact)]
    named = [
        {"sessions": [each.session for each in episodes if each.session]},
        {"exclude_sessions": "monday"},
        {"speakers": [each.speaker for each in episodes if each.speaker]},
        {"subjects": [each.subject for each in facts]},
        {"tags": "travel", "include_inactive": True},
        {"as_of": _LONG_AGO},
        {"include_inactive": True},
        {"kinds": "fact", "since": NOON},
    ]
    for conditions in named:
        yield f"Ana {conditions}", _counted(asker).recall("Ana Ben tram garden", limit=3, **conditions)


def context(asker: Asker) -> Asked:
    for question in _questions(asker)[:6]:
        yield question, _counted(asker).context(question, budget_tokens=400)


def get(asker: Asker) -> Asked:
    for id_ in sorted(asker.world.ids):
        yield id_, asker.agent.get(id_)
        yield f"{id_} then", asker.agent.get(id_, as_of=_LONG_AGO)


def facts(asker: Asker) -> Asked:
    yield "all", asker.agent.facts(include_inactive=True, limit=1_000)
    for fact in (each for each in asker.world.memories if isinstance(each, Fact)):
        yield fact.subject, asker.agent.facts(fact.subject, fact.predicate, include_inactive=True)
        yield f"{fact.subject} then", asker.agent.facts(fact.subject, as_of=_LONG_AGO)


def links(asker: Asker) -> Asked:
    for place, id_ in enumerate(sorted(asker.world.ids)):
        yield id_, asker.agent.links(id_)
        yield f"to {id_}", asker.agent.links(id_, direction="incoming", relation=RELATIONS[place % len(RELATIONS)])


def history(asker: Asker) -> Asked:
    for id_ in sorted(asker.world.ids):
        yield id_, asker.agent.history(id_)


def events(asker: Asker) -> Asked:
    yield "all", asker.agent.events(limit=1_000)
    for id_ in sorted(asker.world.ids):
        yield id_, asker.agent.events(id_)


def stats(asker: Asker) -> Asked:
    yield "", asker.agent.stats()


def entities_get(asker: Asker) -> Asked:
    for id_ in sorted(asker.world.ids):
        yield id_, asker.agent.entities.get(id_)


READS: dict[str, Callable[[Asker], Asked]] = {
    "recall": recall,
    "context": context,
    "get": get,
    "facts": facts,
    "links": links,
    "history": history,
    "events": events,
    "stats": stats,
    "entities.get": entities_get,
}


def all_said(asker: Asker) -> dict[str, str]:
    """Every answer an agent gets, word for word, by what was asked."""
    return {
        f"{verb} {place}: {asked}": said(answer, {})
        for verb, probe in READS.items()
        for place, (asked, answer) in enumerate(probe(asker))
    }
