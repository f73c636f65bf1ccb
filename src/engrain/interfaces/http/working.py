"""Working memory: what an agent has at hand in its session, in the server's process alone."""

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Response
from pydantic import Field

from engrain.agent.working import Working
from engrain.domain.memories.working import WorkingStats
from engrain.domain.pagination import Page
from engrain.domain.records import Episode
from engrain.interfaces.http import words
from engrain.interfaces.http.answers import Scratchpad, ToolResults, listed, nothing, said
from engrain.interfaces.http.asking import Asked
from engrain.interfaces.http.verbs import Room
from engrain.interfaces.http.words import Body

room = Room(
    "working",
    "What an agent has at hand in its session (Engrain-Session), in the server's process alone.",
    group="working",
)


class Message(Body):
    """A message of the session."""

    content: words.Content
    role: words.TurnRole = "user"
    speaker: words.Speaker = None
    event_time: words.EventTime = None
    tokens: words.Tokens = None
    tool_calls: words.ToolCalls = None
    metadata: words.Metadata = None


class ToolAnswer(Body):
    """What a tool answered."""

    name: Annotated[str, Field(description="The tool.", examples=["timetable"])]
    value: Annotated[Any, Field(description="Any JSON value.", examples=[{"first": "09:00"}])]


class ScratchpadText(Body):
    """What the agent notes for itself while it works."""

    text: Annotated[str, Field(description="All of it from now on.", examples=["Ana hates early trams."])]


@room.verb("POST", "/working/append", Working.append, needs="writer", answers=WorkingStats)
def append(asked: Asked, body: Message, idempotency_key: words.IdempotencyKey = None) -> Response:
    """Add a message; above a bound the oldest ones become episodes."""
    return said(asked.agent().working.append(**body.given(), idempotency_key=idempotency_key))


@room.verb("GET", "/working/messages", Working.messages, needs="reader", answers=Page[Episode])
def messages(asked: Asked) -> Response:
    """List the messages still here, as the episodes they will be, oldest first."""
    return listed(asked.agent().working.messages())


@room.verb("POST", "/working/tool_result", Working.tool_result, needs="writer", answers=WorkingStats)
def tool_result(asked: Asked, body: ToolAnswer) -> Response:
    """Keep what a tool answered, in the place of what was there."""
    return said(asked.agent().working.tool_result(body.name, body.value))


@room.verb("GET", "/working/tool_results", Working.tool_results, needs="reader", answers=ToolResults)
def tool_results(asked: Asked) -> Response:
    """Read what tools answered, by name."""
    return said(ToolResults(tool_results=asked.agent().working.tool_results()))


@room.verb("GET", "/working/scratchpad", Working.scratchpad, needs="reader", answers=Scratchpad)
def scratchpad(asked: Asked) -> Response:
    """Read what the agent notes for itself while it works."""
    return said(Scratchpad(text=asked.agent().working.scratchpad()))


@room.verb("PUT", "/working/scratchpad", Working.scratchpad, needs="writer", answers=Scratchpad, also="write")
def write_scratchpad(asked: Asked, body: ScratchpadText) -> Response:
    """Replace what the agent notes for itself while it works."""
    return said(Scratchpad(text=asked.agent().working.scratchpad(body.text)))


@room.verb("POST", "/working/flush", Working.flush, needs="writer", answers=WorkingStats)
def flush(asked: Asked) -> Response:
    """Make episodes of all messages; where the database takes none they stay, and `degraded` says so."""
    return said(asked.agent().working.flush())


@room.verb("POST", "/working/clear", Working.clear, needs="writer", answers=None, status=HTTPStatus.NO_CONTENT)
def clear(asked: Asked) -> Response:
    """Forget messages, tool results and scratchpad; nothing of it becomes an episode."""
    asked.agent().working.clear()
    return nothing()


@room.verb("GET", "/working/stats", Working.stats, needs="reader", answers=WorkingStats)
def stats(asked: Asked) -> Response:
    """Say how much is here."""
    return said(asked.agent().working.stats())
