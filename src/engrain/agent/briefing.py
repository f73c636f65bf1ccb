"""What a prompt is given of an agent's memory: found, packed into a block, and counted as a reference."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

from engrain import engines
from engrain.agent import reflecting
from engrain.context.assembly import build
from engrain.context.entries import BlockSources, LineOptions
from engrain.context.messages import (
    ContextMessages,
    Summariser,
    WindowShares,
    build_extractive_summariser,
    build_fixed_messages,
    compose_messages,
    count_tool_tokens,
    divide_window,
)
from engrain.context.recipes import MOST_RECENT
from engrain.domain import checks
from engrain.domain.filters import Filter
from engrain.domain.records import Episode, Fact, Hit
from engrain.domain.requests import Request
from engrain.domain.text.tokens import checked
from engrain.retrieval.search import SearchQuery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.agent.parts import Parts
    from engrain.context.block import ContextBlock
    from engrain.context.recipes import Recipe
    from engrain.domain.ports import TokenCounter
    from engrain.domain.records import Answer, Caller
    from engrain.domain.wording import Wording

MOST_TOKENS = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a block is asked for.

    Attributes:
        recent: how many of the newest episodes it shows in a section of their own.
        include_superseded: whether facts that no longer hold are shown, marked, after those that do.
    """

    query: str
    recipe: Recipe
    budget_tokens: int
    count_tokens: TokenCounter
    recent: int = 0
    include_superseded: bool = False
    line_options: LineOptions = field(default_factory=LineOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A model's window in tokens, and what else stands in it; `tools` is their number, or their schemas."""

    tokens: int
    system: str
    tools: object
    summarise: Summariser | None = None


def parsed(
    parts: Parts,
    query: str,
    *,
    budget_tokens: object = None,
    count_tokens: TokenCounter | str | None = None,
    recipe: object = None,
    recent_episodes: object = None,
) -> Asked:
    """What a block is asked for, from what a caller says and else from the settings.

    Raises:
        InvalidInput: a number out of its range, or an unknown recipe or counter.
    """
    chosen = parts.settings.context
    budget = chosen.budget_tokens if budget_tokens is None else budget_tokens
    recent = chosen.recent_episodes if recent_episodes is None else recent_episodes
    named = chosen.recipe if recipe is None else recipe
    return Asked(
        query=query,
        recipe=parts.recipes[checks.choice(named, parts.recipes, name="recipe")],
        budget_tokens=checks.count(budget, name="budget_tokens", high=MOST_TOKENS),
        count_tokens=counter(parts, count_tokens),
        recent=checks.count(recent, name="recent_episodes", high=MOST_RECENT),
    )


def counter(parts: Parts, given: TokenCounter | str | None) -> TokenCounter:
    """A counter by its name or as it is; None for the settings' choice."""
    if given is None:
        return parts.count_tokens
    return engines.token_counter(given) if isinstance(given, str) else given


def block(parts: Parts, caller: Caller, asked: Asked) -> ContextBlock:
    """The block, its memories counted as references; the caller's session, which the model has already, left out."""
    found, degraded = gathered(parts, caller, asked)
    built = packed(found, asked)
    parts.refer(caller, built.memories)
    return replace(built, degraded=degraded, request_id=caller.request_id)


def messages(parts: Parts, caller: Caller, asked: Asked, inside: Window) -> ContextMessages:
    """The messages, what stands in them counted as references; `asked.budget_tokens` is what the window leaves."""
    chosen = parts.settings.context
    shares = WindowShares(**{each.name: getattr(chosen, each.name) for each in fields(WindowShares)})
    count = checked(asked.count_tokens)
    budget = divide_window(inside.tokens, tools=count_tool_tokens(inside.tools, count, shares), shares=shares)
    frame = build_fixed_messages(asked.query, system=inside.system, budget=budget, shares=shares, count=count)
    found, degraded = gathered(parts, caller, replace(asked, budget_tokens=frame.budget.memory))
    ranked = {each.id: each for each in (*(hit.memory for hit in found.hits), *found.recent)}

    def pack(tokens: int) -> ContextBlock:
        return packed(found, replace(asked, budget_tokens=tokens))

    made = compose_messages(
        frame, pack, list(ranked.values()), inside.summarise or build_extractive_summariser(asked.query, count)
    )
    parts.refer(caller, made.block.memories)
    said = replace(made.block, degraded=degraded, request_id=caller.request_id)
    return replace(made, block=said, degraded=(*degraded, *made.degraded))


def gathered(parts: Parts, caller: Caller, asked: Asked) -> tuple[BlockSources, tuple[Wording, ...]]:
    """What could stand in a block, and what the search had to do without."""
    answer = _answer(parts, caller, asked)
    found = BlockSources(
        hits=_from_elsewhere(parts, caller, answer.hits),
        recent=_recent(parts, caller, asked.recent) if asked.recipe.has("recent") else (),
        reflection=reflecting.latest(parts, caller) if asked.recipe.has("reflection") else None,
    )
    return found, answer.degraded


def packed(found: BlockSources, asked: Asked) -> ContextBlock:
    """What was found, within the budget."""
    return build(
        found,
        budget_tokens=asked.budget_tokens,
        count_tokens=asked.count_tokens,
        recipe=asked.recipe,
        options=asked.line_options,
        query=asked.query,
    )


def _answer(parts: Parts, caller: Caller, asked: Asked) -> Answer:
    question = SearchQuery(
        text=asked.query,
        preset=parts.preset(asked.recipe.preset),
        limit=asked.recipe.candidates_for(asked.budget_tokens),
    )
    narrowed = Filter(
        kinds=asked.recipe.kinds,
        exclude_sessions=checks.names(caller.session, name="session"),
        include_inactive=asked.include_superseded,
    )
    answer = parts.search(caller, question, narrowed)
    if not asked.include_superseded:
        return answer
    now = parts.clock()
    return replace(answer, hits=tuple(each for each in answer if _is_superseded(each) or each.memory.is_live(now)))


def _is_superseded(hit: Hit) -> bool:
    return isinstance(hit.memory, Fact) and hit.memory.validity == "superseded"


def _from_elsewhere(parts: Parts, caller: Caller, hits: Sequence[Hit]) -> Sequence[Hit]:
    """Those that were not learned in the session going on, as far as their source says."""
    sources = {hit.memory.id: source for hit in hits if (source := _source(hit))}
    if caller.session is None or not sources:
        return hits
    told = parts.store.get(caller, list(dict.fromkeys(sources.values())))
    here = {each.id for each in told if isinstance(each, Episode) and each.session == caller.session}
    return [hit for hit in hits if sources.get(hit.memory.id) not in here]


def _source(hit: Hit) -> str | None:
    return None if isinstance(hit.memory, Episode) else hit.memory.source_episode_id


def _recent(parts: Parts, caller: Caller, limit: int) -> Sequence[Episode]:
    if limit == 0:
        return ()
    others = Filter(kinds=("episode",), exclude_sessions=checks.names(caller.session, name="session"))
    newest = parts.store.recent(Request(caller=caller, filter=others, now=parts.clock()), limit)
    return [each for each in newest if isinstance(each, Episode)]
