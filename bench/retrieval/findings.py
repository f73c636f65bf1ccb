"""Results of a run: every measure by preset, level and category, as JSON and as a table for a terminal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, TypeAlias

from bench.retrieval import measures

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from bench.retrieval.runner import AnsweredQuestion, Ingest, Run

Measured: TypeAlias = dict[str, float]
Level: TypeAlias = Literal["turn", "session"]
Findings: TypeAlias = dict[Level, dict[str, Measured]]
"""Each level, overall and by category."""

OVERALL = "overall"
LEVELS: tuple[Level, ...] = ("turn", "session")
_HEADLINE = ("recall@5", "recall@10", "recall_all@10", "recall_any@5", "mrr", "ndcg@10")
_BY_CATEGORY = tuple(f"{name}@{k}" for name in ("recall", "recall_any", "recall_all") for k in (5, 10))
_PRESET, _CELL, _CATEGORY, _COUNT = 16, 14, 26, 6
_DIGITS = 6


def as_json(run: Run) -> dict[str, dict[str, object]]:
    """`{name: {"turn": {"overall": {measure: value}, category: ...}, "session": ..., "cost": ...}}`."""
    figures: dict[str, dict[str, object]] = {}
    for name, asked in run.answers.items():
        found = findings(asked, run.corpus.apart)
        figures[name] = {level: found[level] for level in LEVELS}
        figures[name]["cost"] = _cost(asked, run.ingests[name], run.corpus.left_out)
    return figures


def findings(asked: Sequence[AnsweredQuestion], apart: Collection[str]) -> Findings:
    """The mean of every measure, at both levels; categories `apart` have their line and no part in the overall."""
    return {
        level: _means(
            [(each.question.category, judgement) for each in asked if (judgement := judged(each, level))], apart
        )
        for level in LEVELS
    }


def judged(asked: AnsweredQuestion, level: Level) -> Measured:
    """Every measure of one question's ranking; nothing where the data set marks no evidence of that level."""
    question = asked.question
    if level == "turn":
        return measures.judge(asked.found, question.gold_turns) if question.gold_turns else {}
    sessions = measures.first_appearances(session for session, _ in asked.found)
    return measures.judge(sessions, question.gold_sessions) if question.gold_sessions else {}


def table(run: Run, *, by_category: bool) -> str:
    """The headline measures, and where wanted those of each level and category."""
    found = {preset: findings(asked, run.corpus.apart) for preset, asked in run.answers.items()}
    categories = ["", *_categories(run, found)] if by_category else []
    return "\n".join([_title(run), "", *_headline(run, found), *categories]).rstrip()


def _means(judgements: Sequence[tuple[str, Measured]], apart: Collection[str]) -> dict[str, Measured]:
    categories = sorted({category for category, _ in judgements})
    overall = measures.mean([judgement for category, judgement in judgements if category not in apart])
    by_category = {
        category: measures.mean([judgement for of, judgement in judgements if of == category])
        for category in categories
    }
    return {name: _rounded(mean) for name, mean in {OVERALL: overall, **by_category}.items()}


def _rounded(measured: Mapping[str, float]) -> Measured:
    return {name: round(value, _DIGITS) for name, value in measured.items()}


def _cost(asked: Sequence[AnsweredQuestion], ingest: Ingest, left_out: int) -> Measured:
    took = [each.seconds * 1000 for each in asked]
    return {
        "questions": len(asked),
        "left_out": left_out,
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
    ingest = next(iter(run.ingests.values()))
    return (
        f"{corpus.name}: {len(corpus.conversations)} conversations, {ingest.memories:,} memories, "
        f"{len(questions) - apart} questions, {apart} apart ({', '.join(sorted(corpus.apart))}), "
        f"{corpus.left_out} left out (no valid evidence)\n"
        f"ingest {ingest.memories / ingest.seconds:,.0f} turns/s; {ingest.embedded:,} texts embedded in "
        f"{ingest.embedder_seconds:,.1f} s, the others' vectors came from the cache"
    )


def _headline(run: Run, found: Mapping[str, Findings]) -> Iterator[str]:
    yield f"{'turn level':<{_PRESET}}" + "".join(f"{name:>{_CELL}}" for name in _HEADLINE) + f"{'ms':>8}{'p95':>7}"
    for preset, by_level in found.items():
        turn = by_level["turn"].get(OVERALL, {})
        cost = _cost(run.answers[preset], run.ingests[preset], run.corpus.left_out)
        yield (
            f"{preset:<{_PRESET}}"
            + "".join(_share(turn.get(name), _CELL) for name in _HEADLINE)
            + f"{cost['ms_per_question_median']:>8.1f}{cost['ms_per_question_p95']:>7.1f}"
        )


def _categories(run: Run, found: Mapping[str, Findings]) -> Iterator[str]:
    """A table for each level and preset: its categories, those apart last."""
    counts = Counter(
        question.category for conversation in run.corpus.conversations for question in conversation.questions
    )
    ordered = sorted(counts, key=lambda category: (category in run.corpus.apart, category))
    counted = sum(count for category, count in counts.items() if category not in run.corpus.apart)
    for preset, by_level in found.items():
        for level in LEVELS:
            head = f"{preset}, {level} level"
            yield f"{head:<{_CATEGORY}}{'asked':>{_COUNT}}" + "".join(f"{name:>{_CELL}}" for name in _BY_CATEGORY)
            for category in (OVERALL, *ordered):
                measured = by_level[level].get(category, {})
                count = counted if category == OVERALL else counts[category]
                cells = "".join(_share(measured.get(name), _CELL) for name in _BY_CATEGORY)
                yield f"{category:<{_CATEGORY}}{count:>{_COUNT}}{cells}"
            yield ""


def _share(value: float | None, width: int) -> str:
    return f"{'-' if value is None else format(value, '.3f'):>{width}}"
