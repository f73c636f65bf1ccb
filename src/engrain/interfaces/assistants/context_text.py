"""Text of the context that a hook gives: what the project's memories say, then all others under names of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engrain.context.block import mark_as_data
from engrain.domain.memories.fact_keys import PROJECT_PREFIX, USER, subject_key
from engrain.domain.text.prompt_safety import flatten
from engrain.domain.text.tokens import approximate_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from engrain.interfaces.assistants.session_state import SessionState

_OWN = "# This project"
_OF_NONE = "# Without a project"


@dataclass(frozen=True, slots=True)
class _Line:
    """One memory of a block: the heading that names its project, those of its section and day, and what it says."""

    project: str
    section: str
    day: str
    text: str


def merge(
    of_project: Mapping[str, Any], whole: Mapping[str, Any], state: SessionState, *, project: str, most_tokens: int
) -> str:
    """Return two answers of `context` as one text, each line once, without those that the session's model has.

    Every line stands under a heading that names its project: the one of the tag `project` first, memories of none next.
    Of the second answer as many lines stand as fit. The lines are noted in `state`. Empty where nothing is new.
    """
    chosen: dict[str, _Line] = {}
    for line in _read(of_project, project):
        if state.is_new(line.text):
            chosen.setdefault(line.text, line)
    for line in _read(whole, project):
        if line.text not in chosen and state.is_new(line.text):
            more = {**chosen, line.text: line}
            if approximate_tokens(_render(list(more.values()))) > most_tokens:
                break
            chosen = more
    state.add_lines(chosen)
    return mark_as_data(_render(list(chosen.values()))) if chosen else ""


def _read(answer: Mapping[str, Any], project: str) -> Iterator[_Line]:
    """Yield the lines of an answer; each is of one memory, and the memories stand in the order of the lines."""
    memories = iter(answer["memories"])
    section = day = ""
    for line in answer["text"].splitlines():
        if line.startswith("- "):
            yield _Line(_name_project(next(memories), project), section, day, line)
        elif line.startswith("### "):
            day = line
        elif line.startswith("## "):
            section, day = line, ""


def _name_project(memory: Mapping[str, Any], project: str) -> str:
    """Return the heading that names the project of a memory; what is known of the user is of none."""
    tags = [tag for tag in memory["tags"] if tag.startswith(PROJECT_PREFIX)]
    if project in tags:
        return _OWN
    if not tags or subject_key(memory.get("subject") or "") == USER:
        return _OF_NONE
    return f"# Elsewhere: {flatten(', '.join(tag.removeprefix(PROJECT_PREFIX) for tag in tags))}"


def _render(lines: Sequence[_Line]) -> str:
    """Return lines under their headings: projects and sections in the order in which they come, days by date."""
    projects = dict.fromkeys((_OWN, _OF_NONE, *(line.project for line in lines)))
    places = {name: place for place, name in enumerate((*projects, *dict.fromkeys(line.section for line in lines)))}
    text: list[str] = []
    above = ("", "", "")
    for line in sorted(lines, key=lambda line: (places[line.project], places[line.section], line.day)):
        headings = (line.project, line.section, line.day)
        changed = next((place for place in range(3) if headings[place] != above[place]), 3)
        text += [heading for heading in headings[changed:] if heading]
        text.append(line.text)
        above = headings
    return "\n".join(text)
