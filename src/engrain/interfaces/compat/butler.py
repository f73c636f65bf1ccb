"""The profile `butler`: the tools of a butler's memory module, by their names and parameters."""

from typing import Annotated, Any

from mcp_types import CallToolResult, TextContent
from pydantic import Field

from engrain.agent.compat import is_of_kind
from engrain.domain.records import DEFAULT_TENANT, EntityType
from engrain.interfaces.compat.counting import memory_stats
from engrain.interfaces.mcp import arguments as given
from engrain.interfaces.mcp.identity import Identity, RequestContextArgument
from engrain.interfaces.mcp.offers import ADDS, CONFIRMS, LEARNS, READS, REMOVES, REPLACES, Offer, unless_absent
from engrain.interfaces.mcp.results import (
    Candidates,
    Cleaned,
    Consolidated,
    ContextText,
    Found,
    FoundEntity,
    Matches,
    Merged,
    Stored,
    text_of,
    texts_of,
)

# How long an episode of a butler lives where the settings do not say: what happened is learned from within a week.
EPISODE_DAYS = 7.0


def memory_store_episode(
    who: Identity,
    content: given.Content,
    butler: given.Butler,
    *,
    session_id: Annotated[str | None, Field(description="Conversation it belongs to.")] = None,
    importance: given.Importance = 5.0,
    idempotency_key: given.IdempotencyKey = None,
    request_context: RequestContextArgument = None,
) -> Stored:
    """Store what happened in a session, as one episode. It is searchable at once, and forgotten after seven days.

    Facts and rules that are learned from it (memory_run_consolidation) stay.
    """
    who.require_butler(butler)
    agent = who.agent(request_context, session=session_id)
    days = who.memory.settings.episodes.ttl_days
    episode = agent.observe(
        content,
        importance=importance,
        ttl_days=EPISODE_DAYS if days is None else days,
        idempotency_key=idempotency_key,
    )
    return Stored.of(agent, episode)


def memory_store_fact(
    who: Identity,
    subject: Annotated[str, Field(description="Whom or what it is about.")],
    predicate: Annotated[str, Field(description="What it says of the subject, such as: lives in.")],
    content: given.Content,
    *,
    importance: given.Importance = 5.0,
    permanence: given.HowLong = "standard",
    scope: given.Scope = "global",
    tags: given.Tags = None,
    entity_id: Annotated[str | None, Field(description="Entity that the subject is, where it is known.")] = None,
    idempotency_key: given.IdempotencyKey = None,
    request_context: RequestContextArgument = None,
) -> Stored:
    """Store what is true: subject, predicate, content. It supersedes what was true of the same before."""
    agent = who.agent(request_context)
    fact = agent.remember(
        content,
        subject=subject,
        predicate=predicate,
        importance=importance,
        permanence=permanence,
        scope=scope,
        tags=tags,
        entity_id=entity_id,
        idempotency_key=idempotency_key,
    )
    return Stored.of(agent, fact)


def memory_store_rule(
    who: Identity,
    content: given.Content,
    *,
    scope: given.Scope = "global",
    tags: given.Tags = None,
    idempotency_key: given.IdempotencyKey = None,
    request_context: RequestContextArgument = None,
) -> Stored:
    """Store how to go about something: a candidate, until memory_mark_helpful or memory_mark_harmful judge it."""
    agent = who.agent(request_context)
    return Stored.of(agent, agent.rules.add(content, scope=scope, tags=tags, idempotency_key=idempotency_key))


def memory_search(
    who: Identity,
    query: Annotated[str, Field(description="What to look for: any text.")],
    *,
    types: given.Kinds = None,
    scope: given.WithinScope = None,
    mode: given.Mode = "hybrid",
    limit: given.Limit = 10,
    min_confidence: Annotated[float, Field(description="Leave out what is believed less, 0 to 1.")] = 0.2,
    request_context: RequestContextArgument = None,
) -> Matches:
    """Find episodes, facts and rules by meaning and words, best first."""
    agent = who.agent(request_context)
    answer = agent.recall(query, kinds=types, scope=scope, preset=mode, limit=limit, min_confidence=min_confidence)
    return Matches.of(agent, answer)


