"""Deep mode: a judge that reads the question with each candidate puts the best of a search in order, in bounded time.

It is never needed: absent, failing, late or talking nonsense, the order of the search stands, and the answer says why.
"""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from engrain import metrics
from engrain.domain import checks
from engrain.domain.records import Contribution, Explanation
from engrain.domain.text.indexing import embedding_text
from engrain.domain.wording import Wording, worded
from engrain.engines.deadlines import DeadlineRunner
from engrain.errors import EngineUnavailable, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.domain.ports import Reranker
    from engrain.domain.records import Answer, Hit

_LOG = logging.getLogger(__name__)
# A cross-encoder reads 30-50 candidates a second on a core; what others report gains nothing beyond.
MOST_CANDIDATES = 50
# Judges that never come back hold a thread each; with so many of them nobody asks another.
_WAITING = DeadlineRunner("the reranker", thread_name="engrain-rerank", max_overdue=4)


def checked(reranker: object) -> Reranker | None:
    """The re-ranker, or None for None.

    Raises:
        InvalidInput: it lacks what a re-ranker has.
    """
    if reranker is None:
        return None
    if isinstance(reranker, type) or not callable(getattr(reranker, "rerank", None)):
        hint = "wrap a function in engrain.engines.CallableReranker" if callable(reranker) else "see the docs"
        raise InvalidInput(f"reranker {reranker!r:.80} must be provider:model or have name and rerank(); {hint}")
    checks.name(getattr(reranker, "name", None), name="the reranker's name")
    return cast("Reranker", reranker)


def rerank(answer: Answer, reranker: Reranker | None, *, limit: int, budget_s: float) -> Answer:
    """The answer in the judge's order, at most `limit` hits; in its own, marked degraded, where there is no judgement.

    Candidates the judge is silent about follow in their own order; equal judgements keep it too.
    """
    fused = replace(answer, hits=answer.hits[:limit])
    if reranker is None:
        return _fallback(fused, Wording("no reranker is configured"))
    if not answer.hits:
        return replace(fused, mode="deep")
    candidates = answer.hits[:MOST_CANDIDATES]
    texts = [embedding_text(hit.memory) for hit in candidates]
    try:
        with metrics.timed("rerank_seconds"):
            said = _WAITING.run(lambda: reranker.rerank(answer.query, texts, timeout_s=budget_s), budget_s)
        judged = _judged(said, len(candidates))
    except EngineUnavailable as error:
        return _fallback(fused, worded(error, "the reranker"))
    except Exception as error:  # noqa: BLE001  # whatever a judge does, the search has its answer
        # Its message stays in the cause: it may quote what somebody said.
        _LOG.debug("the reranker %s failed", reranker.name, exc_info=error)
        why = f"the reranker {reranker.name} failed with {type(error).__name__}"
        return _fallback(fused, Wording(why, "the reranker failed"))
    metrics.count("reranks")
    return replace(answer, mode="deep", hits=tuple(_ordered(candidates, judged)[:limit]))


def _judged(said: Sequence[tuple[int, float]], count: int) -> dict[int, float]:
    """The judgement of each candidate by its place, the first where it gave several.

    Raises:
        EngineUnavailable: it is of none of the candidates, or no number. Who errs in that errs in the rest.
    """
    judged: dict[int, float] = {}
    for place, score in said:
        if type(place) is not int or not 0 <= place < count:
            raise EngineUnavailable(f"the reranker judged candidate {place!r:.20} of {count}")
        if not math.isfinite(score):
            raise EngineUnavailable(f"the reranker judged a candidate {score!r:.20}")
        judged.setdefault(place, float(score))
    if not judged:
        raise EngineUnavailable("the reranker judged none of the candidates")
    return judged


def _ordered(hits: Sequence[Hit], judged: dict[int, float]) -> list[Hit]:
    """Best judgement first; then those without one, each a whole number below the worst."""
    order = sorted(judged, key=lambda place: (-judged[place], place))
    silent = [place for place in range(len(hits)) if place not in judged]
    worst = min(judged.values())
    found = [_judged_hit(hits[place], rank, judged[place]) for rank, place in enumerate(order, start=1)]
    return found + [_judged_hit(hits[place], None, worst - below) for below, place in enumerate(silent, start=1)]


def _judged_hit(hit: Hit, rank: int | None, score: float) -> Hit:
    share = Contribution(channel="rerank", rank=rank, raw=score, weight=1.0, value=score)
    why = Explanation(
        preset=hit.why.preset, contributions=(share,), matched_terms=hit.why.matched_terms, fused=hit.why.contributions
    )
    return replace(hit, score=score, why=why)


def _fallback(fused: Answer, why: Wording) -> Answer:
    metrics.count("rerank_fallbacks")
    said = why.after("the order of the search stands, nothing was re-ranked: ")
    _LOG.warning("nothing was re-ranked", extra={"code": EngineUnavailable.code})
    return replace(fused, degraded=(*fused.degraded, said))
