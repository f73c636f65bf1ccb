"""What an agent asks: searches, and what is put before its prompt."""

from typing import Annotated, Any

from fastapi import Response
from pydantic import Field

from engrain.agent import Agent
from engrain.context.block import ContextBlock
from engrain.context.messages import ContextMessages
from engrain.domain.maintenance.stats import Stats
from engrain.domain.records import Answer
from engrain.domain.runs.summaries import Summary
from engrain.interfaces.http import words
from engrain.interfaces.http.answers import said
from engrain.interfaces.http.asking import Asked
from engrain.interfaces.http.verbs import Room
from engrain.interfaces.http.words import Body

room = Room("recall", "What an agent asks, and what is put before its prompt.")


class Question(Body):
    """What is asked, and what narrows it."""

    query: words.Asked
    limit: words.Limit = None
    preset: words.Preset = None
    kinds: words.Kinds = None
    scope: words.WithinScope = None
    sessions: words.Sessions = None
    exclude_sessions: words.ExcludeSessions = None
    roles: words.Roles = None
    speakers: words.Speakers = None
    subjects: words.Subjects = None
    tags: words.AllTags = None
    since: words.Since = None
    until: words.Until = None
    as_of: words.AsOf = None
    include_inactive: words.IncludeInactive = False
    min_confidence: words.MinConfidence = None
    deep: words.Deep = False
    neighbours: words.Neighbours = 0
    explain: words.Explain = False


class BlockWanted(Body):
    """What a block for a prompt should be about, and how long it may be."""

    query: words.Prompt
    budget_tokens: words.BudgetTokens = None
    count_tokens: words.CountTokens = None
    recipe: words.Recipe = None
    recent_episodes: words.RecentEpisodes = None
    include_superseded: Annotated[bool, Field(description="Also what holds no more, marked.")] = False
    with_dates: Annotated[bool, Field(description="Say when.")] = True
    with_sources: Annotated[bool, Field(description="Say where it comes from.")] = False


class MessagesWanted(Body):
    """What is asked now, and what the window of a model has to hold besides."""

    asked: words.Prompt
    system: Annotated[str, Field(description="System prompt.")] = ""
    tools: Annotated[
        list[dict[str, Any] | str] | int, Field(description="Schemas of the tools, which are counted, or their number.")
    ] = 0
    window_tokens: words.BudgetTokens = None
    count_tokens: words.CountTokens = None
    recipe: words.Recipe = None
    recent_episodes: words.RecentEpisodes = None


class ToSummarize(Body):
    """What to summarise: a question's hits, a session, or some memories; its own session if nothing is named."""

    query: Annotated[str | None, Field(description="What a search for this finds.")] = None
    session: words.Session = None
    ids: Annotated[list[str] | None, Field(description="These memories.")] = None
    strategy: words.SummaryStrategy = None
    target_tokens: words.TargetTokens = None
    store: Annotated[bool, Field(description="Keep it as a fact.")] = False


@room.verb("POST", "/recall", Agent.recall, needs="reader", answers=Answer)
def recall(asked: Asked, body: Question) -> Response:
    """Find the best memories for a question, best first, each with the reasons for its place.

    `evidence` says whether the answer is there at all, `degraded` what the search had to do without.
    """
    return said(asked.agent().recall(**body.given()))


@room.verb("POST", "/context", Agent.context, needs="reader", answers=ContextBlock)
def context(asked: Asked, body: BlockWanted) -> Response:
    """Write a block for a prompt, never over its budget; the session of Engrain-Session is left out of it."""
    return said(asked.agent().context(**body.given()))


@room.verb("POST", "/messages", Agent.messages, needs="reader", answers=ContextMessages)
def messages(asked: Asked, body: MessagesWanted) -> Response:
    """Make the messages of a chat: system prompt, what is remembered, what is asked; with tools never too long."""
    return said(asked.agent().messages(**body.given()))


@room.verb("POST", "/summarize", Agent.summarize, needs="writer", answers=Summary)
def summarize(asked: Asked, body: ToSummarize) -> Response:
    """Say in one text what a search finds, what a session was, or what some memories say."""
    return said(asked.agent().summarize(**body.given()))


@room.verb("GET", "/stats", Agent.stats, needs="reader", answers=Stats)
def stats(asked: Asked, scope: words.WithinScope = None) -> Response:
    """Count what the agent remembers, by kind and state."""
    return said(asked.agent().stats(scope=scope))
