"""The profile `butler`: the tools of a butler's memory module, by their names and parameters."""

from typing import Annotated, Any

from mcp_types import CallToolResult, TextContent
from pydantic import Field

from engrain.agent.agent import Agent
from engrain.agent.compat import is_of_kind
from engrain.domain.records import DEFAULT_TENANT, EntityType
from engrain.interfaces.compat.stats import memory_stats
from engrain.interfaces.mcp import argument_types as types
from engrain.interfaces.mcp.identity import Identity, RequestContextArgument, current_identity
from engrain.interfaces.mcp.results import (
    CleanupResult,
    ConsolidationResult,
    ContextText,
    EntityCandidates,
    FoundEntity,
    FoundMemory,
    MergeResult,
    SearchHits,
    StoredMemory,
    reason_text,
    reason_texts,
)
from engrain.interfaces.mcp.tools import (
    ADDS,
    CONFIRMS,
    LEARNS,
    READS,
    REMOVES,
    REPLACES,
    ToolDefinition,
    catch_not_found,
)

# How long an episode of a butler lives where the settings do not say: what happened is learned from within a week.
EPISODE_DAYS = 7.0


def memory_store_episode(
    identity: Identity,
    content: types.Content,
    butler: types.ButlerName,
    *,
    session_id: Annotated[str | None, Field(description="Conversation it belongs to.")] = None,
    importance: types.Importance = 5.0,
    idempotency_key: types.IdempotencyKey = None,
    request_context: RequestContextArgument = None,
) -> StoredMemory:
    """Store what happened in a session, as one episode. It is searchable at once, and forgotten after seven days.

    Facts and rules that are learned from it (memory_run_consolidation) stay.
    """
    identity.require_butler(butler)
    agent = identity.agent(request_context, session=session_id)
    days = identity.memory.settings.episodes.ttl_days
    episode = agent.observe(
        content,
        importance=importance,
        ttl_days=EPISODE_DAYS if days is None else days,
        idempotency_key=idempotency_key,
    )
    return StoredMemory.of(episode).for_request(agent)


def memory_store_fact(
    agent: Agent,
    subject: Annotated[str, Field(description="Whom or what it is about.")],
    predicate: Annotated[str, Field(description="What it says of the subject, such as: lives in.")],
    content: types.Content,
    *,
    importance: types.Importance = 5.0,
    permanence: types.PermanenceName = "standard",
    scope: types.Scope = None,
    tags: types.Tags = None,
    entity_id: Annotated[str | None, Field(description="Entity that the subject is, where it is known.")] = None,
    idempotency_key: types.IdempotencyKey = None,
) -> StoredMemory:
    """Store what is true: subject, predicate, content. It supersedes what was true of the same before."""
    fact = agent.remember(
        content,
        subject=subject,
        predicate=predicate,
        importance=importance,
        permanence=permanence,
        scope=scope or agent.caller.widest_scope,
        tags=tags,
        entity_id=entity_id,
        idempotency_key=idempotency_key,
    )
    return StoredMemory.of(fact)


def memory_store_rule(
    agent: Agent,
    content: types.Content,
    *,
    scope: types.Scope = None,
    tags: types.Tags = None,
    idempotency_key: types.IdempotencyKey = None,
) -> StoredMemory:
    """Store how to go about something: a candidate, until memory_mark_helpful or memory_mark_harmful judge it."""
    place = scope or agent.caller.widest_scope
    return StoredMemory.of(agent.rules.add(content, scope=place, tags=tags, idempotency_key=idempotency_key))


def memory_search(
    agent: Agent,
    query: Annotated[str, Field(description="What to look for: any text.")],
    *,
    types: types.Kinds = None,
    scope: types.WithinScope = None,
    mode: types.Mode = "hybrid",
    limit: types.Limit = 10,
    min_confidence: Annotated[float, Field(description="Leave out what is believed less, 0 to 1.")] = 0.2,
) -> SearchHits:
    """Find episodes, facts and rules by meaning and words, best first."""
    answer = agent.recall(query, kinds=types, scope=scope, preset=mode, limit=limit, min_confidence=min_confidence)
    return SearchHits.of(answer)


