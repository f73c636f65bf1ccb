"""What an agent keeps: episodes, facts, and what is done with one memory."""

from http import HTTPStatus
from typing import Annotated

from fastapi import Query, Response
from pydantic import Field

from engrain.agent import Agent
from engrain.domain.memories.routing import Handled, Routing
from engrain.domain.pagination import Page
from engrain.domain.records import Caller, Episode, Event, Fact, Link, MemoryRecord, Relation
from engrain.interfaces.http import words
from engrain.interfaces.http.answers import Erased, created, listed, said, versioned
from engrain.interfaces.http.asking import Asked
from engrain.interfaces.http.verbs import Room
from engrain.interfaces.http.words import Body

room = Room("memories", "Episodes and facts, and what is done with one memory.")


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


class NewFact(Body):
    """A statement that is true."""

    content: words.Statement
    subject: words.Subject
    predicate: words.Predicate
    entity_id: words.AboutEntity = None
    scope: words.Scope = None
    valid_from: words.ValidFrom = None
    valid_to: words.ValidTo = None
    category: words.Category = None
    permanence: words.HowLong = "standard"
    importance: words.Importance = None
    confidence: words.Confidence = 1.0
    source: words.Source = None
    source_episode_id: words.SourceEpisode = None
    tags: words.Tags = None
    metadata: words.Metadata = None


class Correction(Body):
    """What is true instead."""

    content: words.Statement
    valid_from: words.ValidFrom = None
    valid_to: words.ValidTo = None
    confidence: words.Confidence = 1.0
    source: words.Source = None
    source_episode_id: words.SourceEpisode = None
    metadata: words.Metadata = None


class ToErase(Body):
    """Memories that are to go for good."""

    ids: words.Ids


class NewLink(Body):
    """How one memory bears on another."""

    source_id: Annotated[str, Field(description="Id of the memory that bears on the other.")]
    target_id: Annotated[str, Field(description="Id of the other.")]
    relation: Annotated[Relation, Field(description="How: the source `relation` the target.")]
    weight: Annotated[float, Field(ge=0, le=1, description="How much, 0 to 1.")] = 1.0


class Input(Body):
    """Something that was said to the agent, or by it."""

    content: words.Content
    role: words.TurnRole = "user"
    speaker: words.Speaker = None


@room.verb("POST", "/episodes", Agent.observe, needs="writer", answers=Episode, status=HTTPStatus.CREATED)
def observe(asked: Asked, body: Turn, idempotency_key: words.IdempotencyKey = None) -> Response:
    """Remember what happened: one turn of a conversation.

    Durable when it answers; its vector follows soon, and the next search waits for it.
    """
    return _created(asked.agent().observe(**body.given(), idempotency_key=idempotency_key))


@room.verb("POST", "/facts", Agent.remember, needs="writer", answers=Fact, status=HTTPStatus.CREATED)
def remember(asked: Asked, body: NewFact, idempotency_key: words.IdempotencyKey = None) -> Response:
    """Remember what is true.

    It supersedes what was true of the same subject (of the same entity, where one is named) and predicate before, in
    the same scope.
    """
    return _created(asked.agent().remember(**body.given(), idempotency_key=idempotency_key))


@room.verb("GET", "/facts", Agent.facts, needs="reader", answers=Page[Fact])
def facts(
    asked: Asked,
    *,
    subject: Annotated[str | None, Query(description="About this alone.")] = None,
    predicate: Annotated[str | None, Query(description="Saying this alone.")] = None,
    as_of: words.AsOfTime = None,
    include_inactive: Annotated[bool, Query(description="Also what is superseded, retracted or expired.")] = False,
    limit: words.PageLimit = 100,
    after: words.After = None,
) -> Response:
    """List what is known of a subject, a predicate or both, the newest first."""
    found = asked.agent().facts(
        subject, predicate, as_of=as_of, include_inactive=include_inactive, limit=limit, after=after
    )
    return listed(found)


@room.verb("GET", "/memories/{id}", Agent.get, needs="reader", answers=MemoryRecord)
def get(
    asked: Asked, id_: words.MemoryId, as_of: words.AsOfTime = None, if_none_match: words.IfNoneMatch = None
) -> Response:
    """Read one memory, whether it is live, superseded or forgotten.

    Counts in its `reference_count`, with `as_of` not.
    """
    memory = asked.agent().get(id_, as_of=as_of)
    return versioned(memory, if_none_match, what=f"memory {id_!r:.80} that this agent sees")


