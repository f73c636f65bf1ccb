"""View: the base of Agent and its groups of verbs, which holds a caller and reaches the parts of its Memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.agent.wiring.acts import with_pools

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.records import Caller


class View:
    """A Memory as one caller sees it. Its pools are read at each call: an agent that left one sees it no more."""

    __slots__ = ("_parts", "_who")

    def __init__(self, parts: Callable[[], Parts], caller: Caller) -> None:
        """Made by `Memory.agent`; `parts` raises MemoryClosed once the memory is closed."""
        self._parts = parts
        self._who = caller

    @property
    def _caller(self) -> Caller:
        """The caller, with its pools as they are now; one statement, so a verb reads it once."""
        return with_pools(self._parts(), self._who)


def enter(view: View) -> tuple[Parts, Caller]:
    """Return the parts and the caller of a view, for functions of this room beside its verbs."""
    parts = view._parts()  # noqa: SLF001  # of the same module
    return parts, with_pools(parts, view._who)  # noqa: SLF001
