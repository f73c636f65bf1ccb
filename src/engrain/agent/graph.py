"""Graph: the memory as entities of the registry, facts observed of them, and their relations."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from engrain.agent.operations.instrumentation import instrument
from engrain.agent.reads.lookups import read_all, read_entities
from engrain.agent.wiring.acts import MOST_TRIES, new_act, retry_on_registry_change
from engrain.agent.wiring.arguments import parse_scope
from engrain.agent.wiring.view import View, enter
from engrain.agent.writes.episodes import parse_importance
from engrain.agent.writes.memories import follow_up, new_fact
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
from engrain.domain.records import Entity, Fact
from engrain.domain.requests import Request
from engrain.domain.text.categories import fact_category
from engrain.errors import IntegrityViolated, InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from engrain.domain.records import MemoryRecord
    from engrain.domain.requests import Act
    from engrain.storage.unit_of_work import Snapshot
    from engrain.verbs import words

_Value = TypeVar("_Value")
_MOST_FACTS = 100_000  # of one entity


@instrument("graph")
class Graph(View):
    """Entities, observations of them, and their relations.

    Each call is one transaction, all or nothing, and takes at most 1,000 entities, texts or relations. New facts go to
    everybody's scope and do not fade. Reading draws the whole graph of what this agent sees.
    """

    __slots__ = ()

    def create_entities(self, entities: words.NewNodes) -> list[GraphEntity]:
        """Add entities with their observations; give those whose name was new.

        The type may be any word: the registry files it under one of its own types, and keeps the word.

        Raises:
            InvalidInput: an empty name, type or text; nothing was written.
        """
        wanted = [_parse_entity(entity) for entity in _several(entities, GraphEntity)]
        _count([text for entity in wanted for text in entity.observations])
        by_name = {entity.name: entity for entity in reversed(wanted)}
        for left in reversed(range(MOST_TRIES)):
            known = self._named(by_name)
            new = [by_name[name] for name in dict.fromkeys(entity.name for entity in wanted) if name not in known]
            if not new:
                return []
            try:
                return self._introduce(new)
            except (InvalidInput, IntegrityViolated):
                if not left or not self._named(entity.name for entity in new):
                    raise
        raise AssertionError("unreachable: the last try returns or raises")

    def create_relations(self, relations: words.Relations) -> list[GraphRelation]:
        """Add relations between entities; give those that were new. Their ends need not be known.

        Raises:
            InvalidInput: an empty name or type; nothing was written.
        """
        wanted = list(dict.fromkeys(_parse_relation(relation) for relation in _several(relations, GraphRelation)))
        return retry_on_registry_change(lambda: self._relate(wanted))

    def add_observations(self, observations: words.Observations) -> list[EntityObservations]:
        """Add observations to entities that are there; give the texts that were new.

        Raises:
            NotFound: no entity has one of the names; nothing was written.
            InvalidInput: an empty text; nothing was written.
        """
        wanted = _parse_observations(observations)
        _count([text for observed in wanted for text in observed.contents])
        return retry_on_registry_change(lambda: self._observe(wanted))

    def delete_entities(self, names: words.NodeNames) -> list[str]:
        """Forget entities with their observations and relations; give the names that were there.

        They leave the registry. Their facts leave every search and stay readable by their ids (`erase` removes them).
        Facts that only others see keep the name as their subject.
        """
        wanted = set(_texts(names, name="entity name"))
        graph = self._read()
        nodes = [node for node in graph.nodes if node.entity.canonical_name in wanted]
        facts = [id_ for node in nodes for ids in node.facts.values() for id_ in ids]
        for relation, ids in graph.relations.items():
            if not wanted.isdisjoint((relation.source, relation.target)):
                facts += ids
        self._forget(facts, [node.entity.id for node in nodes])
        return list(dict.fromkeys(node.entity.canonical_name for node in nodes))

    def delete_observations(self, observations: words.Observations) -> int:
        """Forget observations of entities; give the number of facts that said them.

        They leave every search and stay readable by id.
        """
        wanted = {
            (entity.entity_name, text) for entity in _parse_observations(observations) for text in entity.contents
        }
        facts = [
            id_
            for node in self._read().nodes
            for text, ids in node.facts.items()
            if (node.entity.canonical_name, text) in wanted
            for id_ in ids
        ]
        self._forget(facts, [])
        return len(facts)

    def delete_relations(self, relations: words.Relations) -> int:
        """Forget relations between entities; give the number of facts that said them.

        They leave every search and stay readable by id.
        """
        wanted = {_parse_relation(relation) for relation in _several(relations, GraphRelation)}
        facts = [id_ for relation, ids in self._read().relations.items() if relation in wanted for id_ in ids]
        self._forget(facts, [])
        return len(facts)

    def read(self) -> KnowledgeGraph:
        """Read the whole graph, the oldest entities first."""
        return self._read().whole

    def search(self, query: words.GraphQuery) -> KnowledgeGraph:
        """Find the entities whose name, type or observations hold a text, with their relations.

        In any case of letters. `recall` finds by meaning and words.
        """
        text = checks.query(query)
        return self._read().where(lambda entity: contains_text(entity, text))

    def open(self, names: words.NodeNames) -> KnowledgeGraph:
        """Read the entities of exactly these names, with their relations."""
        wanted = set(_texts(names, name="name"))
        return self._read().where(lambda entity: entity.name in wanted)

    def _read(self) -> GraphView:
        parts, caller = enter(self)
        request = Request(caller=caller, filter=Filter(kinds=("fact",)), now=parts.clock())
        return parts.store.read(caller, _read_graph, request)

    def _named(self, names: Iterable[str]) -> dict[str, Entity]:
        """Return entities by canonical name: of several the oldest, of a tombstone the entity it was merged into."""
        wanted = set(names)
        known = self._parts().store.entities_named(self._caller, wanted) if wanted else []
        by_id = {entity.id: entity for entity in known}
        named: dict[str, Entity] = {}
        for entity in sorted(by_id.values(), key=lambda one: (merged_into(one) is not None, one.created_at, one.id)):
            standing = entity
            while (into := merged_into(standing)) in by_id:
                standing = by_id[into]
            if entity.canonical_name in wanted and merged_into(standing) is None:
                named.setdefault(entity.canonical_name, standing)
        return named

    def _observations(self, entities: Iterable[Entity]) -> dict[str, set[str]]:
        """Return what is observed of some entities already, by their ids."""
        texts: dict[str, set[str]] = {entity.id: set() for entity in entities}
        for fact in self._parts().store.facts_about(self._caller, list(texts), _MOST_FACTS) if texts else ():
            if fact.validity == "active" and fact.entity_id is not None and relation_of(fact) is None:
                texts[fact.entity_id].add(observation_of(fact))
        return texts

    def _known_relations(self, relations: Sequence[GraphRelation]) -> set[GraphRelation]:
        """Return those of some relations that a fact says already, and others."""
        if not relations:
            return set()
        narrowed = Filter(
            kinds=("fact",),
            subjects=tuple({relation.source for relation in relations}),
            predicates=tuple({relation_predicate(relation) for relation in relations}),
        )
        parts, caller = enter(self)
        facts = parts.store.read(caller, _read_facts, Request(caller=caller, filter=narrowed, now=parts.clock()))
        return {relation for fact in facts if (relation := relation_of(fact)) is not None}

    def _relate(self, wanted: Sequence[GraphRelation]) -> list[GraphRelation]:
        ends = self._named(name for relation in wanted for name in (relation.source, relation.target))
        known = self._known_relations(wanted)
        new = [relation for relation in wanted if relation not in known]
        if not new:
            return []
        act = new_act(self._parts(), self._caller)
        facts = [
            self._fact(act, one.source, relation_predicate(one), relation_content(one), entity=ends.get(one.source))
            for one in new
        ]
        pairs = zip(facts, new, strict=True)
        mentions = {fact.id: {ends[one.target].id} for fact, one in pairs if one.target in ends}
        targets = [relation.target for relation in new]
        self._follow_up(act, self._parts().store.put_mentioning(act, facts, targets, lambda _: mentions))
        return new

    def _observe(self, wanted: Sequence[EntityObservations]) -> list[EntityObservations]:
        entities = self._named(observed.entity_name for observed in wanted)
        for observed in wanted:
            if (name := observed.entity_name) not in entities:
                raise NotFound(f"Entity with name {name} not found; create it first. Nothing was written")
        act = new_act(self._parts(), self._caller)
        known = self._observations(entities.values())
        added: list[EntityObservations] = []
        facts: list[Fact] = []
        for observed in wanted:
            entity = entities[observed.entity_name]
            new = select_new(observed.contents, known[entity.id])
            known[entity.id] |= set(new)
            added.append(EntityObservations(entity_name=observed.entity_name, contents=new))
            facts += [self._observation(act, entity, text) for text in new]
        if facts:
            self._follow_up(act, self._parts().store.put(act, facts))
        return added

    def _introduce(self, new: Sequence[GraphEntity]) -> list[GraphEntity]:
        parts = self._parts()
        act = new_act(parts, self._caller)
        entities = [self._entity(act, node) for node in new]
        facts = [
            self._observation(act, entity, text)
            for entity, node in zip(entities, new, strict=True)
            for text in node.observations
        ]
        self._follow_up(act, parts.store.introduce(act, entities, facts))
        return list(new)

    def _entity(self, act: Act, node: GraphEntity) -> Entity:
        return Entity(
            id=self._parts().ids(),
            tenant_id=act.caller.tenant_id,
            canonical_name=node.name,
            entity_type=known_type(node.entity_type),
            created_at=act.at,
            updated_at=act.at,
            metadata={TYPE_AS_GIVEN: node.entity_type},
        )

    def _observation(self, act: Act, entity: Entity, text: str) -> Fact:
        return self._fact(act, entity.canonical_name, observation_predicate(text), text, entity=entity)

    def _fact(self, act: Act, subject: str, predicate: str, content: str, *, entity: Entity | None) -> Fact:
        return new_fact(
            self._parts(),
            act,
            scope=parse_scope(act.caller, None),
            subject=subject,
            predicate=checks.name(predicate, name="relation type"),
            entity_id=None if entity is None else entity.id,
            content=checks.content(content),
            category=fact_category(predicate, content),
            importance=parse_importance(None, content),
            permanence="permanent",
        )

    def _follow_up(self, act: Act, facts: Iterable[MemoryRecord]) -> None:
        for fact in facts:
            follow_up(self._parts(), act, fact)

    def _forget(self, facts: Collection[str], entities: Collection[str]) -> None:
        if not facts and not entities:
            return
        parts = self._parts()
        act = new_act(parts, self._caller)
        try:
            parts.store.remove_entities(act, entities, forgetting=facts)
        finally:
            parts.note_cache.clear()  # a fact that is about nobody any more may take the place of another agent's note


def _read_graph(snapshot: Snapshot, request: Request) -> GraphView:
    return build_graph(list(read_entities(snapshot)), _read_facts(snapshot, request))


def _read_facts(snapshot: Snapshot, request: Request) -> list[Fact]:
    return [memory for memory in read_all(snapshot, request) if isinstance(memory, Fact)]


def _parse_entity(node: GraphEntity) -> GraphEntity:
    return GraphEntity(
        name=checks.name(node.name, name="entity name"),
        entity_type=checks.name(node.entity_type, name="entity type"),
        observations=tuple(dict.fromkeys(_texts(node.observations, name="observation"))),
    )


def _parse_relation(relation: GraphRelation) -> GraphRelation:
    return GraphRelation(
        source=checks.name(relation.source, name="source"),
        relation_type=checks.name(relation.relation_type, name="relation type"),
        target=checks.name(relation.target, name="target"),
    )


def _parse_observations(observations: object) -> list[EntityObservations]:
    return [
        EntityObservations(
            entity_name=checks.name(observed.entity_name, name="entity name"),
            contents=tuple(_texts(observed.contents, name="observation")),
        )
        for observed in _several(observations, EntityObservations)
    ]


def _texts(values: object, *, name: str) -> list[str]:
    return [checks.content(text, name=name) for text in _several(values, str)]


def _several(values: object, kind: type[_Value]) -> list[_Value]:
    """Return a list of one type, not longer than a call may be."""
    if isinstance(values, str) or not isinstance(values, (list, tuple, set, frozenset)):
        raise InvalidInput(f"several {kind.__name__} are wanted, not {type(values).__name__}; pass a list")
    _count(values)
    for value in values:
        if not isinstance(value, kind):
            raise InvalidInput(f"{type(value).__name__} is no {kind.__name__}; nothing was done")
    return list(values)


def _count(values: Collection[object]) -> None:
    checks.count(len(values), name="number of entities, texts or relations of a call")
