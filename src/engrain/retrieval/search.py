"""One search from question to hits: ask the channels, fuse their lists, load the winners, say why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.domain.analysis import terms
from engrain.domain.indexing import own_terms
from engrain.domain.records import Answer, Contribution, Explanation, Hit, MemoryRecord
from engrain.errors import DatabaseBusy, DatabaseReadOnly, EngineUnavailable
from engrain.retrieval import fusion, voices

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.ports import Store
    from engrain.domain.requests import Candidate, Ref, Request
    from engrain.retrieval.presets import Channel, Preset

EMPTY_QUERY = "the query has no words to search for: these are the newest memories"

# SQLite's parser takes time with the square of the words it is asked for: 1 ms for a thousand, two minutes for the
# 160,000 of a pasted megabyte.
_MOST_TERMS = 1_000
_END_OF_TIME = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, cleaned, and how it is to be answered."""

    text: str
    preset: Preset
    limit: int


def search(
    store: Store, request: Request, question: Question, embed: Callable[[str], NDArray[np.float32] | str]
) -> Answer:
    """The best memories for a question; ties by score, newest, id.

    `embed` gives the question's vector, or a sentence that says why there is none; the answer carries it and the other
    channels decide alone.
    """
    degraded: list[str] = []
    _settle(store, degraded)
    lists = _ask(store, request, question, embed, degraded=degraded)
    if not any(lists.values()) and not terms(question.text) and "vector" not in lists:
        return _newest(store, request, question, degraded)
    hits = _hits(store, request, question, _judge(store, request, question, lists))
    return Answer(query=question.text, preset=question.preset.name, hits=hits, degraded=tuple(degraded))


def _settle(store: Store, degraded: list[str]) -> None:
    """Finish what single writes left for later; a busy or read-only file is searched as it is."""
    try:
        store.settle()
    except (DatabaseBusy, DatabaseReadOnly):
        degraded.append(
            "the newest memories were searched by their own words alone: the database cannot be written now"
        )


def _ask(
    store: Store,
    request: Request,
    question: Question,
    embed: Callable[[str], NDArray[np.float32] | str],
    *,
    degraded: list[str],
) -> dict[Channel, Sequence[Candidate]]:
    """Every channel's list, by channel; the channels a preset does not weigh are not asked."""
    weights, depth = question.preset.weights, _depth(question)
    lists: dict[Channel, Sequence[Candidate]] = {}
    vector = embed(question.text) if "vector" in weights and question.text else None
    if isinstance(vector, str):
        degraded.append(vector)
    if "keyword" in weights or isinstance(vector, str):
        lists["keyword"] = store.keyword(request, set(terms(question.text)[:_MOST_TERMS]), depth)
    if vector is not None and not isinstance(vector, str):
        also = [each.ref for each in lists.get("keyword", ())] if question.preset.fusion == "value" else []
        try:
            lists["vector"] = store.nearest(request, vector, depth, also=also)
        except EngineUnavailable as error:  # another process has re-embedded them meanwhile
            metrics.count("searches_without_vectors")
            why = f"keywords alone: {error}"
            return _ask(store, request, question, lambda _: why, degraded=degraded)
        waiting = store.waiting(request.caller)
        if waiting:
            degraded.append(f"{waiting:,} memories have no vector yet and were searched by their words alone")
    return lists


def _judge(
    store: Store, request: Request, question: Question, lists: dict[Channel, Sequence[Candidate]]
) -> dict[Ref, tuple[Contribution, ...]]:
    """The fused lists, and what a candidate's session and speaker add."""
    weights = question.preset.weights
    judged = fusion.fuse(lists, _standing_in(question.preset, lists), limit=_depth(question))
    if not judged or not {"session", "speaker"} & weights.keys():
        return judged
    turns = store.turns(request, judged)
    if "session" in weights:
        sessions = {ref: (turn.scope, turn.session) for ref, turn in turns.items() if turn.session is not None}
        judged = fusion.with_session(judged, sessions, weights["session"])
    if "speaker" in weights:
        voice = voices.asked_about(question.text, store.speakers(request))
        theirs = frozenset(ref for ref, turn in turns.items() if voices.speaks(turn, voice))
        judged = fusion.with_speaker(judged, theirs, weights["speaker"])
    return judged


def _standing_in(preset: Preset, lists: Mapping[Channel, Sequence[Candidate]]) -> Preset:
    """The preset, weighing keywords too where they were asked in place of the vectors it judges by alone."""
    if "keyword" not in lists or "keyword" in preset.weights:
        return preset
    return replace(preset, weights={**preset.weights, "keyword": 1.0})


def _hits(
    store: Store, request: Request, question: Question, judged: dict[Ref, tuple[Contribution, ...]]
) -> tuple[Hit, ...]:
    """The best `limit` as hits. Only they and what ties with the last of them are loaded."""
    if not judged or question.limit == 0:
        return ()
    explained = {
        ref: Explanation(preset=question.preset.name, contributions=contributions)
        for ref, contributions in judged.items()
    }
    scores = {ref: why.score for ref, why in explained.items()}
    floor = sorted(scores.values(), reverse=True)[: question.limit][-1]
    loaded = store.load(request, [ref for ref, score in scores.items() if score >= floor])
    ranked = sorted(loaded.items(), key=lambda item: _order(scores[item[0]], item[1]))
    asked = list(dict.fromkeys(terms(question.text)))
    return tuple(
        Hit(score=scores[ref], memory=memory, why=_with_terms(explained[ref], memory, asked))
        for ref, memory in ranked[: question.limit]
    )


def _order(score: float, memory: MemoryRecord) -> tuple[float, timedelta, str]:
    return -score, _END_OF_TIME - memory.happened_at, memory.id


def _with_terms(why: Explanation, memory: MemoryRecord, asked: list[str]) -> Explanation:
    own = set(own_terms(memory))
    return replace(why, matched_terms=tuple(term for term in asked if term in own))


def _newest(store: Store, request: Request, question: Question, degraded: list[str]) -> Answer:
    why = Explanation(preset=question.preset.name, contributions=())
    hits = tuple(Hit(score=0.0, memory=memory, why=why) for memory in store.recent(request, question.limit))
    said = (*degraded, EMPTY_QUERY)
    return Answer(query=question.text, preset=question.preset.name, hits=hits, degraded=said)


def _depth(question: Question) -> int:
    return max(question.preset.depth, question.limit)
