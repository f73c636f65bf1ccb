"""Hooks: what the host of an agent calls around a conversation."""

from typing import Annotated

from fastapi import Query, Response
from pydantic import Field

from engrain.agent.hooks import Hooks
from engrain.context.block import ContextBlock
from engrain.domain.memories.hooks import Heard, RecentTurns, SessionEnd
from engrain.interfaces.http import words
from engrain.interfaces.http.answers import said
from engrain.interfaces.http.asking import Asked
from engrain.interfaces.http.verbs import Room
from engrain.interfaces.http.words import Body

room = Room(
    "hooks",
    "What a host calls around a conversation (Engrain-Session); what memory cannot do now is told, not a fault.",
    group="hooks",
)


class Opening(Body):
    """What a session begins with."""

    prompt: words.Prompt
    budget_tokens: words.BudgetTokens = None


class SaidNow(Body):
    """One turn of the session."""

    content: words.Content
    role: words.TurnRole = "user"
    speaker: words.Speaker = None
    event_time: words.EventTime = None
    tokens: words.Tokens = None
    model: words.Model = None
    tool_calls: words.ToolCalls = None
    tags: words.Tags = None
    metadata: words.Metadata = None
    durable: Annotated[bool, Field(description="False: stored with others soon, as the settings `batching` say.")] = (
        True
    )


@room.verb("POST", "/hooks/session_start", Hooks.session_start, needs="reader", answers=ContextBlock)
def session_start(asked: Asked, body: Opening) -> Response:
    """Write what an agent should know before it answers; empty and degraded where nothing can be read."""
    return said(asked.agent().hooks.session_start(**body.given()))


@room.verb("POST", "/hooks/message", Hooks.message, needs="writer", answers=Heard)
def message(asked: Asked, body: SaidNow, idempotency_key: words.IdempotencyKey = None) -> Response:
    """Remember one turn of the session; what cannot be stored now waits in the server's process."""
    return said(asked.agent().hooks.message(**body.given(), idempotency_key=idempotency_key))


@room.verb("GET", "/hooks/recent", Hooks.recent, needs="reader", answers=RecentTurns)
def recent(asked: Asked, limit: Annotated[int, Query(ge=0, le=1000, description="How many at most.")] = 20) -> Response:
    """Read the newest turns of the session, oldest first."""
    return said(asked.agent().hooks.recent(limit))


@room.verb("POST", "/hooks/session_end", Hooks.session_end, needs="writer", answers=SessionEnd)
def session_end(asked: Asked) -> Response:
    """End the session; the answer says how many of its episodes wait to be consolidated."""
    return said(asked.agent().hooks.session_end())
