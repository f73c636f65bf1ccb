"""Store of LangGraph: its items in an agent's item store, found by words and meaning.

https://github.com/langchain-ai/langgraph, `langgraph.store.base.BaseStore`.
"""

from __future__ import annotations

import asyncio
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any
from uuid import UUID

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    PutOp,
    SearchItem,
    SearchOp,
    validate_op_namespace,
)

from engrain.domain.items import StoredItem, is_prefix, is_suffix
from engrain.integrations.connection import Adapter, AgentConnection, MemoryOrLocation, iterate_pages, write_items

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from langgraph.store.base import Op, Result, TTLConfig


_ROOT = "langgraph"  # of the namespaces, beside others of the agent
_PAGE = 1_000
_MINUTE_S = 60.0
_WHOLE = ("$",)


class EngrainStore(Adapter, BaseStore):
    """Stores the items of a graph: `graph.compile(store=EngrainStore("agent.db"))`.

    A query ranks the items by words and meaning, over `fields` of their values; the embedder is the memory's. Times and
    UUIDs in a value are stored as text.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: MemoryOrLocation,
        *,
        agent: str | None = None,
        user: str | None = None,
        fields: Sequence[str] = _WHOLE,
        ttl: TTLConfig | None = None,
    ) -> None:
        """Use an open memory, or open the one at a location, which `close` closes then."""
        self._connection = AgentConnection(memory, agent=agent, user=user)
        self._store = self._connection.agent.store
        self._fields = tuple(fields)
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute operations: reads see the state before them, writes are one transaction."""
        listed = list(ops)
        for op in listed:
            validate_op_namespace(op)
        results = [None if isinstance(op, PutOp) else self._read(op) for op in listed]
        write_items(self._store, [self._change(op) for op in listed if isinstance(op, PutOp)])
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        match op:
            case GetOp():
                found = self._store.get(op.key, namespace=(_ROOT, *op.namespace), refresh=op.refresh_ttl)
                return None if found is None else Item(**_described(found))
            case SearchOp():
                return [SearchItem(**_described(item), score=item.score) for item in self._search(op)]
            case ListNamespacesOp():
                return self._list_namespaces(op)
            case _:
                raise ValueError(f"unknown operation {type(op).__name__}")

    def _change(self, op: PutOp) -> Any:
        """Convert a write; a value of None deletes."""
        address = {"namespace": (_ROOT, *op.namespace), "key": str(op.key)}
        if op.value is None:
            return address
        fields = () if op.index is False else self._fields if op.index is None else tuple(op.index)
        return {
            **address,
            "value": _encode(op.value),
            "index": list(fields),
            "ttl_s": None if op.ttl is None else op.ttl * _MINUTE_S,
        }

    def _search(self, op: SearchOp) -> list[StoredItem]:
        """Search page by page; what comes before the offset is not refreshed."""
        asked = {
            "query": op.query or None,
            "namespace": (_ROOT, *op.namespace_prefix),
            "fields": _encode(op.filter) or None,
        }
        skipped, after = self._take(op.offset, None, **asked)
        if skipped and after is None:
            return []
        return self._take(op.limit, after, **asked, refresh=op.refresh_ttl)[0]

    def _take(self, count: int, after: str | None, **options: Any) -> tuple[list[StoredItem], str | None]:
        """Take so many items from a cursor on, and return them with the cursor of the next ones."""
        found: list[StoredItem] = []
        while len(found) < count:
            page = self._store.search(**options, limit=min(count - len(found), _PAGE), after=after)
            found += page
            after = page.next
            if after is None:
                break
        return found, after

    def _list_namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        prefixes = [condition.path for condition in conditions if condition.match_type == "prefix"]
        suffixes = [condition.path for condition in conditions if condition.match_type == "suffix"]
        rows = iterate_pages(self._store.namespaces, namespace=(_ROOT, *(prefixes[0] if prefixes else ())))
        matching = (
            labels[: op.max_depth]
            for labels in (row.namespace[1:] for row in rows)
            if all(is_prefix(pattern, labels) for pattern in prefixes)
            and all(is_suffix(pattern, labels) for pattern in suffixes)
        )
        return sorted(set(matching))[op.offset : op.offset + op.limit]


def _encode(value: Any) -> Any:
    """Return a value as JSON has it: times and UUIDs as text, as in LangGraph's own stores."""
    match value:
        case dict():
            return {name: _encode(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_encode(inner) for inner in value]
        case datetime() | date() | time():
            return value.isoformat()
        case UUID():
            return str(value)
        case _:
            return value


def _described(item: StoredItem) -> dict[str, Any]:
    """Return an item as LangGraph describes it."""
    return {
        "namespace": item.namespace[1:],
        "key": item.key,
        "value": item.value,
        "created_at": item.created_at,
        "updated_at": item.updated_at,
    }
