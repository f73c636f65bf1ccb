"""Fail-open writes: messages of hooks, which raise nothing for what the database cannot do just now.

The key of a message is that of any session: a host reads a message again in a session that was forked.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.agent.learning.consolidation_triggers import consolidate_after_switch
from engrain.agent.writes.memories import store_memories, store_turn
from engrain.domain.faults import describe_fault
from engrain.domain.filters import Filter
from engrain.domain.memories.hooks import MessageReceipt, RecentTurns, fails_open
from engrain.domain.records import Caller, Degraded, Episode, MemoryRecord
from engrain.domain.requests import Act, Request
from engrain.errors import EngrainError
from engrain.log_events import get_logger

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.memories.routing import WorkingStats
    from engrain.working.sessions import WorkingSession

_LOG = get_logger(__name__)
_WATCH_EVERY_S = 60.0  # how much later than `working.ttl_s` an idle process stores a session


def deliver(parts: Parts, act: Act, episode: Episode, *, key: str | None = None) -> MessageReceipt:
    """Store an episode now, or as soon as the database takes it.

    Raises:
        InvalidInput, IntegrityViolated, MemoryClosed: it can never be stored.
    """
    parts.buffers.flush_batches()  # what came before it
    delivered = parts.buffers.outbox.deliver(act, episode, partial(store_turn, parts, in_any_session=True), key=key)
    if delivered.is_stored and parts.llm is not None:
        consolidate_after_switch(parts, act.caller, delivered.episode)
    return delivered


def deliver_soon(parts: Parts, act: Act, episode: Episode, *, key: str | None = None) -> MessageReceipt:
    """Store an episode with others, within the settings' seconds; now where these are 0 or others wait."""
    if not parts.buffers.is_batching:
        return deliver(parts, act, episode, key=key)

    def acknowledge(written: Future[MemoryRecord]) -> None:
        if written.exception() is not None:
            _deliver_later(parts, act, episode, key)
        elif isinstance(stored := written.result(), Episode):
            consolidate_after_switch(parts, act.caller, stored)

    def write(act: Act, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        return store_memories(parts, act, memories)

    parts.buffers.batch(act, episode, write).add_done_callback(acknowledge)
    return MessageReceipt(episode=episode, is_stored=False)


def drain(parts: Parts) -> tuple[Degraded, ...]:
    """Store what waits; return why it cannot be, where it cannot."""
    store_evicted(parts)
    parts.buffers.flush_batches()
    outbox = parts.buffers.outbox
    why = outbox.drain(partial(store_turn, parts, in_any_session=True))
    return () if why is None else (why.with_prefix(f"{len(outbox)} messages wait in this process: "),)


def store_evicted(parts: Parts) -> None:
    """Store the messages of working sessions that made room or grew too old; a timer does it where nobody calls."""
    parts.buffers.store_evicted(partial(_store_or_deliver, parts))
    if parts.buffers.begin_watch():
        parts.workers.run_after(min(parts.settings.working.ttl_s, _WATCH_EVERY_S), partial(_watch, parts))


def flush_working(parts: Parts, caller: Caller, *, most_tokens: int | None) -> WorkingStats:
    """Store the oldest messages of a working session where they exceed `most_tokens`, or all where it is None."""
    from engrain.working.sessions import select_oldest

    working = parts.buffers.working
    store_evicted(parts)
    session = working.copy(caller)
    going = session.messages if most_tokens is None else select_oldest(session.messages, most_tokens)
    if not going:
        return session.stats()
    why = _store_all(parts, caller, going)
    if why is not None:
        return replace(
            session.stats(), degraded=(why.with_prefix(f"{len(going)} messages not stored yet, they stay here: "),)
        )
    return working.remove(caller, [message.id for message in going])


def store_buffered(parts: Parts) -> None:
    """Store what waits and what is in working memory, for the last time; `messages_lost` counts what cannot be."""
    parts.buffers.close_batches()
    parts.buffers.store_working(partial(_store_or_deliver, parts))
    drain(parts)


def recent_turns(parts: Parts, caller: Caller, session: str, limit: int) -> RecentTurns:
    """Return the newest turns of a session, oldest first: from Redis those it is sure of, else from the database."""
    from engrain.storage.search.recency import load_newest

    now, redis = parts.clock(), parts.buffers.recent
    cached = None if redis is None else redis.newest(caller.tenant_id, caller.own_scope, session, limit)
    live = [turn for turn in cached or () if turn.is_live(now)]
    if cached is not None and len(live) == limit:
        return RecentTurns(episodes=tuple(reversed(live)))
    narrowed = Filter(kinds=("episode",), sessions=(session,), scopes=(caller.own_scope,))
    try:
        stored = parts.store.read(caller, load_newest, Request(caller=caller, filter=narrowed, now=now), limit)
    except Exception as error:
        if not fails_open(error):
            raise
        metrics.count("recent_turns_degraded")
        _LOG.warning("recent turns not read", extra={"error": type(error).__name__})
        why = describe_fault(error).with_prefix(f"only {len(live)} turns are at hand: ")
        return RecentTurns(episodes=tuple(reversed(live)), degraded=(why,))
    return RecentTurns(episodes=tuple(turn for turn in reversed(stored) if isinstance(turn, Episode)))


def _deliver_later(parts: Parts, act: Act, episode: Episode, key: str | None) -> None:
    """Deliver what a batch could not store: alone, or when the database takes it; no caller sees an error."""
    try:
        parts.buffers.outbox.deliver(act, episode, partial(store_turn, parts, in_any_session=True), key=key)
    except BaseException as error:  # noqa: BLE001  # in a thread that stores the messages of others
        metrics.count("messages_refused")
        _LOG.error("message refused", extra={"error": type(error).__name__})  # its trace is no news


def _watch(parts: Parts) -> None:
    """Store what grew too old by now, and look again later while there are sessions."""
    parts.buffers.end_watch()
    store_evicted(parts)


def _store_or_deliver(parts: Parts, session: WorkingSession) -> None:
    """Store the messages of a session that are nowhere else; those that the database does not take now wait."""
    with suppress(EngrainError):  # one can never be stored; whoever calls now has said none of them
        if not session.messages or _store_all(parts, session.caller, session.messages) is None:
            return
    for message in session.messages:
        _deliver_later(parts, Act(caller=session.caller, at=message.created_at), message, None)


def _store_all(parts: Parts, caller: Caller, messages: Sequence[Episode]) -> Degraded | None:
    """Store messages in one transaction, those that are there already left alone; return why not."""
    try:
        store_memories(parts, Act(caller=caller, at=parts.clock()), messages)
    except Exception as error:
        if not fails_open(error):
            raise
        metrics.count("working_memory_not_flushed")
        _LOG.warning("working memory not flushed", extra={"error": type(error).__name__, "messages": len(messages)})
        return describe_fault(error)
    return None
