"""Note cache: notes that were recalled lately, by agent and key, and the latest reflection of each agent."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from engrain.cache import LruCache
from engrain.domain.access.scopes import audience_of
from engrain.domain.records import REFLECTION, Caller, Fact, MemoryRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.domain.memories.notes import Note, NoteCacheStats

# Hits and misses are counted for so many agents; of more, the least recently active begin anew.
_MOST_COUNTED = 10_000


@dataclass(slots=True)
class _Counts:
    hits: int = 0
    misses: int = 0


class NoteCache:
    """Cache of up to `max_entries` notes of all agents, each for `ttl_s` at most; 0 for none. Thread-safe.

    What this process writes is dropped here when it is written. What another one superseded, forgot or erased is not
    served either: before each answer the database is asked whether the fact is still active, by one statement. Names
    are `{scope}:{key}` behind the tenant, the agent's own scope percent-encoded: no agent's or user's name reaches into
    another's keys. An absent note is not cached, but that an agent has no reflection yet is.
    """

    def __init__(
        self,
        max_entries: int,
        *,
        ttl_s: float,
        tenant_share: float = 0.5,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start empty; `clock` gives seconds that never run backwards.

        Where it is full, a tenant that has more than `tenant_share` of it makes room of its own notes.
        """
        self._is_on = max_entries > 0
        self._most_of_tenant = max(int(max_entries * tenant_share), 1)
        self._notes: LruCache[Note] = LruCache(max(max_entries, 1), ttl_s=ttl_s, clock=clock)
        self._reflections: LruCache[tuple[Fact | None]] = LruCache(max(max_entries, 1), ttl_s=ttl_s, clock=clock)
        self._counts: LruCache[_Counts] = LruCache(_MOST_COUNTED, ttl_s=math.inf, clock=clock)
        self._lock = threading.Lock()
        self._changes = 0

    def read(
        self, caller: Caller, key: str, load: Callable[[], Note | None], is_active: Callable[[str], bool]
    ) -> Note | None:
        """Return the cached note if `is_active` says so of its id, else the result of `load`.

        That is cached unless something was written meanwhile.
        """
        name = _agent_prefix(caller) + key
        cached = self._notes.get(name)
        if cached is not None and not is_active(cached.id):
            self._notes.delete(name)
            cached = None
        with self._lock:
            before = self._changes
            self._count(caller, is_hit=cached is not None)
        if cached is not None:
            return cached
        note = load()
        with self._lock:
            if note is not None and self._is_on and self._changes == before:
                prefix = _tenant_prefix(caller.tenant_id)
                self._notes.set(name, note, prefix=prefix, most=self._most_of_tenant)
        return note

    def latest_reflection(
        self, caller: Caller, load: Callable[[], Fact | None], is_active: Callable[[str], bool]
    ) -> Fact | None:
        """Return the cached reflection or its absence, else the result of `load`, checked and cached as `read` does."""
        name = _agent_prefix(caller)
        cached = self._reflections.get(name)
        if cached is not None and (cached[0] is None or is_active(cached[0].id)):
            return cached[0]
        with self._lock:
            before = self._changes
        latest = load()
        with self._lock:
            if self._is_on and self._changes == before:
                prefix = _tenant_prefix(caller.tenant_id)
                self._reflections.set(name, (latest,), prefix=prefix, most=self._most_of_tenant)
        return latest

    def drop(self, memory: MemoryRecord) -> None:
        """Drop this note, or after a reflection all of its tenant; another memory changes nothing."""
        if not isinstance(memory, Fact):
            return
        if memory.category == REFLECTION:
            self._drop_reflections(memory.tenant_id)
        if memory.subject == audience_of(memory.scope):
            own = f"{_tenant_prefix(memory.tenant_id)}{quote(memory.scope, safe='')}:{memory.predicate}"
            with self._lock:
                self._changes += 1
                self._notes.delete(own)

    def drop_agent(self, caller: Caller) -> int:
        """Drop the notes of one agent, and the reflections of its tenant; return the number of notes."""
        self._drop_reflections(caller.tenant_id)
        with self._lock:
            self._changes += 1
            return self._notes.invalidate_prefix(_agent_prefix(caller))

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            self._changes += 1
            self._notes.clear()
            self._reflections.clear()

    def stats(self, caller: Caller) -> NoteCacheStats:
        """Return the size, hits and misses of one agent's notes: others' are not its business."""
        from engrain.domain.memories.notes import NoteCacheStats

        with self._lock:
            counted = self._counts.get(_agent_prefix(caller)) or _Counts()
            size = self._notes.count_prefix(_agent_prefix(caller))
            return NoteCacheStats(size=size, hits=counted.hits, misses=counted.misses)

    def _drop_reflections(self, tenant_id: str) -> None:
        """Drop all reflections of a tenant: one may be everybody's."""
        with self._lock:
            self._changes += 1
            self._reflections.invalidate_prefix(_tenant_prefix(tenant_id))

    def _count(self, caller: Caller, *, is_hit: bool) -> None:
        name = _agent_prefix(caller)
        counted = self._counts.get(name) or _Counts()
        counted.hits += is_hit
        counted.misses += not is_hit
        self._counts.set(name, counted)


def _agent_prefix(caller: Caller) -> str:
    return f"{_tenant_prefix(caller.tenant_id)}{quote(caller.own_scope, safe='')}:"


def _tenant_prefix(tenant_id: str) -> str:
    return f"{quote(tenant_id, safe='')}/"
