"""Searches with the parts of one Memory: vectors where they can be had in time, and references counted afterwards."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from engrain import metrics
from engrain.agent.wiring.acts import new_act
from engrain.domain.faults import describe_fault
from engrain.domain.records import Answer, Caller, Degraded, MemoryRecord
from engrain.domain.requests import Act, Request
from engrain.errors import UNWRITABLE, EngineUnavailable
from engrain.storage.search.namespaces import count_waiting
from engrain.storage.selection import load_memories
from engrain.storage.write.changes import touch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.filters import Filter
    from engrain.domain.ports import Embedder
    from engrain.retrieval.embeddings.query_embedding import QueryEmbedding
    from engrain.retrieval.search_query import SearchQuery
    from engrain.storage.unit_of_work import Snapshot

_Result = TypeVar("_Result")

# A search waits for vectors that are being made only while they are few; an import's thousands it does without.
_WORTH_WAITING_FOR = 64


def search(
    parts: Parts,
    caller: Caller,
    question: SearchQuery,
    narrowed: Filter,
    *,
    check: Callable[[Snapshot], object] = lambda _: None,
) -> Answer:
    """Return the answer to a question; a ranking that looks at references sees those of every recall before it.

    `check` raises where the caller, with the pools it is in, may not search this.
    """
    from engrain.retrieval.search import read_nothing

    request = Request(caller=caller, filter=narrowed, now=parts.clock())
    if not question.deep:
        return search_and_read(parts, request, question, check=check, read=read_nothing)[0]
    from engrain.retrieval import reranking

    deeper = replace(question, limit=max(question.limit, reranking.MAX_CANDIDATES))
    answer, _ = search_and_read(parts, request, deeper, check=check, read=read_nothing)
    budget_s = parts.settings.reranking.budget_s
    return reranking.rerank(answer, parts.reranker, limit=question.limit, budget_s=budget_s)


def search_and_read(
    parts: Parts,
    request: Request,
    question: SearchQuery,
    *,
    check: Callable[[Snapshot], object] = lambda _: None,
    read: Callable[[Snapshot, Answer], _Result],
) -> tuple[Answer, _Result]:
    """`search` without re-ranking, and return what `read` reads for its answer in the same snapshot."""
    from engrain.retrieval import search

    if "recency" in question.preset.weights:
        parts.references.flush(request.caller.tenant_id)
    return search.search(
        parts.store,
        request,
        replace(question, decay=parts.decay, time_zone=parts.time_zone),
        partial(_question_vectors, parts, request.caller),
        check=check,
        read=read,
    )


def search_counted(
    parts: Parts,
    caller: Caller,
    question: SearchQuery,
    narrowed: Filter,
    *,
    check: Callable[[Snapshot], object] = lambda _: None,
) -> Answer:
    """Return the answer of `search`, a reference to each hit counted soon unless it was asked of the past."""
    answer = search(parts, caller, question, narrowed, check=check)
    if narrowed.as_of is None and narrowed.valid_at is None:
        count_references(parts, caller, [hit.memory for hit in answer.hits])
    return answer


def count_references(parts: Parts, caller: Caller, memories: Sequence[MemoryRecord]) -> None:
    """Leave one reference to each of these memories to be counted soon."""
    parts.references.add(Act(caller=caller, at=parts.clock()), memories)


def get_counted(parts: Parts, caller: Caller, ids: Sequence[str]) -> list[MemoryRecord]:
    """Return those of `ids` the caller sees, a reference counted unless the database cannot be written now."""
    try:
        return parts.store.write(new_act(parts, caller), touch, ids)
    except UNWRITABLE:
        metrics.count("references_not_counted", len(ids))
        return parts.store.read(caller, load_memories, ids)


def embed_questions(parts: Parts, caller: Caller, texts: Sequence[str]) -> QueryEmbedding:
    """Embed questions, for searches within a unit of work; the newest memories have their vectors if these are few."""
    from engrain.retrieval.embeddings.query_embedding import QueryEmbedding

    embedder = parts.embedder
    if embedder is None or not texts:
        return _question_vectors(parts, caller)
    _catch_up(parts, caller, parts.store.search(caller, count_waiting))
    begun = {text: parts.workers.start(partial(embed_query, embedder, text)) for text in texts}
    ready = {text: wait() for text, wait in begun.items()}
    return QueryEmbedding(begin=lambda text: lambda: ready[text], catch_up=lambda _: False)


def _question_vectors(parts: Parts, caller: Caller, query: SearchQuery | None = None) -> QueryEmbedding:
    """Embed a question in a worker, beside the newest memories, which have their vectors first while these are few."""
    from engrain.retrieval.embeddings.query_embedding import QueryEmbedding

    embedder = parts.embedder
    if embedder is None:
        why = parts.without_vectors or Degraded(code="no_embedder", message="keywords alone: no embedder is configured")
        return QueryEmbedding(begin=lambda _: lambda: why, catch_up=lambda _: False)
    begun: dict[str, Callable[[], NDArray[np.float32] | Degraded]] = {}

    def begin(text: str) -> Callable[[], NDArray[np.float32] | Degraded]:
        return begun.get(text) or parts.workers.start(partial(embed_query, embedder, text))

    has_waited = False
    if not parts.queue.is_idle:
        waiting, text = parts.store.read(caller, _look_ahead, query)
        if text and _find_embedding(embedder, text) is None:
            begun[text] = begin(text)
        has_waited = not _catch_up(parts, caller, waiting)
    return QueryEmbedding(
        begin=begin,
        find=lambda text: _find_embedding(embedder, text),
        catch_up=lambda waiting: not has_waited and _catch_up(parts, caller, waiting),
    )


def _look_ahead(snapshot: Snapshot, query: SearchQuery | None) -> tuple[int, str]:
    """Count the memories that wait for a vector, and find the text that a query is embedded by where some do."""
    from engrain.retrieval.search import find_embedded_text

    waiting = count_waiting(snapshot)
    return waiting, find_embedded_text(snapshot, query) if query is not None and waiting else ""


def _catch_up(parts: Parts, caller: Caller, waiting: int) -> bool:
    """Have the vectors of so many memories made, and wait while they are few; whether they are made."""
    if 0 < waiting <= parts.queue.count_refused(caller.tenant_id) and parts.queue.is_idle:
        return False
    if waiting:
        parts.queue.announce()  # another process may have left them
    return waiting <= _WORTH_WAITING_FOR and parts.queue.wait(parts.settings.embedding.wait_s)


def _find_embedding(embedder: Embedder, text: str) -> NDArray[np.float32] | None:
    """Find the vector of a question in the cache; None where it is to be embedded."""
    from engrain.engines.embedders.cache import CachingEmbedder

    try:
        return embedder.find(text, role="query") if isinstance(embedder, CachingEmbedder) else None
    except EngineUnavailable:  # said of the answer, by what embeds it
        return None


def embed_query(embedder: Embedder, text: str) -> NDArray[np.float32] | Degraded:
    """Return the vector of a question, or a sentence that says why there is none."""
    try:
        vector: NDArray[np.float32] = embedder.embed([text], role="query")[0]
    except EngineUnavailable as error:
        metrics.count("searches_without_vectors")
        return describe_fault(error, "embedder").with_prefix("keywords alone: ")
    return vector
