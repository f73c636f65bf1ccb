"""Counters and timers of this process, never with the text of a memory or a name that a user chose."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

FamilyKind = Literal["counter", "gauge", "histogram"]
Labels = tuple[tuple[str, str], ...]  # small and bounded: a verb, an outcome; never a name that somebody chose
# Upper bounds of the buckets of a duration, in seconds: a read in process to an answer of a language model.
BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

# Every counter, and its help text.
COUNTERS: Mapping[str, str] = {
    "background_learning_failures": "Sessions whose background consolidation failed",
    "batches_written": "Batches of messages written together",
    "client_retries": "Calls of a server repeated by its client",
    "connections_refused_busy": "Connections refused because too many were open",
    "consolidation_failures": "Consolidation batches that failed",
    "contexts_degraded": "Contexts that a hook left empty because the memory could not be read",
    "embedder_mismatches": "Memories opened with another embedder than that of their vectors",
    "embedding_cache_hits": "Texts whose vector was in the cache",
    "embedding_cache_misses": "Texts whose vector was not in the cache",
    "embedding_failures": "Batches of deferred embeddings that failed and are retried",
    "embeddings_refused": "Texts that the embedder refused and deferred embeddings left out",
    "engine_retries": "Repeated calls of remote engines",
    "episodes_cleaned": "Episodes removed by a cleanup",
    "facts_cleaned": "Facts and rules erased by a cleanup",
    "events_removed": "Audit events removed by a cleanup",
    "episodes_consolidated": "Episodes consolidated",
    "hooks_degraded": "Hooks answered without the server",
    "jobs_begun": "Attempts at jobs begun here",
    "jobs_begun_again": "Attempts at jobs after the first",
    "jobs_done": "Jobs done here",
    "jobs_given_back": "Jobs released because their worker shut down",
    "jobs_given_up": "Jobs that became dead letters here",
    "jobs_lost": "Jobs whose lease ended before they did",
    "jobs_set_back": "Jobs that failed here and are retried",
    "key_uses_not_noted": "Uses of keys not recorded because the database took no write",
    "keys_refused": "Invalid keys refused",
    "llm_calls": "Calls of a language model",
    "llm_failures": "Calls of a language model without an answer",
    "llm_input_tokens": "Tokens read by language models",
    "llm_output_tokens": "Tokens written by language models",
    "memories_aged": "Facts and rules that faded, recovered or expired",
    "memories_embedded": "Memories that got their vector after they were stored",
    "messages_lost": "Messages lost because too many were waiting to be stored",
    "messages_refused": "Messages that can never be stored",
    "messages_stored_late": "Messages stored after a wait",
    "messages_waiting": "Messages that had to wait because the database took no write",
    "note_groups_not_summarized": "Groups of notes whose summary failed",
    "proposals_rejected": "Rejected proposals of a language model",
    "recent_turns_degraded": "Reads of the newest turns without the database",
    "redis_degraded": "Calls answered without Redis",
    "redis_healed": "Recoveries of Redis",
    "references_not_counted": "References not counted because the database took no write",
    "reflections": "Reflections written",
    "reflections_failed": "Reflections that failed",
    "rejected_requests": "HTTP requests refused for their key, its role or its rate",
    "requests_refused_busy": "HTTP requests refused because too many were open",
    "requests_refused_host": "HTTP requests refused for their host name",
    "requests_refused_origin": "HTTP requests refused for their origin",
    "requests_refused_size": "HTTP requests refused for the size of their body",
    "requests_refused_slow": "HTTP requests refused because they took too long to arrive",
    "rerank_fallbacks": "Deep searches that kept the fast order",
    "reranks": "Deep searches ordered by a re-ranker",
    "schedules_fired": "Jobs queued by a schedule",
    "secrets_masked": "Texts whose secrets were masked as they were written",
    "searches_without_vectors": "Searches by keywords alone",
    "session_ends_degraded": "Ends of sessions whose episodes could not be counted",
    "sessions_consolidated_on_switch": "Sessions consolidated when the next one began",
    "summaries_degraded": "Summaries made without the requested language model",
    "summaries_too_long": "Summaries of a language model above their target size",
    "summarization_runs": "Summaries made",
    "summarization_tokens_saved": "Tokens of sources less those of their summaries",
    "verbs_degraded": "Answers given without one of their parts",
    "worker_setbacks": "Failures of a worker to look for jobs",
    "working_memory_not_flushed": "Failures to store working memory",
}
# Every timer, and its help text.
HISTOGRAMS: Mapping[str, str] = {
    "embed_seconds": "Time to make a batch of deferred embeddings",
    "http_seconds": "Time of an HTTP request, by method and status",
    "job_seconds": "Time of an attempt at a job",
    "llm_seconds": "Time of a call of a language model, retries included",
    "recall_seconds": "Time of a recall, a context, a search of notes or of a pool",
    "rerank_seconds": "Time of a re-ranking",
    "store_seconds": "Time to store an episode, a fact, a rule or a note",
    "verb_seconds": "Time of a verb of the library, by outcome",
}


class Durations:
    """Histogram of durations; `sum_into` names a histogram without labels that they are part of as well."""

    __slots__ = ("buckets", "seconds", "sum_into")

    def __init__(self, sum_into: str | None = None) -> None:
        self.sum_into = sum_into
        self.buckets = [0] * (len(BOUNDS) + 1)  # the last one has no bound
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        """Count one duration."""
        bucket = bisect_left(BOUNDS, seconds)
        with _LOCK:
            self.buckets[bucket] += 1
            self.seconds += seconds


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of a family; for a histogram, the counts by bucket (not cumulative) and the sum as value."""

    labels: Labels
    value: float
    buckets: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """Number of durations in a histogram."""
        return sum(self.buckets)


