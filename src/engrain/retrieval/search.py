"""Search from query to hits: channels, fusion, ranking signals, loading of the best, explanations."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from engrain.domain.filters import Filter
from engrain.domain.memories.notes import is_note
from engrain.domain.records import Answer, Degraded, DroppedCandidate, Episode, Explanation, Hit, MemoryRecord, Repeats
from engrain.domain.text.analysis import terms
from engrain.domain.text.indexing import own_terms
from engrain.domain.text.small_talk import is_small_talk
from engrain.retrieval import (
    channels,
    contributions,
    evidence,
    fusion,
    notes,
    ranking,
    repeats,
    speakers,
    time_expressions,
)
from engrain.storage.search import matching, namespaces, recency
from engrain.storage.search.traits import load_traits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.records import EvidenceLevel
    from engrain.domain.requests import Candidate, Ref, Request, Traits
    from engrain.retrieval.contributions import ContributionRow
    from engrain.retrieval.presets import Preset
    from engrain.storage.store import SqlStore
    from engrain.storage.unit_of_work import Snapshot

EMPTY_QUERY = Degraded(
    code="empty_query", message="the query has no words to search for: these are the newest memories"
)
INDEX_BEHIND = Degraded(
    code="index_behind",
    message="the newest memories were searched by their own words alone: the database cannot be written now",
)
MAX_DROPPED = 50
_END_OF_TIME = datetime.max.replace(tzinfo=UTC)

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """A search query, validated, with its options.

    `deep`: a reranker orders the best hits. `min_confidence` is the preset's where None. `min_similarity` applies to
    the score before its age counts, `category` to notes: one without notes is ignored. `neighbours`: the number of
    turns before and after an episode that come with it, one statement for each hit. `explains`: the answer lists what
    did not become a hit.
    """

    text: str
    preset: Preset
    limit: int
    deep: bool = False
    min_confidence: float | None = None
    min_similarity: float = 0.0
    category: str | None = None
    neighbours: int = 0
    explains: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryEmbedding:
    """Embedding of a query.

    `begin` starts on it and returns a function that waits for the vector, or for a sentence that says why there is
    none; it may be called again. `catch_up` takes the number of visible memories without a vector, and returns true if
    it made those vectors.
    """

    begin: Callable[[str], Callable[[], NDArray[np.float32] | Degraded]]
    catch_up: Callable[[int], bool]


_NO_VECTORS = QueryEmbedding(begin=lambda _: lambda: Degraded(code="no_embedder", message=""), catch_up=lambda _: False)


def search(
    store: SqlStore,
    request: Request,
    query: SearchQuery,
    embedding: Callable[[], QueryEmbedding],
    *,
    check: Callable[[Snapshot], object] = lambda _: None,
    read: Callable[[Snapshot, Answer], _Result],
) -> tuple[Answer, _Result]:
    """Find the best memories for a query; ties by the preset's list, newest, id. All is read from one snapshot.

    The query's vector is made while the store answers the other channels. Without one they decide alone, and the answer
    says why. In the same snapshot `check` raises first where the caller, with the pools it is in, may not search this,
    and `read` reads what belongs to the answer.
    """
    narrowed = _narrow(request, query.preset)
    needs_vector = narrowed is not None and "vector" in query.preset.weights and query.text
    vectors = embedding() if needs_vector else _NO_VECTORS

    def answer_and_read(snapshot: Snapshot) -> tuple[Answer, int, _Result]:
        check(snapshot)
        answer, waiting = _answer(snapshot, narrowed, query, vectors)
        return answer, waiting, read(snapshot, answer)

    answer, waiting, result = store.search(request.caller, answer_and_read)
    if waiting and vectors.catch_up(waiting):
        answer, _, result = store.search(request.caller, answer_and_read)
    return answer, result


def search_within(snapshot: Snapshot, request: Request, query: SearchQuery, vectors: QueryEmbedding) -> Answer:
    """`search` within a snapshot, or a unit of work that has written nothing yet; `vectors` are made before it."""
    answer, _ = _answer(snapshot, _narrow(request, query.preset), query, vectors)
    return answer


def _narrow(request: Request, preset: Preset) -> Request | None:
    """Narrow the request to what the preset searches; None where nothing is left."""
    given, agent = request.filter, request.caller.agent
    kinds = tuple(kind for kind in given.kinds if kind in preset.kinds)
    if not kinds or (preset.private and given.subjects and agent not in given.subjects):
        return None
    narrowed = replace(given, kinds=kinds)
    if preset.private:
        narrowed = replace(narrowed, subjects=(agent,), scopes=(agent,))
    return replace(request, filter=narrowed)


def _nothing_to_search(query: SearchQuery) -> Answer:
    """The answer where nothing was asked for that the preset searches."""
    preset = query.preset
    kinds = f"{' and '.join(f'{kind}s' for kind in preset.kinds)}{' about the agent itself' if preset.private else ''}"
    message = f"preset {preset.name} searches {kinds}, and nothing of them was asked for"
    reason = Degraded(code="nothing_to_search", message=message)
    return Answer(query=query.text, preset=preset.name, degraded=(reason,))


def _answer(
    snapshot: Snapshot, request: Request | None, query: SearchQuery, vectors: QueryEmbedding
) -> tuple[Answer, int]:
    """The answer, and the number of memories without a vector."""
    if request is None:
        return _nothing_to_search(query), 0
    known = matching.list_speakers(snapshot) if "speaker" in query.preset.weights else []
    about = speakers.remove_speaker_names(query.text, known)
    found = _find_candidates(snapshot, request, query, vectors, about=about)
    lists = found.lists
    waiting = namespaces.count_waiting(snapshot) if "vector" in lists else 0
    degraded = [INDEX_BEHIND] if snapshot.index_is_behind else []
    if waiting:
        message = f"{waiting:,} memories have no vector yet and were searched by their words alone"
        degraded.append(Degraded(code="vectors_pending", message=message))
    degraded += found.faults
    dropped: tuple[DroppedCandidate, ...] = ()
    best: Hit | None = None
    if not any(lists.values()) and not terms(query.text) and not (query.text and "vector" in lists):
        degraded.append(EMPTY_QUERY)
        hits = _newest(snapshot, request, query)
        count = len(hits)
    else:
        candidates = _rank(snapshot, request, query, found, known=known)
        hits, dropped = _choose(snapshot, request, query, candidates, echoes=found.echoes)
        count = len(candidates.scores)
        best = _best_statement(snapshot, request, query, candidates, hits=hits)
    chance, level = _evidence(query, best, about, lists)
    answer = Answer(
        query=query.text,
        preset=query.preset.name,
        hits=_with_neighbours(snapshot, request, hits, query.neighbours),
        degraded=tuple(degraded),
        candidates=count,
        evidence=level,
        evidence_score=chance,
        dropped=dropped,
    )
    return answer, waiting


def _best_statement(
    snapshot: Snapshot, request: Request, query: SearchQuery, candidates: _Candidates, *, hits: Sequence[Hit]
) -> Hit | None:
    """The best candidate that states something, a hit or not: the one that the evidence of an answer is judged by."""
    for hit in hits:
        if repeats.is_statement(hit.memory, query.text):
            return hit
    refused = _refused(request, query, candidates)
    traits, scores = candidates.traits, candidates.scores
    left = (ref for ref in traits if ref not in refused and repeats.is_statement(traits[ref], query.text))
    best = max(left, key=lambda ref: (scores[ref], traits[ref].id), default=None)
    memory = None if best is None else matching.load_matching(snapshot, request, [best]).get(best)
    if best is None or memory is None:
        return None
    why = _with_terms(candidates.why(best), memory, terms(query.text))
    return Hit(score=scores[best], memory=memory, why=why)


def _evidence(
    query: SearchQuery, best: Hit | None, about: str, lists: Mapping[str, object]
) -> tuple[float | None, EvidenceLevel | None]:
    """The chance and level of evidence, none for small talk; None without a calibration, vectors or words."""
    calibration, query_terms = query.preset.evidence, terms(about)
    if calibration is None or query.limit == 0:
        return None, None
    if is_small_talk(query.text):
        return 0.0, "none"
    if "vector" not in lists or not query_terms:
        return None, None
    return evidence.assess(calibration, best, set(query_terms))


@dataclass(frozen=True, slots=True)
class _ChannelLists:
    """Lists of the channels, cut at `depth`, and why some channels could not answer.

    For presets that merge repeats: the traits of all that was found, and what stands in no list, as it only repeats the
    query.
    """

    lists: Mapping[str, Sequence[Candidate]]
    faults: Sequence[Degraded]
    depth: int
    traits: Mapping[Ref, Traits]
    echoes: Mapping[Ref, Traits]


def _find_candidates(
    snapshot: Snapshot, request: Request, query: SearchQuery, vectors: QueryEmbedding, *, about: str
) -> _ChannelLists:
    """Ask the channels, deeper where turns that only repeat the query, or each other, have filled their lists.

    `about` is the text to embed. Its vector is begun within the snapshot, as it depends on the speakers there, and so
    that the other channels answer meanwhile.
    """
    depth, vector = query.preset.depth_for(query.limit), vectors.begin(about)
    lists, faults = _query_channels(snapshot, request, query, vector, depth=depth)
    traits: dict[Ref, Traits] = {}
    if not query.preset.merges_repeats:
        return _ChannelLists(lists, faults, depth, traits, {})
    query_terms = terms(query.text)
    for deeper in range(repeats.MOST_ROUNDS + 1):
        refs = {candidate.ref for candidates in lists.values() for candidate in candidates}
        traits |= load_traits(snapshot, request, refs - traits.keys())
        echoes = repeats.find_echoes(traits, query_terms)
        if deeper == repeats.MOST_ROUNDS or not repeats.is_crowded(lists.values(), depth, traits, echoes):
            break
        depth *= repeats.DEEPER
        lists, faults = _query_channels(snapshot, request, query, vector, depth=depth)
    left = repeats.drop_echoes(lists, echoes) if echoes else None
    return _ChannelLists(left or lists, faults, depth, traits, {ref: traits[ref] for ref in echoes} if left else {})


def _query_channels(
    snapshot: Snapshot,
    request: Request,
    query: SearchQuery,
    vector: Callable[[], NDArray[np.float32] | Degraded],
    *,
    depth: int,
) -> tuple[dict[str, Sequence[Candidate]], list[Degraded]]:
    """Get the list of every channel that the preset weighs, and why some channels cannot answer."""
    preset = query.preset
    lists: dict[str, Sequence[Candidate]] = {}
    degraded: list[Degraded] = []
    search = channels.ChannelInput(
        snapshot=snapshot,
        request=request,
        text=query.text,
        terms=tuple(dict.fromkeys(terms(query.text)))[: channels.MAX_TERMS],
        depth=depth,
        vector=vector,
        lists=lists,
        completes=preset.fusion == "value",
    )
    for name, channel in channels.CHANNELS.items():
        if name in preset.weights:
            candidates = channel(search)
            if isinstance(candidates, Degraded):
                degraded.append(candidates)
            else:
                lists[name] = _own_notes(search, candidates, query) if preset.private else candidates
    if "vector" in preset.weights and "vector" not in lists and "keyword" not in lists:
        lists["keyword"] = channels.keyword(search)
    return lists, degraded


def _own_notes(
    search: channels.ChannelInput, candidates: Sequence[Candidate], query: SearchQuery
) -> Sequence[Candidate]:
    memories = matching.load_matching(search.snapshot, search.request, [candidate.ref for candidate in candidates])
    return notes.select_notes(search.snapshot.caller, candidates, memories, query.category)


@dataclass(frozen=True, slots=True)
class _Candidates:
    """All candidates with their contributions, their scores and, where the answer depends on them, their traits."""

    preset: str
    rows: Mapping[Ref, tuple[ContributionRow, ...]]
    scores: Mapping[Ref, float]
    traits: Mapping[Ref, Traits]

    def why(self, ref: Ref) -> Explanation:
        """The explanation of a score."""
        return Explanation(preset=self.preset, contributions=tuple(row.to_record() for row in self.rows[ref]))


def _rank(
    snapshot: Snapshot,
    request: Request,
    query: SearchQuery,
    channel_lists: _ChannelLists,
    *,
    known: Sequence[str],
) -> _Candidates:
    """Fuse the lists, and add the ranking signals; `known` are all speakers."""
    preset = _with_keywords_for_vectors(query.preset, channel_lists.lists)
    fused = fusion.fuse(channel_lists.lists, preset, depth=channel_lists.depth)
    has_signals = preset.merges_repeats or bool(preset.weights.keys() & ranking.SIGNALS.keys())
    needs_traits = has_signals or _min_confidence(query) > 0 or query.explains
    if not fused or not needs_traits:
        return _candidates(preset, fused, {})
    relative = time_expressions.parse_relative_span(query.text) if "moment" in preset.weights else None
    anchors = _anchors(snapshot, request, relative)
    all_traits = {
        **channel_lists.traits,
        **load_traits(snapshot, request, {*fused, *anchors} - channel_lists.traits.keys()),
    }
    traits = {ref: own for ref, own in all_traits.items() if ref in fused}
    spans = (
        *time_expressions.parse_spans(query.text, request.now),
        *(relative.around(all_traits[ref].happened_at) for ref in anchors if relative and ref in all_traits),
    )

    def ranking_input(scores: Mapping[Ref, float]) -> ranking.RankingInput:
        return ranking.RankingInput(
            request=request, text=query.text, speakers=known, spans=spans, traits=traits, scores=scores
        )

    return _candidates(preset, ranking.add_signals(fused, preset.weights, ranking_input), traits)


def _candidates(
    preset: Preset, rows: Mapping[Ref, tuple[ContributionRow, ...]], traits: Mapping[Ref, Traits]
) -> _Candidates:
    scores = {ref: contributions.total(own) for ref, own in rows.items()}
    return _Candidates(preset.name, rows, scores, traits)


def _anchors(snapshot: Snapshot, request: Request, relative: time_expressions.RelativeSpan | None) -> list[Ref]:
    """The best memory of the event that a relative span counts from."""
    event = set(terms(relative.event)) if relative else set()
    return [candidate.ref for candidate in snapshot.search_words(request, event, 1)] if event else []


def _with_keywords_for_vectors(preset: Preset, lists: Mapping[str, Sequence[Candidate]]) -> Preset:
    """The preset with the weight of the vectors on the keywords, where those were queried in their place."""
    if "keyword" not in lists or "keyword" in preset.weights:
        return preset
    weights = {"keyword" if name == "vector" else name: weight for name, weight in preset.weights.items()}
    return replace(preset, weights=weights)


def _choose(
    snapshot: Snapshot, request: Request, query: SearchQuery, candidates: _Candidates, *, echoes: Mapping[Ref, Traits]
) -> tuple[tuple[Hit, ...], tuple[DroppedCandidate, ...]]:
    """Make hits of the best `limit`, and say why others are none. Only hits and ties with the last are loaded."""
    refused = _refused(request, query, candidates)
    repeated = _merge_repeats(query.preset, candidates, refused)
    scores = {ref: score for ref, score in candidates.scores.items() if ref not in refused}
    best = heapq.nlargest(query.limit, scores.values())
    wanted = [ref for ref, score in scores.items() if score >= best[-1]] if best else []
    loaded = matching.load_matching(snapshot, request, wanted) if wanted else {}
    ties = query.preset.ties
    ranked = sorted(loaded, key=lambda ref: _order(scores[ref], _rank_in(candidates.rows[ref], ties), loaded[ref]))
    chosen = ranked[: query.limit]
    query_terms = list(dict.fromkeys(terms(query.text)))
    hits = tuple(
        Hit(
            score=scores[ref],
            memory=loaded[ref],
            why=_with_terms(candidates.why(ref), loaded[ref], query_terms),
            repeats=repeated.get(ref),
        )
        for ref in chosen
    )
    if not query.explains:
        return hits, ()
    reasons = dict.fromkeys(candidates.scores, "below the limit") | refused
    dropped = _dropped(candidates, {ref: why for ref, why in reasons.items() if ref not in set(chosen)})
    return hits, (*dropped, *_dropped_echoes(query.preset, echoes))[:MAX_DROPPED]


def _merge_repeats(preset: Preset, candidates: _Candidates, refused: dict[Ref, str]) -> dict[Ref, Repeats]:
    """The best of near-identical turns, with their number and dates; the others are added to those `refused`."""
    merged: dict[Ref, Repeats] = {}
    if not preset.merges_repeats:
        return merged
    left = {ref: turn for ref, turn in candidates.traits.items() if ref not in refused}
    for refs in repeats.group_repeats(left):
        best, *others = sorted(
            refs,
            key=lambda ref: _order(candidates.scores[ref], _rank_in(candidates.rows[ref], preset.ties), left[ref]),
        )
        merged[best] = Repeats.of(left[ref].happened_at for ref in refs)
        refused |= dict.fromkeys(others, f"says the same as {left[best].id}")
    return merged


def _dropped_echoes(preset: Preset, echoes: Mapping[Ref, Traits]) -> list[DroppedCandidate]:
    """The turns that only repeat the query, newest first."""
    why = Explanation(preset=preset.name, contributions=())
    newest = sorted(echoes.values(), key=lambda turn: (_END_OF_TIME - turn.happened_at, turn.id))
    return [DroppedCandidate(id=turn.id, score=0.0, reason="says nothing beside the query", why=why) for turn in newest]


def _refused(request: Request, query: SearchQuery, candidates: _Candidates) -> dict[Ref, str]:
    """The candidates of too little confidence or similarity, with the numbers."""
    refused: dict[Ref, str] = {}
    least = _min_confidence(query)
    if least > 0:
        for ref, traits in candidates.traits.items():
            confidence = ranking.effective_confidence(traits, request)
            if confidence < least:
                refused[ref] = f"min_confidence {least:g}: {confidence:.3g}"
    if query.min_similarity > 0:
        for ref, rows in candidates.rows.items():
            similarity = contributions.total(row for row in rows if row.channel != "age")
            if similarity < query.min_similarity:
                refused.setdefault(ref, f"min_similarity {query.min_similarity:g}: {similarity:.3g}")
    return refused


def _dropped(candidates: _Candidates, reasons: Mapping[Ref, str]) -> tuple[DroppedCandidate, ...]:
    """The candidates with a reason, best first, at most MAX_DROPPED."""
    best = sorted(reasons, key=lambda ref: (-candidates.scores[ref], _id(candidates, ref) or ""))[:MAX_DROPPED]
    return tuple(
        DroppedCandidate(
            id=_id(candidates, ref), score=candidates.scores[ref], reason=reasons[ref], why=candidates.why(ref)
        )
        for ref in best
    )


def _id(candidates: _Candidates, ref: Ref) -> str | None:
    return candidates.traits[ref].id if ref in candidates.traits else None


def _min_confidence(query: SearchQuery) -> float:
    """The effective confidence below which nothing is a hit."""
    return query.preset.min_confidence if query.min_confidence is None else query.min_confidence


def _rank_in(rows: Sequence[ContributionRow], channel: str | None) -> float:
    """The rank in one list; infinite where it is not there."""
    ranks = [row.rank for row in rows if row.channel == channel and row.rank is not None]
    return ranks[0] if ranks else math.inf


def _order(score: float, rank: float, memory: MemoryRecord | Traits) -> tuple[float, float, timedelta, str]:
    return -score, rank, _END_OF_TIME - memory.happened_at, memory.id


def _with_terms(why: Explanation, memory: MemoryRecord, query_terms: list[str]) -> Explanation:
    own = set(own_terms(memory))
    return replace(why, matched_terms=tuple(term for term in query_terms if term in own))


def _newest(snapshot: Snapshot, request: Request, query: SearchQuery) -> tuple[Hit, ...]:
    why = Explanation(preset=query.preset.name, contributions=())
    newest = recency.load_newest(snapshot, request, query.limit)
    own = [memory for memory in newest if not query.preset.private or is_note(memory, snapshot.caller)]
    return tuple(Hit(score=0.0, memory=memory, why=why) for memory in own)


def _with_neighbours(snapshot: Snapshot, request: Request, hits: tuple[Hit, ...], count: int) -> tuple[Hit, ...]:
    """The hits with `count` turns before and after each, of any speaker."""
    if count == 0:
        return hits
    given = request.filter
    around = replace(request, filter=Filter(as_of=given.as_of, include_inactive=given.include_inactive))
    return tuple(
        replace(hit, neighbours=tuple(matching.load_neighbours(snapshot, around, hit.memory, count)))
        if isinstance(hit.memory, Episode)
        else hit
        for hit in hits
    )
