"""Vectors of a tenant of some thousands among others: a scan, a scan of half-precision vectors, and walks of HNSW.

The shared index holds the vectors of every tenant; the partial one those of the tenant alone, as a partition would.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg import sql

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_DIMS, _TOPICS, _SPREAD = 384, 400, 1.2
_LIMIT, _SPARE, _QUERIES = 150, 50, 40
_SCHEMA = """
CREATE UNLOGGED TABLE compared (tenant integer, doc bigint, whole vector, half halfvec);
CREATE INDEX compared_tenant ON compared (tenant);
SET maintenance_work_mem = '900MB';
SET max_parallel_maintenance_workers = 0;
SET hnsw.ef_search = 350;
SET hnsw.iterative_scan = 'relaxed_order';
"""
_INDEX = b"CREATE INDEX compared_walked ON compared USING hnsw ((whole::halfvec(384)) halfvec_cosine_ops)"
_SCAN = """
SELECT doc FROM compared WHERE tenant = 0
ORDER BY {column} <#> %(vector)s::{type}, doc LIMIT %(limit)s
"""
_WALK = """
SELECT doc FROM (
    SELECT doc, whole FROM compared WHERE tenant = 0
    ORDER BY whole::halfvec(384) <=> %(vector)s::halfvec(384) LIMIT %(count)s
) AS near ORDER BY whole <#> %(vector)s::vector, doc LIMIT %(limit)s
"""


def run(url: str, *, tenants: int, memories: int) -> None:
    """Fill a table, which is dropped in the end, and print each way's time and what it finds of the scan's answer."""
    random = np.random.default_rng(1)
    topics = random.normal(size=(_TOPICS, _DIMS))
    with psycopg.connect(url, autocommit=True) as db:
        register_vector(db)
        db.execute(sql.SQL(_SCHEMA))
        for tenant in range(tenants):
            _fill(db, tenant, _make_vectors(random, topics, memories // tenants))
        queries = _make_vectors(random, topics, _QUERIES)
        db.execute("ANALYZE compared")
        exact = _print(db, "scan", _format(_SCAN, "whole", "vector"), queries)
        _print(db, "scan in half precision", _format(_SCAN, "half", "halfvec"), queries, exact=exact)
        db.execute("SET enable_sort = off")
        for name, own in (("walk of the shared index", ""), ("walk of an own index", " WHERE tenant = 0")):
            db.execute(_INDEX + own.encode())
            _print(db, name, sql.SQL(_WALK), queries, exact=exact)
            db.execute("DROP INDEX compared_walked")
        db.execute("DROP TABLE compared")


def _make_vectors(random: np.random.Generator, topics: NDArray[np.float64], count: int) -> NDArray[np.float32]:
    """Make unit vectors, each near one of some topics."""
    vectors = topics[random.integers(0, len(topics), count)] + random.normal(size=(count, _DIMS)) * _SPREAD
    unit: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _fill(db: psycopg.Connection[Any], tenant: int, vectors: NDArray[np.float32]) -> None:
    with db.cursor().copy("COPY compared FROM STDIN WITH (FORMAT binary)") as copy:
        copy.set_types(["int4", "int8", "vector", "halfvec"])
        for place, vector in enumerate(vectors):
            copy.write_row((tenant, tenant * len(vectors) + place, vector, HalfVector(vector)))


def _format(statement: str, column: str, type_: str) -> sql.Composed:
    return sql.SQL(statement).format(column=sql.Identifier(column), type=sql.Identifier(type_))


def _print(
    db: psycopg.Connection[Any],
    name: str,
    statement: sql.SQL | sql.Composed,
    queries: NDArray[np.float32],
    *,
    exact: Sequence[list[int]] = (),
) -> list[list[int]]:
    """Print the median time of a way and what it finds of the exact answers; returns its answers."""
    took: list[float] = []
    answers: list[list[int]] = []
    for query in queries:
        start = time.perf_counter()
        rows = db.execute(statement, {"vector": query, "limit": _LIMIT, "count": 2 * _LIMIT + _SPARE}).fetchall()
        took.append(time.perf_counter() - start)
        answers.append([doc for (doc,) in rows])
    pairs = list(zip(exact or answers, answers, strict=True))
    found = statistics.mean(len({*best}.intersection(answer)) / len(best) for best, answer in pairs)
    same = statistics.mean(best[:10] == answer[:10] for best, answer in pairs)
    print(f"{name:26} p50 {statistics.median(took) * 1e3:6.1f} ms   found {found:.4f}   first ten the same {same:.3f}")
    return answers
