"""Channels of a search, which return candidates for a query: one function each, and their registry.

A new channel is a function and its line in `CHANNELS`; how much it counts, and in which ranking, is data of `presets`.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.domain.records import Degraded, Fact, MemoryRecord
from engrain.domain.text.names import name_key
from engrain.errors import EngineUnavailable
from engrain.retrieval.embeddings.checked_embedder import mismatch
from engrain.storage.search import entity_mentions, recency
from engrain.storage.search.candidates import NONE, RankedDocs, join_docs, list_candidates
from engrain.storage.search.matching import filter_docs, load_matching

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.requests import Candidate, Request
    from engrain.storage.unit_of_work import Snapshot

# SQLite's parser takes time with the square of the number of words: 1 ms for a thousand, two minutes for the
# 160,000 of a pasted megabyte.
MAX_TERMS = 1_000
# Names are short; a long text has its names in its first words.
_LONGEST_NAME = 4
_MAX_NAMED_WORDS = 200
NOT_READ = Degraded(
    code="query_not_read",
    message="keywords alone: the embedder knows too few of the query's words",
    detail="choose one that was trained on the query's language, and make new vectors: engrain reembed --embedder NAME",
)
_AROUND_WORDS = string.punctuation + "\u2018\u2019\u201c\u201d\u00ab\u00bb\u2026"
_POSSESSIVES = ("'s", "\u2019s", "'", "\u2019")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelInput:
    """Input of every channel of one search.

    `vector` waits for the query's vector, or gives a sentence that says why there is none. `lists` holds the
    candidates of earlier channels, in the order of `CHANNELS`; `completes`: true if lists are fused by value, so that
    the candidates of earlier channels need this channel's number too.
    """

    snapshot: Snapshot
    request: Request
    text: str
    terms: tuple[str, ...]  # distinct, at most MAX_TERMS
    depth: int
    vector: Callable[[], NDArray[np.float32] | Degraded]
    lists: Mapping[str, RankedDocs]
    completes: bool


def keyword(search: ChannelInput) -> RankedDocs:
    """Memories with words of the query, by BM25."""
    return search.snapshot.search_words(search.request, set(search.terms), search.depth)


def entity(search: ChannelInput) -> RankedDocs:
    """Memories that mention entities of the query, by their number."""
    names = candidate_names(search.text)
    if not names:
        return NONE
    return _as_columns(entity_mentions.find_mentioning(search.snapshot, search.request, names, search.depth))


def newest(search: ChannelInput) -> RankedDocs:
    """The newest memories, for any query."""
    return _as_columns(recency.find_newest(search.snapshot, search.request, search.depth))


def important(search: ChannelInput) -> RankedDocs:
    """The most important memories, for any query."""
    return _as_columns(recency.find_important(search.snapshot, search.request, search.depth))


def vector(search: ChannelInput) -> RankedDocs | Degraded:
    """Memories nearest to the query by cosine."""
    if not search.text:
        return NONE
    vector = search.vector()
    if isinstance(vector, Degraded):
        return vector
    if not vector.any():
        metrics.count("searches_without_vectors")
        return NOT_READ
    also = join_docs(search.lists.values()) if search.completes else NONE.docs
    try:
        return search.snapshot.search_vectors(search.request, vector, search.depth, also=also)
    except EngineUnavailable as error:  # another process has re-embedded them meanwhile
        metrics.count("searches_without_vectors")
        return mismatch(str(error))


def tfidf(search: ChannelInput) -> RankedDocs:
    """The candidates so far by TF-IDF cosine to the query; none where no word of it distinguishes them.

    The corpus is the candidates: no other memory is read, and words that all of them have count nothing.
    """
    from engrain.retrieval.tfidf import IdfCorpus, cosine, tokenize

    refs = list(dict.fromkeys(doc for ranked in search.lists.values() for doc in ranked.docs.tolist()))
    memories = load_matching(search.snapshot, search.request, refs)
    tokens = {ref: tokenize(_text(memory)) for ref, memory in memories.items()}
    corpus = IdfCorpus(tokens.values())
    query = corpus.vector(tokenize(search.text))
    if not any(query.values()):
        return NONE
    cosines = {ref: cosine(query, corpus.vector(tokens[ref])) for ref in refs if ref in tokens}
    return list_candidates(sorted(cosines.items(), key=lambda item: -item[1]))


def prefer_category(search: ChannelInput, candidates: RankedDocs, category: str) -> RankedDocs:
    """Keep the candidates of a category, unless there are none."""
    docs = filter_docs(search.snapshot, search.request.with_category(category), candidates.docs.tolist())
    return candidates.only(docs) if docs else candidates


# Each returns its candidates best first, each once, or a sentence that says why it cannot. In the order of their use:
# the store answers while the query's vector is being made, and channels that rescore candidates come after the others.
CHANNELS: Mapping[str, Callable[[ChannelInput], RankedDocs | Degraded]] = {
    "keyword": keyword,
    "entity": entity,
    "newest": newest,
    "important": important,
    "vector": vector,
    "tfidf": tfidf,
}
# These score the candidates of other channels, and return none of their own.
RESCORING_CHANNELS = frozenset({"tfidf"})


def candidate_names(text: str) -> Collection[str]:
    """Every run of one to four words of the query, as names are compared."""
    written = [word.strip(_AROUND_WORDS) for word in text.split()[:_MAX_NAMED_WORDS]]
    names: set[str] = set()
    for first in range(len(written)):
        for last in range(first + 1, min(first + _LONGEST_NAME, len(written)) + 1):
            run = " ".join(written[first:last])
            owner = next((run.removesuffix(suffix) for suffix in _POSSESSIVES if run.endswith(suffix)), run)
            names |= {name_key(run), name_key(owner)}
    return names - {""}


def _as_columns(candidates: Sequence[Candidate]) -> RankedDocs:
    return list_candidates((int(candidate.ref), candidate.raw) for candidate in candidates)


def _text(memory: MemoryRecord) -> str:
    """The content of a memory; of a fact with its predicate, which for a note is its key."""
    return f"{memory.predicate} {memory.content}" if isinstance(memory, Fact) else memory.content
