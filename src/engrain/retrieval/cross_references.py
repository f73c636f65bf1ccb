"""Which notes share words: the neighbours that a note is compared with when it is saved, and what sets it apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.filters import Filter
from engrain.domain.memories.notes import is_note
from engrain.domain.records import Fact
from engrain.domain.requests import Request
from engrain.domain.text.analysis import terms
from engrain.domain.text.likeness import jaccard
from engrain.retrieval.channels import MOST_TERMS
from engrain.retrieval.tfidf import IdfCorpus, tokenize

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from engrain.domain.ports import Store
    from engrain.domain.records import Caller

# A note is compared with so many others, whatever there is: those with most of its words, which is what Jaccard asks.
MOST_COMPARED = 50
MOST_RELATED = 10
LEAST_SIMILAR = 0.05
VOCABULARY = 50
# Enough to know what a text is about, and a bound on the work for one of megabytes.
_MOST_CHARACTERS = 20_000
_WEIGHT_DIGITS = 6


def compared_with(store: Store, caller: Caller, text: str, now: datetime) -> list[Fact]:
    """The agent's notes with most of a text's words, by BM25: at most MOST_COMPARED, best first."""
    asked = set(list(dict.fromkeys(terms(text)))[:MOST_TERMS])
    request = Request(caller=caller, filter=Filter(kinds=("fact",), scopes=(caller.agent,)), now=now)
    found = store.keyword(request, asked, MOST_COMPARED)
    loaded = store.load(request, [each.ref for each in found])
    facts = [loaded[each.ref] for each in found if each.ref in loaded]
    return [fact for fact in facts if isinstance(fact, Fact) and is_note(fact, caller)]


def note_text(key: str, content: str) -> str:
    """What a note is compared by: its key and its first 20,000 characters."""
    return f"{key} {content[:_MOST_CHARACTERS]}"


def tokens_of(notes: Iterable[Fact]) -> dict[str, list[str]]:
    """The words of each note by its id, the newest note first."""
    newest = sorted(notes, key=lambda note: (note.created_at, note.id), reverse=True)
    return {note.id: tokenize(note_text(note.predicate, note.content)) for note in newest}


def related(own: Sequence[str], others: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Jaccard similarity of those above LEAST_SIMILAR, at most MOST_RELATED: best first, of equals the first given."""
    words = set(own)
    scores = {id_: jaccard(words, set(tokens)) for id_, tokens in others.items()}
    best = sorted(scores, key=lambda id_: -scores[id_])[:MOST_RELATED]
    return {id_: scores[id_] for id_ in best if scores[id_] > LEAST_SIMILAR}


def vocabulary(own: Sequence[str], others: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """TF-IDF weights of a text's VOCABULARY heaviest terms (ties: by the alphabet) in a corpus of it and others."""
    weights = IdfCorpus([own, *others.values()]).vector(own)
    heaviest = sorted(weights, key=lambda term: (-weights[term], term))[:VOCABULARY]
    return {term: round(weights[term], _WEIGHT_DIGITS) for term in heaviest}
