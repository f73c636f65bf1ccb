"""Keys of facts that were stored before facts had keys: computed once, when a database is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.memories.fact_keys import fact_key

if TYPE_CHECKING:
    from engrain.storage.transaction import Transaction

_PAGE = 1_000


def set_all_missing_keys(tx: Transaction) -> None:
    """Set the keys of the facts that have none, the newest first.

    Nothing is superseded: where two active facts have one slot now, both stay until a third one is stored there.
    """
    while rows := tx.rows("unkeyed_facts", limit=_PAGE):
        for tenant_id, doc, scope, subject, predicate, content in rows:
            key = fact_key(scope=scope, subject=subject, predicate=predicate, content=content)
            tx.run("set_fact_key", tenant_id=tenant_id, doc=doc, **key._asdict())
