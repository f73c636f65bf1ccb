"""Memory of CrewAI: its records as items of an agent, found by words and meaning; no model and no embedder is asked.

https://github.com/crewAIInc/crewAI, `crewai.Memory`.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from crewai.events.event_bus import crewai_event_bus
from crewai.events.types.memory_events import (
    MemoryQueryCompletedEvent,
    MemoryQueryFailedEvent,
    MemoryQueryStartedEvent,
    MemorySaveCompletedEvent,
    MemorySaveFailedEvent,
    MemorySaveStartedEvent,
)
from crewai.memory.types import MemoryMatch, MemoryRecord, ScopeInfo, compute_composite_score
from crewai.memory.unified_memory import Memory as CrewMemory
from crewai.memory.utils import join_scope_paths
from pydantic import PrivateAttr

from engrain.domain import checks
from engrain.integrations.connection import AgentConnection, MemoryOrLocation, iterate_pages, write_items

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from engrain.domain.items import ItemNamespace
    from engrain.verbs.exact_words import NewItem

_ROOT = "crewai"  # of the namespaces, beside others of the agent
_SOURCE = {"source_type": "unified_memory"}  # of events, as those of CrewAI's memory
_PAGE = 1_000


class EngrainMemory(CrewMemory):
    """A memory of CrewAI: `Crew(..., memory=EngrainMemory("agent.db"))`.

    A search goes by words and meaning; `recency_weight`, `semantic_weight` and `importance_weight` weigh as in CrewAI.
    The same text in the same scope is one record: remembered again, it keeps its age and what is not given anew. `llm`
    is asked for nothing but the statements of a task's result, and where none is given, the result is stored as it is.
    """

    _connection: AgentConnection = PrivateAttr()

    def __init__(
        self,
        memory: MemoryOrLocation,
        *,
        agent: str | None = None,
        user: str | None = None,
        **options: Any,
    ) -> None:
        """Use an open memory, or open the one at a location, which `close` closes then.

        `options` are those of `crewai.Memory`, such as `root_scope`.
        """
        connection = AgentConnection(memory, agent=agent, user=user)
        super().__init__(storage=_RecordStore(connection), **options)
        self._connection = connection

    def recall(
        self,
        query: str,
        scope: str | None = None,
        categories: list[str] | None = None,
        limit: int = 10,
        *,
        source: str | None = None,
        include_private: bool = False,
        **_: Any,
    ) -> list[MemoryMatch]:
        """Find the records of a scope and of those below that answer a query best, the best first.

        CrewAI's `depth` changes nothing.
        """
        self.drain_writes()
        asked: dict[str, Any] = {"query": query, "limit": limit, **_SOURCE}
        crewai_event_bus.emit(self, MemoryQueryStartedEvent(score_threshold=None, **asked))
        started = time.perf_counter()
        try:

            def is_wanted(record: MemoryRecord) -> bool:
                may_be_seen = include_private or not record.private or (source is not None and record.source == source)
                return may_be_seen and (not categories or bool(set(categories) & set(record.categories)))

            found = self._storage.find(query, join_scope_paths(self.root_scope, scope), is_wanted, least=limit)
            matches = [self._match(record, score) for record, score in found]
        except Exception as error:
            crewai_event_bus.emit(self, MemoryQueryFailedEvent(score_threshold=None, error=str(error), **asked))
            raise
        matches = sorted(matches, key=lambda match: match.score, reverse=True)[:limit]
        took = (time.perf_counter() - started) * 1_000
        completed = MemoryQueryCompletedEvent(results=matches, score_threshold=None, query_time_ms=took, **asked)
        crewai_event_bus.emit(self, completed)
        return matches

    def remember(self, content: str, scope: str | None = None, **options: Any) -> MemoryRecord | None:
        """Store one text, and return its record; None if this memory is read-only."""
        return next(iter(self.remember_many([content], scope, **options)), None)

    def remember_many(
        self,
        contents: list[str],
        scope: str | None = None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        *,
        importance: float | None = None,
        source: str | None = None,
        private: bool = False,
        agent_role: str | None = None,
        root_scope: str | None = None,
    ) -> list[MemoryRecord]:
        """Store texts in one transaction, and return their records; nothing if this memory is read-only."""
        if self.read_only or not contents:
            return []
        told: dict[str, Any] = {"value": "\n".join(contents), "metadata": metadata or {}, **_SOURCE}
        crewai_event_bus.emit(self, MemorySaveStartedEvent(**told))
        started = time.perf_counter()
        given = {"categories": categories, "metadata": metadata, "importance": importance}
        about = {name: value for name, value in given.items() if value is not None}
        path = join_scope_paths(self.root_scope if root_scope is None else root_scope, scope)
        try:
            with self._storage.lock:
                records = {
                    content: self._make_record(content, path, about, source=source, private=private)
                    for content in contents
                }
                self._storage.save(list(records.values()))
        except Exception as error:
            crewai_event_bus.emit(self, MemorySaveFailedEvent(error=str(error), **told))
            raise
        took = (time.perf_counter() - started) * 1_000
        crewai_event_bus.emit(self, MemorySaveCompletedEvent(agent_role=agent_role, save_time_ms=took, **told))
        return [records[content] for content in contents]

    def extract_memories(self, content: str) -> list[str]:
        """Return the statements that `llm` finds in a text; without one that was given, the text."""
        if "llm" in self.model_fields_set:
            return list(super().extract_memories(content))
        return [content] if content.strip() else []

    def close(self) -> None:
        """Close the memory, if this opened it."""
        super().close()
        self._connection.close()

    @property
    def _embedder(self) -> Any:
        """Embedder of records: none, as items are indexed when they are put."""
        return lambda _: []

    def _make_record(
        self, content: str, scope: str, about: Mapping[str, Any], *, source: str | None, private: bool
    ) -> MemoryRecord:
        """Return the record of a text with what is given about it: the one that is there, or a new one."""
        found = self._storage.find_equal(content, scope, source=source, private=private)
        if found is not None:
            return found.model_copy(update=about)
        told = {"importance": self.default_importance, **about}
        return MemoryRecord(content=content, scope=scope, source=source, private=private, **told)

    def _match(self, record: MemoryRecord, score: float) -> MemoryMatch:
        weighted, reasons = compute_composite_score(record, score, self._config)
        return MemoryMatch(record=record, score=weighted, match_reasons=reasons)


class _RecordStore:
    """Records of CrewAI as items: a scope is a namespace, an id a key; the `StorageBackend` of `EngrainMemory`."""

    def __init__(self, connection: AgentConnection) -> None:
        self._items = connection.agent.store
        self.lock = threading.Lock()  # so that the same text, stored by two threads at once, is one record

    def __deepcopy__(self, _: object) -> _RecordStore:
        """Return the same store: copies of a crew share its memory."""
        return self

    def find(
        self, query: str, scope: str, is_wanted: Callable[[MemoryRecord], bool], *, least: int
    ) -> list[tuple[MemoryRecord, float]]:
        """Return records of a scope and of those below with how well they answer a query, the best first.

        They are the wanted ones of the best 1,000, and of as many more as it takes to have `least`.
        """
        wanted: list[tuple[MemoryRecord, float]] = []
        after = None
        while checks.clean(query):
            page = self._items.search(query, namespace=_namespace(scope), limit=_PAGE, after=after)
            records = [(MemoryRecord.model_validate(item.value), item.score or 0.0) for item in page]
            wanted += [(record, score) for record, score in records if is_wanted(record)]
            after = page.next
            if after is None or len(wanted) >= least:
                break
        return wanted

    def find_equal(self, content: str, scope: str, *, source: str | None, private: bool) -> MemoryRecord | None:
        """Return the record of a scope, without those below, that has a text and is as private; None without one."""
        same = {"content": content, "source": source, "private": private}
        found = self._records(scope, same)
        return next((record for record in found if _namespace(record.scope) == _namespace(scope)), None)

    def save(self, records: Sequence[MemoryRecord]) -> None:
        write_items(self._items, [_put(record) for record in records])

    def update(self, record: MemoryRecord) -> None:
        earlier = self.get_record(record.id)
        moved = [_address(earlier)] if earlier is not None and earlier.scope != record.scope else []
        write_items(self._items, [*moved, _put(record)])

    def delete(
        self,
        scope_prefix: str | None = None,
        *,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Delete the records of a scope and of those below that match all that is given, and count them."""
        matching = [
            _address(record)
            for record in self._records(scope_prefix)
            if (not categories or set(categories) & set(record.categories))
            and (record_ids is None or record.id in record_ids)
            and (older_than is None or record.created_at < older_than)
            and (metadata_filter or {}).items() <= record.metadata.items()
        ]
        write_items(self._items, matching)
        return len(matching)

    def reset(self, scope_prefix: str | None = None) -> None:
        self.delete(scope_prefix)

    def get_record(self, record_id: str) -> MemoryRecord | None:
        return next((record for record in self._records(None, {"id": record_id})), None)

    def list_records(self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0) -> list[MemoryRecord]:
        """List the records of a scope and of those below, the newest first."""
        found = sorted(self._records(scope_prefix), key=lambda record: record.created_at, reverse=True)
        return found[offset : offset + limit]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        records = list(self._records(scope))
        times = [record.created_at for record in records]
        return ScopeInfo(
            path=scope,
            record_count=len(records),
            categories=sorted({category for record in records for category in record.categories}),
            oldest_record=min(times, default=None),
            newest_record=max(times, default=None),
            child_scopes=self.list_scopes(scope),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        above = _namespace(parent)
        paths = {"/".join(("", *row.namespace[1:])) for row in self._namespaces(above) if row.namespace != above}
        return sorted(paths)

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        return Counter(category for record in self._records(scope_prefix) for category in record.categories)

    def count(self, scope_prefix: str | None = None) -> int:
        return sum(row.items for row in self._namespaces(_namespace(scope_prefix)))

    def _records(self, scope: str | None, fields: Mapping[str, Any] | None = None) -> Iterator[MemoryRecord]:
        for item in iterate_pages(self._items.search, namespace=_namespace(scope), fields=fields):
            yield MemoryRecord.model_validate(item.value)

    def _namespaces(self, above: tuple[str, ...]) -> Iterator[ItemNamespace]:
        """List a namespace and those right below it, with the items that are in them and below."""
        return iterate_pages(self._items.namespaces, namespace=above, depth=len(above) + 1)


def _namespace(scope: str | None) -> tuple[str, ...]:
    return (_ROOT, *filter(None, (scope or "").split("/")))


def _address(record: MemoryRecord) -> NewItem:
    return {"namespace": _namespace(record.scope), "key": record.id}


def _put(record: MemoryRecord) -> NewItem:
    return {**_address(record), "value": record.model_dump(mode="json"), "index": ["content"]}
