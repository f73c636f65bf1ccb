"""Hooks over HTTP: they fail open where the server cannot be reached, as those of a local memory where its database is.

Messages that no server took wait in this process and are sent with the next hook that reaches one, each under the key
of its first attempt: stored once.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from engrain import metrics
from engrain.agent.wiring.arguments import parse_time
from engrain.client.answers import parse_answer
from engrain.client.requests import build_request, fresh_key
from engrain.context.block import ContextBlock
from engrain.domain import checks
from engrain.domain.faults import describe_fault
from engrain.domain.ids import derived_id, moment_of
from engrain.domain.memories.hooks import MessageReceipt, RecentTurns, SessionEnd, fails_open
from engrain.domain.records import ROLES, Caller, Degraded, Episode, Record
from engrain.domain.requests import Act
from engrain.log_events import get_logger
from engrain.verbs.signatures import signature
from engrain.working.outbox import Outbox, StoreEpisode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engrain.client.connection import Connection

_LOG = get_logger(__name__)
_MESSAGE = "hooks.message"


class RemoteOutbox:
    """Messages of hooks that wait for the server. Thread-safe."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._outbox = Outbox()

    def call(self, verb: str, caller: Caller, arguments: Mapping[str, Any]) -> Record:
        """Send a hook after all messages that wait; where no server answers, give what the host can go on with.

        Raises:
            InvalidInput, NotFound, IntegrityViolated, MemoryClosed: the call itself is wrong.
        """
        if verb == _MESSAGE:
            return self._deliver(caller, arguments)
        try:
            self.drain()
            described = signature(verb)
            request = build_request(described, caller, arguments)
            answer: Record = parse_answer(described, self._connection.send(request, retries=False))
        except Exception as error:
            if not fails_open(error):
                raise
            metrics.count("hooks_degraded")
            _LOG.warning("a hook failed open", extra={"hook": verb, "error": type(error).__name__})
            return _without_server(verb, caller, arguments, describe_fault(error))
        return answer

    def drain(self) -> None:
        """Send what waits, as far as the server takes it."""
        self._outbox.drain(self._store({}, {}))

    def close(self) -> None:
        """Send what waits, for the last time; what is not taken is lost, and logged as such."""
        self.drain()
        self._outbox.discard()

    def _deliver(self, caller: Caller, arguments: Mapping[str, Any]) -> MessageReceipt:
        now = datetime.now(UTC)
        key = checks.optional_name(arguments.get("idempotency_key"), name="idempotency_key") or fresh_key()
        receipts: dict[str, MessageReceipt] = {}
        episode = _episode(caller, arguments, key, now)
        durable = {name: value for name, value in arguments.items() if name == "durable"}
        store = self._store({key: durable}, receipts)
        delivered = self._outbox.deliver(Act(caller=caller, at=now), episode, store, key=key)
        return receipts.get(key, delivered)

    def _store(self, options: Mapping[str, Mapping[str, Any]], receipts: dict[str, MessageReceipt]) -> StoreEpisode:
        """Return the function that sends a message, the same at each attempt, and files its receipt by its key."""

        def store(act: Act, episode: Episode, key: str) -> Episode:
            described = signature(_MESSAGE)
            arguments = {name: getattr(episode, name, None) for name in described.by_name}
            known = {name: value for name, value in arguments.items() if value is not None}
            request = build_request(described, act.caller, {**known, **options.get(key, {}), "idempotency_key": key})
            receipt: MessageReceipt = parse_answer(described, self._connection.send(request, retries=False))
            receipts[key] = receipt
            return receipt.episode

        return store


def _episode(caller: Caller, arguments: Mapping[str, Any], key: str, now: datetime) -> Episode:
    """Make the episode of a message as the server will store it, without its turn, importance and expiry."""
    given = {name: value for name, value in arguments.items() if value is not None and name not in _CHECKED}
    calls, tags, metadata = (arguments.get(name) for name in ("tool_calls", "tags", "metadata"))
    return Episode(
        id=derived_id(caller.tenant_id, caller.own_scope, "idempotency", key, at=moment_of(key)),
        tenant_id=caller.tenant_id,
        agent=caller.agent,
        scope=caller.own_scope,
        session=caller.session,
        role=checks.choice(arguments.get("role", "user"), ROLES, name="role"),
        content=checks.content(arguments["content"]),
        event_time=parse_time(arguments.get("event_time"), name="event_time", now=now) or now,
        created_at=now,
        tool_calls=() if calls is None else checks.json_values(calls, name="tool_calls"),
        tags=() if tags is None else checks.names(tags, name="tag"),
        metadata={} if metadata is None else checks.host_metadata(metadata),
        **given,
    )


_CHECKED = frozenset({"role", "content", "event_time", "tool_calls", "tags", "metadata", "idempotency_key", "durable"})


def _without_server(verb: str, caller: Caller, arguments: Mapping[str, Any], why: Degraded) -> Record:
    """Return the answer of a hook that no server gave."""
    match verb.rpartition(".")[2]:
        case "session_start":
            budget, reason = arguments.get("budget_tokens") or 0, (why.with_prefix("no context: "),)
            return ContextBlock(text="", tokens=0, budget_tokens=budget, degraded=reason, request_id=caller.request_id)
        case "recent":
            return RecentTurns(degraded=(why.with_prefix("no turns are at hand: "),))
        case _:
            session = checks.name(caller.session, name="session")
            return SessionEnd(session=session, degraded=(why.with_prefix("pending episodes not counted: "),))
