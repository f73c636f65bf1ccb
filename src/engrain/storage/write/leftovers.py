"""Leftovers of an upgrade: what SQL cannot compute, done once when a database is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.storage.write.fact_keys import set_all_missing_keys
from engrain.storage.write.stale_words import index_stale_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.storage.search.index import SearchIndex
    from engrain.storage.transaction import Transaction


def has_leftovers(tx: Transaction) -> bool:
    """Tell whether a fact has no key yet, or the index of a memory is stale."""
    return tx.one("has_leftovers") is not None


def finish_upgrade(tx: Transaction, new_index: Callable[[], SearchIndex]) -> None:
    """Set missing keys of facts, and index stale words."""
    set_all_missing_keys(tx)
    index_stale_words(tx, new_index)
