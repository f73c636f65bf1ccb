"""What a run found: every measure by preset, level and category, as JSON and as a table for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from bench.retrieval import measures

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from bench.retrieval.runner import Asked, Ingest, Run

Measured: TypeAlias = dict[str, float]
Findings: TypeAlias = dict[str, dict[str, Measured]]
"""`turn` and `session`, each overall and by category."""

OVERALL = "overall"
_HEADLINE = ("recall@5", "recall@10", "all@10", "hit@5", "mrr", "ndcg@10")
_BY_CATEGORY = ("recall@5", "recall@10", "all@10")
# Widths of the table by category: four presets fit 120 columns.
_NAME, _COUNT, _SHARE, _PRESETS_ABREAST = 26, 5, 7, 4
_DIGITS = 6


def as_json(run: Run) -> dict[str, dict[str, object]]:
    """`{preset: {"turn": {"overall": {measure: value}, category: ...}, "session": ..., "cost": ...}}`."""
    return {
        preset: {**findings(asked, run.corpus.apart), "cost": _cost(asked, run)}
        for preset, asked in run.answers.items()
    }


def findings(asked: Sequence[Asked], apart: Collection[str]) -> Findings:
    """The mean of every measure, at both levels; categories `apart` have their line and no part in the overall."""
    turns = [
        (each.question.category, measures.judge(each.found, each.question.gold_turns))
        for each in asked
        if each.question.gold_turns
    ]
    sessions = [
        (
            each.question.category,
            measures.judge(
                measures.first_appearances(session for session, _ in each.found), each.question.gold_sessions
            ),
        )
        for each in asked
        if each.question.gold_sessions
    ]
    return {"turn": _means(turns, apart), "session": _means(sessions, apart)}


def table(run: Run) -> str:
    """Presets side by side: the headline measures, then each category's."""
    found = {preset: findings(asked, run.corpus.apart) for preset, asked in run.answers.items()}
    return "\n".join([_title(run), "", *_headline(run, found), "", *_categories(run, found)])


def _means(judged: Sequence[tuple[str, Measured]], apart: Collection[str]) -> dict[str, Measured]:
    categories = sorted({category for category, _ in judged})
    overall = measures.mean([judgement for category, judgement in judged if category not in apart])
    by_category = {
        category: measures.mean([judgement for of, judgement in judged if of == category]) for category in categories
    }
    return {name: _rounded(mean) for name, mean in {OVERALL: overall, **by_category}.items()}


def _rounded(measured: Mapping[str, float]) -> Measured:
    return {name: round(value, _DIGITS) for name, value in measured.items()}


def _cost(asked: Sequence[Asked], run: Run) -> Measured:
    took = [each.seconds * 1000 for each in asked]
    ingest: Ingest = run.ingest
    return {
        "questions": len(asked),
        "left_out": run.corpus.left_out,
        "memories": ingest.memories,
        "ms_per_question_median": round(measures.percentile(took, 0.5), 3),
        "ms_per_question_p95": round(measures.percentile(took, 0.95), 3),
        "ingest_turns_per_s": round(ingest.memories / ingest.seconds, 1),
        "embedder_seconds": round(ingest.embedder_seconds, 3),
        "embedder_texts": ingest.embedded,
    }


def _title(run: Run) -> str:
    corpus = run.corpus
    questions = [question for conversation in corpus.conversations for question in conversation.questions]
    apart = sum(question.category in corpus.apart for question in questions)
    ingest = run.ingest
    return (
        f"{corpus.name}: {len(corpus.conversations)} conversations, {ingest.memories:,} memories, "
        f"{len(questions) - apart} questions, {apart} apart ({', '.join(sorted(corpus.apart))}), "
        f"{corpus.left_out} left out (no valid evidence)\n"
        f"ingest {ingest.memories / ingest.seconds:,.0f} turns/s; {ingest.embedded:,} texts embedded in "
        f"{ingest.embedder_seconds:,.1f} s, the others' vectors came from the cache"
    )


def _headline(run: Run, found: Mapping[str, Findings]) -> Iterator[str]:
    yield f"{'':<12}" + "".join(f"{name:>11}" for name in ("turn",) * len(_HEADLINE) + ("session", "ms", "ms"))
    yield f"{'preset':<12}" + "".join(f"{name:>11}" for name in (*_HEADLINE, "recall@5", "median", "p95"))
    for preset, by_level in found.items():
        turn, session = by_level["turn"].get(OVERALL, {}), by_level["session"].get(OVERALL, {})
        cost = _cost(run.answers[preset], run)
        quality = [turn.get(name) for name in _HEADLINE] + [session.get("recall@5")]
        times = (cost["ms_per_question_median"], cost["ms_per_question_p95"])
        yield (
            f"{preset:<12}"
            + "".join(_share(each, 11) for each in quality)
            + "".join(f"{took:>11.1f}" for took in times)
        )


def _categories(run: Run, found: Mapping[str, Findings]) -> Iterator[str]:
    asked = [question.category for each in run.corpus.conversations for question in each.questions]
    ordered = sorted(set(asked), key=lambda category: (category in run.corpus.apart, category))
    for start in range(0, len(found), _PRESETS_ABREAST):
        here = list(found)[start : start + _PRESETS_ABREAST]
        yield f"{'turn level: ' + ', '.join(_BY_CATEGORY):<{_NAME + _COUNT}}".rstrip()
        yield f"{'':<{_NAME}}{'asked':>{_COUNT}}" + "".join(f"{preset:>{3 * _SHARE + 1}}" for preset in here)
        for category in ordered:
            shares = (found[preset]["turn"].get(category, {}) for preset in here)
            cells = (" " + "".join(_share(share.get(name), _SHARE) for name in _BY_CATEGORY) for share in shares)
            yield f"{category:<{_NAME}}{asked.count(category):>{_COUNT}}" + "".join(cells)


def _share(value: float | None, width: int) -> str:
    return f"{'-' if value is None else format(value, '.3f'):>{width}}"
