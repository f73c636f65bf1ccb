"""Context blocks and messages for a prompt: memories searched, packed into a budget, and counted as references."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

from engrain import engines
from engrain.agent.reads.profiles import load_profile, load_standing_rules
from engrain.agent.reads.search import count_references, search_and_read
from engrain.agent.wiring.arguments import SearchTimes, find_preset, parse_trust
from engrain.agent.writes.fail_open import recent_turns
from engrain.context.assembly import build
from engrain.context.entries import BlockSources, LineOptions, source_of
from engrain.context.messages import (
    ContextMessages,
    Summarizer,
    WindowShares,
    add_turns,
    build_extractive_summarizer,
    build_fixed_messages,
    compose_messages,
    count_tool_tokens,
    divide_window,
)
from engrain.context.recipes import MOST_RECENT, Recipe
from engrain.domain import checks
from engrain.domain.filters import Filter
from engrain.domain.memories.hooks import RecentTurns
from engrain.domain.records import Answer, Caller, Episode, Fact, Hit, Rule
from engrain.domain.requests import Request
from engrain.domain.text.dialogue.changes import asks_for_ideas
from engrain.domain.text.dialogue.prompts import asks_for_work, is_follow_up
from engrain.domain.text.repetition import asks_something, says_the_same
from engrain.domain.text.small_talk import is_about_speaker
from engrain.domain.text.tokens import check_counter
from engrain.retrieval.repeats import is_statement
from engrain.retrieval.search_query import SearchQuery
from engrain.retrieval.speakers import list_named
from engrain.storage.search.matching import list_speakers
from engrain.storage.search.recency import find_newest_turn, load_latest_reflection, load_newest
from engrain.storage.selection import is_active_fact, load_memories

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.agent.wiring.parts import Parts
    from engrain.context.block import ContextBlock
    from engrain.domain.memories.trust import TrustLevel
    from engrain.domain.ports import TokenCounter
    from engrain.storage.unit_of_work import Snapshot

MOST_TOKENS = 10_000_000
_MOST_TURNS = 200  # of a session are read
_MOST_SESSION_TURNS = 100_000
_MOST_BEFORE = 6  # turns in which a question that goes on from another finds what it is about


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """Request for a context block.

    Attributes:
        recent: how many of the newest episodes it shows in a section of their own.
        session_turns: how many of the newest turns of the caller's session it leaves out, as the model has them.
        tags: tags that all of its memories have.
        trust: the trust levels of its memories; none for all.
        include_superseded: whether facts that no longer hold are shown, marked, after those that do.
        times: the times of which it shows what was believed, or true.
        counts_references: whether its memories are counted as referenced.
    """

    query: str
    recipe: Recipe
    budget_tokens: int
    count_tokens: TokenCounter
    session_turns: int
    recent: int = 0
    tags: tuple[str, ...] = ()
    trust: tuple[TrustLevel, ...] = ()
    include_superseded: bool = False
    times: SearchTimes = field(default_factory=SearchTimes)
    line_options: LineOptions = field(default_factory=LineOptions)
    counts_references: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatWindow:
    """The window of a model in tokens, and what else stands in it; `tools` is their number, or their schemas."""

    tokens: int
    system: str
    tools: object
    summarize: Summarizer | None = None


def parse_request(
    parts: Parts,
    query: str,
    *,
    budget_tokens: object = None,
    count_tokens: TokenCounter | str | None = None,
    recipe: object = None,
    recent_episodes: object = None,
    session_turns: object = None,
    tags: object = None,
    min_trust: object = None,
) -> ContextRequest:
    """Return the request of a caller's values, and of the settings where it gives none.

    Raises:
        InvalidInput: a number out of its range, or an unknown recipe or counter.
    """
    chosen = parts.settings.context
    budget = chosen.budget_tokens if budget_tokens is None else budget_tokens
    recent = chosen.recent_episodes if recent_episodes is None else recent_episodes
    turns = chosen.session_turns if session_turns is None else session_turns
    name = chosen.recipe if recipe is None else recipe
    return ContextRequest(
        query=query,
        recipe=parts.recipes[checks.choice(name, parts.recipes, name="recipe")],
        budget_tokens=checks.count(budget, name="budget_tokens", high=MOST_TOKENS),
        count_tokens=find_counter(parts, count_tokens),
        recent=checks.count(recent, name="recent_episodes", high=MOST_RECENT),
        session_turns=checks.count(turns, name="session_turns", high=_MOST_SESSION_TURNS),
        tags=checks.names(tags, name="tag"),
        trust=parse_trust(min_trust),
        line_options=LineOptions(time_zone=parts.time_zone),
    )


def find_counter(parts: Parts, counter: TokenCounter | str | None) -> TokenCounter:
    """Return a counter by its name or as it is; None for the settings' choice."""
    if counter is None:
        return parts.count_tokens
    return engines.token_counter(counter) if isinstance(counter, str) else counter


