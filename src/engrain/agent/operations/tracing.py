"""Tracing: OpenTelemetry spans of verbs, where the host of this process has set up an SDK.

By the conventions for operations on a memory, in development when this was written:
https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-spans.md#memory
`gen_ai.memory.store.id` is the tenant. What the conventions let one opt in to, queries and records, is never recorded.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from engrain.verbs.table import by_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opentelemetry.trace import Span, Tracer

    from engrain.domain.records import Caller
    from engrain.verbs.rows import Operation

SEARCH = "search_memory"
API = "opentelemetry.trace"  # imported by hosts that trace, never by us


class _LastTracer:
    """The provider that was read last, and its tracer: making one takes its lock and a look into its cache."""

    provider: object = None
    tracer: Tracer | None = None


def current_tracer() -> Tracer | None:
    """Return the tracer; None where this process has no SDK: then nothing of OpenTelemetry was even imported, by us."""
    api = sys.modules.get(API)
    if api is None:
        return None
    provider = api.get_tracer_provider()
    if isinstance(provider, api.ProxyTracerProvider):
        return None
    if provider is not _LastTracer.provider:
        _LastTracer.provider, _LastTracer.tracer = provider, provider.get_tracer("engrain")
    return _LastTracer.tracer


def operation_of(verb: str) -> Operation | None:
    """The telemetry operation of a verb; None where the conventions have none for it."""
    row = by_name().get(verb)
    return None if row is None else row.operation


@contextmanager
def span(tracer: Tracer, verb: str, caller: Caller | None) -> Iterator[Span]:
    """Open the span of a verb, named after its operation, or after itself where no convention has a word for it.

    Exceptions are not recorded by themselves: a message may quote a memory.
    """
    attributes = {"engrain.verb": verb}
    operation = operation_of(verb)
    if operation is not None:
        attributes["gen_ai.operation.name"] = operation
    if caller is not None:
        attributes |= {"gen_ai.memory.store.id": caller.tenant_id, "gen_ai.agent.name": caller.agent}
        attributes |= {} if caller.session is None else {"gen_ai.conversation.id": caller.session}
        attributes |= {} if caller.request_id is None else {"engrain.request_id": caller.request_id}
    with tracer.start_as_current_span(
        operation or f"engrain {verb}",
        kind=_api().SpanKind.INTERNAL,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as begun:
        yield begun


def record_outcome(span: Span | None, outcome: str, *, records: int | None, record_id: str | None) -> None:
    """Record the outcome of a verb on its span."""
    if span is None:
        return
    span.set_attribute("engrain.outcome", outcome)
    if records is not None:
        span.set_attribute("gen_ai.memory.record.count", records)
    if record_id is not None:
        span.set_attribute("gen_ai.memory.record.id", record_id)


def record_failure(span: Span | None, outcome: str) -> None:
    """Record the code that a verb failed with on its span."""
    if span is None:
        return
    span.set_attribute("engrain.outcome", outcome)
    span.set_attribute("error.type", outcome)
    span.set_status(_api().Status(_api().StatusCode.ERROR))


def _api() -> Any:
    """Return the part of OpenTelemetry that the host has imported."""
    return sys.modules["opentelemetry.trace"]
