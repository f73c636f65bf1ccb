"""Answers of commands: one JSON document for programs, text for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engrain.interfaces.cli import output
from engrain.interfaces.cli.rendering import acknowledgements, generic, hits, lists, overview, reports

if TYPE_CHECKING:
    from engrain.interfaces.cli.invocation import Invocation
    from engrain.verbs.signatures import Signature

# Where a search finds nothing it may be another agent's memory, or another tenant's.
_SEARCHES = frozenset({"recall", "list", "episodes", "facts"})
_HINT = "; engrain agents shows whose memories there are"
# Properties of reports that stand in their JSON beside the fields.
_PROPERTIES = {"BackupReport": ("memories",), "RestoreReport": ("memories",)}
# Text of answers by the name of their type; of what is not here, a line for each field.
TEXTS: Mapping[str, Callable[[Any], str]] = {
    "AccessKey": lists.access_key,
    "Answer": hits.answer,
    "Audit": reports.audit,
    "BackupReport": reports.backup,
    "CleanupReport": reports.cleanup,
    "ConsolidationReport": reports.consolidation,
    "ContextBlock": lambda block: block.text,
    "ContextMessages": reports.messages,
    "CreatedKey": lambda created: created.secret,
    "DecayReport": reports.decay,
    "Enrichment": reports.enrichment,
    "EntityProfile": reports.entity_profile,
    "ExportReport": reports.export,
    "Job": lists.job,
    "KnowledgeGraph": reports.graph,
    "NoteAnswer": hits.note_answer,
    "Overview": overview.overview,
    "Pool": lists.pool,
    "PoolSync": reports.pool_sync,
    "ReflectionReport": reports.reflections,
    "RestoreReport": reports.restore,
    "Routing": reports.routing,
    "Stats": lambda stats: output.pairs(generic.flat(stats.to_dict())),
    "Summary": lambda summary: summary.text or "nothing to summarize",
    "TenantErasure": reports.tenant_erasure,
    "UndoResult": reports.undone,
}


def show(invocation: Invocation, made: Signature, answer: Any, arguments: Mapping[str, Any]) -> None:
    """The answer of a verb on stdout, and what a person should know of it on stderr."""
    if invocation.as_json:
        output.document(document(made, answer, arguments))
        return
    text = _text(made, answer, arguments)
    if text:
        output.say(text)
    invocation.degraded(getattr(answer, "degraded", ()))
    for note in acknowledgements.notes(made.verb.name, answer, arguments):
        invocation.note(note)
    if _is_empty(answer):
        invocation.note(f"nothing found{_HINT if made.verb.name in _SEARCHES else ''}")
    elif type(answer).__name__ == "Stats" and not (answer.episodes.total or answer.facts.live or answer.rules.live):
        invocation.note(f"agent {answer.agent} of tenant {answer.tenant_id} remembers nothing{_HINT}")
    if getattr(answer, "next", None) is not None:
        invocation.note(f"note: there are more; see them with --after {answer.next}")


def document(made: Signature, answer: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The answer as a JSON object: a record by its fields, a list as a page, a bare value under the name of its row."""
    if answer is None:
        return acknowledgements.echo(made.verb.name, arguments)
    properties = _PROPERTIES.get(type(answer).__name__, ())
    return {**made.to_json(answer), **{name: getattr(answer, name) for name in properties}}


def _text(made: Signature, answer: Any, arguments: Mapping[str, Any]) -> str:
    acknowledged = acknowledgements.text(made.verb.name, answer, arguments)
    if acknowledged is not None:
        return acknowledged
    if made.verb.field is not None:
        return generic.value(answer)
    says = TEXTS.get(type(answer).__name__)
    if says is None:
        says = lists.lines if isinstance(answer, Sequence) else generic.record
    return says(answer)


def _is_empty(answer: Any) -> bool:
    if type(answer).__name__ == "KnowledgeGraph":
        return not (answer.entities or answer.relations)
    listed = getattr(answer, "hits", answer)
    return isinstance(listed, Sequence) and not listed
