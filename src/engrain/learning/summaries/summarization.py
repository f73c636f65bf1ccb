"""Summarization of memories within a number of tokens: by a language model in three ways, or extractive."""

from __future__ import annotations

import math
import re
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from engrain import metrics
from engrain.domain.faults import describe_fault
from engrain.domain.records import Degraded
from engrain.domain.runs.completions import Prompt, Usage
from engrain.domain.runs.summaries import Strategy, Summary
from engrain.domain.text.analysis import terms, words
from engrain.errors import EngineUnavailable
from engrain.learning.summaries import prompt_data
from engrain.learning.summaries.extractive import extract
from engrain.learning.summaries.passages import Passage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from engrain.domain.ports import LLM, TokenCounter

PROMPT_VERSION = "summary_1"
_SHORTER_VERSION = "summary_shorter_1"

CHUNK = 10
_CHUNK_TOKENS = 500
# A model reads this many prompts full at the first level; of more, only the best sentences of the memories.
_MOST_PROMPTS = 100
# Each level leaves at most a tenth: enough for more memories than there are.
_MOST_LEVELS = 8
_WORDS_PER_TOKEN = 0.75
# A model that thinks before it answers needs room for that too.
_LEAST_ANSWER_TOKENS = 1_000

_LEAST_SHARE = 0.1
_STRUCTURE = re.compile(r"""[\[{]\s*["'\[\]{}]""")

_Result = TypeVar("_Result")


class RunAll(Protocol):
    """Runs several works at once, within bounds; their results in the order of the works."""

    def __call__(self, works: Sequence[Callable[[], _Result]], /) -> list[_Result]: ...


def run_one_by_one(works: Sequence[Callable[[], _Result]], /) -> list[_Result]:
    """Run works one after another, in the calling thread."""
    return [work() for work in works]


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryWriter:
    """A writer of summaries: the model, where there is one, and how much of a text one prompt may hold."""

    count_tokens: TokenCounter
    llm: LLM | None = None
    run_all: RunAll = run_one_by_one
    timeout_s: float = 120.0
    prompt_tokens: int = 6_000

    def describe(self, error: EngineUnavailable) -> Degraded:
        """The reason why no model wrote; that there is none is nothing to hide."""
        return Degraded(code="no_llm", message=str(error)) if self.llm is None else describe_fault(error, "llm")


