"""Working memory: the current conversation of each agent, in this process, until it becomes episodes."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from cachetools import TTLCache

from engrain.domain.memories.working import WorkingStats

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from engrain.domain.records import Caller, Episode

Place: TypeAlias = tuple[str, str, str | None]
"""Tenant, agent, session."""

# What CPython needs for a message besides its text, about.
_BYTES_OF_A_MESSAGE = 1_000


@dataclass(slots=True)
class WorkingSession:
    """What one agent works with in one session. Messages carry the id that they will have as episodes."""

    caller: Caller
    messages: list[Episode] = field(default_factory=list)
    tool_results: dict[str, Any] = field(default_factory=dict)
    result_sizes: dict[str, int] = field(default_factory=dict)
    scratchpad: str = ""

    @property
    def tokens(self) -> int:
        return sum(each.tokens or 0 for each in self.messages)

    @property
    def estimated_bytes(self) -> int:
        texts = sum(len(each.content) + _BYTES_OF_A_MESSAGE for each in self.messages)
        return texts + len(self.scratchpad) + sum(self.result_sizes.values()) + _BYTES_OF_A_MESSAGE

    def stats(self) -> WorkingStats:
        return WorkingStats(
            messages=len(self.messages),
            tokens=self.tokens,
            tool_results=len(self.tool_results),
            scratchpad_characters=len(self.scratchpad),
            estimated_bytes=self.estimated_bytes,
        )


class _Desks(TTLCache[Place, WorkingSession]):
    """A cache that remembers what had to make room."""

    def __init__(self, most_bytes: int, ttl_s: float, clock: Callable[[], float]) -> None:
        super().__init__(most_bytes, ttl_s, timer=clock, getsizeof=lambda desk: desk.estimated_bytes)
        self.evicted: list[WorkingSession] = []

    def popitem(self) -> tuple[Place, WorkingSession]:
        place, desk = super().popitem()
        self.evicted.append(desk)
        return place, desk


class WorkingMemory:
    """At most `most` desks of `most_bytes` together, the least recently used go first, and each after `ttl_s` unused.

    A desk that goes is handed to whoever calls `evicted`, so that its messages are kept. Thread-safe.
    """

    def __init__(
        self,
        *,
        most: int = 1_000,
        most_bytes: int = 500_000_000,
        ttl_s: float = 1_800.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Hold nothing yet; `clock` gives seconds that never run backwards."""
        self._most = most
        self._most_bytes = most_bytes
        self._lock = threading.RLock()
        self._desks = _Desks(most_bytes, ttl_s, clock)

    def change(self, caller: Caller, work: Callable[[WorkingSession], None]) -> WorkingStats:
        """Let `work` change a caller's desk, which is the most recently used from then on, and begins its time anew."""
        place = _place(caller)
        with self._lock:
            self._expire()
            desk = self._desks.pop(place, None) or WorkingSession(caller)
            work(desk)
            if desk.estimated_bytes > self._most_bytes:
                self._desks.evicted.append(desk)  # larger than all may be together
                return desk.stats()
            self._desks[place] = desk
            while len(self._desks) > self._most:
                self._desks.popitem()
            return desk.stats()

    def look(self, caller: Caller) -> WorkingSession:
        """A copy of a caller's desk; an empty one where it has none."""
        with self._lock:
            self._expire()
            desk = self._desks.get(_place(caller)) or WorkingSession(caller)
            return WorkingSession(
                caller, [*desk.messages], {**desk.tool_results}, {**desk.result_sizes}, desk.scratchpad
            )

    def remove(self, caller: Caller, ids: Collection[str]) -> WorkingStats:
        """Take messages off a desk: they are durable."""
        gone = set(ids)

        def work(desk: WorkingSession) -> None:
            desk.messages = [each for each in desk.messages if each.id not in gone]

        return self.change(caller, work)

    def clear(self, caller: Caller) -> None:
        """Forget a caller's desk with its messages."""
        with self._lock:
            self._desks.pop(_place(caller), None)

    def evicted(self) -> list[WorkingSession]:
        """The desks that made room or grew too old since this was asked last."""
        with self._lock:
            self._expire()
            evicted, self._desks.evicted = self._desks.evicted, []
            return evicted

    def take_all(self) -> list[WorkingSession]:
        """Every desk, which is held no longer."""
        with self._lock:
            desks = [*self.evicted(), *self._desks.values()]
            self._desks.clear()
            return desks

    def _expire(self) -> None:
        self._desks.evicted += [desk for _, desk in self._desks.expire()]


def select_oldest(messages: list[Episode], most_tokens: int) -> list[Episode]:
    """Which messages to let go of where there are more than `most_tokens`: the oldest, until at most half are left.

    The newest stays, however long it is.
    """
    left = sum(each.tokens or 0 for each in messages)
    if left <= most_tokens:
        return []
    going: list[Episode] = []
    for message in messages[:-1]:
        if left <= most_tokens // 2:
            break
        going.append(message)
        left -= message.tokens or 0
    return going


def _place(caller: Caller) -> Place:
    return caller.tenant_id, caller.agent, caller.session
