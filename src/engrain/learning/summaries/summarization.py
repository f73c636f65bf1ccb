"""Summaries of memories, within a number of tokens: by a language model in one of three ways, or in their own words."""

from __future__ import annotations

import math
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from engrain import metrics
from engrain.domain.runs.completions import Prompt, Usage
from engrain.domain.runs.summaries import Summary
from engrain.domain.text.analysis import words
from engrain.domain.wording import Wording, worded
from engrain.errors import EngineUnavailable
from engrain.learning.summaries import prompt_data
from engrain.learning.summaries.extractive import Passage, extract

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from engrain.domain.ports import LLM, TokenCounter
    from engrain.domain.runs.summaries import Strategy

PROMPT_VERSION = "summary_1"
_SHORTER_VERSION = "summary_shorter_1"

CHUNK = 10
_CHUNK_TOKENS = 500
# A model reads this many prompts full at the first level; of more, only what the memories' best sentences say.
_MOST_PROMPTS = 100
# Each level leaves at most a tenth: enough for more memories than there are.
_MOST_LEVELS = 8
_WORDS_PER_TOKEN = 0.75
# A model that thinks before it answers needs room for that too.
_LEAST_ANSWER_TOKENS = 1_000

_Result = TypeVar("_Result")


class RunAll(Protocol):
    """Does several things at once, within bounds; their results in the order given."""

    def __call__(self, works: Sequence[Callable[[], _Result]], /) -> list[_Result]: ...


def one_by_one(works: Sequence[Callable[[], _Result]], /) -> list[_Result]:
    """One after another, in the thread that asks."""
    return [work() for work in works]


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryWriter:
    """Who writes summaries, and how much of a text one prompt may hold."""

    count_tokens: TokenCounter
    llm: LLM | None = None
    run_all: RunAll = one_by_one
    timeout_s: float = 120.0
    prompt_tokens: int = 6_000

    def why_not(self, error: EngineUnavailable) -> Wording:
        """Why no model wrote; that there is none is nothing to hide."""
        return Wording(str(error)) if self.llm is None else worded(error, "the language model")


def summarize(passages: Sequence[Passage], writer: SummaryWriter, *, strategy: Strategy, target_tokens: int) -> Summary:
    """One text about all passages, of at most `target_tokens`; empty where they say nothing.

    `simple` asks once; `hierarchical` summarises ten at a time, then the summaries, until they fit together;
    `map_reduce` summarises ten at a time, then combines the summaries; `extractive` chooses sentences and asks nobody.
    What is too long for one prompt is summarised in parts. A model that answers at too great a length is asked once
    more, then cut at a sentence. Without a model, or where it fails, the summary is extractive, and `degraded` says so.
    """
    told = [each for each in passages if each.text.strip()]
    source_tokens = sum(writer.count_tokens(each.text) for each in told)
    dialogue = _Dialogue(writer)
    used, degraded = strategy, list[Wording]()
    if strategy == "extractive" or not told:
        text = extract(told, target_tokens, writer.count_tokens).text
    else:
        readable = told
        if source_tokens > _MOST_PROMPTS * writer.prompt_tokens:
            readable = _paragraphs(extract(told, _MOST_PROMPTS * writer.prompt_tokens, writer.count_tokens).text)
            said = f"{source_tokens:,} tokens are too many for a model: it read their best sentences alone"
            degraded = [Wording(said)]
        try:
            text, used = _generated(dialogue, readable, strategy, target_tokens)
        except EngineUnavailable as error:
            metrics.count("summaries_degraded")
            text, used = extract(told, target_tokens, writer.count_tokens).text, "extractive"
            degraded = [writer.why_not(error).after("extractive: ")]
    is_generated = used != "extractive"
    summary = Summary(
        text=text,
        strategy=used,
        source_ids=tuple(dict.fromkeys(each.id for each in told if each.id)),
        tokens=writer.count_tokens(text) if text else 0,
        target_tokens=target_tokens,
        source_tokens=source_tokens,
        degraded=tuple(degraded),
        usage=dialogue.usage,
        model=writer.llm.name if writer.llm is not None and is_generated else None,
        prompt_version=PROMPT_VERSION if is_generated else None,
    )
    metrics.count("summarization_runs")
    metrics.count("summarization_tokens_saved", max(summary.source_tokens - summary.tokens, 0))
    return summary


def pack_passages(
    passages: Sequence[Passage], most_tokens: int, count_tokens: TokenCounter, *, most: int | None = None
) -> list[list[Passage]]:
    """Passages in order in chunks for one prompt each: at most `most` of them, and about `most_tokens`.

    One that is larger is divided between words.
    """
    chunks: list[list[Passage]] = []
    spent = 0
    for passage in passages:
        for piece in _divided(passage, most_tokens, count_tokens):
            cost = count_tokens(piece.text) + count_tokens(piece.label)
            is_full = not chunks or len(chunks[-1]) == most or spent + cost > most_tokens
            if is_full:
                chunks.append([])
                spent = 0
            chunks[-1].append(piece)
            spent += cost
    return chunks


