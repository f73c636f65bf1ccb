"""How each verb of an agent is asked by somebody who wants to know what is not his.

A verb that is in neither table fails the suite.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import Any, Literal, get_args, get_origin

from engrain.agent.agent import Agent
from engrain.domain.maintenance.findings import FINDING_KINDS
from engrain.domain.pagination import encode
from engrain.domain.records import RELATIONS, Caller, Episode, Fact
from engrain.errors import InvalidInput, NotFound
from engrain.retrieval.presets import PRESETS
from engrain.service import Memory
from engrain.verbs.signatures import Parameter, Signature, signatures
from engrain.verbs.table import VERBS
from tests.servers.leaks.hearing import said
from tests.servers.leaks.world import READ_AT, World, address_of
from tests.support.one_call import OneCall
from tests.support.sample_records import NOON
from tests.support.sample_search import WordEmbedder

_LONG_AGO = NOON + timedelta(minutes=40)


@dataclass(frozen=True)
class Asker:
    """An agent who knows the name of everything in the world and wants to see it."""

    agent: Agent
    world: World


Asked = Iterator[tuple[str, object]]


def memory_of(store: OneCall) -> Memory:
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
    asker.agent._parts().references.flush()
    return asker.agent


def recall(asker: Asker) -> Asked:
    """Every question by the preset that nobody has to name and by two others, each of which meets three questions."""
    questions = _questions(asker)
    for question in questions:
        yield question, _counted(asker).recall(question, limit=20)
    for place, preset in enumerate(PRESETS):
        for question in questions[place % 5 :: 5]:
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
    for question in _questions(asker)[1:4]:
        told = _counted(asker).context(question, recipe="assistant", recent_episodes=5, include_superseded=True)
        yield f"{question} assistant", told
        yield f"{question} butler", _counted(asker).context(question, recipe="butler", recent_episodes=5)


def messages(asker: Asker) -> Asked:
    for question in _questions(asker)[:2]:
        for window in (600, 60_000):
            yield f"{question} {window}", _counted(asker).messages(question, window_tokens=window)


def summarize(asker: Asker) -> Asked:
    for question in _questions(asker)[:6]:
        if question:
            yield question, _counted(asker).summarize(question, target_tokens=200)
    for session in sorted(
        {each.session for each in asker.world.memories if isinstance(each, Episode) and each.session}
    ):
        yield session, asker.agent.summarize(session=session)
    for id_ in sorted(asker.world.ids):
        try:
            yield id_, asker.agent.summarize(ids=[id_])
        except NotFound as error:
            yield id_, error


def get(asker: Asker) -> Asked:
    for id_ in sorted(asker.world.ids):
        yield id_, asker.agent.get(id_)
        yield f"{id_} then", asker.agent.get(id_, as_of=_LONG_AGO)


def facts(asker: Asker) -> Asked:
    yield "all", asker.agent.facts(include_inactive=True, limit=1_000)
    yield "a page", asker.agent.facts(include_inactive=True, limit=3, after=encode("facts", (_LONG_AGO, "z")))
    for fact in (each for each in asker.world.memories if isinstance(each, Fact)):
        yield fact.subject, asker.agent.facts(fact.subject, fact.predicate, include_inactive=True)
        yield f"{fact.subject} then", asker.agent.facts(fact.subject, as_of=_LONG_AGO)


def links(asker: Asker) -> Asked:
    for place, id_ in enumerate(sorted(asker.world.ids)):
        yield id_, asker.agent.links(id_)
        yield f"to {id_}", asker.agent.links(id_, direction="incoming", relation=RELATIONS[place % len(RELATIONS)])


def events(asker: Asker) -> Asked:
    yield "all", asker.agent.events(limit=1_000)
    yield "after a position", asker.agent.events(limit=1_000, after=encode("events", (_LONG_AGO, "z")))
    for id_ in sorted(asker.world.ids):
        yield id_, asker.agent.events(id_)


def rules_applications(asker: Asker) -> Asked:
    for id_ in sorted(asker.world.ids):
        yield id_, asker.agent.rules.applications(id_)
        after = encode("rules.applications", (_LONG_AGO, "z"))
        yield f"{id_} after a position", asker.agent.rules.applications(id_, after=after)


def stats(asker: Asker) -> Asked:
    yield "", asker.agent.stats()
    for scope in asker.agent.caller.scopes:
        yield scope, asker.agent.stats(scope=scope)


def overview(asker: Asker) -> Asked:
    """Part by part: a run's own id means nothing outside of its store."""
    for days, limit in ((366, 100), (1, 1)):
        found = _counted(asker).overview(days=days, limit=limit)
        for part in fields(found):
            yield f"{part.name} of {days} {limit}", getattr(found, part.name)


