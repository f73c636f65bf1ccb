"""How what is said reaches the database for hooks, which raise nothing for what the database cannot do."""

from __future__ import annotations

import atexit
import logging
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.agent import consolidating
from engrain.domain.filters import Filter
from engrain.domain.memories.hooks import Heard, RecentTurns, fails_open, told
from engrain.domain.records import Episode
from engrain.domain.requests import Act, Request
from engrain.errors import EngrainError
from engrain.working.outbox import Outbox
from engrain.working.sessions import WorkingMemory, select_oldest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from engrain.agent.parts import Parts
    from engrain.config.tree import Redis, Settings
    from engrain.domain.memories.working import WorkingStats
    from engrain.domain.records import Caller, MemoryRecord
    from engrain.domain.wording import Wording
    from engrain.storage.batch_writer import BatchWriter
    from engrain.storage.redis_recent import RedisRecent

_LOG = logging.getLogger(__name__)


class Intake:
    """What one Memory holds of messages that are not in its database, or not yet. Thread-safe; close it when done."""

    def __init__(self, settings: Settings) -> None:
        """Hold nothing yet.

        Raises:
            InvalidInput: the setting `redis.url` is no address, or the package redis is not installed.
        """
        bounds = settings.working
        self.outbox = Outbox(most=bounds.waiting)
        self.working = WorkingMemory(most=bounds.sessions, most_bytes=bounds.most_bytes, ttl_s=bounds.ttl_s)
        self.recent = _recent(settings.redis)
        self._batching = settings.batching
        self._writer: BatchWriter | None = None
        self._making = threading.Lock()

    def hear(self, parts: Parts, act: Act, episode: Episode, *, key: str | None = None) -> Heard:
        """Have an episode stored now, or as soon as the database takes it.

        Raises:
            InvalidInput, IntegrityViolated, MemoryClosed: it can never be stored.
        """
        self._flush()  # what came before it
        heard = self.outbox.deliver(act, episode, parts.keep_episode, key=key)
        if heard.is_stored:
            consolidating.after_switch(parts, act.caller, heard.episode)
        return heard

    def hear_soon(self, parts: Parts, act: Act, episode: Episode, *, key: str | None = None) -> Heard:
        """Have an episode stored with others, within the settings' seconds; `hear` where these are 0 or others wait."""
        if not self._batching.seconds or len(self.outbox):
            return self.hear(parts, act, episode, key=key)

        def acknowledge(written: Future[MemoryRecord]) -> None:
            if written.exception() is not None:
                self._keep_later(parts, act, episode, key)
            elif isinstance(kept := written.result(), Episode):
                consolidating.after_switch(parts, act.caller, kept)

        self._batches(parts).add(act, episode).add_done_callback(acknowledge)
        return Heard(episode=episode, is_stored=False)

    def settle(self, parts: Parts) -> tuple[Wording, ...]:
        """Store what waits; why not, where it cannot be."""
        self._rescue(parts)
        self._flush()
        why = self.outbox.drain(parts.keep_episode)
        return () if why is None else (why.after(f"{len(self.outbox)} messages wait in this process: "),)

    def flush(self, parts: Parts, caller: Caller, *, most_tokens: int | None) -> WorkingStats:
        """Make episodes of the oldest messages of a session, where they are more than `most_tokens`, or of all."""
        self._rescue(parts)
        session = self.working.copy(caller)
        going = session.messages if most_tokens is None else select_oldest(session.messages, most_tokens)
        if not going:
            return session.stats()
        why = _stored(parts, caller, going)
        if why is not None:
            return replace(
                session.stats(), degraded=(why.after(f"{len(going)} messages not stored yet, they stay here: "),)
            )
        return self.working.remove(caller, [each.id for each in going])

    def close(self, parts: Parts) -> None:
        """Store what waits and what is at hand, for the last time; `messages_lost` counts what cannot be."""
        if self._writer is not None:
            self._writer.close()
            atexit.unregister(self._writer.flush)
            self._writer = None
        for session in self.working.take_all():
            self._keep(parts, session.caller, session.messages)
        self.settle(parts)
        self.outbox.discard()
        if self.recent is not None:
            self.recent.close()

    def newest(self, parts: Parts, caller: Caller, session: str, limit: int) -> RecentTurns:
        """The newest turns of a session, oldest first: from Redis those it is sure of, from the database the rest."""
        now = parts.clock()
        held = None if self.recent is None else self.recent.newest(caller.tenant_id, caller.agent, session, limit)
        live = [each for each in held or () if each.is_live(now)]
        if held is not None and len(live) == limit:
            return RecentTurns(episodes=tuple(reversed(live)))
        asked = Filter(kinds=("episode",), sessions=(session,), scopes=(caller.agent,))
        try:
            found = parts.store.recent(Request(caller=caller, filter=asked, now=now), limit)
        except Exception as error:
            if not fails_open(error):
                raise
            metrics.count("recent_turns_degraded")
            _LOG.warning("recent turns not read", extra={"error": type(error).__name__})
            said = told(error).after(f"only {len(live)} turns are at hand: ")
            return RecentTurns(episodes=tuple(reversed(live)), degraded=(said,))
        return RecentTurns(episodes=tuple(each for each in reversed(found) if isinstance(each, Episode)))

    def stored(self, memories: Sequence[MemoryRecord]) -> None:
        """Hold the turns of what has just been stored at hand."""
        if self.recent is not None:
            self.recent.add(each for each in memories if isinstance(each, Episode))

    def withdrawn(self, memories: Sequence[MemoryRecord]) -> None:
        """Hold the sessions of what is forgotten or erased no longer."""
        if self.recent is not None:
            episodes = [each for each in memories if isinstance(each, Episode)]
            for place in {(each.tenant_id, each.agent, each.session) for each in episodes if each.session}:
                self.recent.drop(*place)

    def _flush(self) -> None:
        """Have stored what was batched; `close` may take the writer away at any moment."""
        writer = self._writer
        if writer is not None:
            writer.flush()

    def _batches(self, parts: Parts) -> BatchWriter:
        """The writer, from when it is first needed; what waits is written when the interpreter ends as it should."""
        with self._making:
            if self._writer is None:
                from engrain.storage.batch_writer import BatchWriter

                self._writer = BatchWriter(parts.put, most=self._batching.size, wait_s=self._batching.seconds)
                atexit.register(self._writer.flush)
            return self._writer

    def _keep_later(self, parts: Parts, act: Act, episode: Episode, key: str | None) -> None:
        """What a batch could not store: alone, or when the database takes it; nobody is there to be told."""
        try:
            self.outbox.deliver(act, episode, parts.keep_episode, key=key)
        except EngrainError as error:
            metrics.count("messages_refused")
            _LOG.error("message refused", extra={"error": type(error).__name__})  # its trace is no news

    def _rescue(self, parts: Parts) -> None:
        """Store the messages of the desks that made room or grew too old."""
        for session in self.working.take_evicted():
            self._keep(parts, session.caller, session.messages)

    def _keep(self, parts: Parts, caller: Caller, messages: Sequence[Episode]) -> None:
        """Store messages that are held nowhere else; what the database does not take now waits."""
        if messages and _stored(parts, caller, messages) is not None:
            for each in messages:
                self.hear(parts, Act(caller=caller, at=each.created_at), each)


def _recent(settings: Redis) -> RedisRecent | None:
    """The newest turns in Redis, where the settings name one."""
    if settings.url is None:
        return None
    from engrain.storage.redis_recent import RedisRecent

    url = settings.url.get_secret_value()
    return RedisRecent(url, prefix=settings.prefix, ttl_s=settings.ttl_s, timeout_s=settings.timeout_s)


def _stored(parts: Parts, caller: Caller, messages: Sequence[Episode]) -> Wording | None:
    """Store messages in one transaction, those that are there already left alone; why not."""
    try:
        parts.put(Act(caller=caller, at=parts.clock()), messages)
    except Exception as error:
        if not fails_open(error):
            raise
        metrics.count("working_memory_not_flushed")
        _LOG.warning("working memory not flushed", extra={"error": type(error).__name__, "messages": len(messages)})
        return told(error)
    return None
