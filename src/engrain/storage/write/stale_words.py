"""Stale words: the index of memories whose words an older version stored in another way, made anew once."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from engrain.storage import selection

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.storage.search.index import SearchIndex
    from engrain.storage.transaction import Transaction

_PAGE = 1_000


def index_stale_words(tx: Transaction, new_index: Callable[[], SearchIndex]) -> None:
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