def audit(asker: Asker) -> Asked:
    """Old enough that everything counts as unused, and a page of each kind alone."""
    yield "all", _counted(asker).audit(limit=1_000, unused_days=0)
    for kind in FINDING_KINDS:
        yield kind, asker.agent.audit(kinds=kind, limit=2, skip=1, unused_days=0)


def entities_get(asker: Asker) -> Asked:
    for id_ in sorted(asker.world.ids):
        yield id_, asker.agent.entities.get(id_)


def entities_find(asker: Asker) -> Asked:
    yield "all", asker.agent.entities.find(limit=1_000)
    yield "a page", asker.agent.entities.find(limit=3, after=encode("entities.find", ("B", "person")))


def entities_resolve(asker: Asker) -> Asked:
    hints = {"topic": " ".join(asker.world.names), "mentioned_with": ["Ana", "tram", "garden"]}
    for name in sorted({each.canonical_name for each in asker.world.entities}):
        yield name, asker.agent.entities.resolve(name, fuzzy=True, hints=hints, limit=100)


def entities_profile(asker: Asker) -> Asked:
    for each in asker.world.entities:
        for name in (each.id, each.canonical_name):
            try:
                yield name, asker.agent.entities.profile(name)
            except (InvalidInput, NotFound) as error:
                yield name, error


def entities_to_enrich(asker: Asker) -> Asked:
    for most in (0, 9):
        yield str(most), asker.agent.entities.to_enrich(most_entities=most, limit=1_000)


def graph_search(asker: Asker) -> Asked:
    for word in ("", "Ana", "tea", "secret"):
        yield word, asker.agent.graph.search(word)


def graph_open(asker: Asker) -> Asked:
    yield "", asker.agent.graph.open(sorted(asker.world.names))


def notes_recall(asker: Asker) -> Asked:
    """Twice, as the second answer is another way to hear of it."""
    for fact in (each for each in asker.world.memories if isinstance(each, Fact)):
        for time in ("first", "again"):
            yield f"{fact.predicate} {time}", asker.agent.notes.recall(fact.predicate)


def notes_list(asker: Asker) -> Asked:
    yield "all", asker.agent.notes.list(1_000)
    yield "a page", asker.agent.notes.list(3, after=encode("notes.list", (_LONG_AGO, "z")))


def notes_list_by_category(asker: Asker) -> Asked:
    for category in sorted({each.category for each in asker.world.memories if isinstance(each, Fact)}):
        yield category, asker.agent.notes.list_by_category(category)


def notes_related(asker: Asker) -> Asked:
    for fact in (each for each in asker.world.memories if isinstance(each, Fact)):
        yield fact.predicate, asker.agent.notes.related(fact.predicate)
    for id_ in sorted(asker.world.ids):
        yield id_, asker.agent.notes.related(id_)


def notes_search(asker: Asker) -> Asked:
    for question in _questions(asker):
        for conditions in ({}, {"category": "fact"}, {"limit": 3, "min_similarity": 0.3}):
            yield f"{question} {conditions}", _counted(asker).notes.search(question, **conditions)


def notes_cache_stats(asker: Asker) -> Asked:
    yield "", asker.agent.notes.cache_stats()


def route(asker: Asker) -> Asked:
    for question in _questions(asker):
        yield question, asker.agent.route(f"{question}?")


def handle(asker: Asker) -> Asked:
    for question in _questions(asker)[:4]:
        yield question, _counted(asker).handle(f"{question}?").answer


def hooks_session_start(asker: Asker) -> Asked:
    for question in _questions(asker)[:6]:
        yield question, _counted(asker).hooks.session_start(question, budget_tokens=400)


def hooks_session_end(asker: Asker) -> Asked:
    """Of every session there is, also those of others."""
    sessions = {each.session for each in asker.world.memories if isinstance(each, Episode) and each.session}
    for session in sorted(sessions):
        view = Agent(asker.agent._parts, replace(asker.agent.caller, session=session))
        yield session, view.hooks.session_end()


def hooks_recent(asker: Asker) -> Asked:
    sessions = {each.session for each in asker.world.memories if isinstance(each, Episode) and each.session}
    for session in sorted(sessions):
        yield session, Agent(asker.agent._parts, replace(asker.agent.caller, session=session)).hooks.recent()


def pools_query(asker: Asker) -> Asked:
    """Of every pool there is, also those it is not in."""
    for pool in sorted({name for _, name in asker.world.pools}):
        for question in _questions(asker)[:4]:
            try:
                yield f"{pool} {question}", _counted(asker).pools.query(pool, question)
            except NotFound as error:
                yield f"{pool} {question}", error


def consolidation_episodes(asker: Asker) -> Asked:
    for session in _sessions(asker):
        for page in (0, 1):
            yield f"{session} {page}", _counted(asker).consolidation.episodes(session, page=page, limit=3)


