"""The figures as tables: what engrain costs, the limit beside it, and how many times the limit that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.speed.vectors import DIMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from bench.speed.operations import Figures

_LABEL, _COLUMN = 58, 14
_SHOWN_DISTRIBUTIONS = 8


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table by size: what it says of one size's figures, None where that was not measured."""

    label: str
    value: Callable[[Figures], float | None]


def _figure(name: str, *, scale: float = 1.0) -> Callable[[Figures], float | None]:
    return lambda figures: figures[name] * scale if name in figures else None


def _per_second(name: str) -> Callable[[Figures], float | None]:
    return lambda figures: 1e6 / figures[name] if name in figures else None


def _ratio(name: str, *limits: str) -> Callable[[Figures], float | None]:
    def ratio(figures: Figures) -> float | None:
        return figures[name] / sum(figures[limit] for limit in limits) if {name, *limits} <= set(figures) else None

    return ratio


TABLE: tuple[Line | str, ...] = (
    "SEARCH, ms of CPU",
    Line("search, the question's vector at hand: p50", _figure("search_ms_p50")),
    Line("search, the question's vector at hand: p95", _figure("search_ms_p95")),
    Line("search that names a speaker: p50", _figure("search_naming_ms_p50")),
    Line("search that names a speaker: p95", _figure("search_naming_ms_p95")),
    Line("search by vectors alone: p50", _figure("search_semantic_ms_p50")),
    Line("search by keywords alone: p50", _figure("search_keyword_ms_p50")),
    Line("context block of 1,000 tokens, vector at hand: p50", _figure("context_ms_p50")),
    Line("search that embeds the question: p50", _figure("search_embedding_ms_p50")),
    Line("  that follows a turn at once, ms by the clock: p50", _figure("search_after_turn_ms")),
    Line("  such searches in a second of one core", _figure("recalls_per_core_s")),
    Line("  limit: vector kernels", _figure("kernels_ms_p50")),
    Line("  (the vector index by itself)", _figure("index_ms_p50")),
    Line("  (one float32 product over all vectors)", _figure("float32_scan_ms_p50")),
    Line("  limit: FTS5 MATCH, own words", _figure("match_own_ms_p50")),
    Line("  limit: FTS5 MATCH, own and neighbours' words", _figure("match_near_ms_p50")),
    Line("  limit: FTS5 MATCH that names a speaker, own words", _figure("match_naming_own_ms_p50")),
    Line("  limit: FTS5 MATCH that names a speaker, neighbours too", _figure("match_naming_near_ms_p50")),
    Line(
        "times the limit: search / (kernels + MATCH own)", _ratio("search_ms_p50", "kernels_ms_p50", "match_own_ms_p50")
    ),
    Line(
        "times the limit: search / (kernels + MATCH neighbours too)",
        _ratio("search_ms_p50", "kernels_ms_p50", "match_near_ms_p50"),
    ),
    Line(
        "times the limit: search naming / (kernels + MATCH own)",
        _ratio("search_naming_ms_p50", "kernels_ms_p50", "match_naming_own_ms_p50"),
    ),
    Line(
        "times the limit: search naming / (kernels + MATCH neighbours too)",
        _ratio("search_naming_ms_p50", "kernels_ms_p50", "match_naming_near_ms_p50"),
    ),
    "INGEST, memories a second of CPU, without embedding",
    Line("observe, what the caller waits for", _per_second("observe_us")),
    Line("hooks.message, linked by spelling", _per_second("message_us")),
    Line("observe, with the indexing that follows", _per_second("observe_and_index_us")),
    Line("  limit: bare durable insert, by turns with these", _per_second("plain_insert_us")),
    Line("  (the statements of an observe alone, its values at hand)", _per_second("statements_us")),
    Line("  (the bare insert again and again in a loop of its own)", _per_second("plain_insert_in_a_loop_us")),
    Line("times the limit: observe / insert", _ratio("observe_us", "plain_insert_us")),
    Line("  its statements alone / insert by turns with them", _ratio("statements_us", "insert_beside_statements_us")),
    Line("times the limit: hooks.message, linked by spelling / insert", _ratio("message_us", "plain_insert_us")),
    Line("times the limit: observe and indexing / insert", _ratio("observe_and_index_us", "plain_insert_us")),
    Line("import of a file", _per_second("import_us")),
    Line("  limit: bare inserts, 500 a transaction", _per_second("plain_bulk_us")),
    Line("times the limit: import / inserts", _ratio("import_us", "plain_bulk_us")),
    Line("vectors attached", _per_second("attach_us")),
    "CATCHING UP AND STARTING",
    Line("catch-up with nothing new, us", _figure("catch_up_us")),
    Line("new process: import, ms", _figure("cold_import_ms")),
    Line("new process: open, ms", _figure("cold_open_ms")),
    Line("new process: first recall, vector at hand, ms", _figure("cold_recall_ms")),
    Line("new process: first recall, model loaded, ms", _figure("cold_recall_embedding_ms")),
    Line("  limit: import apsw and numpy, read the vectors, ms", _figure("bare_ms")),
    Line("memory at its peak, without the model, MB", _figure("cold_peak_mb")),
    Line("memory at its peak, with the model, MB", _figure("cold_peak_embedding_mb")),
    Line("  limit: apsw, numpy and the vectors, MB", _figure("bare_peak_mb")),
    "FILE, bytes a memory",
    Line("file", _figure("file_bytes_per_memory")),
    Line("  of which text", _figure("text_bytes_per_memory")),
    Line("  of which float32 vector", lambda _: 4.0 * DIMS),
)


