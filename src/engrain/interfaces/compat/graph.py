"""The profile `graph`: the nine tools of the reference memory server, by its names, schemas and answers, over ours.

https://github.com/modelcontextprotocol/servers/tree/main/src/memory
"""

import json
from typing import Annotated

from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field

from engrain.domain.entities.graph import EntityObservations, GraphEntity, GraphRelation, KnowledgeGraph
from engrain.interfaces.mcp.identity import Identity
from engrain.interfaces.mcp.tools import ADDS, REMOVES, ToolDefinition

_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


class Output(BaseModel):
    """The answer of a tool, without any other field."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class EntityInput(BaseModel):
    """An entity as a client gives it."""

    name: str = Field(description="The name of the entity")
    entityType: str = Field(description="The type of the entity")  # noqa: N815  # the reference server's word
    observations: list[str] = Field(description="An array of observation contents associated with the entity")


class RelationInput(BaseModel):
    """A relation as a client gives it."""

    start: str = Field(alias="from", description="The name of the entity where the relation starts")
    to: str = Field(description="The name of the entity where the relation ends")
    relationType: str = Field(description="The type of the relation")  # noqa: N815  # the reference server's word

    @property
    def record(self) -> GraphRelation:
        return GraphRelation(source=self.start, relation_type=self.relationType, target=self.to)


class ObservationsInput(BaseModel):
    """Observations to be added to an entity."""

    entityName: str = Field(description="The name of the entity to add the observations to")  # noqa: N815  # likewise
    contents: list[str] = Field(description="An array of observation contents to add")


class DeletionsInput(BaseModel):
    """Observations to be deleted from an entity."""

    entityName: str = Field(description="The name of the entity containing the observations")  # noqa: N815  # likewise
    observations: list[str] = Field(description="An array of observations to delete")


class EntityOutput(EntityInput, Output):
    """An entity as a client is told of it."""

    @classmethod
    def of(cls, entity: GraphEntity) -> "EntityOutput":
        return cls(name=entity.name, entityType=entity.entity_type, observations=list(entity.observations))


class RelationOutput(RelationInput, Output):
    """A relation as a client is told of it."""

    @classmethod
    def of(cls, relation: GraphRelation) -> "RelationOutput":
        return cls.model_validate(
            {"from": relation.source, "to": relation.target, "relationType": relation.relation_type}
        )


class Entities(Output):
    """Entities that are new."""

    entities: list[EntityOutput]


class Relations(Output):
    """Relations that are new."""

    relations: list[RelationOutput]


class Added(Output):
    """The new ones of some observations."""

    entityName: str  # noqa: N815  # the reference server's word
    addedObservations: list[str]  # noqa: N815  # likewise


class Results(Output):
    """The new observations of every entity."""

    results: list[Added]


class Deleted(Output):
    """The confirmation of a deletion."""

    success: bool
    message: str


class Graph(Output):
    """A graph."""

    entities: list[EntityOutput]
    relations: list[RelationOutput]

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> "Graph":
        entities = [EntityOutput.of(entity) for entity in graph.entities]
        return cls(entities=entities, relations=[RelationOutput.of(relation) for relation in graph.relations])


def create_entities(identity: Identity, entities: list[EntityInput]) -> Annotated[CallToolResult, Entities]:
    """Create multiple new entities in the knowledge graph."""
    records = [
        GraphEntity(name=entity.name, entity_type=entity.entityType, observations=tuple(entity.observations))
        for entity in entities
    ]
    new = Entities(entities=[EntityOutput.of(entity) for entity in identity.agent().graph.create_entities(records)])
    return _make_result(new, "entities")


def create_relations(identity: Identity, relations: list[RelationInput]) -> Annotated[CallToolResult, Relations]:
    """Create multiple new relations between entities in the knowledge graph. Relations should be in active voice."""
    new = identity.agent().graph.create_relations([relation.record for relation in relations])
    return _make_result(Relations(relations=[RelationOutput.of(relation) for relation in new]), "relations")


def add_observations(identity: Identity, observations: list[ObservationsInput]) -> Annotated[CallToolResult, Results]:
    """Add new observations to existing entities in the knowledge graph."""
    records = [
        EntityObservations(entity_name=entry.entityName, contents=tuple(entry.contents)) for entry in observations
    ]
    added = identity.agent().graph.add_observations(records)
    results = [Added(entityName=entry.entity_name, addedObservations=list(entry.contents)) for entry in added]
    return _make_result(Results(results=results), "results")


def delete_entities(
    identity: Identity,
    entityNames: Annotated[list[str], Field(description="An array of entity names to delete")],  # noqa: N803  # likewise
) -> Annotated[CallToolResult, Deleted]:
    """Delete multiple entities and their associated relations from the knowledge graph."""
    identity.agent().graph.delete_entities(entityNames)
    return _make_deletion_result("Entities")


def delete_observations(identity: Identity, deletions: list[DeletionsInput]) -> Annotated[CallToolResult, Deleted]:
    """Delete specific observations from entities in the knowledge graph."""
    records = [
        EntityObservations(entity_name=entry.entityName, contents=tuple(entry.observations)) for entry in deletions
    ]
    identity.agent().graph.delete_observations(records)
    return _make_deletion_result("Observations")


def delete_relations(
    identity: Identity, relations: Annotated[list[RelationInput], Field(description="An array of relations to delete")]
) -> Annotated[CallToolResult, Deleted]:
    """Delete multiple relations from the knowledge graph."""
    identity.agent().graph.delete_relations([relation.record for relation in relations])
    return _make_deletion_result("Relations")


def read_graph(identity: Identity) -> Annotated[CallToolResult, Graph]:
    """Read the entire knowledge graph."""
    return _make_result(Graph.of(identity.agent().graph.read()))


def search_nodes(
    identity: Identity,
    query: Annotated[
        str, Field(description="The search query to match against entity names, types, and observation content")
    ],
) -> Annotated[CallToolResult, Graph]:
    """Search for nodes in the knowledge graph based on a query."""
    return _make_result(Graph.of(identity.agent().graph.search(query)))


def open_nodes(
    identity: Identity, names: Annotated[list[str], Field(description="An array of entity names to retrieve")]
) -> Annotated[CallToolResult, Graph]:
    """Open specific nodes in the knowledge graph by their names."""
    return _make_result(Graph.of(identity.agent().graph.open(names)))


def _make_result(answer: Output, part: str | None = None) -> CallToolResult:
    """Make a result of structure and of the reference server's text: of the whole output, or of one part."""
    document = answer.model_dump(mode="json", by_alias=True)
    shown = document if part is None else document[part]
    text = shown if isinstance(shown, str) else json.dumps(shown, indent=2, ensure_ascii=False)
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=document)


def _make_deletion_result(things: str) -> CallToolResult:
    return _make_result(Deleted(success=True, message=f"{things} deleted successfully"), "message")


TOOLS = (
    ToolDefinition(create_entities, ADDS, title="Create Entities", ignores_unknown=True),
    ToolDefinition(create_relations, ADDS, title="Create Relations", ignores_unknown=True),
    ToolDefinition(add_observations, ADDS, title="Add Observations", ignores_unknown=True),
    ToolDefinition(delete_entities, REMOVES, title="Delete Entities", ignores_unknown=True),
    ToolDefinition(delete_observations, REMOVES, title="Delete Observations", ignores_unknown=True),
    ToolDefinition(delete_relations, REMOVES, title="Delete Relations", ignores_unknown=True),
    ToolDefinition(read_graph, _READS, title="Read Graph", ignores_unknown=True),
    ToolDefinition(search_nodes, _READS, title="Search Nodes", ignores_unknown=True),
    ToolDefinition(open_nodes, _READS, title="Open Nodes", ignores_unknown=True),
)
