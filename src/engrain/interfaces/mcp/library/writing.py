"""The library's tools that add and change memories."""

from typing import Annotated, Any

from pydantic import Field

from engrain.domain.records import Relation
from engrain.domain.runs.summaries import Strategy
from engrain.interfaces.mcp import arguments as given
from engrain.interfaces.mcp.identity import Identity, RequestContextArgument
from engrain.interfaces.mcp.library import words
from engrain.interfaces.mcp.library.answers import Archived, Erased, Linked, Parted, Summarized
from engrain.interfaces.mcp.offers import ADDS, CONFIRMS, LEARNS, REMOVES, REPLACES, Offer, unless_absent
from engrain.interfaces.mcp.results import Found, Stored


def observe(
    who: Identity,
    content: given.Content,
    *,
    role: words.TurnRole = "user",
    speaker: words.Speaker = None,
    session_id: words.SessionName = None,
    event_time: Annotated[str | None, Field(description="When it happened, ISO 8601; now if left out.")] = None,
    importance: words.Importance = None,
    ttl_days: Annotated[
        float | None, Field(description="Forgotten so many days after now; the server's setting if left out.")
    ] = None,
    tokens: Annotated[int | None, Field(description="How many tokens it took.")] = None,
    model: Annotated[str | None, Field(description="Model that wrote it.")] = None,
    tool_calls: Annotated[list[Any] | None, Field(description="JSON values of the tools that were called.")] = None,
    tags: given.Tags = None,
    metadata: words.Metadata = None,
    idempotency_key: given.IdempotencyKey = None,
    request_context: RequestContextArgument = None,
) -> Stored:
    """Remember what happened: one turn of a conversation, word for word, with all that a runtime knows of it."""
    agent = who.agent(request_context, session=session_id)
    episode = agent.observe(
        content,
        role=role,
        speaker=speaker,
        event_time=event_time,
        importance=importance,
        ttl_days=ttl_days,
        tokens=tokens,
        model=model,
        tool_calls=tool_calls,
        tags=tags,
        metadata=metadata,
        idempotency_key=idempotency_key,
    )
    return Stored.of(agent, episode)


def remember(
    who: Identity,
    content: Annotated[str, Field(description="What is true of the subject and predicate.")],
    subject: Annotated[str, Field(description="Whom or what it is about.")],
    predicate: Annotated[str, Field(description="What it says of the subject, such as: lives in.")],
    *,
    entity_id: Annotated[str | None, Field(description="Entity that the subject names.")] = None,
    scope: words.OwnScope = None,
    valid_from: words.ValidFrom = None,
    valid_to: words.ValidTo = None,
    category: Annotated[str | None, Field(description="What sort of fact it is; its words tell if left out.")] = None,
    permanence: given.HowLong = "standard",
    importance: words.Importance = None,
    confidence: words.Confidence = 1.0,
    source: words.Source = None,
    source_episode_id: words.SourceEpisode = None,
    tags: given.Tags = None,
    metadata: words.Metadata = None,
    idempotency_key: given.IdempotencyKey = None,
    request_context: RequestContextArgument = None,
) -> Stored:
    """Remember what is true, with all that is known of it. It supersedes what was true of the same before."""
    agent = who.agent(request_context)
    fact = agent.remember(
        content,
        subject=subject,
        predicate=predicate,
        entity_id=entity_id,
        scope=scope,
        valid_from=valid_from,
        valid_to=valid_to,
        category=category,
        permanence=permanence,
        importance=importance,
        confidence=confidence,
        source=source,
        source_episode_id=source_episode_id,
        tags=tags,
        metadata=metadata,
        idempotency_key=idempotency_key,
    )
    return Stored.of(agent, fact)


def correct(
    who: Identity,
    fact_id: given.FactId,
    content: Annotated[str, Field(description="What is true instead.")],
    *,
    valid_from: words.ValidFrom = None,
    valid_to: words.ValidTo = None,
    confidence: words.Confidence = 1.0,
    source: words.Source = None,
    source_episode_id: words.SourceEpisode = None,
    metadata: words.Metadata = None,
    request_context: RequestContextArgument = None,
) -> Found:
    """Put a new fact in the place of an active one: the same statement with other content. It has a new id."""
    agent = who.agent(request_context)
    fact = unless_absent(
        lambda: agent.correct(
            fact_id,
            content,
            valid_from=valid_from,
            valid_to=valid_to,
            confidence=confidence,
            source=source,
            source_episode_id=source_episode_id,
            metadata=metadata,
        )
    )
    return Found.of(agent, fact)


