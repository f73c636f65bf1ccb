"""What is told of each verb, in one place around all of them: how long it took, how it ended, a span and a log line."""

from __future__ import annotations

import logging
import time
from collections.abc import Sized
from contextlib import nullcontext
from contextvars import ContextVar
from functools import wraps
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from engrain import metrics
from engrain.agent import tracing
from engrain.domain.memories.notes import Note
from engrain.domain.records import MemoryRecord
from engrain.errors import EngrainError

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.trace import Tracer

    from engrain.domain.records import Caller

_LOG = logging.getLogger("engrain.verbs")
_Owner = TypeVar("_Owner", bound=type)
# What makes a view, the end of all of them, what monitors ask every few seconds and a server at each request.
NO_VERBS = frozenset(("agent", "close", "parts", "metrics", "readiness", "authenticate"))
_HOLDS = ("memories", "hits", "episodes")  # where answers of more than one field have their memories
UNFORESEEN = "unforeseen"  # the outcome of what nobody raised on purpose


class Asked(NamedTuple):
    """The verb that this task is in, and on whose request."""

    verb: str
    request_id: str | None


ASKED: ContextVar[Asked | None] = ContextVar("engrain_asked", default=None)


class _Journal:
    """Whether each verb writes a line; a library is silent until whoever runs it asks for more."""

    is_kept = False


def keep_journal(*, kept: bool) -> None:
    """Let each verb of this process log how it went, at INFO, under `engrain.verbs`; or no longer."""
    _Journal.is_kept = kept


def watched(group: str = "") -> Callable[[_Owner], _Owner]:
    """A class whose public methods are verbs, of a group of that name: each is timed, traced and told of."""

    def watch(owner: _Owner) -> _Owner:
        prefix = f"{group}." if group else ""
        for name, member in list(vars(owner).items()):
            if isinstance(member, FunctionType) and not name.startswith("_") and name not in NO_VERBS:
                setattr(owner, name, _watched(member, _Verb(prefix + name)))
        return owner

    return watch


class _Verb:
    """One verb, and how long it took by how it ended."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._looks = tracing.operation_of(name) == tracing.SEARCH
        self._took: dict[str, metrics.Durations] = {}

    def note(self, outcome: str, seconds: float) -> None:
        """Count one more of an outcome."""
        took = self._took.get(outcome)
        if took is None:
            took = self._took[outcome] = metrics.durations("verb_seconds", verb=self.name, outcome=outcome)
        took.add(seconds)

    def outcome(self, answer: object) -> str:
        """`ok`, or `empty` where it looked for memories and found none; what was degraded is counted."""
        if getattr(answer, "degraded", ()):
            metrics.count("verbs_degraded", verb=self.name)
        return "empty" if self._looks and _records(answer) == 0 else "ok"


def _watched(work: Callable[..., Any], verb: _Verb) -> Callable[..., Any]:
    @wraps(work)
    def told(self: Any, *arguments: Any, **named: Any) -> Any:
        tracer = tracing.tracer()
        if tracer is not None or _Journal.is_kept:
            caller = getattr(self, "_who", None)
            return _told(verb, tracer, caller, lambda: work(self, *arguments, **named))
        start = time.perf_counter()
        try:
            answer = work(self, *arguments, **named)
        except BaseException as error:
            verb.note(code_of(error), time.perf_counter() - start)
            raise
        verb.note(verb.outcome(answer), time.perf_counter() - start)
        return answer

    return told


def _told(verb: _Verb, tracer: Tracer | None, caller: Caller | None, work: Callable[[], Any]) -> Any:
    """Do a verb inside a span, where there is a tracer, and write its line, where a journal is kept."""
    asked = ASKED.set(Asked(verb.name, None if caller is None else caller.request_id))
    start = time.perf_counter()
    try:
        with nullcontext() if tracer is None else tracing.span(tracer, verb.name, caller) as span:
            try:
                answer = work()
            except BaseException as error:
                outcome = code_of(error)
                tracing.failed(span, outcome)
                raise
            outcome = verb.outcome(answer)
            tracing.ended(span, outcome, records=_records(answer), record_id=_record_id(answer))
        return answer
    finally:
        seconds = time.perf_counter() - start
        verb.note(outcome, seconds)
        _write(verb.name, outcome, seconds, caller)
        ASKED.reset(asked)


def _write(verb: str, outcome: str, seconds: float, caller: Caller | None) -> None:
    if not _Journal.is_kept:
        return
    said = {"verb": verb, "outcome": outcome, "duration_ms": round(seconds * 1000, 3)}
    if caller is not None:
        said |= {"tenant": caller.tenant_id, "agent": caller.agent}
    _LOG.log(logging.ERROR if outcome == UNFORESEEN else logging.INFO, "verb", extra=said)


def code_of(error: BaseException) -> str:
    """What an error is called where its message may not be told."""
    if isinstance(error, EngrainError):
        return error.code
    return UNFORESEEN if isinstance(error, Exception) else "interrupted"


def _records(answer: object) -> int | None:
    """How many memories an answer holds; None where that is not what it is."""
    if answer is None:
        return 0
    if isinstance(answer, MemoryRecord | Note):
        return 1
    inner = getattr(answer, "block", answer)
    held = next((value for name in _HOLDS if (value := getattr(inner, name, None)) is not None), inner)
    return len(held) if isinstance(held, Sized) and not isinstance(held, str) else None


def _record_id(answer: object) -> str | None:
    return answer.id if isinstance(answer, MemoryRecord | Note) else None