def memory_recall(
    agent: Agent,
    topic: Annotated[str, Field(description="What to think of: any text.")],
    *,
    scope: types.WithinScope = None,
    limit: types.Limit = 10,
) -> SearchHits:
    """Recall what is known about a topic, ranked by relevance, importance, recency and how far it is believed."""
    return SearchHits.of(agent.recall(topic, scope=scope, preset="recall", limit=limit))


def memory_get(agent: Agent, memory_type: types.MemoryType, memory_id: types.MemoryId) -> FoundMemory:
    """One memory by its kind and id, whether it is live, superseded or forgotten."""
    return FoundMemory.of(agent.get(memory_id) if is_of_kind(agent, memory_id, memory_type) else None)


def memory_confirm(agent: Agent, memory_type: types.MemoryType, memory_id: types.MemoryId) -> FoundMemory:
    """Say that a fact or a rule still holds: it fades from now on, not from when it was learned."""
    is_there = is_of_kind(agent, memory_id, memory_type)
    return FoundMemory.of(catch_not_found(lambda: agent.confirm(memory_id)) if is_there else None)


def memory_mark_helpful(agent: Agent, rule_id: types.RuleId) -> FoundMemory:
    """Say that following a rule helped."""
    return FoundMemory.of(catch_not_found(lambda: agent.rules.mark_helpful(rule_id)))


def memory_mark_harmful(
    agent: Agent,
    rule_id: types.RuleId,
    *,
    reason: Annotated[str | None, Field(description="What went wrong.")] = None,
) -> FoundMemory:
    """Say that following a rule did harm, which weighs as much as four helps; the worst become warnings."""
    return FoundMemory.of(catch_not_found(lambda: agent.rules.mark_harmful(rule_id, reason)))


def memory_forget(agent: Agent, memory_type: types.MemoryType, memory_id: types.MemoryId) -> FoundMemory:
    """Forget one memory: it leaves every search at once, and stays readable by memory_get."""
    is_there = is_of_kind(agent, memory_id, memory_type)
    return FoundMemory.of(catch_not_found(lambda: agent.forget(memory_id)) if is_there else None)


def memory_context(
    agent: Agent,
    trigger_prompt: Annotated[str, Field(description="The prompt that the block is for.")],
    butler: types.ButlerName,
    *,
    token_budget: Annotated[int | None, Field(description="Tokens at most; the server's setting if left out.")] = None,
) -> Annotated[CallToolResult, ContextText]:
    """A Markdown block for a prompt: the facts and rules that matter most for it, within a budget of tokens.

    The conversation that request_context.session_id names is left out.
    """
    current_identity().require_butler(butler)
    block = agent.context(trigger_prompt, budget_tokens=token_budget, recipe="butler")
    context = ContextText(
        text=block.text,
        tokens=block.tokens,
        budget_tokens=block.budget_tokens,
        memory_ids=[memory.id for memory in block.memories],
        left_out=block.left_out,
        degraded=reason_texts(block.degraded),
        request_id=agent.caller.request_id,
    )
    return CallToolResult(
        content=[TextContent(type="text", text=block.text)], structured_content=context.model_dump(mode="json")
    )


def entity_create(
    agent: Agent,
    canonical_name: Annotated[str, Field(description="The name it is known by.")],
    entity_type: types.EntityTypeName,
    tenant_id: types.TenantId,
    *,
    aliases: Annotated[list[str] | None, Field(description="Other names.")] = None,
    metadata: Annotated[dict[str, Any] | None, Field(description="Whatever else is known.")] = None,
) -> FoundEntity:
    """Add somebody or something to the registry; memory_store_fact says facts about its id."""
    current_identity().require_tenant(tenant_id)
    return FoundEntity.of(agent.entities.create(canonical_name, entity_type, aliases=aliases, metadata=metadata))


def entity_get(agent: Agent, entity_id: types.EntityId) -> FoundEntity:
    """One entity by id; the metadata of one that was merged says into which (merged_into)."""
    return FoundEntity.of(agent.entities.get(entity_id))


