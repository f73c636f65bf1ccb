"""Stale words: the index of memories that were stored before words had the stems of their language, made anew once."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from engrain.domain.text.indexing import has_foreign_words
from engrain.storage import selection

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.storage.search.index import SearchIndex
    from engrain.storage.transaction import Transaction

_PAGE = 1_000


def index_stale_words(tx: Transaction, new_index: Callable[[], SearchIndex]) -> None:
    """Index again what has words of other languages than English, with the turns around it; no more is stale then.

    Reads every memory that was indexed before, a thousand a statement, and writes an entry only where words differ.
    """
    while rows := tx.rows("stale_docs", limit=_PAGE):
        for tenant_id, of_tenant in groupby(rows, itemgetter(0)):
            docs = [doc for _, doc in of_tenant]
            memories = selection.load_docs(tx, docs, [tenant_id])
            foreign = {doc: memory for doc, memory in memories.items() if has_foreign_words(memory)}
            if foreign:
                index = new_index()
                index.index_again(tx, foreign)
                index.finish(tx, tenant_id)
            tx.run("set_fresh", tenant_id=tenant_id, docs=tx.dialect.listed(docs))
