"""Engrain's own operations on a memory of a given size, and the limits beside them, all in CPU time."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import apsw

from bench.retrieval.measures import percentile
from bench.speed import kernels, language
from bench.speed.limits import PlainTables, nearest
from bench.speed.stopwatch import per_call, total
from bench.speed.vectors import (
    DIMS,
    MESSAGES,
    RandomVectors,
    RealQuestions,
    english_messages,
    english_questions,
    real,
)
from engrain import Memory
from engrain.storage.sqlite.speech import SPEECH
from engrain.storage.sqlite.vector_cache import VectorCache
from engrain.storage.transaction import Transaction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.speed.language import Said
    from engrain import Agent
    from engrain.agent.hooks import Hooks
    from engrain.domain.ports import Embedder

Figures: TypeAlias = dict[str, float]
"""By name, which ends in the unit."""

LIMIT = 10  # hits of a search: the default
_AGENT = "assistant"
_QUESTIONS = 100
_OBSERVED = 300
_MOST_SECONDS = 1.5  # of one kind of search; fewer questions are asked where they take longer
_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """One size: the talk, what is asked of it, and the folder its files lie in."""

    said: Sequence[Said]
    more: Sequence[Said]
    questions: Sequence[str]
    naming: Sequence[str]
    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "bench.db"


def prepared(size: int, folder: Path) -> Bench:
    """The talk of one size; the same for the same size."""
    said = language.talk(size + _OBSERVED)
    return Bench(
        said=said[:size],
        more=said[size:],
        questions=language.questions(said[:size], _QUESTIONS, naming=False),
        naming=language.questions(said[:size], _QUESTIONS, naming=True),
        folder=folder,
    )


def ingest(bench: Bench) -> Figures:
    """Fill the memory: imported in bulk, its vectors (which cost nothing to make) attached, then turn by turn."""
    count = len(bench.said)
    path = bench.folder / "talk.jsonl"
    path.write_text("".join(json.dumps(line(turn)) + "\n" for turn in bench.said), encoding="utf-8")
    with Memory.open(bench.file, embedder="none") as memory:
        imported = total(lambda: _imported(memory.agent(_AGENT), path, count))
    vectors = RandomVectors()
    with Memory.open(bench.file, embedder=vectors) as memory:
        attached = total(memory.flush) - vectors.seconds
    size = bench.file.stat().st_size
    figures = {
        "import_us": imported / count * 1e6,
        "attach_us": attached / count * 1e6,
        "file_bytes_per_memory": size / count,
        "text_bytes_per_memory": sum(len(turn.content.encode()) for turn in bench.said) / count,
        **_observed_one_by_one(bench),
    }
    with Memory.open(bench.file, embedder=vectors) as memory:
        memory.flush()
    return figures


def _observed_one_by_one(bench: Bench) -> Figures:
    """What the caller of observe waits for, and all that follows from it in the background; then a host's messages."""
    half = len(bench.more) // 2
    observed, heard = bench.more[:half], bench.more[half:]
    with Memory.open(bench.file, embedder="none") as memory:
        agent = memory.agent(_AGENT)
        start = time.process_time()
        waited = per_call(lambda turn: observe(agent, turn), observed, clock=time.thread_time)
        memory.flush()
        spent = time.process_time() - start
    with Memory.open(bench.file, embedder="none", settings={"entities": {"link": "fast"}}) as memory:
        hooks = {turn.session: memory.agent(_AGENT, session=turn.session).hooks for turn in heard}
        messages = per_call(lambda turn: message(hooks[turn.session], turn), heard, clock=time.thread_time)
    return {
        "observe_us": percentile(waited, 0.5) * 1e6,
        "observe_and_index_us": spent / len(observed) * 1e6,
        "message_us": percentile(messages, 0.5) * 1e6,
    }


def search(bench: Bench, embedder: Embedder | None) -> Figures:
    """Searches whose question has its vector already, and searches that make it."""
    figures: Figures = {}
    with Memory.open(bench.file, embedder=RandomVectors()) as memory:
        agent = memory.agent(_AGENT)
        agent.recall(bench.questions[0], limit=LIMIT)  # reads the vectors into the process
        for name, asked in (("search", bench.questions), ("search_naming", bench.naming)):
            figures |= _spread(name, _asked(agent, asked))
        for preset in ("semantic", "keyword"):
            figures |= _spread(f"search_{preset}", _asked(agent, bench.questions, preset=preset))
    if embedder is not None:
        with Memory.open(bench.file, embedder=RealQuestions(embedder)) as memory:
            agent = memory.agent(_AGENT)
            agent.recall(bench.questions[0], limit=LIMIT)
            figures |= _spread("search_embedding", _asked(agent, bench.questions))
    return figures


