"""View: the base of Agent and its groups of verbs, which holds a caller and reaches the parts of its Memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.records import Caller


class View:
    """A Memory as one caller sees it. Each transaction looks up its pools: an agent that left one sees it no more."""

    __slots__ = ("_caller", "_parts")

    def __init__(self, parts: Callable[[], Parts], caller: Caller) -> None:
        """Made by `Memory.agent`; `parts` raises MemoryClosed once the memory is closed."""
        self._parts = parts
        self._caller = caller

    @property
    def _defaults(self) -> Mapping[str, Any]:
        """The arguments that this view gives its verbs where a call leaves them out."""
        return {}


def enter(view: View) -> tuple[Parts, Caller]:
    """Return the parts and the caller of a view, for functions of this room beside its verbs."""
    return view._parts(), view._caller  # noqa: SLF001  # of the same module