def summarize(passages: Sequence[Passage], writer: SummaryWriter, *, strategy: Strategy, target_tokens: int) -> Summary:
    """One text about all passages, of at most `target_tokens`; empty where they say nothing.

    `simple` asks once; `hierarchical` summarizes ten at a time, then the summaries, until they fit together;
    `map_reduce` summarizes ten at a time, then combines the summaries; `extractive` chooses sentences and asks nobody.
    A text that is too long for one prompt is summarized in parts. A model that answers at too great a length is asked
    once more, then cut at a sentence. Without a model, or where it fails, the summary is extractive, and `degraded`
    says so.
    """
    texts = [passage for passage in passages if passage.text.strip()]
    source_tokens = sum(writer.count_tokens(passage.text) for passage in texts)
    dialogue = _Dialogue(writer)
    used, degraded = strategy, list[Degraded]()
    if strategy == "extractive" or not texts:
        text = extract(texts, target_tokens, writer.count_tokens).text
    else:
        readable = texts
        if source_tokens > _MOST_PROMPTS * writer.prompt_tokens:
            readable = _paragraphs(extract(texts, _MOST_PROMPTS * writer.prompt_tokens, writer.count_tokens).text)
            message = f"{source_tokens:,} tokens are too many for a model: it read their best sentences alone"
            degraded = [Degraded(code="source_shortened", message=message)]
        try:
            text, used = _generate(dialogue, readable, strategy, target_tokens)
        except EngineUnavailable as error:
            metrics.count("summaries_degraded")
            text, used = extract(texts, target_tokens, writer.count_tokens).text, "extractive"
            degraded = [writer.describe(error).with_prefix("extractive: ")]
    is_generated = used != "extractive"
    summary = Summary(
        text=text,
        strategy=used,
        source_ids=tuple(dict.fromkeys(passage.id for passage in texts if passage.id)),
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
        for piece in _divide(passage, most_tokens, count_tokens):
            cost = count_tokens(piece.text) + count_tokens(piece.label)
            if not chunks or len(chunks[-1]) == most or spent + cost > most_tokens:
                chunks.append([])
                spent = 0
            chunks[-1].append(piece)
            spent += cost
    return chunks


def is_summary(text: str, passages: Sequence[Passage]) -> bool:
    """True unless a text is structured data, or has hardly a word of the passages: a refusal, or an answer to nobody.

    Of words that carry meaning a tenth is enough, as a summary may say all in words of its own, but for the names.
    """
    if _STRUCTURE.match(text):
        return False
    source = " ".join(f"{passage.label} {passage.text}" for passage in passages)
    wanted, known = set(terms(text)), set(terms(source))
    if not wanted:
        wanted, known = set(words(text)), set(words(source))
    shared = len(wanted & known)
    return shared > 0 and shared >= _LEAST_SHARE * len(wanted)


@dataclass(slots=True)
class _Dialogue:
    """The questions of one summary to the model, from several threads. Once it has failed it is asked nothing more."""

    writer: SummaryWriter
    usage: Usage = field(default_factory=Usage)
    _failure: str | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, passages: Sequence[Passage], tokens: int, *, had: int | None = None) -> str:
        """The model's summary of some passages, of any length but none; `had` where they are one that was too long.

        Raises:
            EngineUnavailable: there is no model, it failed, or what it answered is no summary of them.
        """
        llm = self.writer.llm
        if llm is None:
            raise EngineUnavailable("no language model is configured: set llm, or ask for strategy extractive")
        if self._failure is not None:
            raise EngineUnavailable(self._failure)
        values = {"tokens": tokens, "words": max(int(tokens * _WORDS_PER_TOKEN), 1), "had": had}
        prompt = Prompt(
            system=prompt_data.load_template(PROMPT_VERSION if had is None else _SHORTER_VERSION).substitute(values),
            user=prompt_data.render_passages(passages),
            max_tokens=max(4 * tokens, _LEAST_ANSWER_TOKENS),
        )
        try:
            reply = llm.complete(prompt, timeout_s=self.writer.timeout_s)
        except EngineUnavailable as error:
            self._failure = str(error)
            raise
        with self._lock:
            self.usage += reply.usage
        summary = prompt_data.strip_wrapping(reply.text)
        if not words(summary):
            raise EngineUnavailable(f"{llm.name} answered without a word; try again or another model")
        if not is_summary(summary, passages):
            raise EngineUnavailable(f"{llm.name} answered no summary of the memories; try again or another model")
        return summary

    def ask_until_it_fits(self, passages: Sequence[Passage], tokens: int) -> str:
        """A summary that fits: the second attempt where the first does not, and cut where that one does not either."""
        count = self.writer.count_tokens
        summary = self.ask(passages, tokens)
        if count(summary) <= tokens:
            return summary
        metrics.count("summaries_too_long")
        with suppress(EngineUnavailable):  # the first attempt is better than none
            chunk = pack_passages(_paragraphs(summary), self.writer.prompt_tokens, count)[0]
            summary = self.ask(chunk, tokens, had=count(summary))
        return self._cut(summary, tokens)

    def ask_all(self, chunks: Sequence[Sequence[Passage]], tokens: int) -> list[Passage]:
        """A summary of each chunk that fits, in order, all asked for at once."""

        def work(chunk: Sequence[Passage]) -> str | EngineUnavailable:
            try:
                return self._cut(self.ask(chunk, tokens), tokens)
            except EngineUnavailable as error:  # returned, so that the others end as they should
                return error

        passages: list[Passage] = []
        for summary in self.writer.run_all([partial(work, chunk) for chunk in chunks]):
            if isinstance(summary, EngineUnavailable):
                raise summary
            passages.append(Passage(summary))
        return passages

    def _cut(self, summary: str, tokens: int) -> str:
        """The summary, its best sentences alone where it is too long."""
        count = self.writer.count_tokens
        return summary if count(summary) <= tokens else extract(_paragraphs(summary), tokens, count).text


def _generate(
    dialogue: _Dialogue, passages: Sequence[Passage], strategy: Strategy, target_tokens: int
) -> tuple[str, Strategy]:
    """A model's summary that fits, and the strategy that made it."""
    writer = dialogue.writer
    if strategy == "simple":
        chunks = pack_passages(passages, writer.prompt_tokens, writer.count_tokens)
        if len(chunks) == 1:
            return dialogue.ask_until_it_fits(chunks[0], target_tokens), "simple"
    is_hierarchical = strategy == "hierarchical"
    used: Strategy = "hierarchical" if is_hierarchical else "map_reduce"
    level: Sequence[Passage] = passages
    most: int | None = CHUNK
    for _ in range(_MOST_LEVELS):
        chunks = pack_passages(level, writer.prompt_tokens, writer.count_tokens, most=most)
        if len(chunks) == 1:
            return dialogue.ask_until_it_fits(chunks[0], target_tokens), used
        level = dialogue.ask_all(chunks, min(_CHUNK_TOKENS, target_tokens))
        joined = "\n\n".join(passage.text for passage in level)
        if is_hierarchical and writer.count_tokens(joined) <= target_tokens:
            return joined, used
        most = CHUNK if is_hierarchical else None  # map_reduce combines as many summaries as a prompt holds
    return extract(level, target_tokens, writer.count_tokens).text, used


def _divide(passage: Passage, most_tokens: int, count_tokens: TokenCounter) -> Iterator[Passage]:
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
