"""Hooks: calls of the host of an agent around a conversation, which fail open where memory cannot be reached."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from engrain import metrics
from engrain.agent.learning.consolidation_triggers import consolidate_after_end
from engrain.agent.operations.instrumentation import instrument
from engrain.agent.queries import Queries
from engrain.agent.wiring.view import View
from engrain.agent.writes import fail_open
from engrain.agent.writes.episodes import new_episode
from engrain.agent.writes.memories import check_first_use
from engrain.context.block import ContextBlock
from engrain.domain import checks
from engrain.domain.faults import describe_fault
from engrain.domain.memories.hooks import MessageReceipt, RecentTurns, SessionEnd, fails_open
from engrain.domain.records import Caller, Degraded
from engrain.domain.requests import make_act
from engrain.errors import InvalidInput
from engrain.log_events import get_logger
from engrain.storage.runs.claims import count_pending

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.verbs import words

_LOG = get_logger(__name__)

_Answer = TypeVar("_Answer")


@instrument("hooks")
class Hooks(View):
    """Calls of a host around a conversation: failures are logged, counted and marked degraded, and the agent goes on.

    Only errors of the call itself are raised: a value that is refused, a broken invariant, a closed memory.
    """

    __slots__ = ()

    def session_start(self, prompt: words.Prompt, *, budget_tokens: words.BudgetTokens | None = None) -> ContextBlock:
        """Begin a session: give the context block for a prompt, or an empty one that says why.

        Messages that could not be stored before are stored now, if that works.

        Raises:
            InvalidInput: a budget that is negative or no whole number.
        """
        parts = self._parts()
        chosen = parts.settings.context.budget_tokens if budget_tokens is None else budget_tokens
        budget = checks.count(chosen, name="budget_tokens", high=10_000_000)
        late = fail_open.drain(parts)
        queries = Queries(self._parts, self._caller)
        block = _open(lambda: queries.context(prompt, budget_tokens=budget), counted="contexts_degraded")
        if isinstance(block, Degraded):
            why = (block.with_prefix("no context: "), *late)
            request_id = self._caller.request_id
            return ContextBlock(text="", tokens=0, budget_tokens=budget, degraded=why, request_id=request_id)
        return replace(block, degraded=(*block.degraded, *late)) if late else block

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
        """Remember one turn of the session, with links to the entities it mentions, in one transaction.

        No model is asked on the way; the vector follows soon. With the setting `entities.link` fast it is linked to
        entities that the registry knows. A turn that cannot be stored now waits in this process, at most
        `working.waiting` of them, and is stored with the next call that works: in order, with the time of now, once.
        With `durable` false and the setting `batching.seconds` it returns at once, and the turn is stored with others
        within that time: until then the end of the process loses it.

        Raises:
            InvalidInput: as `Agent.observe`; nothing was written.
        """
        parts, caller = self._parts(), self._caller
        act = make_act(caller=caller, at=parts.clock())
        key = None if idempotency_key is None else checks.name(idempotency_key, name="idempotency_key")
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
        deliver = (
            fail_open.deliver if durable is True or checks.flag(durable, name="durable") else fail_open.deliver_soon
        )
        delivered = deliver(parts, act, episode, key=key)
        if key is not None:
            check_first_use(delivered.episode, episode, key, time=event_time, in_any_session=True)
        return delivered

    def recent(self, limit: words.PageLimit = 20) -> RecentTurns:
        """Read the newest turns of the session, oldest first, from Redis or the database.

        Where the database cannot be read, those in Redis, marked degraded.

        Raises:
            InvalidInput: the agent's view has no session, or the limit lies outside 0-1000.
        """
        parts, caller = self._parts(), self._caller
        session, most = _session_of(caller), checks.count(limit, name="limit")
        return fail_open.recent_turns(parts, caller, session, most)

    def session_end(self) -> SessionEnd:
        """End the session: store what waits in this process, and start to consolidate its episodes.

        `pending` is the number of its episodes that wait for that. Where there is a language model they are
        consolidated now, in the background (`is_handed_over`); else by the next `Memory.consolidate` that has one.

        Raises:
            InvalidInput: the agent's view has no session.
        """
        parts, caller = self._parts(), self._caller
        session = _session_of(caller)
        late = fail_open.drain(parts)
        pending = _open(
            lambda: parts.store.read(caller, count_pending, session, parts.clock()), counted="session_ends_degraded"
        )
        if isinstance(pending, Degraded):
            return SessionEnd(session=session, degraded=(pending.with_prefix("pending episodes not counted: "), *late))
        is_handed_over = pending > 0 and consolidate_after_end(parts, caller, session)
        return SessionEnd(session=session, pending=pending, is_handed_over=is_handed_over, degraded=late)


def _session_of(caller: Caller) -> str:
    if caller.session is None:
        raise InvalidInput(f"agent {caller.agent!r:.80} is in no session; name one: memory.agent(..., session=...)")
    return caller.session


def _open(work: Callable[[], _Answer], *, counted: str) -> _Answer | Degraded:
    """Return the result of `work`, or the reason why it failed: a host goes on without."""
    try:
        return work()
    except Exception as error:
        if not fails_open(error):
            raise
        metrics.count(counted)
        _LOG.warning("a hook failed open", extra={"counted": counted, "error": type(error).__name__})
        return describe_fault(error)