def memory_recall(
    who: Identity,
    topic: Annotated[str, Field(description="What to think of: any text.")],
    *,
    scope: given.WithinScope = None,
    limit: given.Limit = 10,
    request_context: RequestContextArgument = None,
) -> Matches:
    """What is known about a topic, ranked by relevance, importance, recency and how far it is believed."""
    agent = who.agent(request_context)
    return Matches.of(agent, agent.recall(topic, scope=scope, preset="recall", limit=limit))


def memory_get(
    who: Identity,
    memory_type: given.MemoryType,
    memory_id: given.MemoryId,
    *,
    request_context: RequestContextArgument = None,
) -> Found:
    """One memory by its kind and id, whether it is live, superseded or forgotten."""
    agent = who.agent(request_context)
    memory = agent.get(memory_id)
    return Found.of(agent, memory if memory is not None and memory.kind == memory_type else None)


def memory_confirm(
    who: Identity,
    memory_type: given.MemoryType,
    memory_id: given.MemoryId,
    *,
    request_context: RequestContextArgument = None,
) -> Found:
    """Say that a fact or a rule still holds: it fades from now on, not from when it was learned."""
    agent = who.agent(request_context)
    is_there = is_of_kind(agent, memory_id, memory_type)
    return Found.of(agent, unless_absent(lambda: agent.confirm(memory_id)) if is_there else None)


def memory_mark_helpful(
    who: Identity, rule_id: given.RuleId, *, request_context: RequestContextArgument = None
) -> Found:
    """Say that following a rule helped."""
    agent = who.agent(request_context)
    return Found.of(agent, unless_absent(lambda: agent.rules.mark_helpful(rule_id)))


def memory_mark_harmful(
    who: Identity,
    rule_id: given.RuleId,
    *,
    reason: Annotated[str | None, Field(description="What went wrong.")] = None,
    request_context: RequestContextArgument = None,
) -> Found:
    """Say that following a rule did harm, which weighs as much as four helps; the worst become warnings."""
    agent = who.agent(request_context)
    return Found.of(agent, unless_absent(lambda: agent.rules.mark_harmful(rule_id, reason)))


def memory_forget(
    who: Identity,
    memory_type: given.MemoryType,
    memory_id: given.MemoryId,
    *,
    request_context: RequestContextArgument = None,
) -> Found:
    """Forget one memory: it leaves every search at once, and stays readable by memory_get."""
    agent = who.agent(request_context)
    is_there = is_of_kind(agent, memory_id, memory_type)
    return Found.of(agent, unless_absent(lambda: agent.forget(memory_id)) if is_there else None)


def memory_context(
    who: Identity,
    trigger_prompt: Annotated[str, Field(description="The prompt that the block is for.")],
    butler: given.Butler,
    *,
    token_budget: Annotated[int | None, Field(description="Tokens at most; the server's setting if left out.")] = None,
    request_context: RequestContextArgument = None,
) -> Annotated[CallToolResult, ContextText]:
    """A Markdown block for a prompt: the facts and rules that matter most for it, within a budget of tokens.

    The conversation that request_context.session_id names is left out.
    """
    who.require_butler(butler)
    agent = who.agent(request_context)
    block = agent.context(trigger_prompt, budget_tokens=token_budget, recipe="butler")
    said = ContextText(
        text=block.text,
        tokens=block.tokens,
        budget_tokens=block.budget_tokens,
        memory_ids=[each.id for each in block.memories],
        left_out=block.left_out,
        degraded=texts_of(block.degraded),
        request_id=agent.caller.request_id,
    )
    return CallToolResult(
        content=[TextContent(type="text", text=block.text)], structured_content=said.model_dump(mode="json")
    )


def entity_create(
    who: Identity,
    canonical_name: Annotated[str, Field(description="The name it is known by.")],
    entity_type: given.TypeOfEntity,
    tenant_id: given.Tenant,
    *,
    aliases: Annotated[list[str] | None, Field(description="Other names.")] = None,
    metadata: Annotated[dict[str, Any] | None, Field(description="Whatever else is known.")] = None,
    request_context: RequestContextArgument = None,
) -> FoundEntity:
    """Add somebody or something to the registry; memory_store_fact says facts about its id."""
    who.require_tenant(tenant_id)
    agent = who.agent(request_context)
    return FoundEntity.of(agent, agent.entities.create(canonical_name, entity_type, aliases=aliases, metadata=metadata))


def entity_get(
    who: Identity, entity_id: given.EntityId, *, request_context: RequestContextArgument = None
) -> FoundEntity:
    """One entity by id; the metadata of one that was merged says into which (merged_into)."""
    agent = who.agent(request_context)
    return FoundEntity.of(agent, agent.entities.get(entity_id))


