"""Reflections: permanent facts that sum up the last days of an agent, with their sources. Pure but for the model."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, get_args

from engrain.domain.records import DECAY_RATES, REFLECTION, SUMMARY, Caller, Degraded, Fact, MemoryRecord, Record
from engrain.domain.runs.completions import Prompt, Usage
from engrain.domain.text.analysis import words
from engrain.engines.llms.responses import extract_json
from engrain.errors import EngineUnavailable
from engrain.learning.grounding import Words, find_unsupported
from engrain.learning.summaries import prompt_data
from engrain.learning.summaries.extractive import extract
from engrain.learning.summaries.passages import Passage, build_passage
from engrain.learning.summaries.sentences import split

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engrain.domain.ports import LLM, TokenCounter

TAGS = ("weekly",)
PROMPT_VERSION = "reflection_1"
TARGET_TOKENS = 400
# Facts that look back are not looked back on.
_LEFT_OUT = frozenset({REFLECTION, SUMMARY})

Outcome = Literal["reflected", "due", "too_soon", "too_few", "running", "failed"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

# Of one memory as it is shown to a model.
_MOST_CHARACTERS = 1_000
_WORDS_PER_TOKEN = 0.75
# Of thoughts and answer of a model: so that one that has lost its way comes back.
_MOST_ANSWER_TOKENS = 2_000
_NAME = re.compile(r"\s*\[?m?(\d{1,6})\]?\s*", re.IGNORECASE)
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "reflection": {"type": "string"},
        "sources": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["reflection", "sources"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionPolicy:
    """Conditions under which a reflection is due, and how much it reads."""

    min_facts: int = 3
    window_days: float = 7.0
    min_days_between: float = 6.0
    most_memories: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionWindow:
    """The memories of an agent of late, newest first, and when it last reflected."""

    memories: tuple[MemoryRecord, ...]
    facts: int
    reflected_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionDraft:
    """A reflection as it was written: its text, the memories that bear it out, and how it came about.

    Attributes:
        unknown: how many sources a model named that it had not been shown.
        unsupported: how many sentences were left out, as the sources lack a name, number or date that they have.
    """

    text: str
    source_ids: tuple[str, ...]
    method: Literal["llm", "extractive"]
    unknown: int = 0
    unsupported: int = 0
    model: str | None = None
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionOutcome(Record):
    """The outcome of one agent's reflection; `said` is a sentence about it, `failure` why it failed.

    The outcome is reflected, due (a dry run), too_soon, too_few (facts), running (elsewhere) or failed (it is tried
    again the next time).
    """

    tenant_id: str
    agent: str
    outcome: Outcome
    said: str
    failure: Degraded | None = None
    facts: int = 0
    memories: int = 0
    reflection: Fact | None = None
    method: str | None = None
    run_id: str | None = None
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionReport(Record):
    """The outcomes of a call, an agent after the other."""

    dry_run: bool
    agents: tuple[ReflectionOutcome, ...] = ()

    @property
    def reflected(self) -> int:
        """The number of reflections that were stored."""
        return sum(agent.outcome == "reflected" for agent in self.agents)


def select_window(
    memories: Iterable[MemoryRecord], policy: ReflectionPolicy, now: datetime, *, reflected_at: datetime | None
) -> ReflectionWindow:
    """The memories of the window: learned, said or true since it began; no reflections and summaries, no repeats."""
    since = now - timedelta(days=policy.window_days)
    recent = {
        memory.id: memory
        for memory in memories
        if _news_time(memory, now) >= since and not (isinstance(memory, Fact) and memory.category in _LEFT_OUT)
    }
    ordered = sorted(recent.values(), key=lambda memory: (_news_time(memory, now), memory.id), reverse=True)
    return ReflectionWindow(
        memories=tuple(ordered[: policy.most_memories]),
        facts=sum(isinstance(memory, Fact) for memory in ordered),
        reflected_at=reflected_at,
    )


def check_due(
    window: ReflectionWindow, policy: ReflectionPolicy, now: datetime, *, force: bool
) -> tuple[Outcome, str] | None:
    """The reason why no reflection is due, as an outcome and a sentence; None where one is.

    Exactly so many days after the last one, one is due again; `force` passes over the days between.
    """
    last = window.reflected_at
    if not force and last is not None and now - last < timedelta(days=policy.min_days_between):
        return "too_soon", f"the last one is of {last:%Y-%m-%d}; {policy.min_days_between:g} days lie between two"
    if window.facts < policy.min_facts or not window.memories:
        days = f"{policy.window_days:g} days"
        return "too_few", f"{window.facts} facts in the last {days}; it takes {max(policy.min_facts, 1)}"
    return None


def write_draft(
    window: ReflectionWindow, count_tokens: TokenCounter, *, llm: LLM | None, timeout_s: float, prompt_tokens: int
) -> ReflectionDraft:
    """A reflection on the window, at most TARGET_TOKENS long: by the model where there is one, else extractive.

    Raises:
        EngineUnavailable: the model failed, or its reply is no reflection.
    """
    passages = [build_passage(memory) for memory in reversed(window.memories)]
    if llm is None:
        summary = extract(passages, TARGET_TOKENS, count_tokens)
        if not summary.text:
            raise EngineUnavailable("the memories have no words to reflect on; configure a language model")
        source_ids = tuple(passages[index].id for index in summary.passages)
        return ReflectionDraft(text=summary.text, source_ids=source_ids, method="extractive")
    fitting = _select_newest(passages, prompt_tokens, count_tokens)
    prompt = Prompt(
        system=prompt_data.load_template(PROMPT_VERSION).substitute(words=int(TARGET_TOKENS * _WORDS_PER_TOKEN)),
        user=prompt_data.render_passages(fitting),
        schema=SCHEMA,
        max_tokens=_MOST_ANSWER_TOKENS,
    )
    completion = llm.complete(prompt, timeout_s=timeout_s)
    text, names = _parse_reply(completion.text, llm.name)
    if count_tokens(text) > TARGET_TOKENS:
        text = extract([Passage(line) for line in text.splitlines()], TARGET_TOKENS, count_tokens).text
    sources = [_find_source(name, fitting) for name in names]
    shown = {passage.id: passage for passage in fitting}
    used = [shown[source] for source in dict.fromkeys(sources) if source is not None] or fitting
    text, dropped = _drop_unsupported(text, used, window.memories[0].happened_at)
    if not text:
        raise EngineUnavailable(f"the sources that {llm.name} names say nothing of what its reflection says")
    return ReflectionDraft(
        text=text,
        source_ids=tuple(passage.id for passage in used),
        method="llm",
        unsupported=dropped,
        unknown=sources.count(None),
        model=llm.name,
        usage=completion.usage,
    )


def build_fact(draft: ReflectionDraft, caller: Caller, at: datetime, id_: str) -> Fact:
    """A reflection as it is stored: about the agent, in its own scope, permanent, one a day."""
    return Fact(
        id=id_,
        tenant_id=caller.tenant_id,
        agent=caller.agent,
        scope=caller.own_scope,
        subject=caller.agent,
        predicate=f"reflection {at:%Y-%m-%d}",
        content=draft.text,
        category=REFLECTION,
        importance=8.0,
        permanence="permanent",
        decay_rate=DECAY_RATES["permanent"],
        created_at=at,
        last_confirmed_at=at,
        tags=TAGS,
        metadata={
            "method": draft.method,
            **({"model": draft.model, "prompt_version": PROMPT_VERSION} if draft.method == "llm" else {}),
        },
    )


def _news_time(memory: MemoryRecord, now: datetime) -> datetime:
    """The time it came to be known, or happened, whichever is later: both make it news, and a plan when it begins."""
    return max(memory.created_at, memory.happened_at) if memory.happened_at <= now else memory.created_at


def _select_newest(passages: Sequence[Passage], prompt_tokens: int, count_tokens: TokenCounter) -> list[Passage]:
    """The newest that fit into a prompt, at least one, each cut to a length, in their order."""
    newest: list[Passage] = []
    left = prompt_tokens
    for passage in reversed(passages):
        cut = Passage(passage.text[:_MOST_CHARACTERS], passage.label, passage.id)
        left -= count_tokens(cut.text) + count_tokens(cut.label)
        if left < 0 and newest:
            break
        newest.append(cut)
    return newest[::-1]


def _parse_reply(reply: str, model: str) -> tuple[str, list[str]]:
    """The text a model answered with, and the sources it names.

    Raises:
        EngineUnavailable: there is none of the form asked for, or it has no words.
    """
    answer = extract_json(prompt_data.strip_wrapping(reply), model)
    text = answer.get("reflection") if isinstance(answer, dict) else None
    reflection = prompt_data.strip_wrapping(text) if isinstance(text, str) else ""
    if not words(reflection):
        raise EngineUnavailable(f"{model} answered with no reflection; it is asked again the next time")
    sources = answer.get("sources")
    return reflection, [source for source in sources if isinstance(source, str)] if isinstance(sources, list) else []


def _drop_unsupported(text: str, sources: Sequence[Passage], at: datetime) -> tuple[str, int]:
    """The text without the sentences that its sources do not bear out, and the number of these."""
    said = [Words(f"{passage.label} {passage.text}".casefold(), at) for passage in sources]
    kept: list[str] = []
    dropped = 0
    for line in text.splitlines():
        parts = split(line)
        supported = [part for part in parts if find_unsupported(part, said, names="") is None]
        dropped += len(parts) - len(supported)
        kept += [line if supported == parts else " ".join(supported)] if supported or not parts else []
    return "\n".join(kept).strip(), dropped


def _find_source(name: str, passages: Sequence[Passage]) -> str | None:
    """The id of the memory that a model calls m7, or by its own id; None where it was not shown."""
    if any(passage.id == name for passage in passages):
        return name
    match = _NAME.fullmatch(name)
    number = int(match[1]) if match else 0
    return passages[number - 1].id if 0 < number <= len(passages) else None
