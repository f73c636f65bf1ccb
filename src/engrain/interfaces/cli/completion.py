"""Completion in the shell: of names that the table knows, and of ids and sessions that the memory holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engrain.verbs.signatures import Parameter

Complete = Callable[[typer.Context, str], "list[str]"]


def of(parameter: Parameter, choices: tuple[str, ...]) -> Complete | None:  # noqa: ARG001
    """The completion of a verb's parameter; None where anything may stand."""
    return names(choices) if choices else None


def names(choices: Iterable[str]) -> Complete:
    """The completion of one of some names."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:  # noqa: ARG001  # typer passes it
        return [name for name in choices if name.startswith(incomplete)]

    return complete
