"""Spans of OpenTelemetry for verbs, where the host of this process has set up an SDK; without one, nothing at all.

By the conventions for operations on a memory, in development when this was written:
https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-spans.md#memory
`gen_ai.memory.store.id` is the tenant. What the conventions let one opt in to, queries and records, is never recorded.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from opentelemetry.trace import Span, Tracer

    from engrain.domain.records import Caller

SEARCH = "search_memory"
_SEARCH = (
    "recall context messages get facts latest_reflection hooks.recent notes.recall notes.list notes.list_by_category "
    "notes.related notes.search pools.query consolidation.episodes graph.read graph.search graph.open"
)
_CREATE = (
    "observe import_file rules.add hooks.message pools.contribute working.flush "
    "graph.create_entities graph.create_relations graph.add_observations"
)
_UPSERT = "remember handle notes.save consolidation.save_facts consolidate reflect restore"
_UPDATE = "correct confirm link rules.mark_helpful rules.mark_harmful consolidation.resolve_conflict decay undo"
_DELETE = "forget erase notes.forget cleanup graph.delete_entities graph.delete_observations graph.delete_relations"
OPERATIONS: Mapping[str, str] = {
    verb: operation
    for operation, verbs in (
        (SEARCH, _SEARCH),
        ("create_memory", _CREATE),
        ("upsert_memory", _UPSERT),
        ("update_memory", _UPDATE),
        ("delete_memory", _DELETE),
    )
    for verb in verbs.split()
}


class _Known:
    """The provider that was asked last, and its tracer: making one takes its lock and a look into its cache."""

    provider: object = None
    tracer: Tracer | None = None


def tracer() -> Tracer | None:
    """Where spans go; None where this process has no SDK: then nothing of OpenTelemetry was even imported, by us."""
    api = sys.modules.get("opentelemetry.trace")
    if api is None:
        return None
    provider = api.get_tracer_provider()
    if isinstance(provider, api.ProxyTracerProvider):
        return None
    if provider is not _Known.provider:
        _Known.provider, _Known.tracer = provider, provider.get_tracer("engrain")
    return _Known.tracer


@contextmanager
def span(tracer: Tracer, verb: str, caller: Caller | None) -> Iterator[Span]:
    """The span of a verb, named after its operation, or after itself where no convention has a word for it.

    What is raised inside is not recorded by itself: a message may quote what was said.
    """
    said = {"engrain.verb": verb}
    operation = OPERATIONS.get(verb)
    if operation is not None:
        said["gen_ai.operation.name"] = operation
    if caller is not None:
        said |= {"gen_ai.memory.store.id": caller.tenant_id, "gen_ai.agent.name": caller.agent}
        said |= {} if caller.session is None else {"gen_ai.conversation.id": caller.session}
        said |= {} if caller.request_id is None else {"engrain.request_id": caller.request_id}
    with tracer.start_as_current_span(
        operation or f"engrain {verb}",
        kind=_api().SpanKind.INTERNAL,
        attributes=said,
        record_exception=False,
        set_status_on_exception=False,
    ) as begun:
        yield begun


def ended(span: Span | None, outcome: str, *, records: int | None, record_id: str | None) -> None:
    """Write down what came of a verb."""
    if span is None:
        return
    span.set_attribute("engrain.outcome", outcome)
    if records is not None:
        span.set_attribute("gen_ai.memory.record.count", records)
    if record_id is not None:
        span.set_attribute("gen_ai.memory.record.id", record_id)


def failed(span: Span | None, outcome: str) -> None:
    """Write down the code that a verb failed with."""
    if span is None:
        return
    span.set_attribute("engrain.outcome", outcome)
    span.set_attribute("error.type", outcome)
    span.set_status(_api().Status(_api().StatusCode.ERROR))


def _api() -> Any:
    """The part of OpenTelemetry that the host has imported."""
    return sys.modules["opentelemetry.trace"]
