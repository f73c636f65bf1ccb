"""Lineage: what is derived from memories has the least of their trust, and their project. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from engrain.domain.memories.fact_keys import PROJECT_PREFIX
from engrain.domain.memories.trust import lowest_trust, with_trust
from engrain.domain.records import Fact, MemoryRecord, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_Derived = TypeVar("_Derived", bound=Fact | Rule)


def inherit_trust(derived: _Derived, sources: Iterable[MemoryRecord]) -> _Derived:
    """A fact or rule with the lowest trust level of its sources, and its own if that is lower."""
    level = lowest_trust((derived.trust, *(source.trust for source in sources)))
    return derived if level == derived.trust else replace(derived, metadata=with_trust(derived.metadata, level))


def inherit_project(tags: tuple[str, ...], sources: Sequence[MemoryRecord]) -> tuple[str, ...]:
    """Tags with those of the project that all sources are of, unless they name a project themselves."""
    if not sources or any(tag.startswith(PROJECT_PREFIX) for tag in tags):
        return tags
    shared = set(sources[0].tags).intersection(*(source.tags for source in sources))
    return (*tags, *sorted(tag for tag in shared if tag.startswith(PROJECT_PREFIX)))
