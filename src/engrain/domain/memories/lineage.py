"""Lineage: what is derived from memories is trusted no more than the least trusted of them. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from engrain.domain.memories.trust import lowest_trust, with_trust
from engrain.domain.records import Fact, MemoryRecord, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

_Derived = TypeVar("_Derived", bound=Fact | Rule)


def inherit_trust(derived: _Derived, sources: Iterable[MemoryRecord]) -> _Derived:
    """A fact or rule with the lowest trust level of its sources, and its own if that is lower."""
    level = lowest_trust((derived.trust, *(source.trust for source in sources)))
    return derived if level == derived.trust else replace(derived, metadata=with_trust(derived.metadata, level))
