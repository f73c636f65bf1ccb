"""Retries of a write that depends on a read, where another writer came between the two."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from engrain import metrics
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

# Another writer may come between a read and a write that depends on it; the next try sees what it wrote.
MOST_TRIES = 3

_Answer = TypeVar("_Answer")


def retry_on_registry_change(work: Callable[[], _Answer]) -> _Answer:
    """Run `work`, which reads entities and writes about them, again where they were merged or removed since.

    Raises:
        InvalidInput: of the last try.
    """
    for left in reversed(range(MOST_TRIES)):
        try:
            return work()
        except InvalidInput:
            if not left:
                raise
            metrics.count("entities_taken_meanwhile")
    raise AssertionError("unreachable: the last try returns or raises")
