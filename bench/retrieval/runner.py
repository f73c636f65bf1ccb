"""A corpus through the public API: every conversation is imported for an agent of its own, then asked its questions."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from bench.retrieval import index_changes, measures, variants
from engrain import Episode, Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bench.retrieval.corpus import Conversation, Corpus, Place, Question
    from bench.retrieval.variants import Variant
    from bench.retrieval.vector_cache import CachedEmbedder
    from engrain import Agent, Hit
    from engrain.domain.ports import LLM

LIMIT = max(measures.DEPTHS)
# The bench remembers vectors itself, and counts what a question's took each time it is asked.
_SETTINGS = {"embedding": {"cache_entries": 0}}
_TOLD_EVERY = 512
_IMPORTS_TOLD = 5

Say: TypeAlias = "Callable[[str], None]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingest:
    """Cost of importing the corpus; `embedded` of its texts had no vector in the cache."""

    memories: int
    seconds: float
    embedded: int
    embedder_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredQuestion:
    """One question with what was found, best first, and how long that took.

    Attributes:
        seconds: on the wall, with the embedding of the question.
        search_cpu_s: CPU of the process, without that.
    """

    question: Question
    found: tuple[Place, ...]
    seconds: float
    search_cpu_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One corpus and what each variant found in it, in the order of `Conversation.questions`."""

    corpus: Corpus
    answers: dict[str, tuple[AnsweredQuestion, ...]]
    ingests: dict[str, Ingest]


class NotRemembered(Exception):
    """An import passed over a turn, so that the places of those after it cannot be trusted."""


def run(
    corpus: Corpus, asked: Sequence[Variant], *, embedder: CachedEmbedder | None, say: Say, db: str | None = None
) -> Run:
    """Ask each variant all questions of a corpus; those that share an index share an ingest. `say` hears of progress.

    It is remembered in temporary files; what has the index as shipped, in the empty database that `db` names.

    Raises:
        NotRemembered: an import did not take every turn.
    """
    answers: dict[str, tuple[AnsweredQuestion, ...]] = {}
    ingests: dict[str, Ingest] = {}
    for change in dict.fromkeys(each.index for each in asked):
        here = [each for each in asked if each.index == change]
        location = db if change == index_changes.AS_SHIPPED else None
        with (
            index_changes.made(change),
            remembered(corpus, embedder=embedder, say=say, db=location) as (memory, ingest),
        ):
            for each in here:
                answers[each.name] = _ask(memory, corpus, each, embedder, say=say)
                ingests[each.name] = ingest
    ordered = [each.name for each in asked]
    return Run(
        corpus=corpus,
        answers={name: answers[name] for name in ordered},
        ingests={name: ingests[name] for name in ordered},
    )


@contextmanager
def remembered(
    corpus: Corpus, *, embedder: CachedEmbedder | None, say: Say, db: str | None = None, llm: LLM | str | None = None
) -> Iterator[tuple[Memory, Ingest]]:
    """A memory that holds the corpus, one agent for each conversation, at the moment of its last turn.

    `llm` is the language model that learns from it when it is told to, the settings' own by default.

    Raises:
        NotRemembered: an import did not take every turn.
    """
    last = max(turn.said_at for conversation in corpus.conversations for turn in conversation.turns)
    with (
        tempfile.TemporaryDirectory(prefix="engrain-bench-") as folder,
        Memory.open(
            db or Path(folder) / "bench.db",
            settings=_SETTINGS,
            embedder=embedder or "none",
            llm=llm,
            clock=lambda: last,
        ) as memory,
    ):
        yield memory, _ingest(memory, corpus, Path(folder), embedder=embedder, say=say)


def place(found: Hit) -> Place:
    """The session and turn of a hit."""
    memory = found.memory
    assert isinstance(memory, Episode)
    assert memory.session is not None
    return memory.session, memory.turn


def _ingest(memory: Memory, corpus: Corpus, folder: Path, *, embedder: CachedEmbedder | None, say: Say) -> Ingest:
    turns = sum(len(conversation.turns) for conversation in corpus.conversations)
    before = (0, 0.0) if embedder is None else (embedder.embedded, embedder.seconds)
    start = time.perf_counter()
    for number, conversation in enumerate(corpus.conversations, start=1):
        _remember(memory.agent(conversation.name), conversation, folder / "conversation.jsonl")
        if number % _IMPORTS_TOLD == 0 or number == len(corpus.conversations):
            say(f"imported {number} of {len(corpus.conversations)} conversations")
    memory.flush(_announce(say, embedder))
    return Ingest(
        memories=turns,
        seconds=time.perf_counter() - start,
        embedded=0 if embedder is None else embedder.embedded - before[0],
        embedder_seconds=0.0 if embedder is None else embedder.seconds - before[1],
    )


def _remember(agent: Agent, conversation: Conversation, path: Path) -> None:
    lines = (
        {
            "session": turn.session,
            "role": turn.role,
            "speaker": turn.speaker,
            "content": turn.content,
            "time": turn.said_at.isoformat(),
        }
        for turn in conversation.turns
    )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    report = agent.import_file(path, format="jsonl")
    if report.added != len(conversation.turns):
        raise NotRemembered(
            f"{conversation.name}: {report.added} of {len(conversation.turns)} turns were imported; {report.broken[:3]}"
        )


def _announce(say: Say, embedder: CachedEmbedder | None) -> Callable[[int], None]:
    """Progress of the vectors that no earlier run has made; the others take no time worth telling."""
    told = 0

    def tell(_: int) -> None:
        nonlocal told
        if embedder is not None and embedder.embedded >= told + _TOLD_EVERY:
            told = embedder.embedded
            say(f"embedded {told:,} texts")

    return tell


def _ask(
    memory: Memory, corpus: Corpus, variant: Variant, embedder: CachedEmbedder | None, *, say: Say
) -> tuple[AnsweredQuestion, ...]:
    asked = []
    degraded: Counter[str] = Counter()
    for conversation in corpus.conversations:
        agent = variants.agent(memory, conversation.name, [variant], now=conversation.now)
        for question in conversation.questions:
            spared, embedded = (0.0, 0.0) if embedder is None else (embedder.spared_s, embedder.questions_cpu_s)
            start, cpu = time.perf_counter(), time.process_time()
            answer = agent.recall(question.text, limit=LIMIT, preset=variant.name)
            cpu = time.process_time() - cpu - (0.0 if embedder is None else embedder.questions_cpu_s - embedded)
            seconds = time.perf_counter() - start + (0.0 if embedder is None else embedder.spared_s - spared)
            degraded.update(map(str, answer.degraded))
            found = tuple(map(place, answer))
            asked.append(AnsweredQuestion(question=question, found=found, seconds=seconds, search_cpu_s=cpu))
    say(f"asked {len(asked)} questions of {variant.name}")
    for reason, count in degraded.items():
        say(f"warning: {count} answers of {variant.name} were degraded: {reason}")
    return tuple(asked)
