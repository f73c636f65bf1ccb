"""Misspelt words of a query: no candidate has them, but a statement has a word that differs by one letter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.domain.text.indexing import own_terms
from engrain.retrieval import repeats
from engrain.storage.search import matching

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from engrain.domain.requests import Request
    from engrain.retrieval.search_query import SearchQuery
    from engrain.storage.search.candidates import RankedDocs
    from engrain.storage.unit_of_work import Snapshot

_LEAST_LETTERS = 5  # of a word that may be misspelt
_MOST_READ, _MOST_WITH_WORD = 30, 5  # candidates


def correct_query(
    snapshot: Snapshot,
    request: Request,
    query: SearchQuery,
    *,
    lists: Mapping[str, RankedDocs],
    traits: NDArray[Any] | None,
) -> str:
    """Correct the misspelt words of a query by those of the candidates' statements that are nearest in meaning.

    Words of a long text, or of a fact, are looked up before another takes their place.
    """
    nearest = lists.get("vector")
    if nearest is None or traits is None or not (long := [term for term in query.terms if len(term) >= _LEAST_LETTERS]):
        return query.text
    statements = dict(zip(traits["doc"].tolist(), traits["statement"].tolist(), strict=True))
    said = "\n".join(filter(None, statements.values())).lower()
    unknown = [term for term in long if term not in said and term.isalpha()]
    if not unknown:
        return query.text
    from engrain.domain.text.spelling import correct_spelling

    read = list(filter(None, map(statements.get, nearest.docs[:_MOST_READ].tolist())))
    if correct_spelling(query.text, unknown, read) == query.text:
        return query.text
    unknown = [term for term in unknown if not _is_told(snapshot, request, query, term)]
    return correct_spelling(query.text, unknown, read)


def _is_told(snapshot: Snapshot, request: Request, query: SearchQuery, term: str) -> bool:
    """True if what has a term, beside its neighbours, is more than a question."""
    docs = snapshot.search_words(request, {term}, _MOST_WITH_WORD).docs.tolist()
    memories = matching.load_matching(snapshot, request, docs).values()
    return any(term in own_terms(memory) and repeats.is_statement(memory, query.text) for memory in memories)
