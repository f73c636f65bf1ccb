"""A tool as a row of a profile's table: the function behind it, and what calling it does to the memory."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from mcp_types import ToolAnnotations

from engrain.domain.access.keys import Role
from engrain.errors import NotFound

_Done = TypeVar("_Done")

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
CONFIRMS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
REPLACES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False)
REMOVES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
LEARNS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True)


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """One tool: its function's name is the tool's, its docstring what a model is told, its first argument who acts."""

    call: Callable[..., object]
    effect: ToolAnnotations
    role: Role | None = None  # what calling it needs, where the effect does not say it
    title: str | None = None
    ignores_unknown: bool = False  # whether an argument that it does not have is passed over, not refused

    @property
    def name(self) -> str:
        return self.call.__name__

    @property
    def needs(self) -> Role:
        """The role that calling it needs: that of a reader where it only reads, else of a writer."""
        return self.role or ("reader" if self.effect.read_only_hint else "writer")


def unless_absent(act: Callable[[], _Done]) -> _Done | None:
    """What an act gives; None where what it names is not there, which is an answer and no fault."""
    try:
        return act()
    except NotFound:
        return None
