"""The graph: entities, what is observed of them, and how they relate."""

from typing import Annotated

from fastapi import Query, Response
from pydantic import Field

from engrain.agent.graph import Graph
from engrain.domain.entities.graph import GraphEntity, GraphRelation, KnowledgeGraph, Observed
from engrain.domain.pagination import Page
from engrain.interfaces.http.answers import DeletedEntities, Retracted, listed, said
from engrain.interfaces.http.asking import Asked
from engrain.interfaces.http.verbs import Room
from engrain.interfaces.http.words import Body

room = Room("graph", "Entities, what is observed of them, and how they relate.", group="graph")

_EntityName = Annotated[str, Field(description="Name of an entity.", examples=["Ana"])]

_Texts = Annotated[
    list[str], Field(default_factory=list, description="What is observed.", examples=[["lives in Lisbon"]])
]


class NewNode(Body):
    """Somebody or something, and what is observed of it."""

    name: _EntityName
    entity_type: Annotated[str, Field(description="In any word.", examples=["person"])]
    observations: _Texts


class Relation(Body):
    """How one entity relates to another, in active voice."""

    source: _EntityName
    relation_type: Annotated[str, Field(description="What the source does.", examples=["works for"])]
    target: Annotated[str, Field(description="Name of the other entity.", examples=["Acme"])]


class Observation(Body):
    """Some texts about one entity."""

    entity_name: _EntityName
    contents: _Texts


class Nodes(Body):
    """Entities to add."""

    entities: Annotated[list[NewNode], Field(max_length=1000, description="Each once.")]


class Relations(Body):
    """Relations to add or to forget."""

    relations: Annotated[list[Relation], Field(max_length=1000, description="Each once.")]


class Observations(Body):
    """Observations to add or to forget."""

    observations: Annotated[list[Observation], Field(max_length=1000, description="By entity.")]


class EntityNames(Body):
    """Which entities."""

    names: Annotated[list[str], Field(max_length=1000, description="Names of entities.", examples=[["Ana"]])]


@room.verb("POST", "/graph/create_entities", Graph.create_entities, needs="writer", answers=Page[GraphEntity])
def create_entities(asked: Asked, body: Nodes) -> Response:
    """Add entities, with what is observed of them; the answer has those whose name nobody had."""
    nodes = [
        GraphEntity(name=each.name, entity_type=each.entity_type, observations=tuple(each.observations))
        for each in body.entities
    ]
    return listed(asked.agent().graph.create_entities(nodes))


@room.verb("POST", "/graph/create_relations", Graph.create_relations, needs="writer", answers=Page[GraphRelation])
def create_relations(asked: Asked, body: Relations) -> Response:
    """Say how entities relate; the answer has what was not known."""
    return listed(asked.agent().graph.create_relations(_relations(body)))


@room.verb("POST", "/graph/add_observations", Graph.add_observations, needs="writer", answers=Page[Observed])
def add_observations(asked: Asked, body: Observations) -> Response:
    """Say more of entities that are there; the answer has, of each, what was not known."""
    return listed(asked.agent().graph.add_observations(_observed(body)))


@room.verb("POST", "/graph/delete_entities", Graph.delete_entities, needs="writer", answers=DeletedEntities)
def delete_entities(asked: Asked, body: EntityNames) -> Response:
    """Forget entities, what is said of them and all their relations; the answer has the names that somebody had."""
    return said(DeletedEntities(names=tuple(asked.agent().graph.delete_entities(body.names))))


@room.verb("POST", "/graph/delete_observations", Graph.delete_observations, needs="writer", answers=Retracted)
def delete_observations(asked: Asked, body: Observations) -> Response:
    """Forget what is observed of entities; the answer says how many facts said it."""
    return said(Retracted(facts=asked.agent().graph.delete_observations(_observed(body))))


@room.verb("POST", "/graph/delete_relations", Graph.delete_relations, needs="writer", answers=Retracted)
def delete_relations(asked: Asked, body: Relations) -> Response:
    """Forget how entities relate; the answer says how many facts said it."""
    return said(Retracted(facts=asked.agent().graph.delete_relations(_relations(body))))


@room.verb("GET", "/graph/read", Graph.read, needs="reader", answers=KnowledgeGraph)
def read(asked: Asked) -> Response:
    """Read all of the graph, the oldest first."""
    return said(asked.agent().graph.read())


@room.verb("GET", "/graph/search", Graph.search, needs="reader", answers=KnowledgeGraph)
def search(asked: Asked, query: Annotated[str, Query(description="A text, in whatever case.")]) -> Response:
    """Find the entities whose name, type or observations hold a text, and all their relations."""
    return said(asked.agent().graph.search(query))


@room.verb("GET", "/graph/open", Graph.open, needs="reader", answers=KnowledgeGraph)
def open_(
    asked: Asked, names: Annotated[list[str], Query(description="Names of entities; may be repeated.")]
) -> Response:
    """Read the entities of exactly these names, and all their relations."""
    return said(asked.agent().graph.open(names))


def _relations(body: Relations) -> list[GraphRelation]:
    return [
        GraphRelation(source=each.source, relation_type=each.relation_type, target=each.target)
        for each in body.relations
    ]


def _observed(body: Observations) -> list[Observed]:
    return [Observed(entity_name=each.entity_name, contents=tuple(each.contents)) for each in body.observations]
