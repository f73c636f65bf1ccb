"""Memories as texts to be summarised: each with who said it and when, and whence it comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.records import Episode, Fact
from engrain.learning.summaries.extractive import Passage

if TYPE_CHECKING:
    from engrain.domain.records import MemoryRecord


def build_passage(memory: MemoryRecord) -> Passage:
    """An episode behind its day and speaker, a fact as a statement behind the day it is true from, a rule bare."""
    day = f"{memory.happened_at:%Y-%m-%d}"
    match memory:
        case Episode():
            return Passage(memory.content, f"{day} {memory.speaker or memory.role}", memory.id)
        case Fact():
            return Passage(f"{memory.subject} {memory.predicate}: {memory.content}", day, memory.id)
        case _:
            return Passage(memory.content, "", memory.id)
