"""Chat messages within a model's window: the system prompt, a context block, the current question. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engrain.context.block import ContextBlock, mark_as_data
from engrain.context.excerpts import find_best_sentence
from engrain.domain import checks
from engrain.domain.faults import describe_fault
from engrain.domain.records import Degraded, Episode, MemoryRecord, Record
from engrain.domain.text.prompt_safety import neutralize
from engrain.errors import EngineUnavailable, InvalidInput

if TYPE_CHECKING:
    from engrain.domain.ports import TokenCounter

SUMMARY_PREFIX = "[Previous context summary]: "
_SUMMARY_SHARE = 0.2  # of what memories may take, where that is less than the tokens allowed

# Summarizes memories, the best first, in at most so many tokens; "" where it has nothing to say.
Summarizer = Callable[[Sequence[MemoryRecord], int], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowShares:
    """Shares of a window: of two limits of one part the smaller one holds.

    Attributes:
        tool_tokens: of a tool whose schema is not known.
        message_tokens: of a message, beside its content.
    """

    system_share: float = 0.05
    system_tokens: int = 4000
    memory_share: float = 0.7
    output_share: float = 0.1
    output_tokens: int = 4000
    tool_tokens: int = 500
    message_tokens: int = 4
    summary_tokens: int = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowBudget(Record):
    """A window in tokens: what a system prompt should keep to, and what tools, memories and the answer get."""

    window: int
    system: int
    tools: int
    memory: int
    output: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextMessages(Record):
    """Messages for a chat API (`role` and `content`), and what they are made of.

    Attributes:
        turns: ids of the turns of the current session among them, oldest first.
        tokens: of the messages, each with what it takes beside its content; with tools and output, never over the
            window.
        summarized: ids of the memories that did not fit and that the summary speaks of.
    """

    messages: tuple[dict[str, str], ...] = field(hash=False)
    tokens: int
    budget: WindowBudget
    block: ContextBlock
    turns: tuple[str, ...] = ()
    summarized: tuple[str, ...] = ()
    degraded: tuple[Degraded, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedMessages:
    """The messages that stand whatever is remembered: the system prompt, turns of the session, the question."""

    system: str
    query: str
    budget: WindowBudget
    shares: WindowShares
    count: TokenCounter
    turns: tuple[Episode, ...] = ()

    def to_list(self, between: Sequence[dict[str, str]] = ()) -> list[dict[str, str]]:
        """The system prompt, where there is one, what stands `between`, the turns and the current question."""
        prompt = [{"role": "system", "content": self.system}] if self.system else []
        return [*prompt, *between, *map(_turn_message, self.turns), {"role": "user", "content": self.query}]

    def measure(self, messages: Sequence[Mapping[str, str]]) -> int:
        """The length of messages together, in tokens."""
        return sum(self.count(message["content"]) + self.shares.message_tokens for message in messages)


def divide_window(window: int, *, tools: int, shares: WindowShares) -> WindowBudget:
    """A window as its shares have it, `tools` as counted; memories get theirs before it is known what is left."""
    return WindowBudget(
        window=window,
        system=min(shares.system_tokens, int(window * shares.system_share)),
        tools=tools,
        memory=int(window * shares.memory_share),
        output=min(shares.output_tokens, int(window * shares.output_share)),
    )


def count_tool_tokens(tools: object, count: TokenCounter, shares: WindowShares) -> int:
    """The tokens of tools: a fixed price for each of a number, or the length of their schemas as JSON or as text.

    Raises:
        InvalidInput: neither a number nor schemas.
    """
    if isinstance(tools, int) and not isinstance(tools, bool):
        return checks.count(tools, name="tools") * shares.tool_tokens
    if isinstance(tools, str | bytes | Mapping) or not isinstance(tools, Sequence):
        raise InvalidInput(f"tools must be a number or a list of schemas, not {tools!r:.80}")
    schemas = checks.json_values(tools, name="tools")
    return sum(count(tool if isinstance(tool, str) else json.dumps(tool, ensure_ascii=False)) for tool in schemas)


def build_fixed_messages(
    query: str, *, system: str, budget: WindowBudget, shares: WindowShares, count: TokenCounter
) -> FixedMessages:
    """The fixed messages, and in their budget what is left to memories.

    Raises:
        InvalidInput: they do not fit into the window.
    """
    fixed = FixedMessages(system=system, query=query, budget=budget, shares=shares, count=count)
    taken = fixed.measure(fixed.to_list()) + budget.tools + budget.output
    if taken > budget.window:
        parts = f"system prompt {count(system) if system else 0:,}, tools {budget.tools:,}, answer {budget.output:,}"
        problem = f"the input has {count(query):,} tokens and does not fit into the window of {budget.window:,}"
        raise InvalidInput(f"{problem} beside the rest ({parts}): shorten it, or give a larger window")
    return replace(fixed, budget=replace(budget, memory=min(budget.memory, budget.window - taken)))


def add_turns(fixed: FixedMessages, turns: Sequence[Episode], *, share: float) -> FixedMessages:
    """The fixed messages with the newest turns, given oldest first, that fit into a share of what memories get.

    A question that is stored already is not repeated. Memories get what the turns leave.
    """
    if turns and turns[-1].role == "user" and turns[-1].content.strip() == fixed.query.strip():
        turns = turns[:-1]
    most, taken, chosen = fixed.budget.memory * share, 0, list[Episode]()
    for turn in reversed(turns):
        length = fixed.measure([_turn_message(turn)])
        if taken + length > most:
            break
        taken += length
        chosen.insert(0, turn)
    return replace(fixed, turns=tuple(chosen), budget=replace(fixed.budget, memory=fixed.budget.memory - taken))


def compose_messages(
    fixed: FixedMessages,
    pack: Callable[[int], ContextBlock],
    ranked: Sequence[MemoryRecord],
    summarize: Summarizer,
) -> ContextMessages:
    """The messages: the block that `pack` makes of a budget, and a summary of those of `ranked` that do not fit in it.

    Where the summary does not fit itself, the block has its room too.
    """
    room = fixed.budget.memory - fixed.shares.message_tokens
    if room < 0:
        return _compose(fixed, ContextBlock(text="", tokens=0, budget_tokens=0, left_out=len(ranked)))
    whole = _pack_marked(fixed, pack, room, len(ranked))
    if not whole.left_out:
        return _compose(fixed, whole)
    reserved = min(fixed.shares.summary_tokens, int(fixed.budget.memory * _SUMMARY_SHARE), room)
    smaller = _pack_marked(fixed, pack, room - reserved, len(ranked))
    standing = {memory.id for memory in smaller.memories}
    left_out = [memory for memory in ranked if memory.id not in standing]
    try:
        summary = _summary(fixed, summarize, left_out, reserved)
    except EngineUnavailable as error:
        reason = describe_fault(error, "summarizer").with_prefix("without a summary of what did not fit: ")
        return _compose(fixed, whole, degraded=(reason,))
    if summary is None:
        return _compose(fixed, whole)
    return _compose(fixed, smaller, summary=(summary,), summarized=tuple(memory.id for memory in left_out))


def _pack_marked(fixed: FixedMessages, pack: Callable[[int], ContextBlock], room: int, candidates: int) -> ContextBlock:
    """The block that fits into a room with the mark that it is data; counters need not add up, so it is measured."""
    left = room - fixed.count(mark_as_data(""))
    while left >= 0:
        block = pack(left)
        over = fixed.measure(block.messages()) - fixed.shares.message_tokens - room if block.text else 0
        if over <= 0:
            return block
        left -= over
    return ContextBlock(text="", tokens=0, budget_tokens=0, left_out=candidates)


def build_extractive_summarizer(query: str, count: TokenCounter) -> Summarizer:
    """A summarizer that needs no model: of each memory the sentence that says most of the query, as many as fit."""

    def summarize(memories: Sequence[MemoryRecord], budget_tokens: int) -> str:
        chosen: dict[str, None] = {}
        for memory in memories:
            sentence = find_best_sentence(memory.content, query)
            if sentence and count(" ".join([*chosen, sentence])) <= budget_tokens:
                chosen[sentence] = None
        return " ".join(chosen)

    return summarize


def _turn_message(turn: Episode) -> dict[str, str]:
    """A turn for a chat API; a tool's answer in a message of the user, as its call is not among the messages.

    What a tool answered is the text of others, which a web page may have written.
    """
    if turn.role == "tool":
        return {"role": "user", "content": f"[tool] {neutralize(turn.content)}"}
    return {"role": turn.role, "content": turn.content}


def _summary(
    fixed: FixedMessages, summarize: Summarizer, memories: Sequence[MemoryRecord], room: int
) -> dict[str, str] | None:
    """The message of a summary; None where there is no room for one, or none was made of this size."""
    least = fixed.count(SUMMARY_PREFIX) + fixed.shares.message_tokens
    if room <= least or not memories:
        return None
    text = summarize(memories, room - least)
    if not isinstance(text, str):
        raise InvalidInput(f"summarize must return text, not {type(text).__name__} ({text!r:.80})")
    message = {"role": "system", "content": f"{SUMMARY_PREFIX}{neutralize(text).strip()}"}
    return message if text.strip() and fixed.measure([message]) <= room else None


def _compose(
    fixed: FixedMessages,
    block: ContextBlock,
    *,
    summary: tuple[dict[str, str], ...] = (),
    summarized: tuple[str, ...] = (),
    degraded: tuple[Degraded, ...] = (),
) -> ContextMessages:
    messages = tuple(fixed.to_list([*block.messages(), *summary]))
    over = fixed.count(fixed.system) - fixed.budget.system if fixed.system else 0
    message = f"the system prompt is {over:,} tokens over its {fixed.budget.system:,}"
    long = (Degraded(code="system_prompt_too_long", message=message),) if over > 0 else ()
    return ContextMessages(
        messages=messages,
        tokens=fixed.measure(messages),
        budget=fixed.budget,
        block=block,
        turns=tuple(turn.id for turn in fixed.turns),
        summarized=summarized,
        degraded=(*block.degraded, *long, *degraded),
    )
