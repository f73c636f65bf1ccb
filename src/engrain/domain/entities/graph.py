"""A memory as a graph of entities: which facts say what is observed of one, and how two relate.

An observation and a relation are facts that carry their own mark in the predicate, so that of one entity there can be
many, and each says once what it says. Whatever else is known of an entity is an observation too: "predicate: content".
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from engrain.domain import checks
from engrain.domain.records import ENTITY_TYPES, Entity, EntityType, Fact, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

_Key = TypeVar("_Key")

_MARK_BYTES = 6
# The key of an entity's metadata that keeps the type it was given, in whatever words.
TYPE_AS_GIVEN = "entity_type"
_TYPES: Mapping[str, EntityType] = {
    **{each: each for each in ENTITY_TYPES},
    **dict.fromkeys("people human user contact character".split(), "person"),
    **dict.fromkeys("company org organisation team institution employer group".split(), "organization"),
    **dict.fromkeys("location city country town address region".split(), "place"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEntity(Record):
    """A node: somebody or something, of whatever type, and what is observed of it, the oldest first."""

    name: str
    entity_type: str
    observations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRelation(Record):
    """An edge, in active voice: `source` `relation_type` `target`, by their names."""

    source: str
    relation_type: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityObservations(Record):
    """Some observations of one entity."""

    entity_name: str
    contents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeGraph(Record):
    """Entities and how they relate, each the oldest first."""

    entities: tuple[GraphEntity, ...] = ()
    relations: tuple[GraphRelation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """An entity of the registry as a node, with the facts behind each of its observations."""

    entity: Entity
    facts: Mapping[str, tuple[str, ...]]

    @property
    def shown(self) -> GraphEntity:
        return GraphEntity(
            name=self.entity.canonical_name, entity_type=type_of(self.entity), observations=tuple(self.facts)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphView:
    """What somebody sees of a graph, with the ids of the facts that say it."""

    nodes: tuple[GraphNode, ...] = ()
    relations: Mapping[GraphRelation, tuple[str, ...]] = field(default_factory=dict)

    @property
    def whole(self) -> KnowledgeGraph:
        return KnowledgeGraph(entities=tuple(each.shown for each in self.nodes), relations=tuple(self.relations))

    def where(self, is_wanted: Callable[[GraphEntity], bool]) -> KnowledgeGraph:
        """Some entities, and each relation that one of them is an end of."""
        wanted = tuple(each for each in (node.shown for node in self.nodes) if is_wanted(each))
        names = {each.name for each in wanted}
        ends = tuple(each for each in self.relations if not names.isdisjoint((each.source, each.target)))
        return KnowledgeGraph(entities=wanted, relations=ends)


def observation_predicate(text: str) -> str:
    """What only one observation of an entity can be filed under."""
    return f"observation {_mark(text)}"


def relation_predicate(relation: GraphRelation) -> str:
    """What only one relation of an entity can be filed under: she may work at two places."""
    return f"{relation.relation_type} {_mark(relation.target)}"


def relation_content(relation: GraphRelation) -> str:
    """A relation as a sentence."""
    return f"{relation.source} {relation.relation_type} {relation.target}"


def relation_of(fact: Fact) -> GraphRelation | None:
    """The relation that a fact says; None where it says something else."""
    relation_type, _, mark = fact.predicate.rpartition(" ")
    begins = f"{fact.subject} {relation_type} "
    target = fact.content.removeprefix(begins)
    if not relation_type or not fact.content.startswith(begins) or mark != _mark(target):
        return None
    return GraphRelation(source=fact.subject, relation_type=relation_type, target=target)


def observation_of(fact: Fact) -> str:
    """What a fact about an entity says of it, as a text."""
    is_bare = fact.predicate == observation_predicate(fact.content)
    return fact.content if is_bare else f"{fact.predicate}: {fact.content}"


def type_of(entity: Entity) -> str:
    """The type of an entity in the words in which it was given."""
    given = entity.metadata.get(TYPE_AS_GIVEN)
    return given if isinstance(given, str) and given else entity.entity_type


def known_type(given: str) -> EntityType:
    """Of the types that the registry knows the one that a word means, else `other`."""
    return _TYPES.get(given.strip().lower(), "other")


def build_graph(entities: Iterable[Entity], facts: Iterable[Fact]) -> GraphView:
    """The graph of entities that stand for themselves and of what somebody sees of them and believes."""
    nodes = {each.id: each for each in sorted(entities, key=lambda one: (one.created_at, one.id))}
    observed: dict[str, dict[str, list[str]]] = {id_: {} for id_ in nodes}
    related: dict[GraphRelation, list[str]] = {}
    for fact in sorted(facts, key=lambda one: (one.created_at, one.id)):
        node = None if fact.entity_id is None else nodes.get(fact.entity_id)
        relation = relation_of(fact)
        if relation is not None:
            source = relation.source if node is None else node.canonical_name
            related.setdefault(replace(relation, source=source), []).append(fact.id)
        elif node is not None:
            observed[node.id].setdefault(observation_of(fact), []).append(fact.id)
    return GraphView(
        nodes=tuple(GraphNode(entity=each, facts=_as_tuples(observed[each.id])) for each in nodes.values()),
        relations=_as_tuples(related),
    )


def contains_text(entity: GraphEntity, text: str) -> bool:
    """Whether a name, type or observation holds a text, whatever the case."""
    wanted = text.lower()
    return any(wanted in each.lower() for each in (entity.name, entity.entity_type, *entity.observations))


def select_new(contents: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """Those of some texts that are not known, each once, in their order."""
    return tuple(dict.fromkeys(each for each in contents if each not in known))


def _as_tuples(of: Mapping[_Key, list[str]]) -> dict[_Key, tuple[str, ...]]:
    return {key: tuple(ids) for key, ids in of.items()}


def _mark(text: str) -> str:
    """Twelve hexadecimal digits that tell a text from every other one that is stored."""
    return hashlib.blake2b(checks.clean(text).encode(), digest_size=_MARK_BYTES).hexdigest()