def build_block(parts: Parts, caller: Caller, request: ContextRequest) -> ContextBlock:
    """Build the block, and count references to its memories.

    The newest turns of the caller's session are left out: the model has them.
    """
    first = _find_first_at_hand(parts, caller, request.session_turns) if caller.session else 0
    sources, answer = _gather(parts, caller, request, from_turn=first)
    built = _pack(sources, replace(request, query=answer.query))
    if request.counts_references and not request.times.asks_past:
        count_references(parts, caller, built.memories)
    return replace(built, evidence=answer.evidence, degraded=answer.degraded, request_id=caller.request_id)


def build_messages(parts: Parts, caller: Caller, request: ContextRequest, window: ChatWindow) -> ContextMessages:
    """Build the messages, their memories counted as references; the budget is what the window leaves."""
    chosen = parts.settings.context
    shares = WindowShares(**{share.name: getattr(chosen, share.name) for share in fields(WindowShares)})
    count = check_counter(request.count_tokens)
    budget = divide_window(window.tokens, tools=count_tool_tokens(window.tools, count, shares), shares=shares)
    frame = build_fixed_messages(request.query, system=window.system, budget=budget, shares=shares, count=count)
    recent = recent_turns(parts, caller, caller.session, _MOST_TURNS) if caller.session else RecentTurns(episodes=())
    frame = add_turns(frame, recent.episodes, share=chosen.turns_share)
    standing = (
        frame.turns or recent.episodes[-1:]
    )  # where none fits the newest alone is left out: it may be the question
    first = min((turn.turn for turn in standing), default=0)
    sources, answer = _gather(parts, caller, replace(request, budget_tokens=frame.budget.memory), from_turn=first)
    worth_a_summary = sources.hits if sources.share == 1.0 else ()
    ranked = {memory.id: memory for memory in (*(hit.memory for hit in worth_a_summary), *sources.recent)}

    def pack(tokens: int) -> ContextBlock:
        return _pack(sources, replace(request, query=answer.query, budget_tokens=tokens))

    messages = compose_messages(
        frame, pack, list(ranked.values()), window.summarize or build_extractive_summarizer(answer.query, count)
    )
    count_references(parts, caller, messages.block.memories)
    degraded = (*recent.degraded, *answer.degraded)
    block = replace(messages.block, evidence=answer.evidence, degraded=degraded, request_id=caller.request_id)
    return replace(messages, block=block, degraded=(*degraded, *messages.degraded))


def _find_first_at_hand(parts: Parts, caller: Caller, session_turns: int) -> int:
    """Find the number of the first turn of the caller's session that the model is taken to have; 0 for all of them."""
    assert caller.session is not None
    newest = parts.store.read(caller, find_newest_turn, caller.session)
    return max(newest - session_turns + 1, 0)


def _gather(parts: Parts, caller: Caller, request: ContextRequest, *, from_turn: int) -> tuple[BlockSources, Answer]:
    """Read what could stand in a block; return it with the answer of the search.

    A question without evidence that goes on from another is searched for with that one: its evidence is weak at best,
    as it may be the other's.
    """
    sources, answer = _search(parts, caller, request, request.query, from_turn=from_turn)
    before = _find_topic(parts, caller, request.query) if sources.is_short_of_evidence else ""
    if before:
        wider, whole = _search(parts, caller, request, f"{before}\n{request.query}", from_turn=from_turn)
        if not wider.is_short_of_evidence:
            return wider, replace(whole, evidence="weak")
    return sources, answer


def _search(
    parts: Parts, caller: Caller, request: ContextRequest, query: str, *, from_turn: int
) -> tuple[BlockSources, Answer]:
    """Search for a query, and read what could stand in a block; return it with the answer.

    Of the caller's session the turns before the number `from_turn` count, none where that is at most 1.
    All is of one state, except for the reflection, which is cached. With too little evidence for a recipe that has a
    floor the user's standing facts and rules take the place of the hits and the reflection, in a small share of it; a
    query about the user, or somebody who speaks in this memory, keeps its hits there but for questions, as other words
    may answer it.
    """
    recipe, chosen, now = request.recipe, parts.settings.context, parts.clock()
    reflection = _find_reflection(parts, caller, request)
    most_recent = request.recent if recipe.has("recent") else 0
    session, times = checks.names(caller.session, name="session"), request.times
    elsewhere = Filter(
        exclude_sessions=session,
        exclude_from_turn=from_turn,
        tags=request.tags,
        trust=request.trust,
        as_of=times.as_of,
        valid_at=times.valid_at,
    )
    searched = replace(elsewhere, kinds=recipe.kinds, include_inactive=request.include_superseded)

    def read(snapshot: Snapshot, answer: Answer) -> BlockSources:
        said = Request(caller=caller, filter=replace(elsewhere, kinds=("episode",)), now=now)
        newest = load_newest(snapshot, said, most_recent)
        recent = [memory for memory in newest if isinstance(memory, Episode)]
        live = [hit for hit in answer if request.times.asks_past or _is_superseded(hit) or hit.memory.is_active(now)]
        hits = _without_session(snapshot, caller.session, live, from_turn=from_turn)
        has_rules = recipe.has("rules") and not request.times.asks_past
        rules = load_standing_rules(snapshot, searched, now) if has_rules else []
        score, least = answer.evidence_score, chosen.min_evidence
        is_short = recipe.has_floor and score is not None and score < least
        if not is_short or (score or 0.0) >= least * _share_of_floor(answer.query):
            found = BlockSources(rules=rules, hits=hits, recent=recent, reflection=reflection)
            return replace(found, is_short_of_evidence=is_short)
        has_profile = recipe.has("profile") and not request.times.asks_past and not request.tags
        profile = load_profile(snapshot, now) if has_profile else ()
        own = _list_about_people(snapshot, answer, hits, query=query)
        return BlockSources(
            share=chosen.profile_share,
            is_short_of_evidence=True,
            profile=profile,
            rules=rules,
            hits=own,
            recent=recent,
        )

    question = SearchQuery(
        text=query,
        preset=find_preset(parts, recipe.preset),
        limit=recipe.candidates_for(request.budget_tokens),
        explains_hits=False,
    )
    answer, sources = search_and_read(parts, Request(caller=caller, filter=searched, now=now), question, read=read)
    return sources, answer