@room.verb("GET", "/memories/{id}/history", Agent.history, needs="reader", answers=Page[Fact])
def history(asked: Asked, id_: words.MemoryId) -> Response:
    """List every fact that ever held the place of one, oldest first; none where there is no such fact."""
    return listed(asked.agent().history(id_))


@room.verb("GET", "/memories/{id}/links", Agent.links, needs="reader", answers=Page[Link])
def links(
    asked: Asked, id_: words.MemoryId, direction: words.LinkDirection = "both", relation: words.OfRelation = None
) -> Response:
    """List the links of a memory whose both ends the agent sees."""
    return listed(asked.agent().links(id_, direction=direction, relation=relation))


@room.verb("POST", "/memories/{id}/correct", Agent.correct, needs="writer", answers=Fact, status=HTTPStatus.CREATED)
def correct(asked: Asked, id_: words.MemoryId, body: Correction) -> Response:
    """Put a new fact in the place of an active one: the same statement with other content.

    Subject, predicate, entity, scope, category, permanence, importance and tags stay.
    """
    return _created(asked.agent().correct(id_, **body.given()))


@room.verb("POST", "/memories/{id}/confirm", Agent.confirm, needs="writer", answers=MemoryRecord)
def confirm(asked: Asked, id_: words.MemoryId) -> Response:
    """Say that a fact or a rule still holds: it fades from now on."""
    return said(asked.agent().confirm(id_))


@room.verb("POST", "/memories/{id}/forget", Agent.forget, needs="writer", answers=MemoryRecord)
def forget(asked: Asked, id_: words.MemoryId) -> Response:
    """Forget one memory: it leaves every search at once, and stays readable by its id.

    An episode expires, a fact is retracted, a rule gets `metadata.forgotten`.
    """
    return said(asked.agent().forget(id_))


@room.verb("POST", "/erase", Agent.erase, needs="admin", answers=Erased)
def erase(asked: Asked, body: ToErase) -> Response:
    """Remove memories for good: rows, vectors, words, links and what events say of them. Cannot be undone.

    What the agent does not see is left alone; the answer has the ids that went.
    """
    return said(Erased(ids=tuple(asked.agent().erase(body.ids))))


@room.verb("POST", "/links", Agent.link, needs="writer", answers=Link, status=HTTPStatus.CREATED)
def link(asked: Asked, body: NewLink) -> Response:
    """Say how one memory bears on another; a link that is there stays as it is."""
    return created(asked.agent().link(**body.given()))


@room.verb("GET", "/events", Agent.events, needs="reader", answers=Page[Event])
def events(
    asked: Asked,
    *,
    id_: Annotated[str | None, Query(alias="id", description="Of this memory alone.")] = None,
    event_type: Annotated[str | None, Query(description="Of this type alone, such as fact_created.")] = None,
    limit: words.PageLimit = 100,
    after: words.After = None,
) -> Response:
    """List what was done to one memory, or to all that the agent sees, newest first: who, when, on whose request."""
    found = asked.agent().events(id_, event_type=event_type, limit=limit, after=after)
    return listed(found)


@room.verb("GET", "/latest_reflection", Agent.latest_reflection, needs="reader", answers=Fact)
def latest_reflection(asked: Asked, if_none_match: words.IfNoneMatch = None) -> Response:
    """Read what the agent carries on from the last time it looked back."""
    return versioned(asked.agent().latest_reflection(), if_none_match, what="reflection of this agent yet")


@room.verb("POST", "/route", Agent.route, needs="reader", answers=Routing)
def route(asked: Asked, body: Input) -> Response:
    """Say where an input belongs, and why, by its role and its English words alone; nothing is stored."""
    return said(asked.agent().route(**body.given()))


@room.verb("POST", "/handle", Agent.handle, needs="writer", answers=Handled)
def handle(asked: Asked, body: Input) -> Response:
    """Do with an input what `route` says: store it, hold it, or answer it."""
    return said(asked.agent().handle(**body.given()))


@room.verb(
    "GET",
    "/caller",
    Agent.caller.fget,  # type: ignore[attr-defined]  # what a property calls
    needs="reader",
    answers=Caller,
)
def caller(asked: Asked) -> Response:
    """Say as whom the request is served: tenant, agent, session and request id."""
    return said(asked.agent().caller)


def _created(memory: MemoryRecord) -> Response:
    return created(memory, f"/v1/memories/{memory.id}")