def entity_update(
    agent: Agent,
    entity_id: types.EntityId,
    *,
    canonical_name: Annotated[str | None, Field(description="The new name.")] = None,
    aliases: Annotated[list[str] | None, Field(description="All other names: these take the place of the old.")] = None,
    metadata: Annotated[dict[str, Any] | None, Field(description="Added to what is there, key by key.")] = None,
) -> FoundEntity:
    """Call an entity otherwise, or say more of it. What is left out stays."""
    changed = catch_not_found(
        lambda: agent.entities.update(entity_id, name=canonical_name, aliases=aliases, metadata=metadata)
    )
    return FoundEntity.of(changed)


def entity_resolve(
    agent: Agent,
    name: Annotated[str, Field(description="A name as somebody said it.")],
    *,
    tenant_id: types.TenantId = DEFAULT_TENANT,
    entity_type: Annotated[EntityType | None, Field(description="Of this sort alone.")] = None,
    context_hints: Annotated[
        dict[str, Any] | None,
        Field(description="topic: a text, mentioned_with: names, domain_scores: numbers by entity id."),
    ] = None,
    enable_fuzzy: Annotated[bool, Field(description="Also names that are merely alike.")] = False,
) -> EntityCandidates:
    """Find the entities that a name may mean, the likeliest first; none where it is unknown. Nothing is created."""
    current_identity().require_tenant(tenant_id)
    matches = agent.entities.resolve(name, entity_type=entity_type, hints=context_hints, fuzzy=enable_fuzzy)
    return EntityCandidates(candidates=matches)


def entity_merge(
    agent: Agent,
    source_entity_id: Annotated[str, Field(description="Entity that is the same as the target, and ends.")],
    target_entity_id: Annotated[str, Field(description="Entity that takes it in, and stays.")],
) -> MergeResult:
    """Let one entity take in another that is the same: facts, mentions, aliases and metadata move to the target."""
    return MergeResult.model_validate(agent.entities.merge(source_entity_id, target_entity_id))


def memory_run_consolidation(identity: Identity) -> ConsolidationResult:
    """Learn facts and rules from this agent's episodes that wait for it, with the server's language model.

    Without one it only counts what is due.
    """
    identity.rights.check_every_user()
    report = identity.memory.consolidate(identity.tenant, agent=identity.agent_name)
    return ConsolidationResult(
        dry_run=report.dry_run,
        due=sum(group.episodes for group in report.groups),
        episodes=report.episodes,
        new=report.new,
        updated=report.updated,
        confirmed=report.confirmed,
        rejected=len(report.rejected),
        failures=[f"{failure.code}: {reason_text(failure)}" for failure in report.failures],
        run_ids=list(report.run_ids),
    )


def memory_run_episode_cleanup(
    identity: Identity,
    *,
    max_entries: Annotated[int, Field(description="Episodes of the tenant that may stay.")] = 10_000,
) -> CleanupResult:
    """Remove the tenant's episodes that ran out, and of too many the oldest consolidated ones. This is for good."""
    report = identity.memory.cleanup(identity.rights.whole_tenant, max_entries=max_entries)
    return CleanupResult.model_validate(report)


TOOLS = (
    ToolDefinition(memory_store_episode, ADDS),
    ToolDefinition(memory_store_fact, REPLACES),
    ToolDefinition(memory_store_rule, ADDS),
    ToolDefinition(memory_search, READS),
    ToolDefinition(memory_recall, READS),
    ToolDefinition(memory_get, READS),
    ToolDefinition(memory_confirm, CONFIRMS),
    ToolDefinition(memory_mark_helpful, ADDS),
    ToolDefinition(memory_mark_harmful, ADDS),
    ToolDefinition(memory_forget, REMOVES),
    ToolDefinition(memory_stats, READS),
    ToolDefinition(memory_context, READS),
    ToolDefinition(entity_create, ADDS),
    ToolDefinition(entity_get, READS),
    ToolDefinition(entity_update, REPLACES),
    ToolDefinition(entity_resolve, READS),
    ToolDefinition(entity_merge, REPLACES),
    ToolDefinition(memory_run_consolidation, LEARNS),
    ToolDefinition(memory_run_episode_cleanup, REMOVES, role="admin"),
)
