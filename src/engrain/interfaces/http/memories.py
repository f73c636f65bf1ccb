"""What an agent keeps: episodes, facts, and what is done with one memory."""

from http import HTTPStatus

from fastapi import Response

from engrain.agent import Agent
from engrain.domain.records import Episode
from engrain.interfaces.http import words
from engrain.interfaces.http.answers import created
from engrain.interfaces.http.asking import Asked
from engrain.interfaces.http.verbs import Room
from engrain.interfaces.http.words import Body

room = Room("memories")


class Turn(Body):
    """One turn of a conversation, or one event."""

    content: words.Content
    role: words.TurnRole = "user"
    speaker: words.Speaker = None
    session: words.Session = None
    event_time: words.EventTime = None
    importance: words.Importance = None
    ttl_days: words.TtlDays = None
    tokens: words.Tokens = None
    model: words.Model = None
    tool_calls: words.ToolCalls = None
    tags: words.Tags = None
    metadata: words.Metadata = None


@room.verb("POST", "/episodes", Agent.observe, needs="writer", answers=Episode, status=HTTPStatus.CREATED)
def observe(asked: Asked, body: Turn, idempotency_key: words.IdempotencyKey = None) -> Response:
    """Remember what happened: one turn of a conversation.

    Durable when it answers; its vector follows soon, and the next search waits for it.
    """
    episode = asked.agent().observe(**body.given(), idempotency_key=idempotency_key)
    return created(episode, f"/v1/memories/{episode.id}")