@dataclass(frozen=True, slots=True)
class Family:
    """All samples of one metric; the unit is in its name."""

    name: str
    kind: FamilyKind
    help: str
    samples: tuple[Sample, ...]


class Measured(Mapping[str, float]):
    """Values of families by name and labels, as in `snapshot`; `families` carries their help texts."""

    def __init__(self, families: Iterable[Family]) -> None:
        self.families = tuple(families)
        self._values = flatten(self.families)

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def to_dict(self) -> dict[str, float]:
        """The same as a dict that is JSON at once."""
        return dict(self._values)


_LOCK = threading.Lock()
_COUNTS: dict[str, dict[Labels, int]] = {}
_DURATIONS: dict[str, dict[Labels, Durations]] = {}


def count(name: str, by: int = 1, **labels: str) -> None:
    """Add to a counter."""
    key = tuple(labels.items()) if labels else ()
    with _LOCK:
        series = _COUNTS.setdefault(name, {})
        series[key] = series.get(key, 0) + by


def durations(name: str, *, sum_into: str | None = None, **labels: str) -> Durations:
    """One series of a histogram; a frequent writer looks it up once and keeps it.

    `sum_into` names a second histogram that adds up all series of which this is said, without their labels.
    """
    with _LOCK:
        return _DURATIONS.setdefault(name, {}).setdefault(tuple(labels.items()), Durations(sum_into))


@contextmanager
def timed(name: str, **labels: str) -> Iterator[None]:
    """Count the wall time of the block."""
    start = time.perf_counter()
    try:
        yield
    finally:
        durations(name, **labels).add(time.perf_counter() - start)


def families() -> list[Family]:
    """Everything that was counted in this process, by name."""
    with _LOCK:
        counted = {name: dict(series) for name, series in _COUNTS.items()}
        timed_ = {
            name: tuple(Sample(labels, times.seconds, tuple(times.buckets)) for labels, times in series.items())
            for name, series in _DURATIONS.items()
        }
        parts: dict[str, list[Sample]] = {}
        for name, series in _DURATIONS.items():
            for times, sample in zip(series.values(), timed_[name], strict=True):
                if times.sum_into is not None:
                    parts.setdefault(times.sum_into, []).append(sample)
    timed_ |= {name: _sum(samples) for name, samples in parts.items()}
    counters = [
        Family(name, "counter", COUNTERS.get(name, name), tuple(Sample(*item) for item in series.items()))
        for name, series in counted.items()
    ]
    timers = [Family(name, "histogram", HISTOGRAMS.get(name, name), samples) for name, samples in timed_.items()]
    return sorted(counters + timers, key=lambda family: family.name)


def hit_rate() -> float | None:
    """Share of retrievals that found something, since the process began; None before the first."""
    with _LOCK:
        series = [
            (dict(labels)["outcome"], sum(times.buckets))
            for labels, times in _DURATIONS.get("verb_seconds", {}).items()
            if times.sum_into == "recall_seconds"
        ]
    counts = {wanted: sum(count for outcome, count in series if outcome == wanted) for wanted in ("ok", "empty")}
    total = sum(counts.values())
    return counts["ok"] / total if total else None


def snapshot() -> Mapping[str, float]:
    """All counters by name; for each timer, its count under its name and its seconds under `<name>_total`.

    Labels stand behind the name, as in `verb_seconds{verb="recall",outcome="ok"}`.
    """
    return flatten(families())


def flatten(families_: Iterable[Family]) -> dict[str, float]:
    """Values of families, by name and labels."""
    values: dict[str, float] = {}
    for family in families_:
        for sample in family.samples:
            labels = _format_labels(sample.labels)
            if family.kind == "histogram":
                values[family.name + labels] = sample.count
                values[f"{family.name}_total{labels}"] = sample.value
            else:
                values[family.name + labels] = sample.value
    return values


def _sum(samples: Sequence[Sample]) -> tuple[Sample, ...]:
    """One series without labels from several."""
    buckets = tuple(sum(counts) for counts in zip(*(sample.buckets for sample in samples), strict=True))
    return (Sample((), sum(sample.value for sample in samples), buckets),)


def _format_labels(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels) + "}" if labels else ""
