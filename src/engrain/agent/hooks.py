"""Hooks: what the host of an agent calls around a conversation. They raise nothing for what cannot be done just now."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from engrain import metrics
from engrain.agent.learning.consolidation_triggers import consolidate_after_end
from engrain.agent.operations.instrumentation import instrument
from engrain.agent.queries import Queries
from engrain.agent.wiring.view import View
from engrain.agent.writes import fail_open
from engrain.agent.writes.episodes import new_episode
from engrain.context.block import ContextBlock
from engrain.domain import checks
from engrain.domain.memories.hooks import MessageReceipt, RecentTurns, SessionEnd, describe_error, fails_open
from engrain.domain.requests import Act
from engrain.domain.wording import Wording

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.verbs import words

_LOG = logging.getLogger(__name__)

_Answer = TypeVar("_Answer")


@instrument("hooks")
class Hooks(View):
    """What a host calls around a conversation: where memory fails it logs, counts, says so, and the agent goes on.

    Only what is wrong in itself is raised: a value that is refused, a broken invariant, a closed memory.
    """

    __slots__ = ()

    def session_start(self, prompt: words.Prompt, *, budget_tokens: words.BudgetTokens | None = None) -> ContextBlock:
        """What an agent should know before it answers `prompt`: `Agent.context`, or an empty block that says why.

        Messages that could not be stored before are stored now, if that works.

        Raises:
            InvalidInput: a budget that is negative or no whole number.
        """
        parts = self._parts()
        chosen = parts.settings.context.budget_tokens if budget_tokens is None else budget_tokens
        budget = checks.count(chosen, name="budget_tokens", high=10_000_000)
        late = fail_open.drain(parts)
        reading = Queries(self._parts, self._who)
        found = _open(lambda: reading.context(prompt, budget_tokens=budget), counted="contexts_degraded")
        if isinstance(found, Wording):
            why = (found.after("no context: "), *late)
            who = self._who.request_id
            return ContextBlock(text="", tokens=0, budget_tokens=budget, degraded=why, request_id=who)
        return replace(found, degraded=(*found.degraded, *late)) if late else found

    def message(
        self,
        content: words.Content,
        *,
        role: words.TurnRole = "user",
        speaker: words.Speaker | None = None,
        event_time: words.EventTime | None = None,
        tokens: words.Tokens | None = None,
        model: words.Model | None = None,
        tool_calls: words.ToolCalls | None = None,
        tags: words.Tags | None = None,
        metadata: words.Metadata | None = None,
        idempotency_key: words.IdempotencyKey | None = None,
        durable: words.Durable = True,
    ) -> MessageReceipt:
        """Remember one turn of the session: stored when it returns, with whom it mentions, in one transaction.

        No model is asked on the way; the vector follows soon. With the setting `entities.link` fast it is linked to
        whom it mentions of those the registry knows. What cannot be stored now waits in this process, at most
        `working.waiting` messages, and is stored with the next call that works: in order, with the time of now, once.
        With `durable` false and the setting `batching.seconds` it returns at once, and the turn is stored with others
        within that time: until then the end of the process loses it.

        Raises:
            InvalidInput: as `Agent.observe`; nothing was written.
        """
        parts, caller = self._parts(), self._who
        act = Act(caller=caller, at=parts.clock())
        key = checks.optional_name(idempotency_key, name="idempotency_key")
        episode = new_episode(
            parts,
            caller,
            at=act.at,
            content=content,
            role=role,
            speaker=speaker,
            event_time=event_time,
            tokens=tokens,
            model=model,
            tool_calls=tool_calls,
            tags=tags,
            metadata=metadata,
            idempotency_key=key,
        )
        if checks.flag(durable, name="durable"):
            return fail_open.deliver(parts, act, episode, key=key)
        return fail_open.deliver_soon(parts, act, episode, key=key)

    def recent(self, limit: words.PageLimit = 20) -> RecentTurns:
        """The newest turns of the session, oldest first: from Redis where the settings name one, else the database.

        Where the database cannot be read, what Redis holds, marked degraded.

        Raises:
            InvalidInput: the agent's view has no session, or the limit lies outside 0-1000.
        """
        parts, caller = self._parts(), self._who
        session, most = checks.name(caller.session, name="session"), checks.count(limit, name="limit")
        return fail_open.recent_turns(parts, caller, session, most)

    def session_end(self) -> SessionEnd:
        """End the session: what waits in this process is stored, and the rest is for consolidation to learn from.

        `pending` is how many of its episodes wait for that. Where there is a language model they are consolidated now,
        in the background (`is_handed_over`); else by the next `Memory.consolidate` that has one.

        Raises:
            InvalidInput: the agent's view has no session.
        """
        parts, caller = self._parts(), self._who
        session = checks.name(caller.session, name="session")
        late = fail_open.drain(parts)
        found = _open(lambda: parts.store.pending_sessions(caller, parts.clock()), counted="session_ends_degraded")
        if isinstance(found, Wording):
            return SessionEnd(session=session, degraded=(found.after("pending episodes not counted: "), *late))
        pending = next((each.episodes for each in found if each.session == session), 0)
        handed = pending > 0 and consolidate_after_end(parts, caller, session)
        return SessionEnd(session=session, pending=pending, is_handed_over=handed, degraded=late)


def _open(work: Callable[[], _Answer], *, counted: str) -> _Answer | Wording:
    """What `work` gives, or why it cannot: a host goes on without."""
    try:
        return work()
    except Exception as error:
        if not fails_open(error):
            raise
        metrics.count(counted)
        _LOG.warning("a hook failed open", extra={"counted": counted, "error": type(error).__name__})
        return describe_error(error)
