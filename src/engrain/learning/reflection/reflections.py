"""Reflections: what an agent carries on from a week, drawn from what it learned and heard, with its sources."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, get_args

from engrain.domain.records import DECAY_RATES, REFLECTION, SUMMARY, Fact, Record
from engrain.domain.runs.completions import Prompt, Usage
from engrain.domain.text.analysis import words
from engrain.engines.llms.responses import extract_json
from engrain.errors import EngineUnavailable
from engrain.learning.summaries import prompt_data
from engrain.learning.summaries.extractive import Passage, extract
from engrain.learning.summaries.passages import build_passage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from engrain.domain.ports import LLM, TokenCounter
    from engrain.domain.records import Caller, MemoryRecord

TAGS = ("weekly",)
PROMPT_VERSION = "reflection_1"
TARGET_TOKENS = 400
# What looks back does not look back on itself.
LEFT_OUT = frozenset({REFLECTION, SUMMARY})

Outcome = Literal["reflected", "due", "too_soon", "too_few", "running", "failed"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

# Of one memory as it is shown to a model.
_MOST_CHARACTERS = 1_000
_WORDS_PER_TOKEN = 0.75
# Of what a model thinks and answers: so that one that has lost its way comes back.
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
class Cadence:
    """When a reflection is due, and how much it reads."""

    min_facts: int = 3
    window_days: float = 7.0
    min_days_between: float = 6.0
    most_memories: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionWindow:
    """What an agent learned and heard of late, newest first, and when it last reflected."""

    memories: tuple[MemoryRecord, ...]
    facts: int
    reflected_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionDraft:
    """A reflection as it was written: its text, the memories that bear it out, and how it came about.

    Attributes:
        unknown: how many sources a model named that it had not been shown.
    """

    text: str
    source_ids: tuple[str, ...]
    method: Literal["llm", "extractive"]
    unknown: int = 0
    model: str | None = None
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionOutcome(Record):
    """What came of one agent's reflection: `said` tells it in a sentence.

    The outcome is reflected, due (a dry run), too_soon, too_few (facts), running (elsewhere) or failed (it is tried
    again the next time).
    """

    tenant_id: str
    agent: str
    outcome: Outcome
    said: str
    facts: int = 0
    memories: int = 0
    reflection: Fact | None = None
    method: str | None = None
    run_id: str | None = None
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionReport(Record):
    """What came of a call, an agent after the other."""

    dry_run: bool
    agents: tuple[ReflectionOutcome, ...] = ()

    @property
    def reflected(self) -> int:
        """How many reflections were kept."""
        return sum(each.outcome == "reflected" for each in self.agents)


def select_window(
    memories: Iterable[MemoryRecord], cadence: Cadence, now: datetime, *, reflected_at: datetime | None
) -> ReflectionWindow:
    """What belongs to the window: learned, said or true since it began; no reflections and summaries, no repeats."""
    since = now - timedelta(days=cadence.window_days)
    recent = {each.id: each for each in memories if _when(each) >= since and not _is_left_out(each)}
    ordered = sorted(recent.values(), key=lambda each: (_when(each), each.id), reverse=True)
    return ReflectionWindow(
        memories=tuple(ordered[: cadence.most_memories]),
        facts=sum(isinstance(each, Fact) for each in ordered),
        reflected_at=reflected_at,
    )


def check_due(seen: ReflectionWindow, cadence: Cadence, now: datetime, *, force: bool) -> tuple[Outcome, str] | None:
    """Why no reflection is due, as an outcome and a sentence; None where one is. `force` passes over the days between.

    Exactly so many days after the last one, one is due again.
    """
    last = seen.reflected_at
    if not force and last is not None and now - last < timedelta(days=cadence.min_days_between):
        said = f"the last one is of {last:%Y-%m-%d}; {cadence.min_days_between:g} days lie between two"
        return "too_soon", said
    if seen.facts < cadence.min_facts or not seen.memories:
        days = f"{cadence.window_days:g} days"
        return "too_few", f"{seen.facts} facts in the last {days}; it takes {max(cadence.min_facts, 1)}"
    return None


def write_draft(
    seen: ReflectionWindow, count_tokens: TokenCounter, *, llm: LLM | None, timeout_s: float, prompt_tokens: int
) -> ReflectionDraft:
    """A reflection on what was seen, at most TARGET_TOKENS long: by the model where there is one, else extractive.

    Raises:
        EngineUnavailable: the model failed, or what it said is no reflection.
    """
    shown = [build_passage(each) for each in reversed(seen.memories)]
    if llm is None:
        found = extract(shown, TARGET_TOKENS, count_tokens)
        if not found.text:
            raise EngineUnavailable("the memories have no words to reflect on; configure a language model")
        return ReflectionDraft(
            text=found.text, source_ids=tuple(shown[each].id for each in found.passages), method="extractive"
        )
    fitting = _fitting(shown, prompt_tokens, count_tokens)
    values = {"words": int(TARGET_TOKENS * _WORDS_PER_TOKEN)}
    prompt = Prompt(
        system=prompt_data.template(PROMPT_VERSION).substitute(values),
        user=prompt_data.as_data(fitting),
        schema=SCHEMA,
        max_tokens=_MOST_ANSWER_TOKENS,
    )
    completion = llm.complete(prompt, timeout_s=timeout_s)
    text, sources = _parsed(completion.text, llm.name)
    if count_tokens(text) > TARGET_TOKENS:
        text = extract([Passage(line) for line in text.splitlines()], TARGET_TOKENS, count_tokens).text
    named = [_named(each, fitting) for each in sources]
    known = tuple(dict.fromkeys(each for each in named if each is not None))
    return ReflectionDraft(
        text=text,
        source_ids=known or tuple(each.id for each in fitting),
        method="llm",
        unknown=sum(each is None for each in named),
        model=llm.name,
        usage=completion.usage,
    )


def build_fact(thought: ReflectionDraft, caller: Caller, at: datetime, id_: str) -> Fact:
    """A reflection as it is kept: about the agent, in its own scope, permanent, one a day."""
    return Fact(
        id=id_,
        tenant_id=caller.tenant_id,
        agent=caller.agent,
        scope=caller.agent,
        subject=caller.agent,
        predicate=f"reflection {at:%Y-%m-%d}",
        content=thought.text,
        category=REFLECTION,
        importance=8.0,
        permanence="permanent",
        decay_rate=DECAY_RATES["permanent"],
        created_at=at,
        last_confirmed_at=at,
        tags=TAGS,
        metadata={
            "method": thought.method,
            **({"model": thought.model, "prompt_version": PROMPT_VERSION} if thought.method == "llm" else {}),
        },
    )


def _when(memory: MemoryRecord) -> datetime:
    """When it came to be known, or happened, whichever is later: both make it news."""
    return max(memory.created_at, memory.happened_at)


def _is_left_out(memory: MemoryRecord) -> bool:
    return isinstance(memory, Fact) and memory.category in LEFT_OUT


def _fitting(shown: Sequence[Passage], prompt_tokens: int, count_tokens: TokenCounter) -> list[Passage]:
    """The newest that fit into a prompt, at least one, each cut to a length, in their order."""
    fitting: list[Passage] = []
    left = prompt_tokens
    for each in reversed(shown):
        cut = Passage(each.text[:_MOST_CHARACTERS], each.label, each.id)
        left -= count_tokens(cut.text) + count_tokens(cut.label)
        if left < 0 and fitting:
            break
        fitting.append(cut)
    return fitting[::-1]


def _parsed(reply: str, who: str) -> tuple[str, list[str]]:
    """The text a model answered with, and the sources it names.

    Raises:
        EngineUnavailable: there is none of the form asked for, or it has no words.
    """
    found = extract_json(prompt_data.bare(reply), who)
    text = found.get("reflection") if isinstance(found, dict) else None
    said = prompt_data.bare(text) if isinstance(text, str) else ""
    if not words(said):
        raise EngineUnavailable(f"{who} answered with no reflection; it is asked again the next time")
    sources = found.get("sources")
    return said, [each for each in sources if isinstance(each, str)] if isinstance(sources, list) else []


def _named(name: str, shown: Sequence[Passage]) -> str | None:
    """The id of the memory that a model calls m7, or by its own id; None where it was not shown."""
    if any(each.id == name for each in shown):
        return name
    found = _NAME.fullmatch(name)
    place = int(found[1]) if found else 0
    return shown[place - 1].id if 0 < place <= len(shown) else None
