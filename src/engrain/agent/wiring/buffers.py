"""Buffers: messages of one Memory that its database does not hold yet, and the newest turns in Redis."""

from __future__ import annotations

import atexit
import threading
from typing import TYPE_CHECKING

from engrain.domain.records import Caller, Episode, MemoryRecord
from engrain.working.outbox import Outbox
from engrain.working.sessions import WorkingMemory, WorkingSession

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from concurrent.futures import Future

    from engrain.config.tree import Redis, Settings
    from engrain.domain.maintenance.backups import Extent
    from engrain.domain.requests import Act
    from engrain.storage.batch_writer import BatchWriter
    from engrain.storage.redis_recent import RedisRecent

    WriteAll = Callable[[Act, Sequence[MemoryRecord]], list[MemoryRecord]]


class Buffers:
    """The outbox, working memory, batch writer and Redis cache of one Memory. Thread-safe; close it when done."""

    def __init__(self, settings: Settings) -> None:
        """Hold nothing yet.

        Raises:
            InvalidInput: the setting `redis.url` is no address, or the package redis is not installed.
        """
        bounds = settings.working
        self.outbox = Outbox(most=bounds.waiting)
        self.working = WorkingMemory(
            most=bounds.sessions,
            most_bytes=bounds.most_bytes,
            ttl_s=bounds.ttl_s,
            tenant_share=bounds.tenant_share,
        )
        self.recent = _open_redis(settings.redis)
        self._batching = settings.batching
        self._writer: BatchWriter | None = None
        self._making = threading.Lock()
        self._storing = threading.Lock()
        self._is_watched = False

    def add_recent(self, memories: Sequence[MemoryRecord]) -> None:
        """Cache the turns among memories that were just stored."""
        if self.recent is not None:
            self.recent.add(memory for memory in memories if isinstance(memory, Episode))

    def store_evicted(self, store: Callable[[WorkingSession], None]) -> None:
        """Store the working sessions that made room or grew too old, unless another thread is at it."""
        if not self._storing.acquire(blocking=False):
            return
        try:
            for session in self.working.take_evicted():
                store(session)
        finally:
            self._storing.release()

    def begin_watch(self) -> bool:
        """True for whoever has to call `store_evicted` again later: working memory has sessions, and no other will."""
        with self._making:
            begins = not self._is_watched and len(self.working) > 0
            self._is_watched = self._is_watched or begins
            return begins

    def end_watch(self) -> None:
        """End a watch of working memory; the next may begin."""
        with self._making:
            self._is_watched = False

    def store_working(self, store: Callable[[WorkingSession], None]) -> None:
        """Store every working session, once none is being stored; none is here any longer."""
        with self._storing:
            for session in self.working.take_all():
                store(session)

    def erase(self, caller: Caller, ids: Collection[str]) -> list[str]:
        """Remove messages of a caller's agent that no database holds yet; what is batched is stored first."""
        self.flush_batches()
        with self._storing:
            self.working.discard(caller, ids)
        return self.outbox.remove(caller, ids)

    def holds_extent(self, extent: Extent) -> bool:
        """True if there is working memory of an extent, or a message that waits; what is batched is stored first."""
        self.flush_batches()
        with self._storing:
            return self.working.holds_extent(extent) or self.outbox.holds_extent(extent)

    def erase_extent(self, extent: Extent) -> None:
        """Drop the working memory and the waiting messages of an extent; what is batched is stored first."""
        self.flush_batches()
        with self._storing:
            self.working.discard_extent(extent)
        self.outbox.remove_extent(extent)

    def drop_recent(self, memories: Sequence[MemoryRecord]) -> None:
        """Drop the sessions of memories that were forgotten or erased."""
        episodes = [memory for memory in memories if isinstance(memory, Episode)]
        self.drop_sessions({(turn.tenant_id, turn.scope, turn.session) for turn in episodes if turn.session})

    def drop_sessions(self, sessions: Collection[tuple[str, str, str]]) -> None:
        """Drop sessions, by tenant, scope and name, from Redis."""
        if self.recent is not None and sessions:
            self.recent.drop(sessions)

    @property
    def is_empty(self) -> bool:
        """True where neither the outbox, working memory nor a batch writer may hold a message; none is being stored."""
        with self._storing:
            return self._writer is None and not len(self.outbox) and not len(self.working)

    @property
    def is_batching(self) -> bool:
        """True where turns may be stored with others, within `batching.seconds`; not while others wait."""
        return bool(self._batching.seconds) and not len(self.outbox)

    def batch(self, act: Act, episode: Episode, write: WriteAll) -> Future[MemoryRecord]:
        """Have an episode stored with others; the batch writer of the first call is kept, and flushed at exit."""
        with self._making:
            if self._writer is None:
                from engrain.storage.batch_writer import BatchWriter

                self._writer = BatchWriter(write, most=self._batching.size, wait_s=self._batching.seconds)
                atexit.register(self._writer.flush)
            writer = self._writer
        return writer.add(act, episode)

    def flush_batches(self) -> None:
        """Store what was batched; `close_batches` may take the writer away at any moment."""
        writer = self._writer
        if writer is not None:
            writer.flush()

    def close_batches(self) -> None:
        """Store what was batched, and stop the batch writer."""
        if self._writer is not None:
            self._writer.close()
            atexit.unregister(self._writer.flush)
            self._writer = None

    def close(self) -> None:
        """Give up what still waits, counted as `messages_lost`, and let go of Redis."""
        self.outbox.discard()
        if self.recent is not None:
            self.recent.close()


def _open_redis(settings: Redis) -> RedisRecent | None:
    """Open the cache of the newest turns in Redis, where the settings name one."""
    if settings.url is None:
        return None
    from engrain.storage.redis_recent import RedisRecent

    url = settings.url.get_secret_value()
    return RedisRecent(url, prefix=settings.prefix, ttl_s=settings.ttl_s, timeout_s=settings.timeout_s)
