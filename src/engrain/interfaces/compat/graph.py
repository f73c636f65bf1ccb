"""The profile `graph`: the nine tools of the reference memory server, by its names, schemas and answers, over ours.

https://github.com/modelcontextprotocol/servers/tree/main/src/memory
"""

import json
from typing import Annotated

from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field

from engrain.domain.entities.graph import EntityObservations, GraphEntity, GraphRelation, KnowledgeGraph
from engrain.interfaces.mcp.identity import Identity
from engrain.interfaces.mcp.offers import ADDS, REMOVES, Offer

_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


class Answer(BaseModel):
    """What a tool answers, with nothing besides."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class GivenEntity(BaseModel):
    """An entity as a client gives it."""

    name: str = Field(description="The name of the entity")
    entityType: str = Field(description="The type of the entity")  # noqa: N815  # the reference server's word
    observations: list[str] = Field(description="An array of observation contents associated with the entity")


class GivenRelation(BaseModel):
    """A relation as a client gives it."""

    start: str = Field(alias="from", description="The name of the entity where the relation starts")
    to: str = Field(description="The name of the entity where the relation ends")
    relationType: str = Field(description="The type of the relation")  # noqa: N815  # the reference server's word

    @property
    def said(self) -> GraphRelation:
        return GraphRelation(source=self.start, relation_type=self.relationType, target=self.to)


class GivenObservations(BaseModel):
    """Observations to be added to an entity."""

    entityName: str = Field(description="The name of the entity to add the observations to")  # noqa: N815  # likewise
    contents: list[str] = Field(description="An array of observation contents to add")


class GivenDeletions(BaseModel):
    """Observations to be deleted from an entity."""

    entityName: str = Field(description="The name of the entity containing the observations")  # noqa: N815  # likewise
    observations: list[str] = Field(description="An array of observations to delete")


class ToldEntity(GivenEntity, Answer):
    """An entity as a client is told of it."""

    @classmethod
    def of(cls, entity: GraphEntity) -> "ToldEntity":
        return cls(name=entity.name, entityType=entity.entity_type, observations=list(entity.observations))


class ToldRelation(GivenRelation, Answer):
    """A relation as a client is told of it."""

    @classmethod
    def of(cls, relation: GraphRelation) -> "ToldRelation":
        said = {"from": relation.source, "to": relation.target, "relationType": relation.relation_type}
        return cls.model_validate(said)


class Entities(Answer):
    """Entities that are new."""

    entities: list[ToldEntity]


class Relations(Answer):
    """Relations that are new."""

    relations: list[ToldRelation]


class Added(Answer):
    """What of some observations was new."""

    entityName: str  # noqa: N815  # the reference server's word
    addedObservations: list[str]  # noqa: N815  # likewise


class Results(Answer):
    """What of each entity's observations was new."""

    results: list[Added]


class Deleted(Answer):
    """That something is there no more."""

    success: bool
    message: str


class Told(Answer):
    """A graph."""

    entities: list[ToldEntity]
    relations: list[ToldRelation]

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> "Told":
        entities = [ToldEntity.of(each) for each in graph.entities]
        return cls(entities=entities, relations=[ToldRelation.of(each) for each in graph.relations])


def create_entities(who: Identity, entities: list[GivenEntity]) -> Annotated[CallToolResult, Entities]:
    """Create multiple new entities in the knowledge graph."""
    given = [
        GraphEntity(name=each.name, entity_type=each.entityType, observations=tuple(each.observations))
        for each in entities
    ]
    new = Entities(entities=[ToldEntity.of(each) for each in who.agent().graph.create_entities(given)])
    return _told(new, "entities")


def create_relations(who: Identity, relations: list[GivenRelation]) -> Annotated[CallToolResult, Relations]:
    """Create multiple new relations between entities in the knowledge graph. Relations should be in active voice."""
    new = who.agent().graph.create_relations([each.said for each in relations])
    return _told(Relations(relations=[ToldRelation.of(each) for each in new]), "relations")


def add_observations(who: Identity, observations: list[GivenObservations]) -> Annotated[CallToolResult, Results]:
    """Add new observations to existing entities in the knowledge graph."""
    given = [EntityObservations(entity_name=each.entityName, contents=tuple(each.contents)) for each in observations]
    added = who.agent().graph.add_observations(given)
    results = [Added(entityName=each.entity_name, addedObservations=list(each.contents)) for each in added]
    return _told(Results(results=results), "results")


def delete_entities(
    who: Identity,
    entityNames: Annotated[list[str], Field(description="An array of entity names to delete")],  # noqa: N803  # likewise
) -> Annotated[CallToolResult, Deleted]:
    """Delete multiple entities and their associated relations from the knowledge graph."""
    who.agent().graph.delete_entities(entityNames)
    return _deleted("Entities")


def delete_observations(who: Identity, deletions: list[GivenDeletions]) -> Annotated[CallToolResult, Deleted]:
    """Delete specific observations from entities in the knowledge graph."""
    given = [EntityObservations(entity_name=each.entityName, contents=tuple(each.observations)) for each in deletions]
    who.agent().graph.delete_observations(given)
    return _deleted("Observations")


def delete_relations(
    who: Identity, relations: Annotated[list[GivenRelation], Field(description="An array of relations to delete")]
) -> Annotated[CallToolResult, Deleted]:
    """Delete multiple relations from the knowledge graph."""
    who.agent().graph.delete_relations([each.said for each in relations])
    return _deleted("Relations")


def read_graph(who: Identity) -> Annotated[CallToolResult, Told]:
    """Read the entire knowledge graph."""
    return _told(Told.of(who.agent().graph.read()))


def search_nodes(
    who: Identity,
    query: Annotated[
        str, Field(description="The search query to match against entity names, types, and observation content")
    ],
) -> Annotated[CallToolResult, Told]:
    """Search for nodes in the knowledge graph based on a query."""
    return _told(Told.of(who.agent().graph.search(query)))


def open_nodes(
    who: Identity, names: Annotated[list[str], Field(description="An array of entity names to retrieve")]
) -> Annotated[CallToolResult, Told]:
    """Open specific nodes in the knowledge graph by their names."""
    return _told(Told.of(who.agent().graph.open(names)))


def _told(answer: Answer, part: str | None = None) -> CallToolResult:
    """An answer as structure, and as the text that the reference server makes of it: of the whole, or of one part."""
    said = answer.model_dump(mode="json", by_alias=True)
    text = json.dumps(said if part is None else said[part], indent=2, ensure_ascii=False)
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=said)


def _deleted(what: str) -> CallToolResult:
    done = Deleted(success=True, message=f"{what} deleted successfully")
    return CallToolResult(
        content=[TextContent(type="text", text=done.message)], structured_content=done.model_dump(mode="json")
    )


OFFERS = (
    Offer(create_entities, ADDS, title="Create Entities", ignores_unknown=True),
    Offer(create_relations, ADDS, title="Create Relations", ignores_unknown=True),
    Offer(add_observations, ADDS, title="Add Observations", ignores_unknown=True),
    Offer(delete_entities, REMOVES, title="Delete Entities", ignores_unknown=True),
    Offer(delete_observations, REMOVES, title="Delete Observations", ignores_unknown=True),
    Offer(delete_relations, REMOVES, title="Delete Relations", ignores_unknown=True),
    Offer(read_graph, _READS, title="Read Graph", ignores_unknown=True),
    Offer(search_nodes, _READS, title="Search Nodes", ignores_unknown=True),
    Offer(open_nodes, _READS, title="Open Nodes", ignores_unknown=True),
)
