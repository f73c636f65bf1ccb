"""Leftovers of an upgrade: what SQL cannot compute, done once when a database is opened."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from engrain.domain.memories.fact_keys import fact_key
from engrain.storage import selection

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.storage.search.index import SearchIndex
    from engrain.storage.transaction import Transaction

_PAGE = 1_000


def has_leftovers(tx: Transaction) -> bool:
    """Tell whether a fact has no key yet, or the index of a memory is stale."""
    return tx.one("has_leftovers") is not None


def finish_upgrade(tx: Transaction, new_index: Callable[[], SearchIndex]) -> None:
    """Set missing keys of facts, and index stale words."""
    _set_missing_keys(tx)
    _index_stale_words(tx, new_index)


def _set_missing_keys(tx: Transaction) -> None:
    """Set the keys of the facts that were stored before facts had keys, the newest first.

    Nothing is superseded: where two active facts have one slot now, both stay until a third one is stored there.
    """
    while rows := tx.rows("unkeyed_facts", limit=_PAGE):
        for tenant_id, doc, scope, subject, predicate, content in rows:
            key = fact_key(scope=scope, subject=subject, predicate=predicate, content=content)
            tx.run("set_fact_key", tenant_id=tenant_id, doc=doc, **key._asdict())


def _index_stale_words(tx: Transaction, new_index: Callable[[], SearchIndex]) -> None:
    """Index again what the index of today stores in another way, with the turns around it; no more is stale then.

    Reads every memory that was indexed before, a thousand a statement, and writes an entry only where words differ.
    """
    while rows := tx.rows("stale_docs", limit=_PAGE):
        for tenant_id, of_tenant in groupby(rows, itemgetter(0)):
            docs = [doc for _, doc in of_tenant]
            memories = selection.load_docs(tx, docs, [tenant_id])
            index = new_index()
            stale = {doc: memory for doc, memory in memories.items() if index.is_stale(memory)}
            if stale:
                index.index_again(tx, stale)
                index.finish(tx, tenant_id)
            tx.run("set_fresh", tenant_id=tenant_id, docs=tx.dialect.listed(docs))
