"""Knowledge graph over entities and facts: observations of entities, and relations between them.

Observations and relations are facts with a digest of their text in the predicate, so that one entity has many of them,
each text once. Every other fact about an entity is an observation too: "predicate: content".
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from engrain.domain import checks
from engrain.domain.memories.predicates import free_text_predicate
from engrain.domain.records import ENTITY_TYPES, Entity, EntityType, Fact, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

_Key = TypeVar("_Key")

_DIGEST_BYTES = 6
# Key of an entity's metadata with its type in the words of the caller.
TYPE_AS_GIVEN = "entity_type"
_TYPES: Mapping[str, EntityType] = {
    **{entity_type: entity_type for entity_type in ENTITY_TYPES},
    **dict.fromkeys("people human user contact character".split(), "person"),
    **dict.fromkeys("company org organisation team institution employer group".split(), "organization"),
    **dict.fromkeys("location city country town address region".split(), "place"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEntity(Record):
    """A node: an entity of any type with its observations, the oldest first."""

    name: str
    entity_type: str
    observations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRelation(Record):
    """A directed relation between two entities, by their names, in active voice: `source` `relation_type` `target`."""

    source: str
    relation_type: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityObservations(Record):
    """Observations of one entity."""

    entity_name: str
    contents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeGraph(Record):
    """Entities and relations, both the oldest first."""

    entities: tuple[GraphEntity, ...] = ()
    relations: tuple[GraphRelation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """An entity of the registry as a node, with the ids of the facts behind every observation."""

    entity: Entity
    facts: Mapping[str, tuple[str, ...]]

    @property
    def shown(self) -> GraphEntity:
        return GraphEntity(
            name=self.entity.canonical_name, entity_type=type_of(self.entity), observations=tuple(self.facts)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphView:
    """The part of a graph that a caller sees, with the ids of the facts behind it."""

    nodes: tuple[GraphNode, ...] = ()
    relations: Mapping[GraphRelation, tuple[str, ...]] = field(default_factory=dict)

    @property
    def whole(self) -> KnowledgeGraph:
        return KnowledgeGraph(entities=tuple(node.shown for node in self.nodes), relations=tuple(self.relations))

    def where(self, is_wanted: Callable[[GraphEntity], bool]) -> KnowledgeGraph:
        """The entities that a predicate accepts, and every relation with one of them at either end."""
        entities = tuple(entity for entity in (node.shown for node in self.nodes) if is_wanted(entity))
        names = {entity.name for entity in entities}
        relations = tuple(
            relation for relation in self.relations if not names.isdisjoint((relation.source, relation.target))
        )
        return KnowledgeGraph(entities=entities, relations=relations)


def observation_predicate(text: str) -> str:
    """Predicate of an observation, unique by its text."""
    return free_text_predicate(checks.clean(text))


def relation_predicate(relation: GraphRelation) -> str:
    """Predicate of a relation, unique by type and target: a person may work at two places."""
    return f"{relation.relation_type} {_digest(relation.target)}"


def relation_content(relation: GraphRelation) -> str:
    """A relation as a sentence."""
    return f"{relation.source} {relation.relation_type} {relation.target}"


def relation_of(fact: Fact) -> GraphRelation | None:
    """The relation that a fact states; None if it states something else."""
    relation_type, _, digest = fact.predicate.rpartition(" ")
    prefix = f"{fact.subject} {relation_type} "
    target = fact.content.removeprefix(prefix)
    if not relation_type or not fact.content.startswith(prefix) or digest != _digest(target):
        return None
    return GraphRelation(source=fact.subject, relation_type=relation_type, target=target)


def observation_of(fact: Fact) -> str:
    """Text of the observation that a fact about an entity states."""
    is_bare = fact.predicate == observation_predicate(fact.content)
    return fact.content if is_bare else f"{fact.predicate}: {fact.content}"


def type_of(entity: Entity) -> str:
    """Type of an entity in the words of the caller who created it."""
    word = entity.metadata.get(TYPE_AS_GIVEN)
    return word if isinstance(word, str) else entity.entity_type


def known_type(word: str) -> EntityType:
    """Type of the registry that a word means, else `other`."""
    return _TYPES.get(word.strip().lower(), "other")


def build_graph(entities: Iterable[Entity], facts: Iterable[Fact]) -> GraphView:
    """Build the graph of unmerged entities and of active facts that a caller sees."""
    nodes = {entity.id: entity for entity in sorted(entities, key=lambda entity: (entity.created_at, entity.id))}
    observed: dict[str, dict[str, list[str]]] = {id_: {} for id_ in nodes}
    related: dict[GraphRelation, list[str]] = {}
    for fact in sorted(facts, key=lambda fact: (fact.created_at, fact.id)):
        node = None if fact.entity_id is None else nodes.get(fact.entity_id)
        relation = relation_of(fact)
        if relation is not None:
            source = relation.source if node is None else node.canonical_name
            related.setdefault(replace(relation, source=source), []).append(fact.id)
        elif node is not None:
            observed[node.id].setdefault(observation_of(fact), []).append(fact.id)
    return GraphView(
        nodes=tuple(GraphNode(entity=node, facts=_as_tuples(observed[node.id])) for node in nodes.values()),
        relations=_as_tuples(related),
    )


def contains_text(entity: GraphEntity, text: str) -> bool:
    """True if the name, the type or an observation contains a text, in any case."""
    wanted = text.lower()
    return any(wanted in part.lower() for part in (entity.name, entity.entity_type, *entity.observations))


def select_new(contents: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """Texts that are not known, without repeats, in their order."""
    return tuple(dict.fromkeys(text for text in contents if text not in known))


def _as_tuples(lists: Mapping[_Key, list[str]]) -> dict[_Key, tuple[str, ...]]:
    return {key: tuple(ids) for key, ids in lists.items()}


def _digest(text: str) -> str:
    """Digest of a text as it is stored: twelve hexadecimal digits."""
    return hashlib.blake2b(checks.clean(text).encode(), digest_size=_DIGEST_BYTES).hexdigest()
