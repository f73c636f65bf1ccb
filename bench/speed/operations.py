"""Engrain's own operations on a memory of a given size, and the limits beside them, all in CPU time."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import apsw

from bench.retrieval.measures import percentile
from bench.speed import kernels, language
from bench.speed.limits import BareStatements, PlainTables, nearest
from bench.speed.stopwatch import FEWEST_CALLS, per_call, total
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
from engrain.storage.sqlite.statements import STATEMENTS
from engrain.storage.sqlite.vector_cache import VectorCache
from engrain.storage.transaction import Transaction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bench.speed.language import SpokenTurn
    from engrain import Agent
    from engrain.agent.hooks import Hooks
    from engrain.domain.ports import Embedder

Figures: TypeAlias = dict[str, float]
"""By name, which ends in the unit."""

LIMIT = 10  # hits of a search: the default
_AGENT = "assistant"
_QUESTIONS = 100
_BUDGET_TOKENS = 1_000
_BY_TURNS, _ALONE = 600, 150  # turns that are stored one by one
_MOST_SECONDS = 1.5  # of one kind of search; fewer questions are asked where they take longer
_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """One size: the talk, what is asked of it, and the folder its files lie in."""

    said: Sequence[SpokenTurn]
    more: Sequence[SpokenTurn]
    questions: Sequence[str]
    naming: Sequence[str]
    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "bench.db"


def prepared(size: int, folder: Path) -> Bench:
    """The talk of one size; the same for the same size."""
    said = language.talk(size + _BY_TURNS + _ALONE)
    return Bench(
        said=said[:size],
        more=said[size:],
        questions=language.questions(said[:size], _QUESTIONS, naming=False),
        naming=language.questions(said[:size], _QUESTIONS, naming=True),
        folder=folder,
    )


def ingest(bench: Bench) -> Figures:
    """Fill the memory: imported in bulk, its vectors (which cost nothing to make) attached."""
    count = len(bench.said)
    path = bench.folder / "talk.jsonl"
    path.write_text("".join(json.dumps(line(turn)) + "\n" for turn in bench.said), encoding="utf-8")
    with Memory.open(bench.file, embedder="none") as memory:
        imported = total(lambda: _imported(memory.agent(_AGENT), path, count))
    vectors = RandomVectors()
    with Memory.open(bench.file, embedder=vectors) as memory:
        attached = total(memory.flush) - vectors.seconds
    return {
        "import_us": imported / count * 1e6,
        "attach_us": attached / count * 1e6,
        "file_bytes_per_memory": bench.file.stat().st_size / count,
        "text_bytes_per_memory": sum(len(turn.content.encode()) for turn in bench.said) / count,
    }


def _by_turns(bench: Bench, tables: PlainTables, turns: Sequence[SpokenTurn]) -> Figures:
    """Latency of writes: an observe or a host's message by turns, a bare insert before each.

    So each finds the processor as other work leaves it. An insert that is repeated in a loop has the caches to itself
    and takes half the time, which nobody ever sees who does anything else besides.
    """
    took: dict[str, list[float]] = {"plain_insert_us": [], "observe_us": [], "message_us": []}
    with Memory.open(bench.file, embedder="none", settings={"entities": {"link": "fast"}}) as memory:
        agent = memory.agent(_AGENT)
        hooks = {turn.session: memory.agent(_AGENT, session=turn.session).hooks for turn in turns}
        verbs: Sequence[tuple[str, Callable[[SpokenTurn], object]]] = (
            ("observe_us", lambda turn: observe(agent, turn)),
            ("message_us", lambda turn: message(hooks[turn.session], turn)),
        )
        for place, (name, verb) in zip(range(0, len(turns) - 1, 2), itertools.cycle(verbs)):
            took["plain_insert_us"] += tables.insert_each([turns[place]], len(bench.said) + place)
            took[name] += per_call(verb, [turns[place + 1]], clock=time.thread_time)
    return {name: percentile(seconds, 0.5) * 1e6 for name, seconds in took.items()}


def _statements(bench: Bench, tables: PlainTables, turns: Sequence[SpokenTurn]) -> Figures:
    """CPU of the statements of turns alone, on a copy of the file, a bare insert before each.

    In a loop of their own: in that of `_by_turns` they would be a third kind of work, and an observe, which would find
    less of its code in the processor's caches, take 2.6 times the insert instead of 2.2.
    """
    copy = bench.folder / "statements.db"
    shutil.copy(bench.file, copy)
    first = len(bench.said) + _BY_TURNS + _ALONE
    took: dict[str, list[float]] = {"insert_beside_statements_us": [], "statements_us": []}
    with closing(BareStatements(copy)) as statements:
        for place in range(0, len(turns) - 1, 2):
            took["insert_beside_statements_us"] += tables.insert_each([turns[place]], first + place)
            took["statements_us"] += statements.insert_each([turns[place + 1]])
    return {name: percentile(seconds, 0.5) * 1e6 for name, seconds in took.items()}


def _with_indexing(bench: Bench, turns: Sequence[SpokenTurn]) -> float:
    """CPU seconds of an observe with all that follows from it in the background."""
    with Memory.open(bench.file, embedder="none") as memory:
        agent = memory.agent(_AGENT)
        start = time.process_time()
        for turn in turns:
            observe(agent, turn)
        memory.flush()
        return (time.process_time() - start) / len(turns)


def search(bench: Bench, embedder: Embedder | None) -> Figures:
    """Searches whose question has its vector already, and searches that make it."""
    figures: Figures = {}
    with Memory.open(bench.file, embedder=RandomVectors()) as memory:
        agent = memory.agent(_AGENT)
        agent.recall(bench.questions[0], limit=LIMIT)  # reads the vectors into the process
        for name, asked in (("search", bench.questions), ("search_naming", bench.naming)):
            figures |= _spread(name, _ask(agent, asked))
        for preset in ("semantic", "keyword"):
            figures |= _spread(f"search_{preset}", _ask(agent, bench.questions, preset=preset))
        took = per_call(
            lambda question: agent.context(question, budget_tokens=_BUDGET_TOKENS),
            bench.questions,
            most_seconds=_MOST_SECONDS,
        )
        figures |= _spread("context", took)
    if embedder is not None:
        with Memory.open(bench.file, embedder=RealQuestions(embedder)) as memory:
            agent = memory.agent(_AGENT)
            agent.recall(bench.questions[0], limit=LIMIT)
            figures |= _spread("search_embedding", _ask(agent, bench.questions))
        figures["search_after_turn_ms"] = _search_after_turn(bench, embedder)
        figures["recalls_per_core_s"] = _throughput(bench, embedder)
    return figures


def _search_after_turn(bench: Bench, embedder: Embedder) -> float:
    """Median of a search that follows a turn at once, by the clock: it waits until the turn has its vector."""
    copy = bench.folder / "after.db"
    shutil.copy(bench.file, copy)
    took: list[float] = []
    with Memory.open(copy, embedder=RealQuestions(embedder)) as memory:
        agent = memory.agent(_AGENT)
        for turn, question in zip(bench.more[:FEWEST_CALLS], itertools.cycle(bench.questions), strict=False):
            observe(agent, turn)
            took += _ask(agent, [question], clock=time.perf_counter)
    return percentile(took, 0.5) * 1e3


def _throughput(bench: Bench, embedder: Embedder) -> float:
    """Recalls in a second of one core: all that the process does, each question embedded, none remembered."""
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    questions = itertools.cycle([*bench.questions, *bench.naming])
    uncached = {"embedding": {"cache_entries": 0}}
    with Memory.open(bench.file, embedder=RealQuestions(embedder), settings=uncached) as memory:
        agent = memory.agent(_AGENT)
        for _ in range(20):
            agent.recall(next(questions), limit=LIMIT)
        if cores is not None:
            os.sched_setaffinity(0, {min(cores)})
        try:
            count, start = 0, time.process_time()
            while (spent := time.process_time() - start) < _MOST_SECONDS:
                agent.recall(next(questions), limit=LIMIT)
                count += 1
        finally:
            if cores is not None:
                os.sched_setaffinity(0, cores)
    return count / spent


def catch_up(bench: Bench) -> Figures:
    """Cost for a search to learn that no other process has written."""
    db = apsw.Connection(str(bench.file), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        namespace = int(db.execute("SELECT namespace FROM namespaces WHERE kind = 'episode'").get)
        cache, tx = VectorCache(), Transaction(db, STATEMENTS)
        held = cache.catch_up(tx, namespace)
        took = per_call(lambda _: cache.catch_up(tx, namespace), range(1000))
    finally:
        db.close()
    assert held == len(bench.said)
    return {"catch_up_us": percentile(took, 0.5) * 1e6}


def limits(bench: Bench) -> Figures:
    """NumPy's kernels, the vector index and SQLite with the same vectors, words and rows; turns beside its inserts."""
    by_turns, alone = bench.more[:_BY_TURNS], bench.more[_BY_TURNS:]
    tables = PlainTables(bench.folder / "plain.db")
    try:
        filled = tables.fill(bench.said)
        figures = {"plain_bulk_us": filled / len(bench.said) * 1e6}
        for name, asked in (("match", bench.questions), ("match_naming", bench.naming)):
            for kind, near in (("own", False), ("near", True)):
                took = tables.match(asked, LIMIT, near=near, most_seconds=_MOST_SECONDS)
                figures[f"{name}_{kind}_ms_p50"] = percentile(took, 0.5) * 1e3
        figures |= _by_turns(bench, tables, by_turns)
        figures |= _statements(bench, tables, alone)
        inserted = tables.insert_each(alone, len(bench.said) + _BY_TURNS)
    finally:
        tables.close()
    figures["plain_insert_in_a_loop_us"] = percentile(inserted, 0.5) * 1e6
    figures["observe_and_index_us"] = _with_indexing(bench, alone) * 1e6
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


