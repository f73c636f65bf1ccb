"""The library's tools that list what there is, what was done, and what is wrong with it."""

from typing import Annotated

from pydantic import Field

from engrain.domain.maintenance.findings import FindingKind
from engrain.domain.records import EntityType, Relation
from engrain.domain.requests import Direction
from engrain.interfaces.mcp import arguments as given
from engrain.interfaces.mcp.identity import Identity, RequestContextArgument
from engrain.interfaces.mcp.library import words
from engrain.interfaces.mcp.library.answers import (
    Applications,
    Audited,
    Entities,
    Events,
    Facts,
    Links,
    Overviewed,
)
from engrain.interfaces.mcp.offers import READS, Offer
from engrain.interfaces.mcp.results import Found


def facts(
    who: Identity,
    *,
    subject: Annotated[str | None, Field(description="About this alone.")] = None,
    predicate: Annotated[str | None, Field(description="Saying this alone.")] = None,
    as_of: words.AsOf = None,
    include_inactive: words.IncludeInactive = False,
    limit: given.Limit = 100,
    after: words.After = None,
    request_context: RequestContextArgument = None,
) -> Facts:
    """What is known of a subject, a predicate or both, the newest first."""
    agent = who.agent(request_context)
    found = agent.facts(subject, predicate, as_of=as_of, include_inactive=include_inactive, limit=limit, after=after)
    return Facts.of(found, agent.caller.request_id)


def history(who: Identity, fact_id: given.FactId, *, request_context: RequestContextArgument = None) -> Facts:
    """Every fact that ever held the place of this one, the oldest first; none where there is no such fact."""
    agent = who.agent(request_context)
    return Facts.of(agent.history(fact_id), agent.caller.request_id)


def links(
    who: Identity,
    memory_id: given.MemoryId,
    *,
    direction: Annotated[Direction, Field(description="The memory is the source, the target, or either.")] = "both",
    relation: Annotated[Relation | None, Field(description="Of this relation alone.")] = None,
    request_context: RequestContextArgument = None,
) -> Links:
    """How a memory bears on others, and others on it; none where there is no such memory."""
    agent = who.agent(request_context)
    found = agent.links(memory_id, direction=direction, relation=relation)
    return Links.of(found, agent.caller.request_id)


def events(
    who: Identity,
    *,
    memory_id: Annotated[str | None, Field(description="Of this memory alone.")] = None,
    event_type: Annotated[str | None, Field(description="Of this type alone, such as fact_superseded.")] = None,
    limit: given.Limit = 100,
    after: words.After = None,
    request_context: RequestContextArgument = None,
) -> Events:
    """What was done, by whom, when and on whose request, the newest first."""
    agent = who.agent(request_context)
    found = agent.events(memory_id, event_type=event_type, limit=limit, after=after)
    return Events.of(found, agent.caller.request_id)


def rule_applications(
    who: Identity,
    rule_id: given.RuleId,
    *,
    limit: given.Limit = 100,
    after: words.After = None,
    request_context: RequestContextArgument = None,
) -> Applications:
    """How a rule fared each time somebody marked it, the newest first; none where there is no such rule."""
    agent = who.agent(request_context)
    found = agent.rules.applications(rule_id, limit=limit, after=after)
    return Applications.of(found, agent.caller.request_id)


def latest_reflection(who: Identity, *, request_context: RequestContextArgument = None) -> Found:
    """What this agent carries on from the last time it looked back; `found` false before the first."""
    agent = who.agent(request_context)
    return Found.of(agent, agent.latest_reflection())


def entity_find(
    who: Identity,
    *,
    entity_type: Annotated[EntityType | None, Field(description="Of this sort alone.")] = None,
    limit: given.Limit = 100,
    after: words.After = None,
    request_context: RequestContextArgument = None,
) -> Entities:
    """The entities of the registry by name, but for those that were merged into others."""
    agent = who.agent(request_context)
    found = agent.entities.find(entity_type=entity_type, limit=limit, after=after)
    return Entities.of(found, agent.caller.request_id)


def overview(
    who: Identity,
    *,
    days: Annotated[int, Field(description="How many days back, 0 to 366.")] = 30,
    limit: Annotated[int, Field(description="How many of each at most, 0 to 100.")] = 10,
    request_context: RequestContextArgument = None,
) -> Overviewed:
    """What this agent remembers at a glance: counts, days, what is newest and most asked for, runs, what waits."""
    agent = who.agent(request_context)
    return Overviewed(overview=agent.overview(days=days, limit=limit), request_id=agent.caller.request_id)


def audit(
    who: Identity,
    *,
    kinds: Annotated[list[FindingKind] | None, Field(description="Look for these alone.")] = None,
    limit: Annotated[int, Field(description="At most so many findings of each kind.")] = 100,
    skip: Annotated[int, Field(description="Leave out the first so many of each kind.")] = 0,
    unused_days: Annotated[float, Field(description="Never recalled in so many days is a finding.")] = 30.0,
    request_context: RequestContextArgument = None,
) -> Audited:
    """Look for what is wrong with what this agent sees: secrets, contradictions, duplicates, what is stale; no change.

    Each finding has its evidence, and a command of engrain for it.
    """
    agent = who.agent(request_context)
    return Audited.of(agent, agent.audit(kinds=kinds, limit=limit, skip=skip, unused_days=unused_days))


OFFERS = (
    Offer(facts, READS),
    Offer(history, READS),
    Offer(links, READS),
    Offer(events, READS),
    Offer(rule_applications, READS),
    Offer(latest_reflection, READS),
    Offer(entity_find, READS),
    Offer(overview, READS),
    Offer(audit, READS, role="admin"),
)
