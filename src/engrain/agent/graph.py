"""Graph: the memory as entities of the registry, facts observed of them, and their relations."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from engrain.agent.operations.instrumentation import instrument
from engrain.agent.reads.lookups import read_all, read_entities
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.arguments import mask_secrets, stored_text
from engrain.agent.wiring.view import View
from engrain.agent.writes import linking
from engrain.agent.writes.episodes import parse_importance
from engrain.agent.writes.memories import new_fact
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
from engrain.domain.requests import Act, Request
from engrain.domain.text.categories import fact_category
from engrain.errors import InvalidInput, NotFound
from engrain.storage.entities import registry
from engrain.storage.entities.lookup import find_named, load_facts_about
from engrain.storage.entities.mentions import note_mentions
from engrain.storage.entities.removal import remove_entities
from engrain.storage.transaction import for_every_user

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from datetime import datetime

    from engrain.agent.wiring.parts import Parts
    from engrain.storage.unit_of_work import Snapshot, UnitOfWork
    from engrain.verbs import words

_Value = TypeVar("_Value")
_Stored: TypeAlias = "partial[str]"
_Wanted = TypeVar("_Wanted")
_Added = TypeVar("_Added")
_MOST_FACTS = 100_000  # of one entity


@instrument("graph")
class Graph(View):
    """Entities, observations of them, and their relations.

    Each call is one transaction, all or nothing, and takes at most 1,000 entities, texts or relations. New facts go to
    everybody's scope, or to the agent's own where it may not publish, and do not fade. Reading draws the whole graph of
    what this agent sees.
    """

    __slots__ = ()

    def create_entities(self, entities: words.NewNodes) -> list[GraphEntity]:
        """Add entities with their observations; give those whose name was new.

        The type may be any word, or empty: the registry files it under one of its own types, and keeps the word.

        Raises:
            InvalidInput: an empty name or text; nothing was written.
        """
        stored = partial(mask_secrets, self._parts())
        wanted = [_parse_entity(entity, stored) for entity in _several(entities, GraphEntity)]
        _count([text for entity in wanted for text in entity.observations])
        by_name = {entity.name: entity for entity in reversed(wanted)}
        return self._add(_create_entities, [by_name[name] for name in dict.fromkeys(entity.name for entity in wanted)])

    def create_relations(self, relations: words.Relations) -> list[GraphRelation]:
        """Add relations between entities; give those that were new. Their ends need not be known.

        Raises:
            InvalidInput: an empty name or type; nothing was written.
        """
        stored = partial(mask_secrets, self._parts())
        parsed = (_parse_relation(relation, stored) for relation in _several(relations, GraphRelation))
        wanted = list(dict.fromkeys(parsed))
        return self._add(_create_relations, wanted)

    def add_observations(self, observations: words.Observations) -> list[EntityObservations]:
        """Add observations to entities that are there; give the texts that were new.

        Raises:
            NotFound: no entity has one of the names; nothing was written.
            InvalidInput: an empty text; nothing was written.
        """
        wanted = _parse_observations(observations, partial(mask_secrets, self._parts()))
        _count([text for observed in wanted for text in observed.contents])
        return self._add(_add_observations, wanted)

    def delete_entities(self, names: words.NodeNames) -> list[str]:
        """Forget entities with their observations and relations; give the names that were there.

        They leave the registry. Their facts leave every search and stay readable by their ids (`erase` removes them).
        Facts that only others see keep the name as their subject.
        """
        return self._delete(_delete_entities, set(_texts(names, self._stored, name="entity name", is_label=True)))

    def delete_observations(self, observations: words.Observations) -> int:
        """Forget observations of entities; give the number of facts that said them.

        They leave every search and stay readable by id.
        """
        parsed = _parse_observations(observations, self._stored)
        wanted = {(observed.entity_name, text) for observed in parsed for text in observed.contents}
        return self._delete(_delete_observations, wanted)

    def delete_relations(self, relations: words.Relations) -> int:
        """Forget relations between entities; give the number of facts that said them.

        They leave every search and stay readable by id.
        """
        wanted = {_parse_relation(relation, self._stored) for relation in _several(relations, GraphRelation)}
        return self._delete(_delete_relations, wanted)

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
        wanted = set(_texts(names, self._stored, name="name", is_label=True))
        return self._read().where(lambda entity: entity.name in wanted)

    @property
    def _stored(self) -> _Stored:
        """The function by which names and texts are looked up as they are stored."""
        return partial(stored_text, self._parts())

    def _read(self) -> GraphView:
        parts = self._parts()
        return parts.store.read(self._caller, _read_graph, parts.clock())

    def _add(self, function: Callable[[UnitOfWork, Parts, _Wanted], _Added], wanted: _Wanted) -> _Added:
        """Return what one transaction adds."""
        parts = self._parts()
        added = parts.store.write(new_act(parts, self._caller), function, parts, wanted)
        parts.queue.announce()
        return added

    def _delete(self, function: Callable[[UnitOfWork, _Wanted], _Added], wanted: _Wanted) -> _Added:
        """Return what one transaction deletes."""
        parts = self._parts()
        try:
            return parts.store.write(new_act(parts, self._caller), function, wanted)
        finally:
            parts.note_cache.clear()  # a fact that is about nobody any more may take the place of another agent's note


def _read_graph(snapshot: Snapshot, now: datetime) -> GraphView:
    return build_graph(list(read_entities(snapshot)), _read_facts(snapshot, Filter(kinds=("fact",)), now))


def _read_facts(snapshot: Snapshot, narrowed: Filter, now: datetime) -> list[Fact]:
    request = Request(caller=snapshot.caller, filter=narrowed, now=now)
    return [memory for memory in read_all(snapshot, request) if isinstance(memory, Fact)]


def _hold_named(work: UnitOfWork, names: Iterable[str]) -> dict[str, Entity]:
    """Find entities by canonical name: of several the oldest, of a tombstone the entity it was merged into.

    Nobody merges or removes them until this unit ends. Slots are locked after them, as no merge waits for a slot.
    """
    wanted = set(names)
    known = find_named(work, wanted, lock=work.dialect.hold) if wanted else []
    by_id = {entity.id: entity for entity in known}
    named: dict[str, Entity] = {}
    for entity in sorted(by_id.values(), key=lambda one: (merged_into(one) is not None, one.created_at, one.id)):
        standing = entity
        while (into := merged_into(standing)) in by_id:
            standing = by_id[into]
        if entity.canonical_name in wanted and merged_into(standing) is None:
            named.setdefault(entity.canonical_name, standing)
    return named


def _create_entities(work: UnitOfWork, parts: Parts, wanted: Sequence[GraphEntity]) -> list[GraphEntity]:
    known = _hold_named(work, [node.name for node in wanted])
    created: list[GraphEntity] = []
    facts: list[Fact] = []
    for node in wanted:
        if node.name in known:
            continue
        try:
            entity = registry.put_entity(work, _entity(parts, work.act, node))
        except InvalidInput:
            if node.name in _hold_named(work, [node.name]):  # by now: somebody else was first
                continue
            raise
        created.append(node)
        facts += [_observation(parts, work.act, entity, text) for text in node.observations]
    linking.put(work, parts, facts)
    return created


def _create_relations(work: UnitOfWork, parts: Parts, wanted: Sequence[GraphRelation]) -> list[GraphRelation]:
    ends = _hold_named(work, (name for relation in wanted for name in (relation.source, relation.target)))
    known = _known_relations(work, wanted)
    new = [relation for relation in wanted if relation not in known]
    targets: dict[str, str] = {}
    facts: list[Fact] = []
    for relation in new:
        predicate, content = relation_predicate(relation), relation_content(relation)
        source, target = ends.get(relation.source), ends.get(relation.target)
        fact = _fact(parts, work.act, predicate, content, subject=relation.source, entity=source)
        facts.append(fact)
        if target is not None:
            targets[fact.id] = target.id
    for stored in linking.put(work, parts, facts):
        if stored.id in targets:
            note_mentions(work, stored, [targets[stored.id]])
    return new


def _known_relations(work: UnitOfWork, relations: Sequence[GraphRelation]) -> set[GraphRelation]:
    """Return those of some relations that a fact says already, and others."""
    if not relations:
        return set()
    narrowed = Filter(
        kinds=("fact",),
        subjects=tuple({relation.source for relation in relations}),
        predicates=tuple({relation_predicate(relation) for relation in relations}),
    )
    facts = _read_facts(work, narrowed, work.act.at)
    return {relation for fact in facts if (relation := relation_of(fact)) is not None}


def _add_observations(work: UnitOfWork, parts: Parts, wanted: Sequence[EntityObservations]) -> list[EntityObservations]:
    entities = _hold_named(work, (observed.entity_name for observed in wanted))
    for observed in wanted:
        if (name := observed.entity_name) not in entities:
            raise NotFound(f"Entity with name {name} not found; create it first. Nothing was written")
    known = _known_observations(work, entities.values())
    added: list[EntityObservations] = []
    facts: list[Fact] = []
    for observed in wanted:
        entity = entities[observed.entity_name]
        new = select_new(observed.contents, known[entity.id])
        known[entity.id] |= set(new)
        added.append(EntityObservations(entity_name=observed.entity_name, contents=new))
        facts += [_observation(parts, work.act, entity, text) for text in new]
    linking.put(work, parts, facts)
    return added


def _known_observations(snapshot: Snapshot, entities: Iterable[Entity]) -> dict[str, set[str]]:
    """Return what is observed of some entities already, by their ids."""
    texts: dict[str, set[str]] = {entity.id: set() for entity in entities}
    for fact in load_facts_about(snapshot, list(texts), _MOST_FACTS):
        if fact.validity == "active" and fact.entity_id is not None and relation_of(fact) is None:
            texts[fact.entity_id].add(observation_of(fact))
    return texts


@for_every_user
def _delete_entities(work: UnitOfWork, wanted: Collection[str]) -> list[str]:
    graph = _read_graph(work, work.act.at)
    nodes = [node for node in graph.nodes if node.entity.canonical_name in wanted]
    facts = [id_ for node in nodes for ids in node.facts.values() for id_ in ids]
    for relation, ids in graph.relations.items():
        if relation.source in wanted or relation.target in wanted:
            facts += ids
    remove_entities(work, [node.entity.id for node in nodes], forgetting=facts)
    return list(dict.fromkeys(node.entity.canonical_name for node in nodes))


def _delete_observations(work: UnitOfWork, wanted: Collection[tuple[str, str]]) -> int:
    graph = _read_graph(work, work.act.at)
    observed = (
        ids for node in graph.nodes for text, ids in node.facts.items() if (node.entity.canonical_name, text) in wanted
    )
    return _forget(work, [id_ for ids in observed for id_ in ids])


def _delete_relations(work: UnitOfWork, wanted: Collection[GraphRelation]) -> int:
    relations = _read_graph(work, work.act.at).relations
    return _forget(work, [id_ for relation, ids in relations.items() if relation in wanted for id_ in ids])


def _forget(work: UnitOfWork, facts: Sequence[str]) -> int:
    """Forget facts; return their number."""
    remove_entities(work, [], forgetting=facts)
    return len(facts)


def _entity(parts: Parts, act: Act, node: GraphEntity) -> Entity:
    return Entity(
        id=parts.ids(),
        tenant_id=act.caller.tenant_id,
        user_id=act.caller.user_id,
        canonical_name=node.name,
        entity_type=known_type(node.entity_type),
        created_at=act.at,
        updated_at=act.at,
        metadata={TYPE_AS_GIVEN: node.entity_type},
    )


def _observation(parts: Parts, act: Act, entity: Entity, text: str) -> Fact:
    return _fact(parts, act, observation_predicate(text), text, subject=entity.canonical_name, entity=entity)


def _fact(parts: Parts, act: Act, predicate: str, content: str, *, subject: str, entity: Entity | None) -> Fact:
    """Return a fact of texts whose secrets were masked: with a digest in its predicate it may look as if it had one."""
    fact = new_fact(
        parts,
        act,
        scope=act.caller.widest_scope if act.caller.user is None else act.caller.shared_scope,
        subject=subject,
        predicate="",
        entity_id=None if entity is None else entity.id,
        content="",
        category=fact_category(predicate, content),
        importance=parse_importance(None, content),
        permanence="permanent",
    )
    return replace(fact, predicate=checks.name(predicate, name="relation type"), content=checks.content(content))


def _parse_entity(node: GraphEntity, stored: _Stored) -> GraphEntity:
    return GraphEntity(
        name=stored(checks.name(node.name, name="entity name"), is_label=True),
        entity_type=""
        if node.entity_type == ""
        else stored(checks.name(node.entity_type, name="entity type"), is_label=True),
        observations=tuple(dict.fromkeys(_texts(node.observations, stored, name="observation"))),
    )


def _parse_relation(relation: GraphRelation, stored: _Stored) -> GraphRelation:
    source = stored(checks.name(relation.source, name="source"), is_label=True)
    relation_type = stored(checks.name(relation.relation_type, name="relation type"), is_label=True)
    target = stored(checks.name(relation.target, name="target"), context=f"{source} {relation_type} ", is_label=True)
    return GraphRelation(source=source, relation_type=relation_type, target=target)


def _parse_observations(observations: object, stored: _Stored) -> list[EntityObservations]:
    return [
        EntityObservations(
            entity_name=stored(checks.name(observed.entity_name, name="entity name"), is_label=True),
            contents=tuple(_texts(observed.contents, stored, name="observation")),
        )
        for observed in _several(observations, EntityObservations)
    ]


def _texts(values: object, stored: _Stored, *, name: str, is_label: bool = False) -> list[str]:
    return [stored(checks.content(text, name=name), is_label=is_label) for text in _several(values, str)]


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