def by_size(figures: Mapping[int, Figures]) -> Iterator[str]:
    """The table of operations, a column for each size."""
    yield f"{'memories':<{_LABEL}}" + "".join(f"{size:>{_COLUMN},}" for size in figures)
    for line in TABLE:
        if isinstance(line, str):
            yield f"\n{line}"
            continue
        values = [line.value(figure) for figure in figures.values()]
        if any(value is not None for value in values):
            yield f"{line.label:<{_LABEL}}" + "".join(f"{shown(value):>{_COLUMN}}" for value in values)


def embedding(figures: Figures) -> Iterator[str]:
    """The real embedder's lines."""
    yield f"EMBEDDING, {figures['texts']:.0f} messages in English"
    for label, name in (
        ("a text, ms of CPU", "text_ms"),
        ("texts a second by the wall clock", "texts_per_s_wall"),
        ("a question, ms of CPU: p50", "question_ms_p50"),
        ("a memory imported, indexed and embedded, ms of CPU", "remember_ms"),
        ("memories a second by the wall clock", "remembered_per_s_wall"),
    ):
        yield f"{label:<{_LABEL}}{shown(figures[name]):>{_COLUMN}}"
    yield f"{'times the limit: memory / text':<{_LABEL}}{shown(figures['remember_ms'] / figures['text_ms']):>{_COLUMN}}"


def installed(figures: Figures, distributions: Mapping[str, int]) -> Iterator[str]:
    """Report of the import cost and the size of the base install."""
    yield "INSTALLED BASE"
    for statement, name in (("import engrain", "import"), ("from engrain import Memory", "import_memory")):
        cost = f"{figures[f'{name}_ms']:.1f} ms of CPU, {figures[f'{name}_modules']:.0f} modules"
        yield f"{statement:<{_LABEL}}{cost:>{2 * _COLUMN}}"
    yield f"{f'{len(distributions)} distributions, MB':<{_LABEL}}{sum(distributions.values()) / 1e6:>{_COLUMN}.1f}"
    for name, size in list(distributions.items())[:_SHOWN_DISTRIBUTIONS]:
        yield f"  {name:<{_LABEL - 2}}{size / 1e6:>{_COLUMN}.1f}"


def shown(value: float | None) -> str:
    """Three significant digits, a dash where nothing was measured."""
    if value is None:
        return "-"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
