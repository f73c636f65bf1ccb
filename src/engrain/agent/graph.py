"""The memory as a graph of entities: nodes of the registry, and facts that say what is observed of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from engrain.agent.operations.instrumentation import instrument
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.arguments import parse_scope
from engrain.agent.wiring.view import View
from engrain.agent.writes.episodes import parse_importance
from engrain.agent.writes.memories import follow_up
from engrain.agent.writes.retries import MOST_TRIES, retry_on_registry_change
from engrain.domain import checks
from engrain.domain.entities.graph import (
    TYPE_AS_GIVEN,
    EntityObservations,
    GraphEntity,
    GraphRelation,
    GraphView,
    KnowledgeGraph,
    build_graph,
    contains_text,
    known_type,
    observation_of,
    observation_predicate,
    relation_content,
    relation_of,
    relation_predicate,
    select_new,
)
from engrain.domain.entities.registry import merged_into
from engrain.domain.filters import Filter
from engrain.domain.records import DECAY_RATES, Entity, Fact
from engrain.domain.requests import Request
from engrain.domain.text.categories import fact_category
from engrain.errors import IntegrityViolated, InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from engrain.domain.records import Caller, MemoryRecord
    from engrain.domain.requests import Act
    from engrain.verbs import words

_Value = TypeVar("_Value")
_PAGE = 500
_MOST_FACTS = 100_000  # of one entity


@instrument("graph")
class Graph(View):
    """Entities, what is observed of them, and how they relate.

    Each call is one transaction, all or nothing, and takes at most 1,000 entities, texts or relations. What is added
    goes to everybody's scope and does not fade. Reading draws the whole graph of what this agent sees.
    """

    __slots__ = ()

    def create_entities(self, entities: words.NewNodes) -> list[GraphEntity]:
        """Add entities, with what is observed of them; those whose name nobody had, each once.

        The type may be any word: the registry knows it as one of its own, and keeps the word.

        Raises:
            InvalidInput: an empty name, type or text; nothing was written.
        """
        asked = [_entity(each) for each in _several(entities, GraphEntity)]
        _count([text for each in asked for text in each.observations])
        wanted = {each.name: each for each in reversed(asked)}
        for left in reversed(range(MOST_TRIES)):
            known = self._named(wanted)
            new = [wanted[name] for name in dict.fromkeys(each.name for each in asked) if name not in known]
            if not new:
                return []
            try:
                return self._introduce(new)
            except (InvalidInput, IntegrityViolated):
                if not left or not self._named(each.name for each in new):
                    raise
        raise AssertionError("unreachable: the last try returns or raises")

    def create_relations(self, relations: words.Relations) -> list[GraphRelation]:
        """Say how entities relate; those that were not known, each once. Their ends need not be known.

        Raises:
            InvalidInput: an empty name or type; nothing was written.
        """
        asked = list(dict.fromkeys(_relation(each) for each in _several(relations, GraphRelation)))
        return retry_on_registry_change(lambda: self._relate(asked))

    def add_observations(self, observations: words.Observations) -> list[EntityObservations]:
        """Say more of entities that are there; of each of `observations` the texts that were not known.

        Raises:
            NotFound: nobody has one of the names; nothing was written.
            InvalidInput: an empty text; nothing was written.
        """
        asked = [_observed(each) for each in _several(observations, EntityObservations)]
        _count([text for each in asked for text in each.contents])
        return retry_on_registry_change(lambda: self._observe(asked))

    def delete_entities(self, names: words.NodeNames) -> list[str]:
        """Forget entities: out of the registry, with what this agent sees said of them, and all their relations.

        The facts leave every search and stay readable by their ids (`erase` removes them). What only others see said of
        one keeps its name as the subject. The names that somebody had.
        """
        asked = set(_texts(names, name="entity name"))
        drawn = self._drawing()
        going = [node for node in drawn.nodes if node.entity.canonical_name in asked]
        facts = [id_ for node in going for ids in node.facts.values() for id_ in ids]
        facts += [
            id_
            for said, ids in drawn.relations.items()
            if not asked.isdisjoint((said.source, said.target))
            for id_ in ids
        ]
        self._forget(facts, [node.entity.id for node in going])
        return list(dict.fromkeys(node.entity.canonical_name for node in going))

    def delete_observations(self, observations: words.Observations) -> int:
        """Forget what is observed of entities: out of every search, readable by id. How many facts said it."""
        asked = [_observed(each) for each in _several(observations, EntityObservations)]
        gone = {(each.entity_name, text) for each in asked for text in each.contents}
        facts = [
            id_
            for node in self._drawing().nodes
            for text, ids in node.facts.items()
            if (node.entity.canonical_name, text) in gone
            for id_ in ids
        ]
        self._forget(facts, [])
        return len(facts)

    def delete_relations(self, relations: words.Relations) -> int:
        """Forget how entities relate: out of every search, readable by id. How many facts said it."""
        asked = {_relation(each) for each in _several(relations, GraphRelation)}
        facts = [id_ for said, ids in self._drawing().relations.items() if said in asked for id_ in ids]
        self._forget(facts, [])
        return len(facts)

    def read(self) -> KnowledgeGraph:
        """All of it, the oldest first."""
        return self._drawing().whole

    def search(self, query: words.GraphQuery) -> KnowledgeGraph:
        """The entities whose name, type or observations hold a text, whatever the case, and all their relations.

        `recall` finds by meaning and words.
        """
        text = checks.query(query)
        return self._drawing().where(lambda each: contains_text(each, text))

    def open(self, names: words.NodeNames) -> KnowledgeGraph:
        """The entities of exactly these names, and all their relations."""
        asked = set(_texts(names, name="name"))
        return self._drawing().where(lambda each: each.name in asked)

    def _drawing(self) -> GraphView:
        parts, caller = self._parts(), self._caller
        request = Request(caller=caller, filter=Filter(kinds=("fact",)), now=parts.clock())

        def drawn() -> GraphView:
            return build_graph(self._entities(caller), self._facts(request))

        return parts.store.in_one_snapshot(caller, drawn)

    def _entities(self, caller: Caller) -> list[Entity]:
        found: list[Entity] = []
        after = ("", "")
        while page := self._parts().store.find_entities(caller, after=after, limit=_PAGE):
            found += page
            after = (page[-1].canonical_name, page[-1].entity_type)
        return found

    def _facts(self, request: Request) -> list[Fact]:
        found: list[Fact] = []
        before: str | None = None
        while page := self._parts().store.page(request, before=before, limit=_PAGE):
            found += [each for each in page if isinstance(each, Fact)]
            before = page[-1].id
        return found

    def _named(self, names: Iterable[str]) -> dict[str, Entity]:
        """Whom names name canonically, the oldest of several, or the one that a tombstone of that name went into."""
        asked = set(names)
        found = {each.id: each for each in self._parts().store.entities_named(self._caller, asked)} if asked else {}
        named: dict[str, Entity] = {}
        for each in sorted(found.values(), key=lambda one: (merged_into(one) is not None, one.created_at, one.id)):
            standing = each
            while (into := merged_into(standing)) in found:
                standing = found[into]
            if each.canonical_name in asked and merged_into(standing) is None:
                named.setdefault(each.canonical_name, standing)
        return named

    def _seen_of(self, nodes: Sequence[Entity]) -> dict[str, set[str]]:
        """What is observed of some entities already, by their ids."""
        seen: dict[str, set[str]] = {each.id: set() for each in nodes}
        for fact in self._parts().store.facts_about(self._caller, list(seen), _MOST_FACTS) if seen else ():
            if fact.validity == "active" and fact.entity_id is not None and relation_of(fact) is None:
                seen[fact.entity_id].add(observation_of(fact))
        return seen

    def _known(self, relations: Sequence[GraphRelation]) -> set[GraphRelation]:
        """Those of some relations that a fact says already."""
        parts = self._parts()
        narrowed = Filter(
            kinds=("fact",),
            subjects=tuple({each.source for each in relations}),
            predicates=tuple({relation_predicate(each) for each in relations}),
        )
        if not relations:
            return set()
        request = Request(caller=self._caller, filter=narrowed, now=parts.clock())
        return {said for each in self._facts(request) if (said := relation_of(each)) is not None}

    def _relate(self, asked: Sequence[GraphRelation]) -> list[GraphRelation]:
        ends = self._named(name for each in asked for name in (each.source, each.target))
        known = self._known(asked)
        new = [each for each in asked if each not in known]
        if not new:
            return []
        act = new_act(self._parts(), self._caller)
        facts = [self._saying(act, each, ends.get(each.source)) for each in new]
        whom = {fact.id: {ends[said.target].id} for fact, said in zip(facts, new, strict=True) if said.target in ends}
        self._followed(
            act,
            self._parts().store.put_mentioning(act, facts, [each.target for each in new], lambda _: whom),
        )
        return new

    def _observe(self, asked: Sequence[EntityObservations]) -> list[EntityObservations]:
        nodes = self._named(each.entity_name for each in asked)
        for each in asked:
            if each.entity_name not in nodes:
                raise NotFound(f"Entity with name {each.entity_name} not found; create it first. Nothing was written")
        act = new_act(self._parts(), self._caller)
        seen = self._seen_of(list(nodes.values()))
        added: list[EntityObservations] = []
        facts: list[Fact] = []
        for each in asked:
            node = nodes[each.entity_name]
            new = select_new(each.contents, seen[node.id])
            seen[node.id] |= set(new)
            added.append(EntityObservations(entity_name=each.entity_name, contents=new))
            facts += [self._observing(act, node, text) for text in new]
        if facts:
            self._followed(act, self._parts().store.put(act, facts))
        return added

    def _introduce(self, new: Sequence[GraphEntity]) -> list[GraphEntity]:
        parts = self._parts()
        act = new_act(parts, self._caller)
        entities = [self._entity(act, each) for each in new]
        facts = [
            self._observing(act, entity, text)
            for entity, each in zip(entities, new, strict=True)
            for text in each.observations
        ]
        self._followed(act, parts.store.introduce(act, entities, facts))
        return list(new)

    def _entity(self, act: Act, said: GraphEntity) -> Entity:
        return Entity(
            id=self._parts().ids(),
            tenant_id=act.caller.tenant_id,
            canonical_name=said.name,
            entity_type=known_type(said.entity_type),
            created_at=act.at,
            updated_at=act.at,
            metadata={TYPE_AS_GIVEN: said.entity_type},
        )

    def _observing(self, act: Act, entity: Entity, text: str) -> Fact:
        return self._fact(act, entity.canonical_name, observation_predicate(text), text, entity=entity)

    def _saying(self, act: Act, said: GraphRelation, entity: Entity | None) -> Fact:
        return self._fact(act, said.source, relation_predicate(said), relation_content(said), entity=entity)

    def _fact(self, act: Act, subject: str, predicate: str, content: str, *, entity: Entity | None) -> Fact:
        return Fact(
            id=self._parts().ids(),
            tenant_id=act.caller.tenant_id,
            agent=act.caller.agent,
            scope=parse_scope(act.caller, None),
            subject=subject,
            predicate=checks.name(predicate, name="relation type"),
            entity_id=None if entity is None else entity.id,
            content=checks.content(content),
            category=fact_category(predicate, content),
            importance=parse_importance(None, content),
            permanence="permanent",
            decay_rate=DECAY_RATES["permanent"],
            created_at=act.at,
            last_confirmed_at=act.at,
        )

    def _followed(self, act: Act, stored: Sequence[MemoryRecord]) -> None:
        """What follows from facts that were stored."""
        for each in stored:
            follow_up(self._parts(), act, each)

    def _forget(self, facts: Collection[str], entities: Collection[str]) -> None:
        if not facts and not entities:
            return
        parts = self._parts()
        act = new_act(parts, self._caller)
        try:
            parts.store.remove_entities(act, entities, forgetting=facts)
        finally:
            parts.note_cache.clear()  # a fact that is about nobody any more may take the place of another agent's note


def _entity(said: GraphEntity) -> GraphEntity:
    return GraphEntity(
        name=checks.name(said.name, name="entity name"),
        entity_type=checks.name(said.entity_type, name="entity type"),
        observations=tuple(dict.fromkeys(_texts(said.observations, name="observation"))),
    )


def _relation(said: GraphRelation) -> GraphRelation:
    return GraphRelation(
        source=checks.name(said.source, name="source"),
        relation_type=checks.name(said.relation_type, name="relation type"),
        target=checks.name(said.target, name="target"),
    )


def _observed(said: EntityObservations) -> EntityObservations:
    return EntityObservations(
        entity_name=checks.name(said.entity_name, name="entity name"),
        contents=tuple(_texts(said.contents, name="observation")),
    )


def _texts(values: Iterable[str], *, name: str) -> list[str]:
    return [checks.content(text, name=name) for text in _several(values, str)]


def _several(values: object, kind: type[_Value]) -> list[_Value]:
    """A list of one kind, not longer than a call may be."""
    if isinstance(values, str) or not isinstance(values, (list, tuple, set, frozenset)):
        raise InvalidInput(f"several {kind.__name__} are wanted, not {type(values).__name__}; pass a list")
    _count(values)
    for each in values:
        if not isinstance(each, kind):
            raise InvalidInput(f"{type(each).__name__} is no {kind.__name__}; nothing was done")
    return list(values)


def _count(values: Collection[object]) -> None:
    checks.count(len(values), name="number of entities, texts or relations of a call")
