"""What a search of an agent's own notes does besides: which candidates it looks at, and where a hit comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.memories.notes import is_note
from engrain.domain.records import Caller, Explanation, Fact, MemoryRecord

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engrain.domain.memories.notes import Source
    from engrain.domain.requests import Candidate, Ref


def notes_of(
    caller: Caller, candidates: Sequence[Candidate], memories: Mapping[Ref, MemoryRecord], category: str | None
) -> list[Candidate]:
    """The candidates that are notes of this agent, in their order; of one category, unless that leaves none."""
    own = [each for each in candidates if each.ref in memories and is_note(memories[each.ref], caller)]
    return [each for each in own if _category(memories[each.ref]) == category] or own


def source(why: Explanation) -> Source:
    """Which search a hit owes its place to: the keyword list, TF-IDF, both, or a model that read it."""
    gave = {each.channel for each in why.contributions if each.value > 0}
    if "rerank" in gave:
        return "llm"
    if {"keyword", "tfidf"} <= gave:
        return "combined"
    return "tfidf" if "tfidf" in gave else "fts5"


def _category(memory: MemoryRecord) -> str | None:
    return memory.category if isinstance(memory, Fact) else None