def erase(
    who: Identity,
    memory_ids: Annotated[list[str], Field(description="Ids of memories.")],
    *,
    request_context: RequestContextArgument = None,
) -> Erased:
    """Remove memories for good, with all that was made of them. It cannot be undone; memory_forget can be looked up."""
    agent = who.agent(request_context)
    return Erased(erased=agent.erase(memory_ids), request_id=agent.caller.request_id)


def link(
    who: Identity,
    source_id: Annotated[str, Field(description="Id of the memory that bears on the other.")],
    target_id: Annotated[str, Field(description="Id of the other.")],
    relation: Annotated[Relation, Field(description="How it bears on it.")],
    *,
    weight: Annotated[float, Field(description="How strongly, 0 to 1.")] = 1.0,
    request_context: RequestContextArgument = None,
) -> Linked:
    """Say how one memory bears on another. A link that is there stays as it is."""
    agent = who.agent(request_context)
    made = unless_absent(lambda: agent.link(source_id, target_id, relation, weight=weight))
    return Linked(found=made is not None, link=made, request_id=agent.caller.request_id)


def rule_add(
    who: Identity,
    content: Annotated[str, Field(description="How to go about something.")],
    *,
    scope: words.OwnScope = None,
    source_episode_id: words.SourceEpisode = None,
    tags: given.Tags = None,
    metadata: words.Metadata = None,
    idempotency_key: given.IdempotencyKey = None,
    request_context: RequestContextArgument = None,
) -> Stored:
    """Remember how to go about something: a candidate, until outcomes speak for or against it."""
    agent = who.agent(request_context)
    rule = agent.rules.add(
        content,
        scope=scope,
        source_episode_id=source_episode_id,
        tags=tags,
        metadata=metadata,
        idempotency_key=idempotency_key,
    )
    return Stored.of(agent, rule)


def summarize(
    who: Identity,
    *,
    query: Annotated[str | None, Field(description="What a search for this finds.")] = None,
    session_id: Annotated[str | None, Field(description="The turns of this conversation.")] = None,
    memory_ids: Annotated[list[str] | None, Field(description="These memories.")] = None,
    strategy: Annotated[Strategy | None, Field(description="How; the server's setting if left out.")] = None,
    target_tokens: Annotated[int | None, Field(description="Tokens at most; the setting's if left out.")] = None,
    store: Annotated[bool, Field(description="Keep it as a fact, derived from its sources.")] = False,
    request_context: RequestContextArgument = None,
) -> Summarized:
    """Say in one text what several memories say: those of a query, a session or ids, one of them.

    Where none is named, the conversation of request_context.session_id.
    """
    agent = who.agent(request_context)
    summary = unless_absent(
        lambda: agent.summarize(
            query, session=session_id, ids=memory_ids, strategy=strategy, target_tokens=target_tokens, store=store
        )
    )
    return Summarized(found=summary is not None, summary=summary, request_id=agent.caller.request_id)


def entity_unmerge(
    who: Identity,
    source_entity_id: Annotated[str, Field(description="Entity that was merged into another.")],
    *,
    request_context: RequestContextArgument = None,
) -> Parted:
    """Undo the merge of an entity: what moved goes back. What was done since stays."""
    agent = who.agent(request_context)
    undone = unless_absent(lambda: agent.entities.unmerge(source_entity_id))
    return Parted(found=undone is not None, merge=undone, request_id=agent.caller.request_id)


def summarize_notes(
    who: Identity,
    *,
    older_than_days: Annotated[float, Field(description="Notes that were not saved for so many days.")] = 30.0,
    request_context: RequestContextArgument = None,
) -> Archived:
    """Put one note in the place of each group of old notes whose keys begin alike; the old ones are archived."""
    agent = who.agent(request_context)
    return Archived(archived=agent.notes.summarize_old(older_than_days), request_id=agent.caller.request_id)


OFFERS = (
    Offer(observe, ADDS),
    Offer(remember, REPLACES),
    Offer(correct, REPLACES),
    Offer(erase, REMOVES, role="admin"),
    Offer(link, CONFIRMS),
    Offer(rule_add, ADDS),
    Offer(summarize, LEARNS),
    Offer(entity_unmerge, REPLACES),
    Offer(summarize_notes, REPLACES),
)
