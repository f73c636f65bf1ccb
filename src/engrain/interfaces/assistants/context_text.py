"""Text of the context that a hook gives: the block of the project, then what the whole memory adds to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.context.block import mark_as_data

if TYPE_CHECKING:
    from engrain.interfaces.assistants.session_state import SessionState

CHARACTERS_PER_TOKEN = 4


def merge(project: str, whole: str, state: SessionState, *, most_tokens: int) -> str:
    """Return both blocks as one text, each line once, without those that the model of the session has already.

    The lines that it holds are noted in `state`. Empty where nothing is new.
    """
    first = _without(project, set(), state)
    second = _without(whole, set(project.splitlines()), state)
    room = most_tokens * CHARACTERS_PER_TOKEN - sum(map(len, first))
    second = _prune(_within(second, room))
    if not first and not second:
        return ""
    state.add_lines(line for line in (*first, *second) if not line.startswith("#"))
    parts = [("# This project", first), ("# Elsewhere", second)] if first else [("", second)]
    return mark_as_data("\n".join(line for title, lines in parts if lines for line in (title, *lines) if line))


def _without(text: str, known: set[str], state: SessionState) -> list[str]:
    """Return the lines of a block that are neither known nor the model's, and the headings that they stand under."""
    lines = [line for line in text.splitlines() if line.strip()]
    return _prune([line for line in lines if line.startswith("#") or (line not in known and state.is_new(line))])


def _within(lines: list[str], room: int) -> list[str]:
    """Return the first lines that fit into a number of characters."""
    chosen = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        chosen.append(line)
    return chosen


def _prune(lines: list[str]) -> list[str]:
    """Return lines without the headings that nothing stands under."""
    kept, deepest = [], 0  # the level of the headings above which something stands
    for line in reversed(lines):
        level = len(line) - len(line.lstrip("#"))
        if level == 0 or level < deepest:
            kept.append(line)
            deepest = level or 99
    return kept[::-1]