def line(turn: SpokenTurn) -> dict[str, str]:
    """A turn as an import reads it."""
    return {
        "session": turn.session,
        "role": "user",
        "speaker": turn.speaker,
        "content": turn.content,
        "time": turn.said_at.isoformat(),
    }


def observe(agent: Agent, turn: SpokenTurn) -> None:
    """Have one turn remembered."""
    agent.observe(turn.content, speaker=turn.speaker, session=turn.session, event_time=turn.said_at)


def message(hooks: Hooks, turn: SpokenTurn) -> None:
    """Have one turn remembered as a host does: with whom it mentions by the spelling of names."""
    hooks.message(turn.content, speaker=turn.speaker, event_time=turn.said_at)


def _imported(agent: Agent, path: Path, count: int) -> None:
    report = agent.import_file(path, format="jsonl")
    assert report.added == count


def _ask(
    agent: Agent,
    questions: Sequence[str],
    *,
    preset: str = "engrain",
    clock: Callable[[], float] = time.process_time,
) -> list[float]:
    return per_call(
        lambda question: agent.recall(question, limit=LIMIT, preset=preset),
        questions,
        clock=clock,
        most_seconds=_MOST_SECONDS,
    )


def _spread(name: str, seconds: Sequence[float]) -> Figures:
    return {f"{name}_ms_p50": percentile(seconds, 0.5) * 1e3, f"{name}_ms_p95": percentile(seconds, 0.95) * 1e3}
