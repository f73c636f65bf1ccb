"""Reranking: a reranker orders the best hits of a search within a time budget.

It is optional: without one, or where it fails, is late or gives invalid scores, the order of the search stands, and the
answer says why.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from engrain import metrics
from engrain.domain import checks
from engrain.domain.faults import describe_fault
from engrain.domain.records import Answer, Contribution, Degraded, Explanation, Hit
from engrain.domain.text.indexing import embedding_text
from engrain.engines.deadlines import DeadlineExceeded, DeadlineRunner
from engrain.errors import EngineUnavailable, InvalidInput
from engrain.log_events import get_logger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.domain.ports import Reranker

_LOG = get_logger(__name__)
# A cross-encoder reads 30-50 candidates a second on a core; what others report gains nothing beyond.
MAX_CANDIDATES = 50
# Calls that never come back hold a thread each; with so many of them no other is made.
_RUNNER = DeadlineRunner("the reranker", thread_name="engrain-rerank", max_overdue=4)


def check_reranker(reranker: object) -> Reranker | None:
    """Check that an object is a reranker and return it; None stays None.

    Raises:
        InvalidInput: it lacks what a reranker has.
    """
    if reranker is None:
        return None
    if isinstance(reranker, type) or not callable(getattr(reranker, "rerank", None)):
        hint = "wrap a function in engrain.engines.CallableReranker" if callable(reranker) else "see the docs"
        raise InvalidInput(f"reranker {reranker!r:.80} must be provider:model or have name and rerank(); {hint}")
    checks.name(getattr(reranker, "name", None), name="the reranker's name")
    return cast("Reranker", reranker)


def rerank(answer: Answer, reranker: Reranker | None, *, limit: int, budget_s: float) -> Answer:
    """Order an answer by the reranker's scores, at most `limit` hits; without scores it stays as it is, and degraded.

    Candidates without a score follow in their own order; equal scores keep it too.
    """
    fused = replace(answer, hits=answer.hits[:limit])
    if reranker is None:
        return _fallback(fused, Degraded(code="no_reranker", message="no reranker is configured"))
    if not answer.hits:
        return replace(fused, mode="deep")
    candidates = answer.hits[:MAX_CANDIDATES]
    texts = [embedding_text(hit.memory) for hit in candidates]
    try:
        with metrics.timed("rerank_seconds"):
            pairs = _RUNNER.run(lambda: reranker.rerank(answer.query, texts, timeout_s=budget_s), budget_s)
        scores = _scores(pairs, len(candidates))
    except DeadlineExceeded as error:
        return _fallback(fused, Degraded(code="reranker_late", message="the reranker took too long", detail=str(error)))
    except EngineUnavailable as error:
        return _fallback(fused, describe_fault(error, "reranker"))
    except Exception as error:  # noqa: BLE001  # whatever a reranker does, the search has its answer
        # Its message stays in the cause: it may quote what somebody said.
        _LOG.debug("the reranker %s failed", reranker.name, exc_info=error)
        detail = f"{reranker.name} failed with {type(error).__name__}"
        return _fallback(fused, Degraded(code="reranker_failed", message="the reranker failed", detail=detail))
    metrics.count("reranks")
    return replace(answer, mode="deep", hits=tuple(_order(candidates, scores)[:limit]))


def _scores(pairs: Sequence[tuple[int, float]], count: int) -> dict[int, float]:
    """The score of each candidate by its index, the first where there are several.

    Raises:
        EngineUnavailable: an index or a number is invalid, as the rest is then wrong too.
    """
    scores: dict[int, float] = {}
    for index, score in pairs:
        if type(index) is not int or not 0 <= index < count:
            raise EngineUnavailable(f"the reranker judged candidate {index!r:.20} of {count}")
        if not math.isfinite(score):
            raise EngineUnavailable(f"the reranker judged a candidate {score!r:.20}")
        scores.setdefault(index, float(score))
    if not scores:
        raise EngineUnavailable("the reranker judged none of the candidates")
    return scores


def _order(hits: Sequence[Hit], scores: dict[int, float]) -> list[Hit]:
    """Sort hits by score, best first; then those without one, each a whole number below the worst."""
    scored = sorted(scores, key=lambda index: (-scores[index], index))
    unscored = [index for index in range(len(hits)) if index not in scores]
    worst = min(scores.values())
    ordered = [_scored_hit(hits[index], rank, scores[index]) for rank, index in enumerate(scored, start=1)]
    return ordered + [_scored_hit(hits[index], None, worst - below) for below, index in enumerate(unscored, start=1)]


def _scored_hit(hit: Hit, rank: int | None, score: float) -> Hit:
    contribution = Contribution(channel="rerank", rank=rank, raw=score, weight=1.0, value=score)
    why = Explanation(
        preset=hit.why.preset,
        contributions=(contribution,),
        matched_terms=hit.why.matched_terms,
        fused=hit.why.contributions,
    )
    return replace(hit, score=score, why=why)


def _fallback(fused: Answer, fault: Degraded) -> Answer:
    metrics.count("rerank_fallbacks")
    reason = fault.with_prefix("the order of the search stands, nothing was re-ranked: ")
    _LOG.warning("nothing was re-ranked", extra={"code": fault.code})
    return replace(fused, degraded=(*fused.degraded, reason))
