"""Links between notes that share words, and the words that distinguish a note, computed when it is saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.filters import Filter
from engrain.domain.memories.notes import note_key
from engrain.domain.records import Fact
from engrain.domain.requests import Request
from engrain.domain.text.analysis import terms
from engrain.domain.text.similarity import jaccard
from engrain.retrieval.channels import MAX_TERMS
from engrain.retrieval.tfidf import IdfCorpus, tokenize
from engrain.storage.search.matching import load_matching

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from engrain.storage.unit_of_work import Snapshot

# Notes that one is compared with: those with most of its words, as Jaccard similarity needs them.
MAX_COMPARED = 50
MAX_RELATED = 10
MIN_SIMILARITY = 0.05
MAX_WEIGHTS = 50
# Enough for the subject of a text, and a bound on the work for one of megabytes.
_MAX_CHARACTERS = 20_000
_WEIGHT_DIGITS = 6


def similar_notes(snapshot: Snapshot, text: str, now: datetime) -> list[Fact]:
    """The agent's notes with most of a text's words, by BM25: at most MAX_COMPARED, best first.

    A unit of work may call it, which does not catch up with the search index: the unit that writes a note indexes it
    too, and memories that still wait for the index (SQLite: single turns, restored rows) are found by their own words.
    """
    caller = snapshot.caller
    wanted = set(list(dict.fromkeys(terms(text)))[:MAX_TERMS])
    own = Filter(kinds=("fact",), scopes=(caller.own_scope,), notes_of=caller.agent, period="current")
    request = Request(caller=caller, filter=own, now=now)
    found = snapshot.search_words(request, wanted, MAX_COMPARED)
    loaded = load_matching(snapshot, request, [candidate.ref for candidate in found])
    facts = [loaded[candidate.ref] for candidate in found if candidate.ref in loaded]
    return [fact for fact in facts if isinstance(fact, Fact)]


def note_text(key: str, content: str) -> str:
    """The text by which a note is compared: its key and its first 20,000 characters."""
    return f"{key} {content[:_MAX_CHARACTERS]}"


def tokenize_notes(notes: Iterable[Fact]) -> dict[str, list[str]]:
    """The words of each note by its id, the newest note first."""
    newest = sorted(notes, key=lambda note: (note.created_at, note.id), reverse=True)
    return {note.id: tokenize(note_text(note_key(note), note.content)) for note in newest}


def rank_related(own: Sequence[str], others: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Jaccard similarity of those above MIN_SIMILARITY, at most MAX_RELATED: best first, of equals the first given."""
    words = set(own)
    scores = {id_: jaccard(words, set(tokens)) for id_, tokens in others.items()}
    best = sorted(scores, key=lambda id_: -scores[id_])[:MAX_RELATED]
    return {id_: scores[id_] for id_ in best if scores[id_] > MIN_SIMILARITY}


def tfidf_weights(own: Sequence[str], others: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """TF-IDF weights of a text's MAX_WEIGHTS heaviest terms (ties: by the alphabet) in a corpus of it and others."""
    weights = IdfCorpus([own, *others.values()]).vector(own)
    heaviest = sorted(weights, key=lambda term: (-weights[term], term))[:MAX_WEIGHTS]
    return {term: round(weights[term], _WEIGHT_DIGITS) for term in heaviest}
