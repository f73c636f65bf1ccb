"""Names of a text by several finders, one for each place: the surest, then the longest."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engrain.domain.entities.registry import Name
    from engrain.domain.ports import NameFinder


def find(text: str, finders: Sequence[NameFinder]) -> list[Name]:
    """What the finders find in a text, in its order; of names that overlap the surest, then the longest.

    Raises:
        EngineUnavailable: a finder cannot answer.
    """
    return without_overlaps(name for finder in finders for name in finder.find(text))


def without_overlaps(names: Iterable[Name]) -> list[Name]:
    """One name for each place, by start: highest confidence, then longest, then first, whatever order they come in."""
    kept: list[Name] = []
    for name in sorted(names, key=_rank):
        if all(name.end <= other.start or other.end <= name.start for other in kept):
            kept.append(name)
    return sorted(kept, key=lambda name: name.start)


def _rank(name: Name) -> tuple[float, int, int, str, str]:
    return (-name.confidence, name.start - name.end, name.start, name.kind, name.source)
