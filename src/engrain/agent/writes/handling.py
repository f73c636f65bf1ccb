"""Arguments and suggestions for routed inputs: a question of the past, a fact, the memories to forget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.agent.reads.forgetting import find_last_said, find_topic
from engrain.domain.memories.routing import Suggestion
from engrain.retrieval.time_expressions import parse_spans

if TYPE_CHECKING:
    from datetime import datetime

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.memories.routing import Routing
    from engrain.domain.records import Caller, MemoryRecord


def past_question(parts: Parts, routing: Routing) -> tuple[str, datetime | None]:
    """Return a question and the end of the time that it asks about; None for a question of now."""
    if routing.route != "past":
        return routing.content, None
    now = parts.clock()
    spans = parse_spans(routing.content, now)
    return routing.topic or "", min(spans[0].end, now) if spans else now


def fact_arguments(routing: Routing, caller: Caller) -> dict[str, Any]:
    """Return the arguments by which a statement is remembered, in the caller's own scope."""
    about = {"subject": routing.subject, "predicate": routing.predicate}
    return {"content": routing.content, **about, "scope": caller.own_scope}


def suggest_fact(routing: Routing, caller: Caller) -> Suggestion:
    """Return what to call to remember a statement."""
    return Suggestion(verb="remember", calls=(fact_arguments(routing, caller),))


def suggest_removal(parts: Parts, caller: Caller, routing: Routing) -> Suggestion:
    """Return the memories that a request to forget is about, and what to call."""
    meant = find_meant(parts, caller, routing)
    calls = tuple({"id_": memory.id} for memory in meant)
    return Suggestion(verb="forget", calls=calls, memories=tuple(meant))


def find_meant(parts: Parts, caller: Caller, routing: Routing) -> list[MemoryRecord]:
    """Find the memories that a request to forget is about."""
    if routing.topic:
        return find_topic(parts, caller, routing.topic, speaker_alone=routing.speaker_alone)
    return find_last_said(parts, caller)
