"""Rows of another database as SQLite takes them in: the searches catch up with what came, forget what was forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.domain.records import Episode
from engrain.storage import archive, lookups, versions
from engrain.storage.sqlite import index

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engrain.storage.transaction import Transaction


def restore(tx: Transaction, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as they are; those whose key is there already are left, but for vectors, which give way."""
    given = list(rows)
    if not given:
        return
    match table:
        case archive.DEPARTURES:
            _depart(tx, [row["doc"] for row in given])
        case archive.VECTORS:
            _attach(tx, given)
        case _:
            archive.restore(tx, table, given)
    if table in archive.MEMORIES:
        tx.run("unsettle", doc=min(row["doc"] for row in given) - 1)


def _depart(tx: Transaction, docs: Iterable[int]) -> None:
    """Take episodes out of the searches that were forgotten where they come from."""
    leaving = index.SqliteIndex()
    for doc, memory in sorted(lookups.of_docs(tx, docs).items()):
        assert isinstance(memory, Episode)
        leaving.leave(tx, memory.tenant_id, [doc], turns=[memory], at=memory.expires_at or memory.created_at)


def _attach(tx: Transaction, rows: list[Mapping[str, Any]]) -> None:
    """Give memories their vectors, those that left the searches too: a question about the past may want them."""
    first = index.take_numbers(tx, "change", len(rows))
    tx.run_each(
        "restore_vector",
        [
            {
                "version": row["version"],
                "doc": row["doc"],
                "change": first + place,
                "embedding": archive.vector(row).tobytes(),
            }
            for place, row in enumerate(rows)
        ],
    )
    active = versions.active(tx)
    if active is not None:
        tx.run_each("is_embedded", [{"doc": row["doc"]} for row in rows if row["version"] == active.version])