@dataclass(slots=True)
class _Dialogue:
    """What one summary asks of the model, from several threads. Once it has failed it is asked nothing more."""

    writer: SummaryWriter
    usage: Usage = field(default_factory=Usage)
    _failure: str | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, passages: Sequence[Passage], tokens: int, *, had: int | None = None) -> str:
        """The model's summary of some passages, of any length but none; `had` where they are one that was too long.

        Raises:
            EngineUnavailable: there is no model, it failed, or it said nothing.
        """
        llm = self.writer.llm
        if llm is None:
            raise EngineUnavailable("no language model is configured: set llm, or ask for strategy extractive")
        if self._failure is not None:
            raise EngineUnavailable(self._failure)
        values = {"tokens": tokens, "words": max(int(tokens * _WORDS_PER_TOKEN), 1), "had": had}
        prompt = Prompt(
            system=prompt_data.template(PROMPT_VERSION if had is None else _SHORTER_VERSION).substitute(values),
            user=prompt_data.as_data(passages),
            max_tokens=max(4 * tokens, _LEAST_ANSWER_TOKENS),
        )
        try:
            reply = llm.complete(prompt, timeout_s=self.writer.timeout_s)
        except EngineUnavailable as error:
            self._failure = str(error)
            raise
        with self._lock:
            self.usage += reply.usage
        said = prompt_data.bare(reply.text)
        if not words(said):
            raise EngineUnavailable(f"{llm.name} answered without a word; try again or another model")
        return said

    def insisted(self, passages: Sequence[Passage], tokens: int) -> str:
        """A summary that fits: the second attempt where the first does not, and cut where that one does not either."""
        count = self.writer.count_tokens
        said = self.ask(passages, tokens)
        if count(said) <= tokens:
            return said
        metrics.count("summaries_too_long")
        with suppress(EngineUnavailable):  # the first attempt is better than none
            said = self.ask(
                pack_passages(_paragraphs(said), self.writer.prompt_tokens, count)[0], tokens, had=count(said)
            )
        return said if count(said) <= tokens else extract(_paragraphs(said), tokens, count).text

    def each(self, chunks: Sequence[Sequence[Passage]], tokens: int) -> list[Passage]:
        """A summary of each chunk that fits, in order, all asked for at once."""
        count = self.writer.count_tokens

        def work(chunk: Sequence[Passage]) -> Callable[[], str | EngineUnavailable]:
            def asked() -> str | EngineUnavailable:
                try:
                    said = self.ask(chunk, tokens)
                except EngineUnavailable as error:  # returned, so that the others end as they should
                    return error
                return said if count(said) <= tokens else extract(_paragraphs(said), tokens, count).text

            return asked

        told = self.writer.run_all([work(chunk) for chunk in chunks])
        for each in told:
            if isinstance(each, EngineUnavailable):
                raise each
        return [Passage(each) for each in told if isinstance(each, str)]


def _generated(
    dialogue: _Dialogue, passages: Sequence[Passage], strategy: Strategy, target_tokens: int
) -> tuple[str, Strategy]:
    """A model's summary that fits, and how it was made."""
    match strategy:
        case "simple":
            writer = dialogue.writer
            chunks = pack_passages(passages, writer.prompt_tokens, writer.count_tokens)
            if len(chunks) == 1:
                return dialogue.insisted(chunks[0], target_tokens), "simple"
            return _map_reduced(dialogue, passages, target_tokens), "map_reduce"
        case "hierarchical":
            return _hierarchical(dialogue, passages, target_tokens), "hierarchical"
        case _:
            return _map_reduced(dialogue, passages, target_tokens), "map_reduce"


def _hierarchical(dialogue: _Dialogue, passages: Sequence[Passage], target_tokens: int) -> str:
    writer = dialogue.writer
    level = passages
    for _ in range(_MOST_LEVELS):
        chunks = pack_passages(level, writer.prompt_tokens, writer.count_tokens, most=CHUNK)
        if len(chunks) == 1:
            return dialogue.insisted(chunks[0], target_tokens)
        level = dialogue.each(chunks, min(_CHUNK_TOKENS, target_tokens))
        joined = "\n\n".join(each.text for each in level)
        if writer.count_tokens(joined) <= target_tokens:
            return joined
    return extract(level, target_tokens, writer.count_tokens).text


def _map_reduced(dialogue: _Dialogue, passages: Sequence[Passage], target_tokens: int) -> str:
    writer = dialogue.writer
    chunks = pack_passages(passages, writer.prompt_tokens, writer.count_tokens, most=CHUNK)
    for _ in range(_MOST_LEVELS):
        if len(chunks) == 1:
            return dialogue.insisted(chunks[0], target_tokens)
        level = dialogue.each(chunks, min(_CHUNK_TOKENS, target_tokens))
        chunks = pack_passages(level, writer.prompt_tokens, writer.count_tokens)
    return extract([each for chunk in chunks for each in chunk], target_tokens, writer.count_tokens).text


def _divided(passage: Passage, most_tokens: int, count_tokens: TokenCounter) -> Iterator[Passage]:
    tokens = count_tokens(passage.text)
    if tokens <= most_tokens:
        yield passage
        return
    pieces = math.ceil(tokens / max(most_tokens, 1))
    size = max(math.ceil(len(passage.text) / pieces), 1)
    start = 0
    while start < len(passage.text):
        end = start + size
        space = passage.text.rfind(" ", start + size // 2, end)
        end = space + 1 if space > 0 and end < len(passage.text) else end
        yield Passage(passage.text[start:end], passage.label, passage.id)
        start = end


def _paragraphs(text: str) -> list[Passage]:
    """The lines of a model's text, so that what is cut out of it stays in its lines."""
    return [Passage(line) for line in text.splitlines() if line.strip()]
