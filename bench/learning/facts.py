"""Facts that were learned: their sources, near-identical ones, and those that say more than their sources."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

from bench.retrieval.corpus import places
from engrain import Episode, Fact
from engrain.domain.text.analysis import terms, words
from engrain.domain.text.names import name_key
from engrain.domain.text.similarity import jaccard

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bench.retrieval.corpus import Conversation, Place
    from bench.retrieval.vector_cache import CachedEmbedder
    from engrain import Agent

# Two facts of one subject are near-identical where they share so many of their words, or a few less and alike vectors.
LEAST_JACCARD, LEAST_COSINE, LEAST_JACCARD_BESIDE = 0.8, 0.93, 0.5
# What stood so many turns before a quote may be meant by it: "Yes, last week" answers a question.
TURNS_BEFORE = 5
_PAGE = 500
_NAMED = re.compile(r"[^\W\d_][\w'\u2019-]*|\d+(?:[.,:]\d+)*")
_SENTENCE_END = re.compile(r"(?<=[^\W\d_]{3}[.!?])\s+")  # "Mr. Sousa" is no end
_DIGITS = re.compile(r"\d+")
_DATE_WORDS = frozenset(
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday spring summer autumn fall winter".split()
)
_COUNTED = {
    word: str(number) for number, word in enumerate("zero one two three four five six seven eight nine ten".split())
}


def list_active_facts(agent: Agent) -> list[Fact]:
    """The facts that an agent believes, oldest first."""
    facts: list[Fact] = []
    page = agent.facts(limit=_PAGE)
    while True:
        facts += page
        if page.next is None:
            return sorted(facts, key=lambda fact: (fact.created_at, fact.id))
        page = agent.facts(limit=_PAGE, after=page.next)


def trace_turns(agent: Agent, facts: Iterable[Fact]) -> dict[str, frozenset[Place]]:
    """The turns that each fact was learned from, by its id: those it is linked `derived_from`."""
    traced: dict[str, frozenset[Place]] = {}
    for fact in facts:
        links = agent.links(fact.id, direction="outgoing", relation="derived_from")
        sources = [agent.get(link.target_id) for link in links]
        traced[fact.id] = frozenset(
            (source.session, source.turn)
            for source in sources
            if isinstance(source, Episode) and source.session is not None
        )
    return traced


def find_near_identical(facts: Sequence[Fact], embedder: CachedEmbedder | None) -> list[tuple[Fact, Fact]]:
    """Pairs of facts of one subject that say nearly the same, the older one first; different numbers part them."""
    found: list[tuple[Fact, Fact]] = []
    for group in _group(facts):
        vectors = _embed(group, embedder)
        sets = [frozenset(terms(fact.content)) for fact in group]
        for one, two in combinations(range(len(group)), 2):
            shared = jaccard(sets[one], sets[two])
            is_alike = vectors is not None and float(vectors[one] @ vectors[two]) >= LEAST_COSINE
            least = LEAST_JACCARD_BESIDE if is_alike else LEAST_JACCARD
            if shared >= least and _numbers(group[one]) == _numbers(group[two]):
                found.append((group[one], group[two]))
    return found


def list_invented(
    facts: Iterable[Fact], traced: Mapping[str, frozenset[Place]], conversation: Conversation
) -> list[tuple[Fact, list[str]]]:
    """Facts that name somebody, something or a number that no turn behind them has, with these words.

    Behind a fact stand its turns, the few before each in its session, and their speakers. Dates are not judged, as they
    are worked out from the time of a turn.
    """
    order = dict(zip(places(conversation.turns), conversation.turns, strict=True))
    invented: list[tuple[Fact, list[str]]] = []
    for fact in facts:
        said: set[str] = set()
        for session, turn in traced.get(fact.id, ()):
            for number in range(max(1, turn - TURNS_BEFORE), turn + 1):
                behind = order.get((session, number))
                if behind is not None:
                    said |= _known_words(f"{behind.speaker or ''} {behind.content}")
        if unknown := [name for name in _names(fact) if not _known_words(name) <= said]:
            invented.append((fact, unknown))
    return invented


def _group(facts: Sequence[Fact]) -> Iterator[list[Fact]]:
    groups: dict[str, list[Fact]] = {}
    for fact in facts:
        groups.setdefault(name_key(fact.subject), []).append(fact)
    yield from groups.values()


def _embed(facts: Sequence[Fact], embedder: CachedEmbedder | None) -> NDArray[np.float32] | None:
    return None if embedder is None else embedder.embed([fact.content for fact in facts], role="document")


def _numbers(fact: Fact) -> frozenset[str]:
    return frozenset(word for word in words(fact.content) if any(map(str.isdigit, word)))


def _known_words(text: str) -> set[str]:
    """Stems and numbers of a text; "two" is 2, and "2nd" has it."""
    return {*terms(text), *_DIGITS.findall(text), *(_COUNTED[word] for word in words(text) if word in _COUNTED)}


def _names(fact: Fact) -> list[str]:
    """Capitalised words past the beginning of a sentence, and numbers, without the parts of dates."""
    named: list[str] = []
    for sentence in _SENTENCE_END.split(fact.content):
        found = _NAMED.findall(sentence)
        is_date = [word.casefold() in _DATE_WORDS for word in found]
        for index, word in enumerate(found):
            near_date = any(is_date[max(0, index - 2) : index + 3]) or re.fullmatch(r"(?:19|20)\d\d", word) is not None
            is_name = index > 0 and word[0].isupper() and not is_date[index] and word != "I"
            if is_name or (word[0].isdigit() and not near_date):
                named.append(word)
    return named
