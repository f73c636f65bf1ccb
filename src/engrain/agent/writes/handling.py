"""Arguments and suggestions for routed inputs: a question of the past, a fact, the memories to forget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.agent.learning.consolidation_triggers import consolidate_after_switch
from engrain.agent.reads.forgetting import find_all_known, find_last_said, find_topic
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.arguments import parse_text
from engrain.agent.writes.episodes import new_episode, parse_importance
from engrain.agent.writes.memories import new_fact, store_statement
from engrain.domain.memories.routing import Routing, Suggestion
from engrain.domain.text.categories import fact_category
from engrain.domain.text.repetition import asks_alone
from engrain.retrieval.chronology.time_expressions import parse_spans

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.records import Caller, Episode, Fact, MemoryRecord, Role
    from engrain.domain.requests import Act


def past_question(parts: Parts, routing: Routing) -> tuple[str, datetime | None]:
    """Return a question and the end of the time that it asks about; None for a question of now."""
    if routing.route != "past":
        return routing.content, None
    now = parts.local_now()
    spans = parse_spans(routing.content, now)
    return routing.topic or "", min(spans[0].end, now) if spans else now


def tells_more(routing: Routing, role: Role) -> bool:
    """True for a question of a person, or a request to forget, that tells something beside."""
    asks = routing.route in ("recall", "past")
    return routing.is_part if not asks else role == "user" and not asks_alone(routing.content, role=role)


def remember_statement(parts: Parts, caller: Caller, routing: Routing, turn: Mapping[str, Any]) -> tuple[Episode, Fact]:
    """Remember the turn of these values as an episode, and the fact that it states, which is learned from it."""
    act = new_act(parts, caller)
    fact = new_statement(parts, act, **fact_arguments(routing, caller))
    said, kept = store_statement(parts, act, new_episode(parts, caller, at=act.at, **turn), fact)
    consolidate_after_switch(parts, caller, said)
    return said, kept


def new_statement(parts: Parts, act: Act, *, content: str, predicate: str, **about: Any) -> Fact:
    """Return the fact of these values, not stored yet; its category and importance are told from its words."""
    text = parse_text(parts, content)
    category, importance = fact_category(predicate, text), parse_importance(None, text)
    return new_fact(parts, act, content=text, predicate=predicate, category=category, importance=importance, **about)


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
    if routing.of_everything:
        return find_all_known(parts, caller)
    if routing.topic is None:
        return []
    if routing.topic:
        return find_topic(parts, caller, routing.topic, speaker_alone=routing.speaker_alone)
    return find_last_said(parts, caller)
