"""One search from question to hits: ask the channels, fuse their lists, judge, load the winners, say why."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from engrain.domain.filters import Filter
from engrain.domain.memories.notes import is_note
from engrain.domain.records import Answer, Dropped, Episode, Explanation, Hit, MemoryRecord
from engrain.domain.text.analysis import terms
from engrain.domain.text.indexing import own_terms
from engrain.domain.wording import Wording
from engrain.errors import DatabaseBusy, DatabaseReadOnly
from engrain.retrieval import channels, evidence, fusion, moments, notes, ranking, shares, voices

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.ports import Store
    from engrain.domain.requests import Candidate, Ref, Request, Traits
    from engrain.retrieval.presets import Preset
    from engrain.retrieval.shares import Share

EMPTY_QUERY = Wording("the query has no words to search for: these are the newest memories")
MOST_DROPPED = 50
_END_OF_TIME = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, cleaned, and how it is to be answered.

    `deep`: a re-ranker judges the best of them. `min_confidence` is the preset's where None. `min_similarity` holds for
    the score before its age counts, `category` for notes: one that would leave none is passed over. `neighbours`: how
    many turns before and after an episode come with it, one statement for each hit. `explains`: whether the answer
    tells what did not become a hit.
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
class QuestionVectors:
    """How the vector of a question is made.

    `begin` starts on it; what it returns waits for the vector, or a sentence that says why there is none, and gives the
    same whenever it is asked. `catch_up` is told how many memories that the search looks at have no vector yet; whether
    it made those vectors.
    """

    begin: Callable[[str], Callable[[], NDArray[np.float32] | Wording]]
    catch_up: Callable[[int], bool]


_NO_VECTORS = QuestionVectors(begin=lambda _: lambda: Wording(""), catch_up=lambda _: False)


def search(store: Store, request: Request, question: Question, embedding: Callable[[], QuestionVectors]) -> Answer:
    """The best memories for a question; ties by the preset's list, newest, id. All is read of one state.

    The question's vector is made while the store answers the other channels. Where there is none they decide alone, and
    the answer says why.
    """
    preset, narrowed = question.preset, _narrowed(request, question.preset)
    if narrowed is None:
        said = f"preset {preset.name} searches {_searched(preset)}, and nothing of them was asked for"
        return Answer(query=question.text, preset=preset.name, degraded=(Wording(said),))
    vectors = embedding() if "vector" in preset.weights and question.text else _NO_VECTORS
    settled = _settle(store)

    def answered() -> tuple[Answer, int]:
        return store.in_one_snapshot(request.caller, lambda: _answer(store, narrowed, question, vectors))

    answer, waiting = answered()
    if waiting and vectors.catch_up(waiting):
        answer, waiting = answered()
    if waiting:
        settled.append(Wording(f"{waiting:,} memories have no vector yet and were searched by their words alone"))
    return replace(answer, degraded=(*settled, *answer.degraded)) if settled else answer


def _settle(store: Store) -> list[Wording]:
    """Finish what single writes left for later; a busy or read-only file is searched as it is, and that said."""
    try:
        store.settle()
    except (DatabaseBusy, DatabaseReadOnly):
        said = "the newest memories were searched by their own words alone: the database cannot be written now"
        return [Wording(said)]
    return []


def _narrowed(request: Request, preset: Preset) -> Request | None:
    """The request within what the preset searches, None where nothing of it is left."""
    asked, agent = request.filter, request.caller.agent
    kinds = tuple(kind for kind in asked.kinds if kind in preset.kinds)
    if not kinds or (preset.private and asked.subjects and agent not in asked.subjects):
        return None
    narrowed = replace(asked, kinds=kinds)
    if preset.private:
        narrowed = replace(narrowed, subjects=(agent,), scopes=(agent,))
    return replace(request, filter=narrowed)


def _searched(preset: Preset) -> str:
    about = " about the agent itself" if preset.private else ""
    return f"{' and '.join(f'{kind}s' for kind in preset.kinds)}{about}"


def _answer(store: Store, request: Request, question: Question, vectors: QuestionVectors) -> tuple[Answer, int]:
    """The answer, and how many memories were not looked at by their vectors for want of one."""
    speakers = store.speakers(request) if "speaker" in question.preset.weights else []
    about = voices.without_names(question.text, speakers)
    lists, said = _ask(store, request, question, vectors, about=about)
    waiting = store.waiting(request.caller) if "vector" in lists else 0
    if not any(lists.values()) and not terms(question.text) and not (question.text and "vector" in lists):
        said.append(EMPTY_QUERY)
        hits, dropped = _newest(store, request, question)
        count = len(hits)
    else:
        judged = _judge(store, request, question, lists, speakers=speakers)
        hits, dropped = _choose(store, request, question, judged)
        count = len(judged.scores)
    chance, level = _evidence(question, hits, about, lists)
    answer = Answer(
        query=question.text,
        preset=question.preset.name,
        hits=_with_neighbours(store, request, hits, question.neighbours),
        degraded=tuple(said),
        candidates=count,
        evidence=level,
        evidence_score=chance,
        dropped=dropped,
    )
    return answer, waiting


def _evidence(
    question: Question, hits: Sequence[Hit], about: str, lists: Mapping[str, object]
) -> tuple[float | None, evidence.Level | None]:
    """Whether the answer is there; not told of rankings that were not measured, nor without vectors or words."""
    calibration, asked = question.preset.evidence, terms(about)
    if calibration is None or "vector" not in lists or not asked or question.limit == 0:
        return None, None
    return evidence.judge(calibration, hits[0] if hits else None, set(asked))


def _ask(
    store: Store, request: Request, question: Question, vectors: QuestionVectors, *, about: str
) -> tuple[dict[str, Sequence[Candidate]], list[Wording]]:
    """The list of every channel that the preset weighs and that can answer, and why others cannot.

    `about` is what the vector is made of.
    """
    preset = question.preset
    lists: dict[str, Sequence[Candidate]] = {}
    said: list[Wording] = []
    search = channels.Search(
        store=store,
        request=request,
        text=question.text,
        terms=tuple(dict.fromkeys(terms(question.text)))[: channels.MOST_TERMS],
        depth=preset.depth_for(question.limit),
        vector=vectors.begin(about),
        proposed=lists,
        completes=preset.fusion == "value",
    )
    for name, propose in channels.CHANNELS.items():
        if name in preset.weights:
            found = propose(search)
            if isinstance(found, Wording):
                said.append(found)
            else:
                lists[name] = _own(search, found, question) if preset.private else found
    if "vector" in preset.weights and "vector" not in lists and "keyword" not in lists:
        lists["keyword"] = channels.keyword(search)
    return lists, said


def _own(search: channels.Search, found: Sequence[Candidate], question: Question) -> Sequence[Candidate]:
    memories = search.store.load(search.request, [each.ref for each in found])
    return notes.notes_of(search.request.caller, found, memories, question.category)


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Everything that was proposed: why, its score, and what is known of it where the answer depends on that."""

    preset: str
    shares: Mapping[Ref, tuple[Share, ...]]
    scores: Mapping[Ref, float]
    traits: Mapping[Ref, Traits]

    def why(self, ref: Ref) -> Explanation:
        """Why it has its score."""
        return Explanation(preset=self.preset, contributions=tuple(share.told() for share in self.shares[ref]))


