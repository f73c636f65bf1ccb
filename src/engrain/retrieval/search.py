"""Search from query to hits: channels, fusion, ranking signals, loading of the best, explanations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from engrain.domain.filters import Filter
from engrain.domain.records import (
    Answer,
    Degraded,
    DroppedCandidate,
    Episode,
    Hit,
    Repeats,
)
from engrain.domain.text.analysis import terms
from engrain.domain.text.dialogue.chronology import may_ask_by_time
from engrain.retrieval import channels, evidence, fusion, repeats, speakers
from engrain.retrieval.candidates import Candidates, add_up
from engrain.retrieval.chronology import time_expressions
from engrain.retrieval.embeddings.query_embedding import NO_VECTORS, QueryEmbedding
from engrain.retrieval.misspellings import correct_query
from engrain.retrieval.ranking import signals
from engrain.retrieval.ranking.inputs import RankingInput
from engrain.storage import dialects
from engrain.storage.search import matching, namespaces
from engrain.storage.search.candidates import NONE, RankedDocs, join_docs
from engrain.storage.search.traits import load_traits

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from engrain.domain.requests import Request
    from engrain.retrieval.presets import Preset
    from engrain.retrieval.search_query import SearchQuery
    from engrain.storage.store import SqlStore
    from engrain.storage.unit_of_work import Forecasts, Snapshot

EMPTY_QUERY = Degraded(
    code="empty_query", message="the query has no words to search for: these are the newest memories"
)
INDEX_BEHIND = Degraded(
    code="index_behind",
    message="the newest memories were searched by their own words alone: the database cannot be written now",
)
MAX_DROPPED = 50
_LONGEST_QUESTION = 200  # characters; a longer one may be a prompt with more in it
NO_ROWS = np.zeros(0, np.bool_)

_Result = TypeVar("_Result")


def search(
    store: SqlStore,
    request: Request,
    query: SearchQuery,
    embedding: Callable[[SearchQuery], QueryEmbedding],
    *,
    check: Callable[[Snapshot], object] = lambda _: None,
    read: Callable[[Snapshot, Answer], _Result],
) -> tuple[Answer, _Result]:
    """Find the best memories for a query; ties by the preset's list, newest, id. All is read from one snapshot.

    Of a long prompt what it asks is searched for, and is the answer's query. Its vector is made while the store answers
    the other channels. Without one they decide alone, and the answer says why. In the same snapshot `check` raises
    first where the caller, with the pools it is in, may not search this, and `read` reads what belongs to the answer;
    `read_nothing` spares a server a round trip.
    """
    if len(query.text) > _LONGEST_QUESTION:
        from engrain.domain.text.dialogue.prompts import extract_question

        query = replace(query, text=extract_question(query.text), prompt=query.text)
    narrowed = _narrow(request, query.preset)
    needs_vector = narrowed is not None and "vector" in query.preset.weights and query.text
    vectors = embedding(query) if needs_vector else NO_VECTORS
    vectors = replace(vectors, find=cache(vectors.find))

    def answer_and_read(snapshot: Snapshot) -> tuple[Answer, int, _Result]:
        if narrowed is not None and snapshot.backend.forecasts is not None:
            _start(snapshot.backend.forecasts, snapshot, narrowed, query=query, vectors=vectors)
        check(snapshot)
        answer, waiting = _answer(snapshot, narrowed, query, vectors, is_last=read is read_nothing)
        return answer, waiting, read(snapshot, answer)

    answer, waiting, result = store.search(request.caller, answer_and_read)
    if waiting and vectors.catch_up(waiting):
        answer, _, result = store.search(request.caller, answer_and_read)
    return answer, result


def find_embedded_text(snapshot: Snapshot, query: SearchQuery) -> str:
    """Find the text that a search embeds first: as its user would ask it, without the speakers that it names."""
    if "speaker" not in query.preset.weights:
        return query.text
    known = matching.list_speakers(snapshot)
    return speakers.remove_speaker_names(speakers.ask_as_user(query.text, snapshot.caller.user, known), known)


def read_nothing(_snapshot: Snapshot, _answer: Answer) -> None:
    """Read nothing for an answer: the snapshot ends with its hits."""


def _start(
    forecasts: Forecasts, snapshot: Snapshot, request: Request, *, query: SearchQuery, vectors: QueryEmbedding
) -> None:
    """Start the statements of a search that are known before the first is answered."""

    def find_vector(known: Sequence[str]) -> NDArray[np.float32] | None:
        return vectors.find(speakers.remove_speaker_names(query.text, known)) if query.text else None

    words = query.lookup_terms if "keyword" in query.preset.weights else ()
    forecasts.start(snapshot, request, words, find_vector)


def search_within(snapshot: Snapshot, request: Request, query: SearchQuery, vectors: QueryEmbedding) -> Answer:
    """`search` within a snapshot, or a unit of work that has written nothing yet; `vectors` are made before it."""
    answer, _ = _answer(snapshot, _narrow(request, query.preset), query, vectors)
    return answer


def _narrow(request: Request, preset: Preset) -> Request | None:
    """Narrow the request to what the preset searches; None where nothing is left."""
    given, caller = request.filter, request.caller
    kinds = tuple(kind for kind in given.kinds if kind in preset.kinds)
    if not kinds or (preset.private and given.subjects and caller.agent not in given.subjects):
        return None
    if preset.private:
        given = replace(given, notes_of=caller.agent, subjects=(), scopes=(caller.own_scope,))
    return replace(request, filter=replace(given, kinds=kinds))


def _nothing_to_search(query: SearchQuery) -> Answer:
    """The answer where nothing was asked for that the preset searches."""
    preset = query.preset
    kinds = f"{' and '.join(f'{kind}s' for kind in preset.kinds)}{' about the agent itself' if preset.private else ''}"
    message = f"preset {preset.name} searches {kinds}, and nothing of them was asked for"
    reason = Degraded(code="nothing_to_search", message=message)
    return Answer(query=query.text, preset=preset.name, degraded=(reason,))


def _answer(
    snapshot: Snapshot,
    request: Request | None,
    query: SearchQuery,
    vectors: QueryEmbedding,
    *,
    is_last: bool = False,
) -> tuple[Answer, int]:
    """The answer, and the number of memories without a vector; `is_last` where nothing is read after it.

    A query about the user in the third person is searched for as the user would ask it, and as it is where that has no
    strong evidence; the answer of more evidence counts.
    """
    if request is None:
        return _nothing_to_search(query), 0
    weighs_speakers = "speaker" in query.preset.weights
    known = matching.list_speakers(snapshot) if weighs_speakers else []
    asked = speakers.ask_as_user(query.text, request.caller.user, known) if weighs_speakers else query.text
    if asked == query.text:
        return _answer_as_asked(snapshot, request, query, vectors, known=known, is_last=is_last)
    of_user = replace(query, text=asked, prompt=query.prompt or query.text)
    found = _answer_as_asked(snapshot, request, of_user, vectors, known=known)
    if found[0].evidence in {None, "strong"}:
        return found
    other = _answer_as_asked(snapshot, request, query, vectors, known=known)
    return max(found, other, key=lambda answered: answered[0].evidence_score or 0.0)


def _answer_as_asked(
    snapshot: Snapshot,
    request: Request,
    query: SearchQuery,
    vectors: QueryEmbedding,
    *,
    known: Sequence[str],
    is_last: bool = False,
) -> tuple[Answer, int]:
    by_time = _answer_by_time(snapshot, request, query, known)
    if by_time is not None:
        return by_time, 0
    about = speakers.remove_speaker_names(query.text, known)
    found = _find_candidates(snapshot, request, query, vectors, about=about)
    respelt = correct_query(snapshot, request, query, lists=found.lists, traits=found.traits)
    if respelt != query.text:
        query = replace(query, text=respelt)
        about = speakers.remove_speaker_names(respelt, known)
        found = _find_candidates(snapshot, request, query, vectors, about=about)
    if snapshot.backend.forecasts is not None:
        snapshot.backend.forecasts.note(snapshot, request, known)
    lists = found.lists
    waiting = namespaces.count_waiting(snapshot) if "vector" in lists else 0
    degraded = [INDEX_BEHIND] if snapshot.index_is_behind else []
    if waiting:
        message = f"{waiting:,} memories have no vector yet and were searched by their words alone"
        degraded.append(Degraded(code="vectors_pending", message=message))
    degraded += found.faults
    dropped: tuple[DroppedCandidate, ...] = ()
    if not any(map(len, lists.values())) and not query.terms and not (query.text and "vector" in lists):
        degraded.append(EMPTY_QUERY)
        from engrain.retrieval.chronology.newest import list_newest

        hits = list_newest(snapshot, request, query)
        stated: Sequence[Hit] = [hit for hit in hits if repeats.is_statement(hit.memory, query.prompt or query.text)]
        count = len(hits)
    else:
        candidates = _rank(snapshot, request, query, found, known=known)
        is_last = is_last and not query.neighbours
        hits, dropped, stated = _choose(snapshot, request, query, candidates, echoes=found.echoes, is_last=is_last)
        count = len(candidates.docs)
    chance, level = evidence.judge(query, stated, about=about, lists=lists)
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


def _find_other_statement(
    candidates: Candidates, is_stated: NDArray[np.bool_], refused: Collection[int], best: NDArray[np.intp]
) -> int | None:
    """The row of the best candidate that states something where none of the `best` does: evidence is judged by it."""
    traits, scores = candidates.traits, candidates.scores
    if traits is None or is_stated[best].any():
        return None
    is_left = is_stated.copy()
    is_left[list(refused)] = False
    rows = np.flatnonzero(is_left)
    ties: list[int] = rows[scores[rows] == scores[rows].max(initial=-np.inf)].tolist()
    return max(ties, key=traits["id"].__getitem__, default=None)


@dataclass(frozen=True, slots=True)
class _ChannelLists:
    """Lists of the channels, cut at `depth`, and why some channels could not answer.

    For presets that merge repeats: the traits of all that was found, and of what stands in no list, as it only repeats
    the query.
    """

    lists: Mapping[str, RankedDocs]
    faults: Sequence[Degraded]
    depth: int
    traits: NDArray[Any] | None = None
    echoes: NDArray[Any] | None = None


def _find_candidates(
    snapshot: Snapshot, request: Request, query: SearchQuery, vectors: QueryEmbedding, *, about: str
) -> _ChannelLists:
    """Ask the channels, deeper where turns that only repeat the query, or each other, have filled their lists.

    `about` is the text to embed. Its vector is begun within the snapshot, as it depends on the speakers there, and so
    that the other channels answer meanwhile.
    """
    depth = query.preset.depth_for(query.limit)
    at_hand = vectors.find(about)
    vector = vectors.begin(about) if at_hand is None else lambda: at_hand
    is_fresh = "recency" in query.preset.weights  # the ranking weighs the last references
    lists, faults = _query_channels(snapshot, request, query, vector, depth=depth)
    if not query.preset.merges_repeats:
        return _ChannelLists(lists, faults, depth)
    for deeper in range(repeats.MOST_ROUNDS + 1):
        traits = load_traits(snapshot, request, join_docs(lists.values()), is_fresh=is_fresh)
        is_echo = repeats.find_echoes(traits, query.terms)
        own = traits[~is_echo] if is_echo.any() else traits
        if deeper == repeats.MOST_ROUNDS or not repeats.is_crowded(lists.values(), depth, own):
            break
        depth *= repeats.DEEPER
        lists, faults = _query_channels(snapshot, request, query, vector, depth=depth)
    left = {name: ranked.only(own["doc"]) for name, ranked in lists.items()} if len(own) < len(traits) else lists
    if any(map(len, left.values())):
        return _ChannelLists(left, faults, depth, own, traits[is_echo])
    return _ChannelLists(lists, faults, depth, traits)


def _query_channels(
    snapshot: Snapshot,
    request: Request,
    query: SearchQuery,
    vector: Callable[[], NDArray[np.float32] | Degraded],
    *,
    depth: int,
) -> tuple[dict[str, RankedDocs], list[Degraded]]:
    """Get the list of every channel that the preset weighs, and why some channels cannot answer."""
    preset = query.preset
    lists: dict[str, RankedDocs] = {}
    degraded: list[Degraded] = []
    search = channels.ChannelInput(
        snapshot=snapshot,
        request=request,
        text=query.text,
        terms=query.lookup_terms,
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
                category = query.category
                lists[name] = channels.prefer_category(search, candidates, category) if category else candidates
    if "vector" in preset.weights and "vector" not in lists and "keyword" not in lists:
        lists["keyword"] = channels.keyword(search)
    return lists, degraded


def _rank(
    snapshot: Snapshot,
    request: Request,
    query: SearchQuery,
    channel_lists: _ChannelLists,
    *,
    known: Sequence[str],
) -> Candidates:
    """Fuse the lists, and add the ranking signals; `known` are all speakers."""
    preset = fusion.weigh_keywords_for_vectors(query.preset, channel_lists.lists)
    docs, fused = fusion.fuse(channel_lists.lists, preset, depth=channel_lists.depth)
    has_signals = preset.merges_repeats or bool(preset.weights.keys() & signals.SIGNALS.keys())
    needs_traits = has_signals or query.least_confidence > 0 or query.explains
    if not len(docs) or not needs_traits:
        return Candidates(preset.name, docs, fused, add_up(fused) if fused else np.zeros(len(docs)))
    relative = time_expressions.parse_relative_span(query.text) if "moment" in preset.weights else None
    anchors = _anchors(snapshot, request, relative)
    if (traits := channel_lists.traits) is None:
        traits = load_traits(snapshot, request, docs, is_fresh="recency" in preset.weights)
    spans = [*time_expressions.parse_spans(query.text, request.now.astimezone(query.time_zone))]
    if relative and len(anchors):
        events = load_traits(snapshot, request, anchors.docs)["happened_at"].tolist()
        spans += [relative.around(dialects.moment(event)) for event in events]

    asked = partial(RankingInput, now=request.now, text=query.text, decay=query.decay)
    ranking_input = partial(asked, speakers=known, spans=spans, traits=traits, echoes=channel_lists.echoes)
    shares = signals.add_signals(fused, preset.weights, ranking_input)
    return Candidates(preset.name, docs, shares, add_up(shares), traits)


def _anchors(snapshot: Snapshot, request: Request, relative: time_expressions.RelativeSpan | None) -> RankedDocs:
    """The best memory of the event that a relative span counts from."""
    event = set(terms(relative.event)) if relative else set()
    return snapshot.search_words(request, event, 1) if event else NONE


def _choose(
    snapshot: Snapshot,
    request: Request,
    query: SearchQuery,
    candidates: Candidates,
    *,
    echoes: NDArray[Any] | None,
    is_last: bool,
) -> tuple[tuple[Hit, ...], tuple[DroppedCandidate, ...], Sequence[Hit]]:
    """Make hits of the best `limit`, say why others are none, and list the hits that state something.

    Where none does, the best candidate that does stands for them. Only hits, ties with the last and that statement are
    loaded; `is_last` where nothing is read after them.
    """
    unfit = _refuse(request, query, candidates)
    refused = dict(unfit)
    repeated = _merge_repeats(query.preset, candidates, refused)
    rows = _find_best(candidates, refused, query.limit)
    traits = candidates.traits
    is_stated = NO_ROWS if traits is None else repeats.find_statements(traits, query.prompt or query.text)
    other = _find_other_statement(candidates, is_stated, unfit, rows)
    wanted = rows if other is None else np.append(rows, other)
    docs: list[int] = candidates.docs[wanted].tolist()
    kinds = None if traits is None else dict(zip(docs, traits["kind"][wanted].tolist(), strict=True))
    loaded = matching.load_matching(snapshot, request, docs, kinds=kinds, is_last=is_last) if docs else {}
    memories = {row: loaded[doc] for doc, row in zip(docs, wanted.tolist(), strict=True) if doc in loaded}
    best = [row for row in memories if row != other]
    if traits is None:
        moments, ids = [dialects.micros(memories[row].happened_at) for row in best], [memories[row].id for row in best]
    else:
        moments, ids = traits["happened_at"][best].tolist(), traits["id"][best].tolist()
    chosen = candidates.sort_rows(best, query.preset.ties, moments=moments, ids=ids)[: query.limit]
    explained = chosen
    if traits is not None and not query.explains_hits:
        explained = [row for row in chosen if is_stated[row]][: evidence.MOST_JUDGED]
    by_row = {row: memories[row] for row in chosen}
    hits = tuple(candidates.make_hits(by_row, query.terms, repeated, explained=explained))
    if traits is None:
        stated = [hit for hit in hits if repeats.is_statement(hit.memory, query.prompt or query.text)]
    else:
        stated = [hit for row, hit in zip(chosen, hits, strict=True) if is_stated[row]]
    if not stated and other is not None and other in memories:
        stated = candidates.make_hits({other: memories[other]}, query.terms)
    if not query.explains:
        return hits, (), stated
    reasons = dict.fromkeys(range(len(candidates.docs)), "below the limit") | refused
    dropped = _list_dropped(candidates, {row: why for row, why in reasons.items() if row not in set(chosen)})
    return hits, (*dropped, *repeats.list_echoes(query.preset.name, echoes))[:MAX_DROPPED], stated


def _find_best(candidates: Candidates, refused: Collection[int], limit: int) -> NDArray[np.intp]:
    """The rows of the best `limit` that are not refused, and of those that tie with the last of them."""
    rows = _find_rows(candidates, refused)
    if limit <= 0:
        return rows[:0]
    scores = candidates.scores[rows]
    return rows if len(rows) <= limit else rows[scores >= np.partition(scores, -limit)[-limit]]


def _find_rows(candidates: Candidates, refused: Collection[int]) -> NDArray[np.intp]:
    """The rows that are not refused."""
    is_left = np.ones(len(candidates.docs), np.bool_)
    is_left[list(refused)] = False
    return np.flatnonzero(is_left)


def _merge_repeats(preset: Preset, candidates: Candidates, refused: dict[int, str]) -> dict[int, Repeats]:
    """The best of near-identical turns, with their number and dates; the others are added to those `refused`."""
    merged: dict[int, Repeats] = {}
    traits = candidates.traits
    if not preset.merges_repeats or traits is None:
        return merged
    for rows in repeats.group_repeats(traits, _find_rows(candidates, refused)):
        moments = traits["happened_at"][rows].tolist()
        best, *others = candidates.sort_rows(rows, preset.ties, moments=moments, ids=traits["id"][rows].tolist())
        merged[best] = Repeats.of(map(dialects.moment, moments))
        refused |= dict.fromkeys(others, f"says the same as {traits['id'][best]}")
    return merged


def _refuse(request: Request, query: SearchQuery, candidates: Candidates) -> dict[int, str]:
    """The rows of too little confidence or similarity, with the numbers."""
    refused: dict[int, str] = {}
    least = query.least_confidence
    if least > 0 and candidates.traits is not None:
        left = signals.effective_confidence(candidates.traits, request.now, query.decay)
        rows = np.flatnonzero(left < least).tolist()
        refused |= {row: f"min_confidence {least:g}: {left[row]:.3g}" for row in rows}
    if query.min_similarity > 0 and len(candidates.docs):
        similarity = add_up([share for share in candidates.shares if share.channel != "age"])
        rows = np.flatnonzero(similarity < query.min_similarity).tolist()
        refused = {row: f"min_similarity {query.min_similarity:g}: {similarity[row]:.3g}" for row in rows} | refused
    return refused


def _list_dropped(candidates: Candidates, reasons: Mapping[int, str]) -> tuple[DroppedCandidate, ...]:
    """The candidates with a reason, best first, at most MAX_DROPPED."""
    best = sorted(reasons, key=lambda row: (-candidates.scores[row], candidates.find_id(row) or ""))[:MAX_DROPPED]
    return tuple(
        DroppedCandidate(id=candidates.find_id(row), score=float(candidates.scores[row]), reason=reasons[row], why=why)
        for row, why in zip(best, candidates.explain(best), strict=True)
    )


def _answer_by_time(snapshot: Snapshot, request: Request, query: SearchQuery, known: Sequence[str]) -> Answer | None:
    """The answer to a question for what was said, is planned, or is known of the user; None for any other."""
    if "moment" not in query.preset.weights or not may_ask_by_time(query.text):
        return None
    from engrain.retrieval.chronology.agenda import list_agenda
    from engrain.retrieval.chronology.foreign_questions import translate_question
    from engrain.retrieval.chronology.retellings import list_retelling

    if query.limit <= 0 or query.min_similarity > 0 or query.category:
        return None
    asked = replace(query, text=translate_question(query.text))
    hits = list_retelling(snapshot, request, asked, known) or list_agenda(snapshot, request, asked)
    if not hits:
        return None
    best = _with_neighbours(snapshot, request, hits[: query.limit], query.neighbours)
    answer = Answer(query=query.text, preset=query.preset.name, hits=best, candidates=len(hits))
    return replace(answer, evidence="strong", evidence_score=1.0)


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
