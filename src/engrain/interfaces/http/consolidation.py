"""Consolidation step by step, for a consolidator of one's own."""

from typing import Annotated

from fastapi import Query, Response
from pydantic import Field

from engrain.agent.consolidation import Consolidation
from engrain.domain.pagination import Page
from engrain.domain.records import Episode, Fact
from engrain.interfaces.http import words
from engrain.interfaces.http.answers import Marked, SessionState, listed, said
from engrain.interfaces.http.asking import Asked
from engrain.interfaces.http.verbs import Room
from engrain.interfaces.http.words import Body
from engrain.learning.consolidation.extracted_facts import SavedFacts

room = Room("consolidation", "Consolidation step by step, for a consolidator of one's own.", group="consolidation")


class ExtractedFact(Body):
    """A fact that a session teaches."""

    subject: words.Subject
    predicate: words.Predicate
    content: words.Statement
    importance: Annotated[float, Field(ge=0, le=10, description="0 to 10.")] = 5.0
    confidence: words.Confidence = 1.0
    permanence: words.HowLong = "standard"
    valid_from: words.ValidFrom = None
    tags: words.Tags = None
    source_ids: Annotated[list[str] | None, Field(description="Ids of the episodes that say so.")] = None


class Batch(Body):
    """What a session teaches."""

    facts: Annotated[list[ExtractedFact], Field(max_length=1000, description="Each fact once.")]
    scope: words.Scope = None


class Conflict(Body):
    """Two facts that say different things."""

    old_id: Annotated[str, Field(description="Id of the fact that is doubted from now on.")]
    new_id: Annotated[str, Field(description="Id of the fact that stands against it.")]


class SessionNamed(Body):
    """Which session."""

    session: words.OneSession


@room.verb(
    "GET",
    "/consolidation/is_session_consolidated",
    Consolidation.is_session_consolidated,
    needs="reader",
    answers=SessionState,
)
def is_session_consolidated(asked: Asked, session: words.SessionName) -> Response:
    """Say whether the agent has episodes in a session and none of them waits."""
    is_done = asked.agent().consolidation.is_session_consolidated(session)
    return said(SessionState(session=session, is_consolidated=is_done))


@room.verb("GET", "/consolidation/episodes", Consolidation.episodes, needs="reader", answers=Page[Episode])
def episodes(
    asked: Asked,
    session: words.SessionName,
    page: Annotated[int, Query(ge=0, le=1_000_000, description="Which page, from 0 on.")] = 0,
    limit: Annotated[int, Query(ge=0, le=1000, description="How many a page.")] = 30,
) -> Response:
    """List what was said in a session, in its order, page by page; `next` is the number of the next page."""
    found = asked.agent().consolidation.episodes(session, page=page, limit=limit)
    return listed(found, following=str(page + 1) if found and len(found) == limit else None)


@room.verb("POST", "/consolidation/save_facts", Consolidation.save_facts, needs="writer", answers=SavedFacts)
def save_facts(asked: Asked, body: Batch) -> Response:
    """Keep extracted facts, all or none: repeats are dropped, what is known is confirmed."""
    facts = [each.given() for each in body.facts]
    return said(asked.agent().consolidation.save_facts(facts, scope=body.scope))


@room.verb("GET", "/consolidation/detect_conflicts", Consolidation.detect_conflicts, needs="reader", answers=Page[Fact])
def detect_conflicts(asked: Asked, fact_id: Annotated[str, Query(description="Id of a fact.")]) -> Response:
    """List active facts that may contradict one."""
    return listed(asked.agent().consolidation.detect_conflicts(fact_id))


@room.verb("POST", "/consolidation/resolve_conflict", Consolidation.resolve_conflict, needs="writer", answers=Fact)
def resolve_conflict(asked: Asked, body: Conflict) -> Response:
    """Let a newer fact stand against an old one, whose confidence falls to 0.3 at most; the answer is the old one."""
    return said(asked.agent().consolidation.resolve_conflict(body.old_id, body.new_id))


@room.verb("POST", "/consolidation/mark_session", Consolidation.mark_session, needs="writer", answers=Marked)
def mark_session(asked: Asked, body: SessionNamed) -> Response:
    """Say that all of a session has been learned from; the answer says how many of its episodes waited."""
    return said(Marked(session=body.session, episodes=asked.agent().consolidation.mark_session(body.session)))
