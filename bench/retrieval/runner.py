"""A corpus through the public API: every conversation is imported for an agent of its own, then asked its questions."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from bench.retrieval import measures
from engrain import Episode, Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bench.retrieval.corpus import Conversation, Corpus, Place, Question
    from bench.retrieval.vector_cache import CachedEmbedder
    from engrain import Agent, Answer, Hit

LIMIT = max(measures.DEPTHS)
_TOLD_EVERY = 512
_IMPORTS_TOLD = 5

Say: TypeAlias = "Callable[[str], None]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingest:
    """What it cost to have the corpus remembered; `embedded` of its texts had no vector in the cache."""

    memories: int
    seconds: float
    embedded: int
    embedder_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question with what was found, best first, and how long that took."""

    question: Question
    found: tuple[Place, ...]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One corpus, ingested once and asked under each preset."""

    corpus: Corpus
    ingest: Ingest
    answers: dict[str, tuple[Asked, ...]]


class NotRemembered(Exception):
    """An import passed over a turn, so that the places of those after it cannot be trusted."""


def run(
    corpus: Corpus, presets: Sequence[str], *, embedder: CachedEmbedder | None, say: Say, db: str | None = None
) -> Run:
    """Ingest a corpus and ask all of its questions under each preset; `say` hears of progress.

    It is remembered in a temporary file, or in the empty database that `db` names.

    Raises:
        NotRemembered: an import did not take every turn.
    """
    last = max(turn.said_at for conversation in corpus.conversations for turn in conversation.turns)
    with (
        tempfile.TemporaryDirectory(prefix="engrain-bench-") as folder,
        Memory.open(db or Path(folder) / "bench.db", embedder=embedder or "none", clock=lambda: last) as memory,
    ):
        ingest = _ingest(memory, corpus, Path(folder), embedder, say)
        answers = {preset: _asked(memory, corpus, preset, say) for preset in presets}
    return Run(corpus=corpus, ingest=ingest, answers=answers)


def _ingest(memory: Memory, corpus: Corpus, folder: Path, embedder: CachedEmbedder | None, say: Say) -> Ingest:
    turns = sum(len(conversation.turns) for conversation in corpus.conversations)
    start = time.perf_counter()
    for number, conversation in enumerate(corpus.conversations, start=1):
        _remember(memory.agent(conversation.name), conversation, folder / "conversation.jsonl")
        if number % _IMPORTS_TOLD == 0 or number == len(corpus.conversations):
            say(f"imported {number} of {len(corpus.conversations)} conversations")
    memory.flush(_told(say, embedder))
    return Ingest(
        memories=turns,
        seconds=time.perf_counter() - start,
        embedded=0 if embedder is None else embedder.embedded,
        embedder_seconds=0.0 if embedder is None else embedder.seconds,
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


def _told(say: Say, embedder: CachedEmbedder | None) -> Callable[[int], None]:
    """Progress of the vectors that no earlier run has made; the others take no time worth telling."""
    told = 0

    def tell(_: int) -> None:
        nonlocal told
        if embedder is not None and embedder.embedded >= told + _TOLD_EVERY:
            told = embedder.embedded
            say(f"embedded {told:,} texts")

    return tell


def _asked(memory: Memory, corpus: Corpus, preset: str, say: Say) -> tuple[Asked, ...]:
    asked = []
    degraded: Counter[str] = Counter()
    for conversation in corpus.conversations:
        agent = memory.agent(conversation.name)
        for question in conversation.questions:
            start = time.perf_counter()
            answer = agent.recall(question.text, limit=LIMIT, preset=preset)
            seconds = time.perf_counter() - start
            degraded.update(answer.degraded)
            asked.append(Asked(question=question, found=_places(answer), seconds=seconds))
    say(f"asked {len(asked)} questions of preset {preset}")
    for reason, count in degraded.items():
        say(f"warning: {count} answers of preset {preset} were degraded: {reason}")
    return tuple(asked)


def _places(answer: Answer) -> tuple[Place, ...]:
    return tuple(_place(each) for each in answer)


def _place(found: Hit) -> Place:
    memory = found.memory
    assert isinstance(memory, Episode)
    assert memory.session is not None
    return memory.session, memory.turn
