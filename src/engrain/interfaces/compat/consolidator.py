"""The profile `consolidator`: the steps of an agent that reads sessions and keeps what they teach."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from engrain.agent.agent import Agent
from engrain.domain.records import Permanence
from engrain.interfaces.mcp import argument_types as types
from engrain.interfaces.mcp.results import Conflicts, Episodes, FoundMemory, SavedBatch, SessionMarked, SessionState
from engrain.interfaces.mcp.tools import ADDS, CONFIRMS, READS, ToolDefinition, catch_not_found

PAGE = 30


class ExtractedFact(BaseModel):
    """A fact that a session teaches."""

    model_config = ConfigDict(extra="forbid")

    subject: str = Field(description="Whom or what it is about.")
    predicate: str = Field(description="What it says of the subject.")
    content: str = Field(description="What is true.")
    importance: float = Field(default=5.0, description="0 to 10.")
    confidence: float = Field(default=1.0, description="How sure it is, 0 to 1.")
    permanence: Permanence = Field(default="standard", description="How slowly it fades.")
    valid_from: str | None = Field(default=None, description="Since when it is true, ISO 8601.")
    tags: list[str] = Field(default=[], description="Words to file it under.")
    source_ids: list[str] = Field(default=[], description="Ids of the episodes that say so.")


def is_session_consolidated(agent: Agent, session_id: types.SessionId) -> SessionState:
    """Tell whether a session has been learned from already: ask this first, and leave it alone if so."""
    is_done = agent.consolidation.is_session_consolidated(session_id)
    return SessionState(session_id=session_id, consolidated=is_done)


def get_episodes_for_consolidation(
    agent: Agent,
    session_id: types.SessionId,
    *,
    page: Annotated[int, Field(description="Which page, from 0 on.")] = 0,
) -> Episodes:
    """Read the turns of a session, in their order, 30 a page."""
    turns = agent.consolidation.episodes(session_id, page=page, limit=PAGE)
    return Episodes(
        session_id=session_id,
        page=page,
        episodes=turns,
        next_page=page + 1 if len(turns) == PAGE else None,
    )


def save_facts_batch(
    agent: Agent,
    facts: Annotated[list[ExtractedFact], Field(description="What the session teaches, each fact once.")],
) -> SavedBatch:
    """Keep the facts of a session, all or none. What is known already is confirmed, what repeats itself kept once."""
    stated: list[Any] = [fact.model_dump(exclude_none=True) for fact in facts]
    saved = agent.consolidation.save_facts(stated)
    return SavedBatch.model_validate(saved)


def detect_conflicts(agent: Agent, fact_id: types.FactId) -> Conflicts:
    """Facts that may contradict one that was saved just now."""
    conflicts = catch_not_found(lambda: agent.consolidation.detect_conflicts(fact_id))
    return Conflicts(found=conflicts is not None, conflicts=conflicts or [])


def resolve_conflict(
    agent: Agent,
    old_fact_id: Annotated[str, Field(description="Fact that is doubted from now on.")],
    new_fact_id: Annotated[str, Field(description="Fact that stands against it.")],
) -> FoundMemory:
    """Let a newer fact stand against an old one, whose confidence falls to 0.3; the answer has the old one."""
    return FoundMemory.of(catch_not_found(lambda: agent.consolidation.resolve_conflict(old_fact_id, new_fact_id)))


def mark_session_consolidated(agent: Agent, session_id: types.SessionId) -> SessionMarked:
    """Say that all of a session has been learned from: the last step."""
    marked = agent.consolidation.mark_session(session_id)
    return SessionMarked(session_id=session_id, marked=marked)


TOOLS = (
    ToolDefinition(is_session_consolidated, READS),
    ToolDefinition(get_episodes_for_consolidation, READS),
    ToolDefinition(save_facts_batch, ADDS),
    ToolDefinition(detect_conflicts, READS),
    ToolDefinition(resolve_conflict, CONFIRMS),
    ToolDefinition(mark_session_consolidated, CONFIRMS),
)
