"""Outbox: messages that the database could not take, in order, stored with the next call that works."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from engrain import metrics
from engrain.domain.faults import describe_fault
from engrain.domain.memories.hooks import MessageReceipt, fails_open, make_receipt
from engrain.domain.records import Caller, Degraded, Episode
from engrain.log_events import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from engrain.domain.maintenance.backups import Extent
    from engrain.domain.requests import Act

_LOG = get_logger(__name__)

StoreEpisode: TypeAlias = "Callable[[Act, Episode, str], Episode]"
"""Stores an episode under an idempotency key; returns it as stored, now or when it was stored before."""


@dataclass(slots=True, eq=False)
class _Message:
    act: Act
    episode: Episode
    key: str
    outcome: Episode | Exception | None = None
    is_queued: bool = False


class Outbox:
    """A queue of messages for the database, at most `most` and `most_characters` of text. Thread-safe.

    Each keeps its id and its time, so one whose outcome is unknown is not doubled. They are lost with the process.
    """

    def __init__(self, *, most: int = 1_000, most_characters: int = 16_000_000) -> None:
        self._most = most
        self._most_characters = most_characters
        self._waiting: deque[_Message] = deque()
        self._characters = 0
        self._changing = threading.Lock()
        self._draining = threading.Lock()

    def __len__(self) -> int:
        """The number of messages that wait."""
        return len(self._waiting)

    def deliver(self, act: Act, episode: Episode, store: StoreEpisode, *, key: str | None = None) -> MessageReceipt:
        """Store an episode after all that wait, or queue it too; the outcome.

        Raises:
            InvalidInput, IntegrityViolated, MemoryClosed: it can never be stored, and was not queued.
        """
        if not self._waiting:
            try:
                return make_receipt(episode=store(act, episode, key or episode.id), is_stored=True)
            except Exception as error:  # noqa: BLE001  # as in `_try`
                return self._acknowledge(_Message(act, episode, key or episode.id, outcome=error), None)
        own = _Message(act, episode, key or episode.id)
        self._push(own)
        why = self.drain(store)
        if not own.is_queued and not self._waiting:
            _try(own, store)
        return self._acknowledge(own, why)

    def _acknowledge(self, own: _Message, why: Degraded | None) -> MessageReceipt:
        """Return the receipt of a message by its outcome, or raise that; `why` others before it could not be stored."""
        match own.outcome:
            case Exception() as error if not fails_open(error):
                raise error
            case Exception() as error:
                return self._late(own, describe_fault(error))
            case None:
                return self._late(own, why or Degraded(code="messages_waiting", message="others are being stored"))
            case episode:
                return MessageReceipt(episode=episode, is_stored=True)

    def drain(self, store: StoreEpisode) -> Degraded | None:
        """Store what waits, in order, until one cannot be, and say why. What can never be stored is left out."""
        if not self._draining.acquire(blocking=False):
            return None  # another thread is at it
        try:
            while self._waiting:
                first = self._waiting[0]
                _try(first, store)
                if isinstance(first.outcome, Exception) and fails_open(first.outcome):
                    return describe_fault(first.outcome)
                self._pop()
                if isinstance(first.outcome, Exception):
                    metrics.count("messages_refused")
                    _LOG.error("message refused", extra={"error": type(first.outcome).__name__})
                else:
                    metrics.count("messages_stored_late")
            return None
        finally:
            self._draining.release()

    def remove(self, caller: Caller, ids: Collection[str]) -> list[str]:
        """Remove waiting messages of a caller's own scope, once none is being stored; the ids of those here."""
        with self._draining, self._changing:
            mine = (caller.tenant_id, caller.own_scope)
            going = [
                message
                for message in self._waiting
                if message.episode.id in ids and (message.episode.tenant_id, message.episode.scope) == mine
            ]
            for message in going:
                self._waiting.remove(message)
                self._characters -= len(message.episode.content)
        return [message.episode.id for message in going]

    def holds_extent(self, extent: Extent) -> bool:
        """True if a message of an extent waits."""
        with self._changing:
            return any(extent.holds(message.episode.tenant_id, message.episode.scope) for message in self._waiting)

    def remove_extent(self, extent: Extent) -> None:
        """Remove the waiting messages of an extent, once none is being stored: they are erased."""
        with self._draining, self._changing:
            for message in [*self._waiting]:
                if extent.holds(message.episode.tenant_id, message.episode.scope):
                    self._waiting.remove(message)
                    self._characters -= len(message.episode.content)

    def discard(self) -> int:
        """Drop all messages that wait, once none is being stored; the number lost."""
        with self._draining, self._changing:
            lost = len(self)
            self._waiting.clear()
            self._characters = 0
        if lost:
            metrics.count("messages_lost", lost)
            _LOG.error("messages lost", extra={"messages": lost})
        return lost

    def _late(self, own: _Message, why: Degraded) -> MessageReceipt:
        """The outcome for a message that is not stored yet; it waits from now on, if there is room."""
        name = "messages_waiting" if own.is_queued or self._push(own) else "messages_lost"
        metrics.count(name)
        _LOG.warning("message not stored", extra={"counted": name, "reason": why.code})
        fate = "not stored yet, kept in this process" if own.is_queued else "not stored and not kept"
        reason = why.with_prefix(f"{fate}, where {len(self)} messages wait: ")
        return MessageReceipt(episode=own.episode, is_stored=False, degraded=(reason,))

    def _push(self, own: _Message) -> bool:
        with self._changing:
            size = len(own.episode.content)
            own.is_queued = len(self._waiting) < self._most and self._characters + size <= self._most_characters
            if own.is_queued:
                self._characters += size
                self._waiting.append(own)
            return own.is_queued

    def _pop(self) -> None:
        with self._changing:
            self._characters -= len(self._waiting.popleft().episode.content)


def _try(message: _Message, store: StoreEpisode) -> None:
    try:
        message.outcome = store(message.act, message.episode, message.key)
    except Exception as error:  # noqa: BLE001  # a host goes on whatever it is; what is wrong in itself is raised
        message.outcome = error