def catch_up(bench: Bench) -> Figures:
    """What a search pays to learn that no other process has written."""
    db = apsw.Connection(str(bench.file), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        namespace = int(db.execute("SELECT namespace FROM namespaces WHERE kind = 'episode'").get)
        cache, tx = VectorCache(), Transaction(db, SPEECH)
        held = cache.catch_up(tx, namespace)
        took = per_call(lambda _: cache.catch_up(tx, namespace), range(1000))
    finally:
        db.close()
    assert held == len(bench.said) + len(bench.more)
    return {"catch_up_us": percentile(took, 0.5) * 1e6}


def limits(bench: Bench) -> Figures:
    """NumPy's kernels, the vector index and SQLite, each alone with the same vectors, words and rows."""
    tables = PlainTables(bench.folder / "plain.db")
    try:
        filled = tables.fill(bench.said)
        figures = {"plain_bulk_us": filled / len(bench.said) * 1e6}
        for name, asked in (("match", bench.questions), ("match_naming", bench.naming)):
            for kind, near in (("own", False), ("near", True)):
                took = tables.match(asked, LIMIT, near=near, most_seconds=_MOST_SECONDS)
                figures[f"{name}_{kind}_ms_p50"] = percentile(took, 0.5) * 1e3
        inserted = tables.insert_each(bench.more, len(bench.said))
    finally:
        tables.close()
    figures["plain_insert_us"] = percentile(inserted, 0.5) * 1e6
    figures["kernels_ms_p50"] = kernels.search_floor(len(bench.said), DIMS, LIMIT) * 1e3
    figures["index_ms_p50"] = percentile(nearest(bench.said, bench.questions, LIMIT), 0.5) * 1e3
    figures["float32_scan_ms_p50"] = kernels.f32_scan(len(bench.said), DIMS) * 1e3
    return figures


def cold_start(bench: Bench, embedder: str | None) -> Figures:
    """A new process up to its first answer, the question's vector at hand or made by the real embedder."""
    spent = _child("engrain", str(bench.file), RandomVectors.name, bench.questions[0])
    figures = {f"cold_{step}_ms": spent[step] * 1e3 for step in ("import", "open", "recall")}
    figures["cold_peak_mb"] = spent["peak_bytes"] / 1e6
    if embedder is not None:
        spent = _child("engrain", str(bench.file), embedder, bench.questions[0])
        figures |= {
            "cold_recall_embedding_ms": spent["recall"] * 1e3,
            "cold_peak_embedding_mb": spent["peak_bytes"] / 1e6,
        }
    spent = _child("bare", str(bench.file))
    return {**figures, "bare_ms": spent["bare"] * 1e3, "bare_peak_mb": spent["peak_bytes"] / 1e6}


def embedding(name: str, folder: Path) -> Figures:
    """The real embedder on the examples' chat, alone and behind an import and a flush."""
    embedder = real(name)
    embedder.embed(["the first text loads the model"], role="document")
    messages, asked = english_messages(), english_questions()
    wall = time.perf_counter()
    spent = total(lambda: embedder.embed(messages, role="document"))
    wall = time.perf_counter() - wall
    questions = per_call(lambda text: embedder.embed([text], role="query"), asked * 10)
    with Memory.open(folder / "english.db", embedder=embedder) as memory:
        agent = memory.agent(_AGENT)
        start, wall_start = time.process_time(), time.perf_counter()
        agent.import_file(MESSAGES, format="jsonl")
        memory.flush()
        remembered, waited = time.process_time() - start, time.perf_counter() - wall_start
    count = len(messages)
    return {
        "texts": count,
        "text_ms": spent / count * 1e3,
        "texts_per_s_wall": count / wall,
        "question_ms_p50": percentile(questions, 0.5) * 1e3,
        "remember_ms": remembered / count * 1e3,
        "remembered_per_s_wall": count / waited,
    }


def _child(*arguments: str) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.speed.cold_start", *arguments]
    found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=_ROOT)
    return dict(json.loads(found.stdout))


def line(turn: Said) -> dict[str, str]:
    """A turn as an import reads it."""
    return {
        "session": turn.session,
        "role": "user",
        "speaker": turn.speaker,
        "content": turn.content,
        "time": turn.said_at.isoformat(),
    }


def observe(agent: Agent, turn: Said) -> None:
    """Have one turn remembered."""
    agent.observe(turn.content, speaker=turn.speaker, session=turn.session, event_time=turn.said_at)


def message(hooks: Hooks, turn: Said) -> None:
    """Have one turn remembered as a host does: with whom it mentions by the spelling of names."""
    hooks.message(turn.content, speaker=turn.speaker, event_time=turn.said_at)


def _imported(agent: Agent, path: Path, count: int) -> None:
    report = agent.import_file(path, format="jsonl")
    assert report.added == count


def _asked(agent: Agent, questions: Sequence[str], *, preset: str = "engrain") -> list[float]:
    return per_call(
        lambda question: agent.recall(question, limit=LIMIT, preset=preset), questions, most_seconds=_MOST_SECONDS
    )


def _spread(name: str, seconds: Sequence[float]) -> Figures:
    return {f"{name}_ms_p50": percentile(seconds, 0.5) * 1e3, f"{name}_ms_p95": percentile(seconds, 0.95) * 1e3}