def consolidation_detect_conflicts(asker: Asker) -> Asked:
    for fact in (each for each in asker.world.memories if isinstance(each, Fact)):
        try:
            yield fact.id, _counted(asker).consolidation.detect_conflicts(fact.id)
        except (InvalidInput, NotFound) as error:
            yield fact.id, error


def log_read(asker: Asker) -> Asked:
    """Of every session there is, whoever has it."""
    for place in asker.world.places:
        for last in (None, 1):
            named = {"session": place.session, "subkey": place.subkey, "last": last}
            yield f"{named}", asker.agent.log(place.log).read(**named)


def log_sessions(asker: Asker) -> Asked:
    yield "all", asker.agent.log.sessions(log="chat", limit=1_000)
    yield "a page", asker.agent.log.sessions(log="chat", after=encode("log.sessions", (_LONG_AGO, "z")))


def log_subkeys(asker: Asker) -> Asked:
    for place in asker.world.places:
        yield place.session, asker.agent.log(place.log).subkeys(session=place.session)


def store_get(asker: Asker) -> Asked:
    """Of every item there is, whoever has it."""
    for place in asker.world.places:
        namespace, key = address_of(place)
        yield f"{place}", asker.agent.store(namespace).get(key)


def store_history(asker: Asker) -> Asked:
    for place in asker.world.places:
        namespace, key = address_of(place)
        yield f"{place}", asker.agent.store(namespace).history(key)


def store_search(asker: Asker) -> Asked:
    yield "all", asker.agent.store.search(limit=1_000)
    yield "by fields", asker.agent.store.search(namespace="chat", fields={"role": "user"})
    yield "ranked", asker.agent.store.search("user content", namespace=["chat", "monday"])
    yield "a page", asker.agent.store.search(after=encode("store.search", (_LONG_AGO, "z")))


def store_namespaces(asker: Asker) -> Asked:
    yield "all", asker.agent.store.namespaces(limit=1_000)
    yield "any", asker.agent.store.namespaces(namespace="*", suffix="monday", depth=2)


def _sessions(asker: Asker) -> list[str]:
    return sorted({each.session for each in asker.world.memories if isinstance(each, Episode) and each.session})


def _asked_in_turn(found: Signature) -> Callable[[Asker], Asked]:
    """The probe of a verb that only reads and has none of its own: every value that each of its words may have here."""

    def probe(asker: Asker) -> Asked:
        method = found.bind(None, asker.agent)
        values = {parameter.name: _values(parameter, asker) for parameter in found.parameters}
        required = {parameter.name: values[parameter.name] for parameter in found.parameters if parameter.is_required}
        assert all(required.values()), f"probe {found.verb.name} by hand: no values for {sorted(required)}"
        first = {name: known[0] for name, known in required.items()}
        yield str(first), _as_answer(method(**first))
        for name, known in values.items():
            for value in known:
                yield f"{name} {value!r}", _as_answer(method(**{**first, name: value}))

    return probe


def _as_answer(value: object) -> object:
    """A yes or no as words, so that a no is an answer as well."""
    return f"answer: {value}" if isinstance(value, bool) else value


def _values(parameter: Parameter, asker: Asker) -> list[Any]:
    """The values of a word in this world; none of what narrows nothing."""
    if parameter.name == "after":
        return []
    if parameter.word.id_of == "memory":
        return sorted(asker.world.ids)
    if parameter.name == "session":
        return _sessions(asker)
    if get_origin(parameter.json_type) is Literal:
        return list(get_args(parameter.json_type))
    return {bool: [True], int: [1_000 if parameter.name == "limit" else 1]}.get(parameter.json_type, [])


def _probes() -> dict[str, Callable[[Asker], Asked]]:
    """A probe for each verb that tells an agent something: its own, or all its words in turn."""
    found = {}
    for each in signatures():
        own = globals().get(each.verb.identifier)
        if each.verb.owner == "agent" and own is not None:
            found[each.verb.name] = own
        elif each.verb.owner == "agent" and each.verb.effect == "reads" and not each.verb.is_local:
            found[each.verb.name] = _asked_in_turn(each)
    return found


READS = _probes()
WRITES = frozenset(verb.name for verb in VERBS if verb.owner == "agent" and verb.name not in READS)


def all_said(asker: Asker) -> dict[str, str]:
    """Every answer an agent gets, word for word, by what was asked; each once the one before was counted."""
    heard: dict[str, str] = {}
    _counted(asker)
    for verb, probe in READS.items():
        for place, (asked, answer) in enumerate(probe(asker)):
            heard[f"{verb} {place}: {asked}"] = said(answer, {})
            _counted(asker)
    return heard
