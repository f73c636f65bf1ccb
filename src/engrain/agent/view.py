"""What every part of an agent's view holds: how to reach the rooms, and who asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.agent.parts import Parts
    from engrain.domain.records import Caller


class View:
    """Somebody before a memory. Which pools it is in is asked at each call: who has left one sees it no more."""

    __slots__ = ("_parts", "_who")

    def __init__(self, parts: Callable[[], Parts], caller: Caller) -> None:
        """Made by `Memory.agent`; `parts` raises MemoryClosed once the memory is closed."""
        self._parts = parts
        self._who = caller

    @property
    def _caller(self) -> Caller:
        """Who asks, with its pools as they are now; one statement, so a verb asks once."""
        return self._parts().seeing(self._who)
