"""The profile `orchestrator`: the tools of an assistant's main agent, by their names and parameters."""

from typing import Annotated

from pydantic import Field

from engrain.agent.agent import Agent
from engrain.agent.compat import protect_fact
from engrain.domain.records import Fact
from engrain.errors import InvalidInput
from engrain.interfaces.compat.stats import memory_stats
from engrain.interfaces.mcp import argument_types as types
from engrain.interfaces.mcp.results import (
    EntityInfo,
    FoundMemory,
    MemorySummary,
    SearchSummary,
    StoredMemory,
    reason_texts,
)
from engrain.interfaces.mcp.tools import READS, REPLACES, ToolDefinition, catch_not_found


def search_memory(
    agent: Agent,
    query: Annotated[str, Field(description="A question or a topic.")],
    *,
    kinds: types.Kinds = None,
    limit: types.Limit = 10,
) -> SearchSummary:
    """Search the long-term memory before answering what earlier conversations may tell: best first, in short."""
    answer = agent.recall(query, kinds=kinds, limit=limit, preset="assistant")
    return SearchSummary(
        memories=[MemorySummary.of(hit) for hit in answer],
        evidence=answer.evidence,
        degraded=reason_texts(answer.degraded),
    )


def remember_fact(
    agent: Agent,
    subject: Annotated[str, Field(description="Whom or what it is about.")],
    predicate: Annotated[str, Field(description="What it says of the subject, such as: lives in.")],
    content: types.Content,
    *,
    tags: types.Tags = None,
    idempotency_key: types.IdempotencyKey = None,
) -> StoredMemory:
    """Remember a fact that will matter later. It takes the place of what was true of the same before."""
    fact = agent.remember(content, subject=subject, predicate=predicate, tags=tags, idempotency_key=idempotency_key)
    return StoredMemory.of(fact)


def correct_fact(
    agent: Agent,
    fact_id: types.FactId,
    content: Annotated[str, Field(description="What is true instead.")],
) -> FoundMemory:
    """Put what is true in the place of a fact that is wrong; the answer has the new fact and its id."""
    return FoundMemory.of(catch_not_found(lambda: agent.correct(fact_id, content)))


def confirm_fact(agent: Agent, fact_id: types.FactId) -> FoundMemory:
    """Protect a fact that the user has confirmed: believed in full, it never fades. The answer has its new id."""
    fact = agent.get(fact_id)
    if fact is None:
        return FoundMemory.of(None)
    if not isinstance(fact, Fact) or fact.validity != "active":
        raise InvalidInput(f"{fact_id} is no active fact; search_memory shows those that hold")
    if fact.permanence == "permanent" and fact.confidence == 1.0:
        return FoundMemory.of(agent.confirm(fact_id))
    return FoundMemory.of(protect_fact(agent, fact_id))


def get_entity_info(
    agent: Agent,
    name: Annotated[str, Field(description="Name or id of a person, place, project or other thing.")],
) -> EntityInfo:
    """Everything known about somebody or something: facts with their history, what was said, who else is there."""
    return EntityInfo.of(catch_not_found(lambda: agent.entities.profile(name)))


TOOLS = (
    ToolDefinition(search_memory, READS),
    ToolDefinition(remember_fact, REPLACES),
    ToolDefinition(correct_fact, REPLACES),
    ToolDefinition(confirm_fact, REPLACES),
    ToolDefinition(memory_stats, READS),
    ToolDefinition(get_entity_info, READS),
)
