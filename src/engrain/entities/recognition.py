"""Recognition of names in a text by several name finders, without overlaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engrain.domain.entities.registry import Name
    from engrain.domain.ports import NameFinder


def find_names(text: str, finders: Sequence[NameFinder]) -> list[Name]:
    """Find the names of a text, in its order; of overlapping names the most confident, then the longest.

    Raises:
        EngineUnavailable: a finder cannot answer.
    """
    return remove_overlaps(name for finder in finders for name in finder.find(text))


def remove_overlaps(names: Iterable[Name]) -> list[Name]:
    """Remove overlaps: keep the highest confidence, then the longest, then the first; sorted by start."""
    chosen: list[Name] = []
    for name in sorted(names, key=_rank):
        if all(name.end <= other.start or other.end <= name.start for other in chosen):
            chosen.append(name)
    return sorted(chosen, key=lambda name: name.start)


def _rank(name: Name) -> tuple[float, int, int, str, str]:
    return (-name.confidence, name.start - name.end, name.start, name.kind, name.source)
