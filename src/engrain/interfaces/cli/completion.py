"""Completion in the shell: of names that the table knows, and of ids and sessions that the memory holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import typer

from engrain.errors import EngrainError

if TYPE_CHECKING:
    from engrain.agent.agent import Agent
    from engrain.verbs.signatures import Parameter
    from engrain.verbs.words import Identified

Complete = Callable[[typer.Context, str], "list[str]"]
_SESSIONS = frozenset({"session", "sessions", "exclude_session", "exclude_sessions"})
_GLOBAL = ("db", "agent", "user", "tenant", "config")
_MOST = 50


def complete_parameter(parameter: Parameter, choices: tuple[str, ...]) -> Complete | None:
    """The completion of a verb's parameter; None where anything may stand."""
    if choices:
        return complete_names(choices)
    if parameter.name in _SESSIONS:
        return complete_sessions
    kind = parameter.word.id_of
    return None if kind is None else complete_ids(kind)


def complete_names(choices: Iterable[str]) -> Complete:
    """The completion of one of some names."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:  # noqa: ARG001  # typer passes it
        return [name for name in choices if name.startswith(incomplete)]

    return complete


def complete_settings(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of settings."""
    from engrain.config.tree import fields

    return complete_names(fields())(ctx, incomplete)


def complete_ids(kind: Identified) -> Complete:
    """The completion of an id, of the newest memories first."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        from engrain.agent.reads.lookups import find_ids

        return _ask(ctx, lambda agent: find_ids(agent, kind, incomplete, limit=_MOST))

    return complete


def complete_sessions(ctx: typer.Context, incomplete: str) -> list[str]:
    """Sessions of the newest episodes."""
    from engrain.agent.reads.lookups import find_sessions

    return _ask(ctx, lambda agent: find_sessions(agent, incomplete, limit=_MOST))


def _ask(ctx: typer.Context, question: Callable[[Agent], list[str]]) -> list[str]:
    """An answer of the memory that the options before name; nothing where there is none, or it cannot be read."""
    from engrain.interfaces.cli.invocation import Invocation, path_of

    given: dict[str, Any] = {}
    context: typer.Context | None = ctx
    while context is not None:
        given = {**{name: context.params[name] for name in _GLOBAL if context.params.get(name)}, **given}
        context = context.parent  # type: ignore[assignment]  # of the same class
    invocation = Invocation(**given)
    try:
        path = path_of(invocation.settings().db)
        if path is not None and not path.exists():
            return []
        with invocation.memory(embedder="none") as memory:
            return question(memory.agent())
    except (EngrainError, OSError):
        return []
