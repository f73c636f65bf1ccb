"""Instrumentation of the verbs: duration and outcome as metrics, a span, and a log line."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Mapping, Sequence, Sized
from contextlib import nullcontext
from contextvars import ContextVar
from functools import wraps
from inspect import Parameter, signature
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from engrain import metrics
from engrain.agent.operations import tracing
from engrain.domain.records import Caller, MemoryRecord
from engrain.errors import EngrainError
from engrain.log_events import get_logger
from engrain.verbs.table import by_name

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer


_LOG = get_logger("engrain.verbs")
_Owner = TypeVar("_Owner", bound=type)
# Methods that make a view, close it, or are called every few seconds by monitors and at each request by a server.
NO_VERBS = frozenset(("agent", "close", "parts", "metrics", "readiness", "authenticate"))
_FIELDS = ("memories", "hits", "episodes")  # where answers of more than one field have their memories
UNFORESEEN = "unforeseen"  # the outcome of an error that is none of ours


class CurrentVerb(NamedTuple):
    """The verb that this task runs, and the request it belongs to."""

    verb: str
    request_id: str | None


CURRENT_VERB: ContextVar[CurrentVerb | None] = ContextVar("engrain_current_verb", default=None)


class _VerbLog:
    """Switch of the lines of verbs; a library is silent until its host asks for more."""

    is_on = False


def log_verbs(*, enabled: bool) -> None:
    """Let each verb of this process log its outcome, at INFO, under `engrain.verbs`; or no longer."""
    _VerbLog.is_on = enabled


def instrument(group: str = "") -> Callable[[_Owner], _Owner]:
    """Decorate a class whose public methods are verbs of a group of that name: they are timed, traced and logged."""

    def decorate(owner: _Owner) -> _Owner:
        prefix = f"{group}." if group else ""
        for name, member in list(vars(owner).items()):
            if isinstance(member, FunctionType) and not name.startswith("_") and name not in NO_VERBS:
                setattr(owner, name, _instrumented(member, _Verb(prefix + name)))
        return owner

    return decorate


class _Durations(dict[str, metrics.Durations]):
    """Durations of one verb by outcome, which begin with its first call."""

    def __init__(self, verb: str, timer: str | None) -> None:
        super().__init__()
        self._verb = verb
        self._timer = timer

    def __missing__(self, outcome: str) -> metrics.Durations:
        durations = self[outcome] = metrics.durations(
            "verb_seconds", sum_into=self._timer, verb=self._verb, outcome=outcome
        )
        return durations


class _Verb:
    """One verb: its durations, and the outcome of its calls."""

    def __init__(self, name: str) -> None:
        self.name = name
        row = by_name().get(name)
        self.is_search = row is not None and row.operation == tracing.SEARCH
        self.durations: Mapping[str, metrics.Durations] = _Durations(name, None if row is None else row.timer)

    def outcome(self, answer: object) -> str:
        """Return `ok`, or `empty` of a search that found no memories; a degraded answer is counted."""
        if getattr(answer, "degraded", ()):
            metrics.count("verbs_degraded", verb=self.name)
        return "empty" if self.is_search and _count_records(answer) == 0 else "ok"


def _instrumented(work: Callable[..., Any], verb: _Verb) -> Callable[..., Any]:
    @wraps(work)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        tracer = tracing.current_tracer() if tracing.API in sys.modules else None
        if tracer is not None or _VerbLog.is_on:
            caller = getattr(self, "_caller", None)
            return _call_traced(verb, tracer, caller, lambda: work(self, *arguments, **named))
        start = time.perf_counter()
        try:
            answer = work(self, *arguments, **named)
        except BaseException as error:
            verb.durations[code_of(error)].add(time.perf_counter() - start)
            if isinstance(error, TypeError):
                _check_call(work, arguments, named)
            raise
        outcome = verb.outcome(answer) if verb.is_search or getattr(answer, "degraded", False) else "ok"
        verb.durations[outcome].add(time.perf_counter() - start)
        return answer

    return call


def _check_call(work: Callable[..., Any], arguments: Sequence[object], named: Mapping[str, object]) -> None:
    """Check that a verb has the parameters of a call; who guesses a name reads the right ones.

    Raises:
        TypeError: it has not.
    """
    _, *parameters = signature(work).parameters.values()
    names = [parameter.name for parameter in parameters]
    by_place = [parameter.name for parameter in parameters if parameter.kind is Parameter.POSITIONAL_OR_KEYWORD]
    unknown = [name for name in named if name not in names]
    if unknown:
        raise TypeError(f"{work.__name__}() takes no {', '.join(unknown)}; it takes {', '.join(names)}") from None
    if len(arguments) > len(by_place):
        rest = ", ".join(f"{name}=" for name in names if name not in by_place)
        first = " and ".join(by_place) or "nothing"
        raise TypeError(f"{work.__name__}() takes {first} by place; name the others: {rest}") from None


def _call_traced(verb: _Verb, tracer: Tracer | None, caller: Caller | None, work: Callable[[], Any]) -> Any:
    """Run a verb inside a span, where there is a tracer, and log it, where that is enabled."""
    token = CURRENT_VERB.set(CurrentVerb(verb.name, None if caller is None else caller.request_id))
    start = time.perf_counter()
    try:
        with nullcontext() if tracer is None else tracing.span(tracer, verb.name, caller) as span:
            try:
                answer = work()
            except BaseException as error:
                outcome = code_of(error)
                tracing.record_failure(span, outcome)
                raise
            outcome = verb.outcome(answer)
            record_id = answer.id if _is_record(answer) else None
            tracing.record_outcome(span, outcome, records=_count_records(answer), record_id=record_id)
        return answer
    finally:
        seconds = time.perf_counter() - start
        verb.durations[outcome].add(seconds)
        _log(verb.name, outcome, seconds, caller)
        CURRENT_VERB.reset(token)


def _log(verb: str, outcome: str, seconds: float, caller: Caller | None) -> None:
    if not _VerbLog.is_on:
        return
    fields = {"verb": verb, "outcome": outcome, "duration_ms": round(seconds * 1000, 3)}
    if caller is not None:
        fields |= {"tenant": caller.tenant_id, "agent": caller.agent}
    _LOG.log(logging.ERROR if outcome == UNFORESEEN else logging.INFO, "verb", extra=fields)


def code_of(error: BaseException) -> str:
    """Return the name of an error where its message may not be shown."""
    if isinstance(error, EngrainError):
        return error.code
    return UNFORESEEN if isinstance(error, Exception) else "interrupted"


def _count_records(answer: object) -> int | None:
    """Return the number of memories in an answer; None where it is no answer of memories."""
    if answer is None:
        return 0
    if _is_record(answer):
        return 1
    inner = getattr(answer, "block", answer)
    memories = next((value for name in _FIELDS if (value := getattr(inner, name, None)) is not None), inner)
    return len(memories) if isinstance(memories, Sized) and not isinstance(memories, str) else None


def _is_record(answer: Any) -> bool:
    """Tell memories and notes; a note by its name, as the module of notes is loaded with the first of them."""
    return isinstance(answer, MemoryRecord) or type(answer).__name__ == "Note"
