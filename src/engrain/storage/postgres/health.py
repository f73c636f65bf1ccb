"""Health check of a database for `doctor`: rows, indexes and row-level security agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.storage.postgres.schema import OUR_TABLES
from engrain.storage.postgres.vectors import index_name, takes_index
from engrain.storage.reports.strays import find_strays
from engrain.storage.write import embedding_versions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engrain.domain.records import EmbeddingVersion
    from engrain.storage.transaction import Transaction

_MISCOUNTED = {"miscounted": "namespaces have totals that their memories do not add up to"}


def count_memories(tx: Transaction, active: EmbeddingVersion | None, *, thorough: bool) -> tuple[int, int, int]:
    """Count all memories, those that are searched, and those of them that wait for a vector.

    A thorough count reads all rows. Else they are the totals of the namespaces and what partial indexes hold.
    """
    if thorough:
        [(memories,)] = tx.rows("count_memories")
        [(searched, waiting)] = tx.rows("count_entries")
        return memories, searched, waiting
    searched = sum(int(count) for _, count in tx.rows("memories_by_kind"))
    [(out,)] = tx.rows("count_out")
    if active is None:
        return searched + out, searched, searched
    [(waiting,)] = tx.rows("count_unembedded")
    return searched + out, searched, waiting


def find_problems(tx: Transaction, *, thorough: bool) -> Iterator[str]:
    """Yield sentences that say what is wrong and what to do; none for a sound database.

    Only a thorough check compares the rows of the tables, and so reads them all.
    """
    if tx.one("bypasses_walls") == (True,):
        yield (
            "row-level security does not bind this role, which is a superuser or has BYPASSRLS: "
            "connect as a plain role that owns the tables"
        )
    for (table,) in tx.rows("walls_down", tables=list(OUR_TABLES)):
        turn_on = "ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"
        yield f"row-level security of {table} is off: ALTER TABLE {table} {turn_on}"
    unwritable = [table for (table,) in tx.rows("tables_not_writable", tables=list(OUR_TABLES))]
    if unwritable:
        yield (
            f"this role may not write to {', '.join(unwritable[:3])}{', ...' if unwritable[3:] else ''}: "
            "connect as the role that owns the tables, or grant this one INSERT, UPDATE and DELETE on all of them"
        )
    for (name,) in tx.rows("invalid_indexes", tables=list(OUR_TABLES)):
        yield f"the index {name} is invalid: REINDEX INDEX {name}"
    yield from _find_missing_indexes(tx)
    if thorough:
        yield from find_strays(tx, "database", _MISCOUNTED)


def _find_missing_indexes(tx: Transaction) -> Iterator[str]:
    """Versions whose vectors are searched one by one however many they are."""
    for version in embedding_versions.load_versions(tx):
        name = index_name(version.version)
        if version.state != "retired" and takes_index(version) and tx.one("has_index", name=name) is None:
            yield (
                f"the vectors of {version.name} have no index {name}, so that large searches are slow: "
                "open the memory once as the role that owns the tables"
            )
