"""Baselines of a search: the least that a hand-written store would ask, and our own statements, bare."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest import mock

from engrain.domain.text.analysis import terms
from engrain.domain.text.bm25 import code
from engrain.storage.postgres.pipelines import PipelineTransaction, Statement

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import psycopg
    from numpy.typing import NDArray

_SETTING = "SELECT set_config('engrain.tenant_id', %(tenant)s, true)"
_NEAREST = """
SELECT doc, embedding <=> CAST(%(vector)s AS vector) AS distance FROM memory_vectors
WHERE tenant_id = %(tenant)s AND version = 1 AND NOT gone
ORDER BY distance LIMIT %(depth)s
"""
_MATCHES = """
SELECT doc, ts_rank(words, query) AS rank
FROM memory_words, to_tsquery('simple', %(query)s) AS query
WHERE tenant_id = %(tenant)s AND words @@ query ORDER BY rank DESC LIMIT %(depth)s
"""
_ROWS = "SELECT * FROM episodes WHERE tenant_id = %(tenant)s AND doc = ANY(%(docs)s)"


@contextmanager
def recorded() -> Iterator[list[tuple[Any, Any]]]:
    """Every statement of a transaction of ours meanwhile, with its values, as they are sent in pipelines."""
    seen: list[tuple[Any, Any]] = []
    execute = PipelineTransaction.execute

    def noting(self: PipelineTransaction, text: Any, values: Any = None) -> Statement:
        seen.append((text, values))
        return execute(self, text, values)

    with mock.patch.object(PipelineTransaction, "execute", noting):
        yield seen


def replayed(db: psycopg.Connection[Any], statements: list[tuple[Any, Any]], *, tenant: str) -> None:
    """The statements of one search, one after the other in one transaction, and all of their rows."""
    with db.transaction():
        db.execute(_SETTING, {"tenant": tenant})
        for query, values in statements:
            db.execute(query, values, binary=True).fetchall()


def search(
    db: psycopg.Connection[Any], question: str, vector: NDArray[np.float32], *, tenant: str, namespace: int
) -> list[Any]:
    """Vectors, full text ranked by PostgreSQL itself, and the rows of the ten best of either."""
    words = " | ".join(f"{namespace}{side}{code(term):08x}" for term in set(terms(question)) for side in "on")
    asked: dict[str, Any] = {"tenant": tenant, "vector": vector, "query": words, "depth": 150}
    with db.transaction():
        db.execute(_SETTING, asked)
        near = db.execute(_NEAREST, asked, binary=True).fetchall()
        matched = db.execute(_MATCHES, asked, binary=True).fetchall()
        docs = [doc for doc, _ in (*near[:5], *matched[:5])]
        return db.execute(_ROWS, {"tenant": tenant, "docs": docs}, binary=True).fetchall()
