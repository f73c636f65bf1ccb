"""The profile `consolidator`: the steps of an agent that reads sessions and keeps what they teach."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from engrain.domain.records import Permanence
from engrain.interfaces.mcp import arguments as given
from engrain.interfaces.mcp.identity import Identity, RequestContextArgument
from engrain.interfaces.mcp.offers import ADDS, CONFIRMS, READS, Offer, unless_absent
from engrain.interfaces.mcp.results import Conflicts, Episodes, Found, SavedBatch, SessionMarked, SessionState

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


def is_session_consolidated(
    who: Identity, session_id: given.SessionId, *, request_context: RequestContextArgument = None
) -> SessionState:
    """Whether a session has been learned from already: ask this first, and leave it alone if so."""
    agent = who.agent(request_context)
    is_done = agent.consolidation.is_session_consolidated(session_id)
    return SessionState(session_id=session_id, consolidated=is_done, request_id=agent.caller.request_id)


def get_episodes_for_consolidation(
    who: Identity,
    session_id: given.SessionId,
    *,
    page: Annotated[int, Field(description="Which page, from 0 on.")] = 0,
    request_context: RequestContextArgument = None,
) -> Episodes:
    """What was said in a session, in its order, 30 turns a page."""
    agent = who.agent(request_context)
    turns = agent.consolidation.episodes(session_id, page=page, limit=PAGE)
    return Episodes(
        session_id=session_id,
        page=page,
        episodes=turns,
        next_page=page + 1 if len(turns) == PAGE else None,
        request_id=agent.caller.request_id,
    )


def save_facts_batch(
    who: Identity,
    facts: Annotated[list[ExtractedFact], Field(description="What the session teaches, each fact once.")],
    *,
    request_context: RequestContextArgument = None,
) -> SavedBatch:
    """Keep the facts of a session, all or none. What is known already is confirmed, what repeats itself kept once."""
    agent = who.agent(request_context)
    stated: list[Any] = [fact.model_dump(exclude_none=True) for fact in facts]
    saved = agent.consolidation.save_facts(stated)
    return SavedBatch(
        saved=list(saved.saved),
        confirmed=list(saved.confirmed),
        repeated=saved.repeated,
        request_id=agent.caller.request_id,
    )


def detect_conflicts(
    who: Identity, fact_id: given.FactId, *, request_context: RequestContextArgument = None
) -> Conflicts:
    """Facts that may contradict one that was saved just now."""
    agent = who.agent(request_context)
    found = unless_absent(lambda: agent.consolidation.detect_conflicts(fact_id))
    return Conflicts(found=found is not None, conflicts=found or [], request_id=agent.caller.request_id)


def resolve_conflict(
    who: Identity,
    old_fact_id: Annotated[str, Field(description="Fact that is doubted from now on.")],
    new_fact_id: Annotated[str, Field(description="Fact that stands against it.")],
    *,
    request_context: RequestContextArgument = None,
) -> Found:
    """Let a newer fact stand against an old one, whose confidence falls to 0.3; the answer has the old one."""
    agent = who.agent(request_context)
    return Found.of(agent, unless_absent(lambda: agent.consolidation.resolve_conflict(old_fact_id, new_fact_id)))


def mark_session_consolidated(
    who: Identity, session_id: given.SessionId, *, request_context: RequestContextArgument = None
) -> SessionMarked:
    """Say that all of a session has been learned from: the last step."""
    agent = who.agent(request_context)
    marked = agent.consolidation.mark_session(session_id)
    return SessionMarked(session_id=session_id, marked=marked, request_id=agent.caller.request_id)


OFFERS = (
    Offer(is_session_consolidated, READS),
    Offer(get_episodes_for_consolidation, READS),
    Offer(save_facts_batch, ADDS),
    Offer(detect_conflicts, READS),
    Offer(resolve_conflict, CONFIRMS),
    Offer(mark_session_consolidated, CONFIRMS),
)
