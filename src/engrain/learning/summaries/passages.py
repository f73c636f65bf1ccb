"""Passages: memories as texts to be summarized, each with its speaker and day."""

from __future__ import annotations

from dataclasses import dataclass

from engrain.domain.records import Episode, Fact, MemoryRecord


@dataclass(frozen=True, slots=True)
class Passage:
    """The words of one memory; a label, where there is one, stands before them in a summary: who said it, and when."""

    text: str
    label: str = ""
    id: str = ""  # of the memory; empty for a text that is none


def build_passage(memory: MemoryRecord) -> Passage:
    """An episode behind its day and speaker, a fact as a statement behind the day it is true from, a rule bare."""
    day = f"{memory.happened_at:%Y-%m-%d}"
    match memory:
        case Episode():
            return Passage(memory.content, f"{day} {memory.speaker or memory.role}", memory.id)
        case Fact():
            return Passage(memory.statement, day, memory.id)
        case _:
            return Passage(memory.content, "", memory.id)