def _share_of_floor(query: str) -> float:
    """Return the share of the floor that a query needs: an answer may be in other words, thanks and tasks have none."""
    return 0.2 if asks_something(query) and not asks_for_work(query) else 1.0


def _list_about_people(snapshot: Snapshot, answer: Answer, hits: Sequence[Hit], *, query: str) -> Sequence[Hit]:
    """List the hits that state something, if the query is about the user or somebody who speaks in this memory.

    So is one for suggestions: what the user likes has seldom a word of them.
    """
    if (
        is_about_speaker(answer.query)
        or asks_for_ideas(answer.query)
        or list_named(answer.query, list_speakers(snapshot))
    ):
        return [hit for hit in hits if is_statement(hit.memory, query)]
    return ()


def _find_reflection(parts: Parts, caller: Caller, request: ContextRequest) -> Fact | None:
    """Find the newest reflection, if the request is for one and trusts it."""
    if not request.recipe.has("reflection") or request.times.asks_past or request.tags:
        return None
    reflection = latest_reflection(parts, caller)
    is_trusted = reflection is None or not request.trust or reflection.trust in request.trust
    return reflection if is_trusted else None


def _find_topic(parts: Parts, caller: Caller, query: str) -> str:
    """Find what the user asked in this session before a question that goes on from it; empty where there is nothing."""
    if caller.session is None or not is_follow_up(query):
        return ""
    said: list[str] = []
    for turn in reversed(recent_turns(parts, caller, caller.session, _MOST_BEFORE).episodes):
        if turn.role == "user" and not says_the_same(turn.content, query):
            said.append(turn.content)
            if not is_follow_up(turn.content):
                break
    return "\n".join(reversed(said))


def _pack(sources: BlockSources, request: ContextRequest) -> ContextBlock:
    """Pack what was found into its share of the budget."""
    built = build(
        sources,
        budget_tokens=int(request.budget_tokens * sources.share),
        count_tokens=request.count_tokens,
        recipe=request.recipe,
        options=request.line_options,
        query=request.query,
    )
    return replace(built, budget_tokens=request.budget_tokens)


def _is_superseded(hit: Hit) -> bool:
    return isinstance(hit.memory, Fact) and hit.memory.validity == "superseded"


def _without_session(snapshot: Snapshot, session: str | None, hits: Sequence[Hit], *, from_turn: int) -> Sequence[Hit]:
    """Return the hits that were not learned in a session from a turn on, as far as their source says.

    A rule that outcomes have judged says more than its turn, and stays.
    """
    fresh = [hit.memory for hit in hits if not isinstance(hit.memory, Rule) or hit.memory.maturity == "candidate"]
    sources = {memory.id: source for memory in fresh if (source := source_of(memory))}
    if session is None or not sources:
        return hits
    episodes = load_memories(snapshot, list(dict.fromkeys(sources.values())))
    turns = [source for source in episodes if isinstance(source, Episode) and source.session == session]
    here = {turn.id for turn in turns if turn.turn >= from_turn}
    return [hit for hit in hits if sources.get(hit.memory.id) not in here]


def latest_reflection(parts: Parts, caller: Caller) -> Fact | None:
    """Return the newest reflection of the agent or of everybody, from the cache where it was read lately."""

    def read() -> Fact | None:
        return parts.store.read(caller, load_latest_reflection, parts.clock(), own=False)

    def is_active(id_: str) -> bool:
        return parts.store.read(caller, is_active_fact, id_, parts.clock())

    return parts.note_cache.latest_reflection(caller, read, is_active)
