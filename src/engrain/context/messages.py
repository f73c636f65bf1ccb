"""The messages of a chat within a model's window: the system prompt, what is remembered, what is asked now. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engrain.context.block import ContextBlock
from engrain.context.excerpts import find_best_sentence
from engrain.domain import checks
from engrain.domain.records import MemoryRecord, Record
from engrain.domain.wording import Wording, worded
from engrain.errors import EngineUnavailable, InvalidInput

if TYPE_CHECKING:
    from engrain.domain.ports import TokenCounter

SUMMARY_PREFIX = "[Previous context summary]: "
_SUMMARY_SHARE = 0.2  # of what memories may take, where that is less than the tokens allowed

# What memories say, in at most so many tokens; the best come first. "" where it has nothing to say.
Summariser = Callable[[Sequence[MemoryRecord], int], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowShares:
    """How a window is divided: of two limits of one part the smaller one holds.

    Attributes:
        tool_tokens: of a tool whose schema is not known.
        message_tokens: what a message takes beside its content.
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
        tokens: of the messages, each with what it takes beside its content; with tools and output, never over the
            window.
        summarised: ids of the memories that did not fit and that the summary speaks of.
    """

    messages: tuple[dict[str, str], ...] = field(hash=False)
    tokens: int
    budget: WindowBudget
    block: ContextBlock
    summarised: tuple[str, ...] = ()
    degraded: tuple[Wording, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedMessages:
    """What messages hold whatever is remembered: the system prompt, what is asked now, the tools' schemas."""

    system: str
    asked: str
    budget: WindowBudget
    shares: WindowShares
    count: TokenCounter

    @property
    def fixed(self) -> list[dict[str, str]]:
        """The system prompt, where there is one, and what is asked now."""
        prompt = [{"role": "system", "content": self.system}] if self.system else []
        return [*prompt, {"role": "user", "content": self.asked}]

    def counted(self, messages: Sequence[Mapping[str, str]]) -> int:
        """What messages take together."""
        return sum(self.count(each["content"]) + self.shares.message_tokens for each in messages)


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
    """What tools take: so many at a fixed price, or their schemas as JSON, or as the text they are given as.

    Raises:
        InvalidInput: neither a number nor schemas.
    """
    if isinstance(tools, int) and not isinstance(tools, bool):
        return checks.count(tools, what="tools") * shares.tool_tokens
    if isinstance(tools, str | bytes | Mapping) or not isinstance(tools, Sequence):
        raise InvalidInput(f"tools must be a number or a list of schemas, not {tools!r:.80}")
    given = checks.json_values(tools, what="tools")
    return sum(count(each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)) for each in given)


def build_fixed_messages(
    asked: str, *, system: str, budget: WindowBudget, shares: WindowShares, count: TokenCounter
) -> FixedMessages:
    """The fixed part of the messages, and in its budget what is left to memories.

    Raises:
        InvalidInput: it does not fit into the window.
    """
    frame = FixedMessages(system=system, asked=asked, budget=budget, shares=shares, count=count)
    taken = frame.counted(frame.fixed) + budget.tools + budget.output
    if taken > budget.window:
        parts = f"system prompt {count(system) if system else 0:,}, tools {budget.tools:,}, answer {budget.output:,}"
        said = f"the input has {count(asked):,} tokens and does not fit into the window of {budget.window:,}"
        raise InvalidInput(f"{said} beside the rest ({parts}): shorten it, or give a larger window")
    return replace(frame, budget=replace(budget, memory=min(budget.memory, budget.window - taken)))


def compose_messages(
    frame: FixedMessages,
    pack: Callable[[int], ContextBlock],
    ranked: Sequence[MemoryRecord],
    summarise: Summariser,
) -> ContextMessages:
    """The messages: the block that `pack` makes of a budget, and a summary of those of `ranked` that do not fit in it.

    Where the summary does not fit itself, the block has its room too.
    """
    room = frame.budget.memory - frame.shares.message_tokens
    if room < 0:
        return _composed(frame, ContextBlock(text="", tokens=0, budget_tokens=0, left_out=len(ranked)))
    whole = pack(room)
    if not whole.left_out:
        return _composed(frame, whole)
    reserved = min(frame.shares.summary_tokens, int(frame.budget.memory * _SUMMARY_SHARE), room)
    smaller = pack(room - reserved)
    standing = {each.id for each in smaller.memories}
    left_out = [each for each in ranked if each.id not in standing]
    try:
        summary = _summary(frame, summarise, left_out, reserved)
    except EngineUnavailable as error:
        return _composed(
            frame, whole, degraded=(worded(error, "the summariser").after("without a summary of what did not fit: "),)
        )
    if summary is None:
        return _composed(frame, whole)
    return _composed(frame, smaller, summary=summary, summarised=tuple(each.id for each in left_out))


def build_extractive_summariser(asked: str, count: TokenCounter) -> Summariser:
    """Of each memory the sentence that holds most of what was asked, as many as fit; no model is needed."""

    def summarise(memories: Sequence[MemoryRecord], budget_tokens: int) -> str:
        said: dict[str, None] = {}
        for memory in memories:
            sentence = find_best_sentence(memory.content, asked)
            if sentence and count(" ".join([*said, sentence])) <= budget_tokens:
                said[sentence] = None
        return " ".join(said)

    return summarise


def _summary(
    frame: FixedMessages, summarise: Summariser, memories: Sequence[MemoryRecord], room: int
) -> dict[str, str] | None:
    """The message of a summary; None where there is no room for one, or none was made of this size."""
    least = frame.count(SUMMARY_PREFIX) + frame.shares.message_tokens
    if room <= least or not memories:
        return None
    text = summarise(memories, room - least)
    if not isinstance(text, str):
        raise InvalidInput(f"summarise must return text, not {type(text).__name__} ({text!r:.80})")
    message = {"role": "system", "content": f"{SUMMARY_PREFIX}{text.strip()}"}
    return message if text.strip() and frame.counted([message]) <= room else None


def _composed(
    frame: FixedMessages,
    block: ContextBlock,
    *,
    summary: dict[str, str] | None = None,
    summarised: tuple[str, ...] = (),
    degraded: tuple[Wording, ...] = (),
) -> ContextMessages:
    *prompt, current = frame.fixed
    messages = (*prompt, *block.messages(), *([summary] if summary else []), current)
    over = frame.count(frame.system) - frame.budget.system if frame.system else 0
    long = (Wording(f"the system prompt is {over:,} tokens over its {frame.budget.system:,}"),) if over > 0 else ()
    return ContextMessages(
        messages=messages,
        tokens=frame.counted(messages),
        budget=frame.budget,
        block=block,
        summarised=summarised,
        degraded=(*block.degraded, *long, *degraded),
    )