def _judge(
    store: Store,
    request: Request,
    question: Question,
    lists: Mapping[str, Sequence[Candidate]],
    *,
    speakers: Sequence[str],
) -> _Candidates:
    """The fused lists, and what the judges add."""
    preset = _standing_in(question.preset, lists)
    judged = fusion.fuse(lists, preset, depth=preset.depth_for(question.limit))
    is_looked_at = bool(preset.weights.keys() & ranking.JUDGES.keys()) or _least(question) > 0 or question.explains
    if not judged or not is_looked_at:
        return _candidates(preset, judged, {})
    told = moments.anchored(question.text) if "moment" in preset.weights else None
    anchors = _anchors(store, request, told)
    known = store.traits(request, {*judged, *anchors})
    traits = {ref: each for ref, each in known.items() if ref in judged}
    asked = (
        *moments.spans(question.text, request.now),
        *(told.around(known[ref].happened_at) for ref in anchors if told and ref in known),
    )

    def judging(scores: Mapping[Ref, float]) -> ranking.Judging:
        return ranking.Judging(
            request=request, text=question.text, speakers=speakers, asked=asked, traits=traits, scores=scores
        )

    return _candidates(preset, ranking.judge(judged, preset.weights, judging), traits)


def _candidates(preset: Preset, judged: Mapping[Ref, tuple[Share, ...]], traits: Mapping[Ref, Traits]) -> _Candidates:
    scores = {ref: shares.total(given) for ref, given in judged.items()}
    return _Candidates(preset.name, judged, scores, traits)


def _anchors(store: Store, request: Request, told: moments.Anchored | None) -> list[Ref]:
    """What tells best of the event that a question counts its time from."""
    asked = set(terms(told.event)) if told else set()
    return [each.ref for each in store.keyword(request, asked, 1)] if asked else []


def _standing_in(preset: Preset, lists: Mapping[str, Sequence[Candidate]]) -> Preset:
    """The preset, weighing keywords in place of the vectors where they were asked in their place."""
    if "keyword" not in lists or "keyword" in preset.weights:
        return preset
    weights = {"keyword" if name == "vector" else name: weight for name, weight in preset.weights.items()}
    return replace(preset, weights=weights)


