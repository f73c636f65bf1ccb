"""Short texts about what a verb did, and notes beside an answer, by the name of the verb."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from engrain.domain.records import Answer, Episode, Fact, MemoryRecord, Rule
from engrain.interfaces.cli import output
from engrain.interfaces.cli.rendering import lists, memories

if TYPE_CHECKING:
    from engrain.context.block import ContextBlock
    from engrain.domain.access.keys import CreatedKey
    from engrain.domain.entities.registry import EntityMerge
    from engrain.domain.pagination import Page
    from engrain.domain.runs.additions import AddedMessages, Learning

Arguments = Mapping[str, Any]

_NO_MODEL = (
    "note: no language model is configured, so what is due was only counted; set llm.model, such as "
    "ENGRAIN_LLM__MODEL=openai:gpt-5-mini"
)
_LEARNING: Mapping[Learning, str] = {
    "done": "learned {:,} facts and rules",
    "waiting": "learned {:,} facts and rules; some messages wait for `engrain consolidate`",
    "background": "learning goes on in the background",
    "later": "the messages wait for `engrain consolidate`",
    "no_model": "no language model is configured: the messages wait for one",
}


def text(verb: str, answer: Any, arguments: Arguments) -> str | None:
    """The text that a verb did its work; None where its answer is shown by its type."""
    says = SAYS.get(verb)
    return None if says is None else says(answer, arguments)


def notes(verb: str, answer: Any, arguments: Arguments) -> Iterable[str]:
    """Lines for a person beside the answer."""
    return NOTES[verb](answer, arguments) if verb in NOTES else ()


def echo(verb: str, arguments: Arguments) -> dict[str, Any]:
    """The JSON of a verb that gives nothing: what it was asked for."""
    return {"deleted": arguments["name"]} if verb == "pools.delete" else dict(arguments)


def _observed(episode: Episode, _: Arguments) -> str:
    turn = f" in session {episode.session}, turn {episode.turn}" if episode.session else ""
    return f"observed {episode.id}{turn}"


def _added(added: AddedMessages, _: Arguments) -> str:
    session = added.episodes[0].session
    lines = [f"added {len(added.episodes):,} messages{f' to session {session}' if session else ''}"]
    lines += [f"{memory.kind} {memory.id}  {memories.statement(memory)}" for memory in added.learned]
    lines += [f"failed: {failure}" for failure in added.failures]
    return "\n".join([*lines, _LEARNING[added.learning].format(len(added.learned))])


def _remembered(fact: Fact, _: Arguments) -> str:
    before = f"\nsupersedes {fact.supersedes_id}" if fact.supersedes_id else ""
    return f"remembered {fact.id}\n{memories.statement(fact)}{before}"


def _forgotten(memory: MemoryRecord, _: Arguments) -> str:
    match memory:
        case Episode():
            done = "expired"
        case Fact():
            done = "retracted"
        case _:
            done = "withdrawn"
    return f"forgotten ({memory.kind}, {done}): {memories.summary(memory)}"


def _marked(rule: Rule, _: Arguments) -> str:
    counts = f"helped {rule.success_count:,} of {rule.applied_count:,} times, harmed {rule.harmful_count:,}"
    return f"{rule.maturity} (effectiveness {rule.effectiveness_score:.2f}: {counts}): {rule.content}"


def _merge(done: EntityMerge) -> str:
    facts = output.counted(len(done.facts_repointed), "fact")
    return f"{done.source.canonical_name} ({done.source.id}) and {done.target.canonical_name}: {facts} moved"


def _created_key(created: CreatedKey) -> list[str]:
    return [f"{lists.access_key(created.key)}\nKeep the secret now: nobody can show it again."]


def _evidence(answer: Answer, arguments: Arguments) -> list[str]:
    is_doubtful = answer.hits and answer.evidence == "none"
    doubts = ["note: the answer is probably not among these (evidence: none)"] if is_doubtful else []
    return [*_times(answer, arguments), *doubts]


def _times(answer: Answer | ContextBlock | Page[Fact], arguments: Arguments) -> list[str]:
    return [f"note: {name} {arguments[name]!r} is {moment:%Y-%m-%d %H:%M} UTC" for name, moment in answer.times.items()]


def _masked(memory: MemoryRecord, arguments: Arguments) -> list[str]:
    """A note where what was stored has a mask that was not given."""
    from engrain.domain.text.secrets import MASK

    is_masked = memory.content.count(MASK) > str(arguments.get("content", "")).count(MASK)
    return ["note: it holds a secret, which was masked; privacy.secrets says what is done"] if is_masked else []


SAYS: Mapping[str, Callable[[Any, Arguments], str]] = {
    "add": _added,
    "observe": _observed,
    "remember": _remembered,
    "correct": _remembered,
    "confirm": lambda memory, _: f"confirmed ({memory.kind}): {memories.summary(memory)}",
    "forget": _forgotten,
    "erase": lambda report, _: "\n".join(f"erased {id_}" for id_ in report.ids),
    "link": lambda link, _: f"linked: {link.source_id} {link.relation} {link.target_id}",
    "rules.add": lambda rule, _: f"added rule {rule.id} ({rule.maturity})",
    "rules.mark_helpful": _marked,
    "rules.mark_harmful": _marked,
    "entities.create": lambda made, _: f"created {made.entity_type} {made.id}: {made.canonical_name}",
    "entities.merge": lambda done, _: f"merged {_merge(done)}",
    "entities.unmerge": lambda done, _: f"parted {_merge(done)}",
    "notes.save": lambda note, _: f"saved {note.id}\n{lists.note(note)}",
    "notes.forget": lambda note, _: f"forgotten {note.id}\n{lists.note(note)}",
    "notes.summarize_old": lambda count, _: f"archived {output.counted(count, 'note')}",
    "pools.create": lambda pool, _: f"created {lists.pool(pool)}",
    "pools.delete": lambda _, arguments: f"deleted pool {arguments['name']}",
    "pools.contribute": lambda copy, arguments: f"{copy.kind} {copy.id} is in pool {arguments['name']} now",
}
NOTES: Mapping[str, Callable[[Any, Arguments], Iterable[str]]] = {
    "recall": _evidence,
    "observe": _masked,
    "remember": _masked,
    "correct": _masked,
    "rules.add": _masked,
    "facts": _times,
    "context": _times,
    "events": lambda page, _: (
        []
        if page.removed_before is None
        else [f"note: events before {page.removed_before:%Y-%m-%d %H:%M} UTC were removed (events.keep_days)"]
    ),
    "erase": lambda report, arguments: [
        *(f"note: no memory {id_} is visible to this agent" for id_ in arguments["ids"] if id_ not in report.ids),
        *(
            f"note: {memory.kind} {memory.id} in {memory.scope} was derived from {memory.derived_from} and stays"
            for memory in report.derived
        ),
    ],
    "summarize": lambda summary, _: (
        [] if summary.memory_id is None else [f"note: kept as {summary.memory_id} by run {summary.run_id}"]
    ),
    "consolidate": lambda report, arguments: [
        *([_NO_MODEL] if report.dry_run and not arguments.get("dry_run") else []),
        *(["note: what waits is tried at once by: engrain consolidate --now"] if report.waiting else []),
    ],
    "keys.create": lambda created, _: _created_key(created),
    "keys.rotate": lambda created, _: _created_key(created),
}