def entity_update(
    who: Identity,
    entity_id: given.EntityId,
    *,
    canonical_name: Annotated[str | None, Field(description="The new name.")] = None,
    aliases: Annotated[list[str] | None, Field(description="All other names: these take the place of the old.")] = None,
    metadata: Annotated[dict[str, Any] | None, Field(description="Added to what is there, key by key.")] = None,
    request_context: RequestContextArgument = None,
) -> FoundEntity:
    """Call an entity otherwise, or say more of it. What is left out stays."""
    agent = who.agent(request_context)
    changed = unless_absent(
        lambda: agent.entities.update(entity_id, name=canonical_name, aliases=aliases, metadata=metadata)
    )
    return FoundEntity.of(agent, changed)


def entity_resolve(
    who: Identity,
    name: Annotated[str, Field(description="A name as somebody said it.")],
    *,
    tenant_id: given.Tenant = DEFAULT_TENANT,
    entity_type: Annotated[EntityType | None, Field(description="Of this sort alone.")] = None,
    context_hints: Annotated[
        dict[str, Any] | None,
        Field(description="topic: a text, mentioned_with: names, domain_scores: numbers by entity id."),
    ] = None,
    enable_fuzzy: Annotated[bool, Field(description="Also names that are merely alike.")] = False,
    request_context: RequestContextArgument = None,
) -> Candidates:
    """Whom a name may mean, the likeliest first; empty where nobody answers to it. Nothing is created."""
    who.require_tenant(tenant_id)
    agent = who.agent(request_context)
    found = agent.entities.resolve(name, entity_type=entity_type, hints=context_hints, fuzzy=enable_fuzzy)
    return Candidates(candidates=found, request_id=agent.caller.request_id)


def entity_merge(
    who: Identity,
    source_entity_id: Annotated[str, Field(description="Entity that is the same as the target, and ends.")],
    target_entity_id: Annotated[str, Field(description="Entity that takes it in, and stays.")],
    *,
    request_context: RequestContextArgument = None,
) -> Merged:
    """Let one entity take in another that is the same: facts, mentions, aliases and metadata move to the target."""
    agent = who.agent(request_context)
    return Merged.of(agent, agent.entities.merge(source_entity_id, target_entity_id))


def memory_run_consolidation(who: Identity) -> Consolidated:
    """Learn facts and rules from this agent's episodes that wait for it, with the server's language model.

    Without one it only counts what is due.
    """
    report = who.memory.consolidate(who.tenant, agent=who.agent_name)
    return Consolidated(
        dry_run=report.dry_run,
        due=sum(each.episodes for each in report.groups),
        episodes=report.episodes,
        new=report.new,
        updated=report.updated,
        confirmed=report.confirmed,
        rejected=len(report.rejected),
        failures=[f"{failure.code}: {text_of(failure)}" for failure in report.failures],
        run_ids=list(report.run_ids),
    )


def memory_run_episode_cleanup(
    who: Identity,
    *,
    max_entries: Annotated[int, Field(description="Episodes of the tenant that may stay.")] = 10_000,
) -> Cleaned:
    """Remove the tenant's episodes that ran out, and of too many the oldest consolidated ones. This is for good."""
    report = who.memory.cleanup(who.whole_tenant, max_entries=max_entries)
    return Cleaned(
        expired_deleted=report.expired_deleted, capacity_deleted=report.capacity_deleted, remaining=report.remaining
    )


OFFERS = (
    Offer(memory_store_episode, ADDS),
    Offer(memory_store_fact, REPLACES),
    Offer(memory_store_rule, ADDS),
    Offer(memory_search, READS),
    Offer(memory_recall, READS),
    Offer(memory_get, READS),
    Offer(memory_confirm, CONFIRMS),
    Offer(memory_mark_helpful, ADDS),
    Offer(memory_mark_harmful, ADDS),
    Offer(memory_forget, REMOVES),
    Offer(memory_stats, READS),
    Offer(memory_context, READS),
    Offer(entity_create, ADDS),
    Offer(entity_get, READS),
    Offer(entity_update, REPLACES),
    Offer(entity_resolve, READS),
    Offer(entity_merge, REPLACES),
    Offer(memory_run_consolidation, LEARNS),
    Offer(memory_run_episode_cleanup, REMOVES, role="admin"),
)
