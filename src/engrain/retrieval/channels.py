"""What proposes memories for a question: one function for each channel, and their registry.

A new channel is a function and its line in `CHANNELS`; how much it counts, and in which ranking, is data of `presets`.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.domain.entities.names import name_key
from engrain.domain.records import Fact
from engrain.domain.requests import Candidate
from engrain.domain.wording import Wording, worded
from engrain.errors import EngineUnavailable
from engrain.retrieval.tfidf import IdfCorpus, cosine, tokenize

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.ports import Store
    from engrain.domain.records import MemoryRecord
    from engrain.domain.requests import Ref, Request

# SQLite's parser takes time with the square of the words it is asked for: 1 ms for a thousand, two minutes for the
# 160,000 of a pasted megabyte.
MOST_TERMS = 1_000
# Names are short; a pasted page names nobody that its first words do not.
_LONGEST_NAME = 4
_MOST_NAMED_WORDS = 200
_AROUND_WORDS = string.punctuation + "\u2018\u2019\u201c\u201d\u00ab\u00bb\u2026"
_POSSESSIVES = ("'s", "\u2019s", "'", "\u2019")


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One question to a store, as every channel sees it.

    `vector` waits for the question's vector, or gives a sentence that says why there is none. `proposed` holds the
    lists of the channels that were asked before, in the order of `CHANNELS`; `completes`: whether lists are fused by
    value, so that what others proposed needs this channel's number too.
    """

    store: Store
    request: Request
    text: str
    terms: tuple[str, ...]  # distinct, at most MOST_TERMS
    depth: int
    vector: Callable[[], NDArray[np.float32] | Wording]
    proposed: Mapping[str, Sequence[Candidate]]
    completes: bool

    @property
    def refs(self) -> list[Ref]:
        """What was proposed so far, each once."""
        return list(dict.fromkeys(each.ref for found in self.proposed.values() for each in found))


def keyword(search: Search) -> Sequence[Candidate]:
    """Memories that hold words of the question, by BM25."""
    return search.store.keyword(search.request, set(search.terms), search.depth)


def entity(search: Search) -> Sequence[Candidate]:
    """Memories that mention whom the question names, by how many of them."""
    names = names_in(search.text)
    return search.store.mentioning(search.request, names, search.depth) if names else []


def newest(search: Search) -> Sequence[Candidate]:
    """The newest memories, whatever is asked."""
    return search.store.newest(search.request, search.depth)


def important(search: Search) -> Sequence[Candidate]:
    """The most important memories, whatever is asked."""
    return search.store.important(search.request, search.depth)


def vector(search: Search) -> Sequence[Candidate] | Wording:
    """Memories nearest to the question by cosine."""
    if not search.text:
        return []
    made = search.vector()
    if isinstance(made, Wording):
        return made
    also = search.refs if search.completes else []
    try:
        return search.store.nearest(search.request, made, search.depth, also=also)
    except EngineUnavailable as error:  # another process has re-embedded them meanwhile
        metrics.count("searches_without_vectors")
        return worded(error, "the embedder").after("keywords alone: ")


def tfidf(search: Search) -> Sequence[Candidate]:
    """What was proposed so far, by TF-IDF cosine to the question; nothing where no word of it sets any apart.

    The corpus is what was proposed: no other memory is read, and words that all of them hold count nothing.
    """
    memories = search.store.load(search.request, search.refs)
    tokens = {ref: tokenize(_said(memory)) for ref, memory in memories.items()}
    corpus = IdfCorpus(tokens.values())
    asked = corpus.vector(tokenize(search.text))
    if not any(asked.values()):
        return []
    cosines = {ref: cosine(asked, corpus.vector(tokens[ref])) for ref in search.refs if ref in tokens}
    return [Candidate(ref, raw) for ref, raw in sorted(cosines.items(), key=lambda item: -item[1])]


# Each gives its candidates best first, each once, or a sentence that says why it cannot. In the order they are asked:
# the store answers while the question's vector is being made, and what judges others' proposals comes after them.
CHANNELS: Mapping[str, Callable[[Search], Sequence[Candidate] | Wording]] = {
    "keyword": keyword,
    "entity": entity,
    "newest": newest,
    "important": important,
    "vector": vector,
    "tfidf": tfidf,
}
# These look at what others propose, and propose nothing themselves.
ONLY_JUDGE = frozenset({"tfidf"})
# What these propose has nothing to do with the question.
WITHOUT_QUESTION = frozenset({"newest", "important"})


def names_in(text: str) -> Collection[str]:
    """Every run of one to four words of the question, as names are compared."""
    written = [word.strip(_AROUND_WORDS) for word in text.split()[:_MOST_NAMED_WORDS]]
    found: set[str] = set()
    for first in range(len(written)):
        for last in range(first + 1, min(first + _LONGEST_NAME, len(written)) + 1):
            run = " ".join(written[first:last])
            owner = next((run.removesuffix(each) for each in _POSSESSIVES if run.endswith(each)), run)
            found |= {name_key(run), name_key(owner)}
    return found - {""}


def _said(memory: MemoryRecord) -> str:
    """What a memory says; of a fact, what it is about too, which for a note is its key."""
    return f"{memory.predicate} {memory.content}" if isinstance(memory, Fact) else memory.content
