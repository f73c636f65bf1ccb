"""Search of an agent's own notes: the selection of candidates, and the source of a hit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.records import Caller, Explanation, Fact, MemoryRecord

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engrain.domain.memories.notes import Source
    from engrain.domain.requests import Candidate, Ref


def select_notes(
    caller: Caller, candidates: Sequence[Candidate], memories: Mapping[Ref, MemoryRecord], category: str | None
) -> list[Candidate]:
    """Select the notes of this agent, in their order; those of one category, unless there is none."""
    from engrain.domain.memories.notes import is_note

    own = [found for found in candidates if found.ref in memories and is_note(memories[found.ref], caller)]
    return [found for found in own if _category(memories[found.ref]) == category] or own


def hit_source(why: Explanation) -> Source:
    """The search that returned a hit: keywords, TF-IDF, both, or a reranker."""
    channels = {contribution.channel for contribution in why.contributions if contribution.value > 0}
    if "rerank" in channels:
        return "llm"
    if {"keyword", "tfidf"} <= channels:
        return "combined"
    return "tfidf" if "tfidf" in channels else "fts5"


def _category(memory: MemoryRecord) -> str | None:
    return memory.category if isinstance(memory, Fact) else None
