"""Strays of a database: index entries and names that do not agree with its memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.storage.entities import registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from engrain.storage.transaction import Transaction

_STRAYS = {
    "missing_words": "memories are missing from the keyword index",
    "stray_words": "memories that are gone are still in the keyword index",
    "missing_entries": "memories have no place in the searches",
    "unvectored": "memories have lost their vector",
    "stray_entries": "places in the searches belong to no memory",
}


def find_strays(tx: Transaction, database: str, more: Mapping[str, str]) -> Iterator[str]:
    """Yield sentences that say what disagrees in a file or database, by the shared statements and `more`."""
    advice = f"the {database} was changed by something other than engrain; import it anew"
    for statement, sentence in {**_STRAYS, **more}.items():
        [(count,)] = tx.rows(statement)
        if count:
            yield f"{count} {sentence}: {advice}"
    count = registry.count_strays(tx)
    if count:
        yield f"{count} names of entities are missing or nobody's: {advice}"