def _choose(
    store: Store, request: Request, question: Question, candidates: _Candidates
) -> tuple[tuple[Hit, ...], tuple[Dropped, ...]]:
    """The best `limit` as hits, and why others are none. Only they and what ties with the last of them are loaded."""
    refused = _refused(request, question, candidates)
    scores = {ref: each for ref, each in candidates.scores.items() if ref not in refused}
    best = heapq.nlargest(question.limit, scores.values())
    wanted = [ref for ref, score in scores.items() if score >= best[-1]] if best else []
    loaded = store.load(request, wanted) if wanted else {}
    ties = question.preset.ties
    ranked = sorted(loaded, key=lambda ref: _order(scores[ref], _rank(candidates.shares[ref], ties), loaded[ref]))
    chosen = ranked[: question.limit]
    asked = list(dict.fromkeys(terms(question.text)))
    hits = tuple(
        Hit(score=scores[ref], memory=loaded[ref], why=_with_terms(candidates.why(ref), loaded[ref], asked))
        for ref in chosen
    )
    if not question.explains:
        return hits, ()
    reasons = dict.fromkeys(candidates.scores, "below the limit")
    reasons |= {ref: "gone meanwhile" for ref in wanted if ref not in loaded} | refused
    return hits, _dropped(candidates, {ref: why for ref, why in reasons.items() if ref not in set(chosen)})


def _refused(request: Request, question: Question, candidates: _Candidates) -> dict[Ref, str]:
    """Who is believed too little, or too unlike the question, and how much."""
    refused: dict[Ref, str] = {}
    least = _least(question)
    if least > 0:
        believed = {ref: ranking.believed(traits, request) for ref, traits in candidates.traits.items()}
        refused |= {ref: f"min_confidence {least:g}: {each:.3g}" for ref, each in believed.items() if each < least}
    if question.min_similarity > 0:
        for ref, given in candidates.shares.items():
            similarity = shares.total(share for share in given if share.channel != "age")
            if similarity < question.min_similarity:
                refused.setdefault(ref, f"min_similarity {question.min_similarity:g}: {similarity:.3g}")
    return refused


def _dropped(candidates: _Candidates, reasons: Mapping[Ref, str]) -> tuple[Dropped, ...]:
    """Those with a reason, the best first, at most MOST_DROPPED."""
    best = sorted(reasons, key=lambda ref: (-candidates.scores[ref], _id(candidates, ref) or ""))[:MOST_DROPPED]
    return tuple(
        Dropped(id=_id(candidates, ref), score=candidates.scores[ref], reason=reasons[ref], why=candidates.why(ref))
        for ref in best
    )


def _id(candidates: _Candidates, ref: Ref) -> str | None:
    return candidates.traits[ref].id if ref in candidates.traits else None


def _least(question: Question) -> float:
    """The effective confidence below which nothing is a hit."""
    return question.preset.min_confidence if question.min_confidence is None else question.min_confidence


def _rank(given: Sequence[Share], channel: str | None) -> float:
    """The place in one list; behind all others where it is not there."""
    ranks = [share.rank for share in given if share.channel == channel and share.rank is not None]
    return ranks[0] if ranks else math.inf


def _order(score: float, rank: float, memory: MemoryRecord) -> tuple[float, float, timedelta, str]:
    return -score, rank, _END_OF_TIME - memory.happened_at, memory.id


def _with_terms(why: Explanation, memory: MemoryRecord, asked: list[str]) -> Explanation:
    own = set(own_terms(memory))
    return replace(why, matched_terms=tuple(term for term in asked if term in own))


def _newest(store: Store, request: Request, question: Question) -> tuple[tuple[Hit, ...], tuple[Dropped, ...]]:
    why = Explanation(preset=question.preset.name, contributions=())
    newest = store.recent(request, question.limit)
    own = [each for each in newest if not question.preset.private or is_note(each, request.caller)]
    return tuple(Hit(score=0.0, memory=memory, why=why) for memory in own), ()


def _with_neighbours(store: Store, request: Request, hits: tuple[Hit, ...], reach: int) -> tuple[Hit, ...]:
    """The hits with the turns around them, whoever said those."""
    if reach == 0:
        return hits
    asked = request.filter
    around = replace(request, filter=Filter(as_of=asked.as_of, include_inactive=asked.include_inactive))
    return tuple(
        replace(hit, neighbours=tuple(store.neighbours(around, hit.memory, reach)))
        if isinstance(hit.memory, Episode)
        else hit
        for hit in hits
    )
