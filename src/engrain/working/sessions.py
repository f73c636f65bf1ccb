"""Working memory: the current conversation of each agent, in this process, until it becomes episodes."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from cachetools import TTLCache

from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from engrain.domain.maintenance.backups import Extent
    from engrain.domain.memories.routing import WorkingStats
    from engrain.domain.records import Caller, Episode

_Key: TypeAlias = tuple[str, str, str | None]
"""Tenant, agent, session."""

# CPython needs about this for a message besides its text.
_BYTES_OF_A_MESSAGE = 1_000


@dataclass(slots=True)
class WorkingSession:
    """Messages, tool results and scratchpad of one agent in one session; messages carry their ids as episodes."""

    caller: Caller
    messages: list[Episode] = field(default_factory=list)
    tool_results: dict[str, Any] = field(default_factory=dict)
    result_sizes: dict[str, int] = field(default_factory=dict)
    scratchpad: str = ""

    @property
    def tokens(self) -> int:
        return _count_tokens(self.messages)

    @property
    def estimated_bytes(self) -> int:
        texts = sum(len(message.content) + _BYTES_OF_A_MESSAGE for message in self.messages)
        return texts + len(self.scratchpad) + sum(self.result_sizes.values()) + _BYTES_OF_A_MESSAGE

    def stats(self) -> WorkingStats:
        from engrain.domain.memories.routing import WorkingStats

        return WorkingStats(
            messages=len(self.messages),
            tokens=self.tokens,
            tool_results=len(self.tool_results),
            scratchpad_characters=len(self.scratchpad),
            estimated_bytes=self.estimated_bytes,
        )


class _SessionCache(TTLCache[_Key, WorkingSession]):
    """A cache that remembers the sessions that made room: first those of a tenant that has more than its share."""

    def __init__(
        self, most: int, most_bytes: int, ttl_s: float, clock: Callable[[], float], *, tenant_share: float
    ) -> None:
        super().__init__(most_bytes, ttl_s, timer=clock, getsizeof=lambda session: session.estimated_bytes)
        self.evicted: list[WorkingSession] = []
        self._limits = (most * tenant_share, most_bytes * tenant_share)

    def put(self, key: _Key, session: WorkingSession) -> None:
        """Store a session that is not here; who brings it makes room first where its tenant has more than its share."""
        while self.currsize + session.estimated_bytes > self.maxsize:
            self._make_room(session)
        self[key] = session

    def expire(self, time: float | None = None) -> list[tuple[_Key, WorkingSession]]:
        """Collect what grew too old; almost every method of the cache begins with this."""
        expired = list(super().expire(time))
        self.evicted += [session for _, session in expired]
        return expired

    def list_all(self) -> list[WorkingSession]:
        """List all sessions, those that made room or grew too old among them."""
        with self.timer as now:
            self.expire(now)
            return [*self.evicted, *self.values()]

    def popitem(self) -> tuple[_Key, WorkingSession]:
        return self._make_room(None)

    def _make_room(self, coming: WorkingSession | None) -> tuple[_Key, WorkingSession]:
        sessions = [*self.values(), *([] if coming is None else [coming])]
        counts = Counter(session.caller.tenant_id for session in sessions)
        sizes: Counter[str] = Counter()
        for session in sessions:
            sizes[session.caller.tenant_id] += session.estimated_bytes
        greedy = (
            {tenant for tenant in counts if counts[tenant] > self._limits[0] or sizes[tenant] > self._limits[1]}
            if len(counts) > 1
            else set()
        )
        key = next((key for key, session in self.items() if session.caller.tenant_id in greedy), None)
        if key is None:
            key, session = super().popitem()
        else:
            session = self.pop(key)
        self.evicted.append(session)
        return key, session


class WorkingMemory:
    """Working sessions: at most `most`, of `most_bytes` together, the least recently used go first; `ttl_s` unused.

    A session that goes is handed to whoever calls `take_evicted`, so that its messages are stored. Thread-safe.
    """

    def __init__(
        self,
        *,
        most: int = 1_000,
        most_bytes: int = 500_000_000,
        ttl_s: float = 1_800.0,
        tenant_share: float = 0.5,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Hold nothing yet; `clock` gives seconds that never run backwards.

        Where room is short and several tenants are here, one that has more than `tenant_share` of it loses its own.
        """
        self._most = most
        self._most_bytes = most_bytes
        self._lock = threading.RLock()
        self._changing: WorkingSession | None = None  # between two states of the cache
        self._sessions = _SessionCache(most, most_bytes, ttl_s, clock, tenant_share=tenant_share)

    def __len__(self) -> int:
        """The sessions that hold something, those that made room or grew too old among them."""
        with self._lock:
            return len(self._sessions.list_all())

    def change(
        self,
        caller: Caller,
        work: Callable[[WorkingSession], None],
        *,
        count_added: Callable[[WorkingSession], int] | None = None,
    ) -> WorkingStats:
        """Let `work` change a caller's session, which is the most recently used then and begins its time anew.

        `count_added` counts the bytes that no database takes, less those in whose place they come: there must be room.

        Raises:
            InvalidInput: there is none, beside what else the session holds; nothing was changed.
        """
        key = _key(caller)
        with self._lock:
            self._rescue()
            session = self._sessions.get(key) or WorkingSession(caller)
            added = 0 if count_added is None else count_added(session)
            size = session.estimated_bytes + added
            if added > 0 and size > self._most_bytes:
                raise InvalidInput(
                    f"the session would take {size:,} bytes of working memory, which has {self._most_bytes:,} "
                    "(working.most_bytes): store less, or flush its messages first"
                )
            self._changing = session
            self._sessions.pop(key, None)
            work(session)
            if session.estimated_bytes > self._most_bytes:
                self._sessions.evicted.append(session)  # larger than all may be together
            else:
                self._sessions.put(key, session)
            self._changing = None
            while len(self._sessions) > self._most:
                self._sessions.popitem()
            return session.stats()

    def copy(self, caller: Caller) -> WorkingSession:
        """A copy of a caller's session; an empty one where it has none."""
        with self._lock:
            session = self._sessions.get(_key(caller)) or WorkingSession(caller)
            return WorkingSession(
                caller,
                [*session.messages],
                {**session.tool_results},
                {**session.result_sizes},
                session.scratchpad,
            )

    def remove(self, caller: Caller, ids: Collection[str]) -> WorkingStats:
        """Remove messages from a session: they are durable."""
        removed = set(ids)

        def work(session: WorkingSession) -> None:
            session.messages = [message for message in session.messages if message.id not in removed]

        return self.change(caller, work)

    def discard(self, caller: Caller, ids: Collection[str]) -> None:
        """Drop messages from every session of a caller's agent and user: they were erased."""
        with self._lock:
            for session in self._sessions.list_all():
                owner = session.caller
                if (owner.tenant_id, owner.own_scope) == (caller.tenant_id, caller.own_scope):
                    session.messages = [message for message in session.messages if message.id not in ids]

    def holds_extent(self, extent: Extent) -> bool:
        """True if an extent has a session."""
        with self._lock:
            callers = [session.caller for session in self._sessions.list_all()]
        return any(extent.holds(caller.tenant_id, caller.own_scope) for caller in callers)

    def discard_extent(self, extent: Extent) -> None:
        """Drop every session of an extent: it was erased."""
        self._drop(lambda caller: extent.holds(caller.tenant_id, caller.own_scope))

    def clear(self, caller: Caller) -> None:
        """Drop a caller's session with its messages."""
        self._drop(lambda other: _key(other) == _key(caller))

    def _rescue(self) -> None:
        """Hand over the session that Ctrl-C left between two states of the cache, as one that made room."""
        session, self._changing = self._changing, None
        if session is not None and not any(session is known for known in self._sessions.list_all()):
            self._sessions.evicted.append(session)

    def take_evicted(self) -> list[WorkingSession]:
        """The sessions that made room or grew too old since the last call."""
        with self._lock:
            self._rescue()
            self._sessions.expire()
            evicted, self._sessions.evicted = self._sessions.evicted, []
            return evicted

    def take_all(self) -> list[WorkingSession]:
        """Every session; none is here any longer."""
        with self._lock:
            self._rescue()
            sessions = self._sessions.list_all()
            self._sessions.clear()
            self._sessions.evicted = []
            return sessions

    def _drop(self, is_dropped: Callable[[Caller], bool]) -> None:
        """Drop the sessions of some callers, those that made room or grew too old among them."""
        with self._lock, self._sessions.timer:
            for session in self._sessions.list_all():
                if is_dropped(session.caller):
                    self._sessions.pop(_key(session.caller), None)
            self._sessions.evicted = [left for left in self._sessions.evicted if not is_dropped(left.caller)]


def select_oldest(messages: list[Episode], most_tokens: int) -> list[Episode]:
    """The messages to let go of where there are more than `most_tokens`: the oldest, until at most half are left.

    The newest stays, however long it is.
    """
    left = _count_tokens(messages)
    if left <= most_tokens:
        return []
    selected: list[Episode] = []
    for message in messages[:-1]:
        if left <= most_tokens // 2:
            break
        selected.append(message)
        left -= message.tokens or 0
    return selected


def _count_tokens(messages: list[Episode]) -> int:
    return sum(message.tokens or 0 for message in messages)


def _key(caller: Caller) -> _Key:
    return caller.tenant_id, caller.own_scope, caller.session
