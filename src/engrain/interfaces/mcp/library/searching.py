"""The library's tools that search, and that make of what is found what a prompt needs."""

from typing import Annotated, Any

from mcp_types import CallToolResult, TextContent
from pydantic import Field

from engrain.domain.records import Role
from engrain.interfaces.mcp import arguments as given
from engrain.interfaces.mcp.identity import Identity, RequestContextArgument
from engrain.interfaces.mcp.library import words
from engrain.interfaces.mcp.library.answers import Block, Chat, Recalled, Routed
from engrain.interfaces.mcp.offers import READS, Offer
from engrain.interfaces.mcp.results import Found


def recall(  # what a search can be narrowed by
    who: Identity,
    query: words.Asked,
    *,
    limit: words.MostHits = None,
    preset: words.Preset = None,
    kinds: given.Kinds = None,
    scope: given.WithinScope = None,
    sessions: Annotated[list[str] | None, Field(description="Of any of these conversations.")] = None,
    exclude_sessions: Annotated[list[str] | None, Field(description="Of none of these conversations.")] = None,
    roles: Annotated[list[Role] | None, Field(description="Turns of these roles alone.")] = None,
    speakers: Annotated[list[str] | None, Field(description="Said by any of these.")] = None,
    subjects: Annotated[list[str] | None, Field(description="Facts about any of these.")] = None,
    tags: Annotated[list[str] | None, Field(description="With all of these.")] = None,
    since: Annotated[str | None, Field(description="Not before, ISO 8601.")] = None,
    until: Annotated[str | None, Field(description="Before, ISO 8601.")] = None,
    as_of: words.AsOf = None,
    include_inactive: words.IncludeInactive = False,
    min_confidence: Annotated[float | None, Field(description="Believed at least so much, 0 to 1.")] = None,
    deep: Annotated[bool, Field(description="Let the server's re-ranker order the best, if it has one.")] = False,
    neighbours: Annotated[int, Field(description="With so many turns before and after each episode, 0 to 5.")] = 0,
    explain: Annotated[bool, Field(description="Tell also of candidates that are no hits, and why.")] = False,
    request_context: RequestContextArgument = None,
) -> Recalled:
    """The best memories for a question, best first, by any ranking and narrowed in any way, each saying why."""
    agent = who.agent(request_context)
    answer = agent.recall(
        query,
        limit=limit,
        preset=preset,
        kinds=kinds,
        scope=scope,
        sessions=sessions,
        exclude_sessions=exclude_sessions,
        roles=roles,
        speakers=speakers,
        subjects=subjects,
        tags=tags,
        since=since,
        until=until,
        as_of=as_of,
        include_inactive=include_inactive,
        min_confidence=min_confidence,
        deep=deep,
        neighbours=neighbours,
        explain=explain,
    )
    return Recalled.of(agent, answer)


def get(
    who: Identity,
    memory_id: given.MemoryId,
    *,
    as_of: words.AsOf = None,
    request_context: RequestContextArgument = None,
) -> Found:
    """One memory of any kind by id, live or not; with as_of only if it was believed then."""
    agent = who.agent(request_context)
    return Found.of(agent, agent.get(memory_id, as_of=as_of))


def context(
    who: Identity,
    query: Annotated[str, Field(description="The prompt that the block is for.")],
    *,
    budget_tokens: Annotated[int | None, Field(description="Tokens at most; the server's setting if left out.")] = None,
    count_tokens: words.CountTokens = None,
    recipe: words.Recipe = None,
    recent_episodes: words.RecentEpisodes = None,
    include_superseded: Annotated[bool, Field(description="Also what holds no more, marked.")] = False,
    with_dates: Annotated[bool, Field(description="Say when.")] = True,
    with_sources: Annotated[bool, Field(description="End each line with where it comes from.")] = False,
    request_context: RequestContextArgument = None,
) -> Annotated[CallToolResult, Block]:
    """A Markdown block for a prompt, by any recipe, within a budget of tokens.

    The conversation that request_context.session_id names is left out.
    """
    agent = who.agent(request_context)
    block = agent.context(
        query,
        budget_tokens=budget_tokens,
        count_tokens=count_tokens,
        recipe=recipe,
        recent_episodes=recent_episodes,
        include_superseded=include_superseded,
        with_dates=with_dates,
        with_sources=with_sources,
    )
    said = Block.of(agent, block)
    return CallToolResult(
        content=[TextContent(type="text", text=block.text)], structured_content=said.model_dump(mode="json")
    )


def messages(
    who: Identity,
    asked: Annotated[str, Field(description="What is asked now.")],
    *,
    system: Annotated[str, Field(description="The system prompt.")] = "",
    tools: Annotated[
        list[dict[str, Any] | str] | int, Field(description="Schemas of the tools, which are counted, or their number.")
    ] = 0,
    window_tokens: Annotated[int | None, Field(description="The model's window; the setting's if left out.")] = None,
    count_tokens: words.CountTokens = None,
    recipe: words.Recipe = None,
    recent_episodes: words.RecentEpisodes = None,
    request_context: RequestContextArgument = None,
) -> Chat:
    """The messages of a chat that fit into a model's window: system prompt, what is remembered, what is asked."""
    agent = who.agent(request_context)
    made = agent.messages(
        asked,
        system=system,
        tools=tools,
        window_tokens=window_tokens,
        count_tokens=count_tokens,
        recipe=recipe,
        recent_episodes=recent_episodes,
    )
    return Chat.of(agent, made)


def route(
    who: Identity,
    content: Annotated[str, Field(description="What was said.")],
    *,
    role: words.TurnRole = "user",
    speaker: words.Speaker = None,
    request_context: RequestContextArgument = None,
) -> Routed:
    """Where an input belongs, and why: an episode, fact, rule, note, question, or the work at hand. Stores nothing."""
    agent = who.agent(request_context)
    return Routed.of(agent, agent.route(content, role=role, speaker=speaker))


OFFERS = (
    Offer(recall, READS),
    Offer(get, READS),
    Offer(context, READS),
    Offer(messages, READS),
    Offer(route, READS),
)
