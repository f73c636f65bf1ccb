"""Commands of verbs: made from the table and the signatures, each one call of the facade."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from engrain.errors import NotFound
from engrain.interfaces.cli import progress, rendering
from engrain.interfaces.cli.adaptations import adaptation_of
from engrain.interfaces.cli.failures import ExitCode
from engrain.interfaces.cli.invocation import Invocation, is_served, make_command
from engrain.interfaces.cli.options import Option, option_of, values_of
from engrain.interfaces.cli.prefixes import check_whole_ids, with_whole_ids
from engrain.verbs.signatures import Signature, signature

if TYPE_CHECKING:
    from collections.abc import Callable

    from typer.core import TyperCommand

    from engrain.service import Memory

# Options that every command has say these.
_GLOBAL = ("tenant", "agent", "user")
_ABSENT = "nothing like that is visible to agent {agent} of tenant {tenant}"
_WRITING = frozenset({"adds", "replaces", "learns"})


def command_of(name: str) -> TyperCommand:
    """The command of a verb by the verb's name."""
    made = signature(name)
    options = options_of(made)

    def run(invocation: Invocation, **typed: Any) -> None:
        _run(made, invocation, values_of(options, typed))

    assert made.verb.command_name is not None
    text = "\n\n".join(part for part in (made.summary, made.usage, adaptation_of(name).more) if part)
    parameters = [option.parameter() for option in options]
    name = made.verb.command_name.split()[-1]
    return make_command(name, run, parameters, text, is_for_every_user=made.is_for_every_user)


def options_of(made: Signature) -> tuple[Option, ...]:
    """The arguments of a verb's command by place, then its options."""
    adapted = adaptation_of(made.verb.name)
    taken = [
        parameter
        for parameter in made.parameters
        if parameter.name not in _GLOBAL and parameter.name not in adapted.drops
    ]
    placed = [made.by_name[name] for name in made.verb.placed]
    options = [parameter for parameter in taken if parameter not in placed]
    return (
        *(option_of(parameter, is_placed=True) for parameter in placed),
        *(option_of(parameter, is_placed=False, default=adapted.defaults.get(parameter.name)) for parameter in options),
        *adapted.adds,
    )


def _run(made: Signature, invocation: Invocation, values: dict[str, Any]) -> None:
    adapted = adaptation_of(made.verb.name)
    arguments = adapted.prepare({**adapted.defaults, **values})
    if adapted.run is not None:
        adapted.run(invocation, arguments)
        return
    if adapted.other is not None and adapted.other[0] in arguments:
        made = signature(adapted.other[1])
    opened = invocation.adding if made.verb.effect in _WRITING else partial(invocation.memory, reads=True)
    with opened() as memory:
        if is_served(memory):
            check_whole_ids(made, arguments)
        else:
            arguments = with_whole_ids(memory.agent(), made, arguments)
        if adapted.agree is not None:
            arguments = adapted.agree(invocation, memory, arguments)
        answer = _call(made, invocation, memory, arguments)
        absent = adapted.absent or (_ABSENT if made.is_optional else "")
        if absent and not answer:
            raise NotFound(_absent(absent, memory, arguments))
        rendering.show(invocation, made, answer, arguments)
    if adapted.fails(answer):
        raise typer.Exit(ExitCode.PROBLEM)


def _call(made: Signature, invocation: Invocation, memory: Memory, arguments: dict[str, Any]) -> Any:
    known = {*made.by_name, *made.caller_parameters}
    callers = {name: getattr(invocation, name) for name in _GLOBAL if name in known}
    given = {**arguments, **{name: value for name, value in callers.items() if value is not None}}
    target: Any = memory
    if made.verb.owner == "agent":
        session = None if "session" in known else given.pop("session", None)
        target = memory.agent(session=session)
    if made.verb.group is not None:
        target = getattr(target, made.verb.group)
    method = getattr(target, made.verb.method_name)
    with ExitStack() as bars:
        if made.progress and not is_served(memory):
            given["progress"] = _bar(made, bars, visible=not invocation.as_json)
        return method(**given)


def _bar(made: Signature, bars: ExitStack, *, visible: bool) -> Callable[..., None]:
    """The progress function of a verb: of a count so far or more, or of steps and their counts."""
    if made.progress != (int,):
        return progress.steps(bars, visible=visible)
    adapted = adaptation_of(made.verb.name)
    show = bars.enter_context(progress.counting(adapted.counts or "done", total=None, visible=visible))
    return progress.sums(show) if adapted.adds_up else show


def _absent(text: str, memory: Memory, arguments: dict[str, Any]) -> str:
    """The message that nothing is there, of the arguments and the caller."""
    caller = memory.agent().caller
    fields = {name: ", ".join(value) if isinstance(value, list) else value for name, value in arguments.items()}
    as_of = f" of {fields['as_of']}" if "as_of" in fields else ""
    return text.format(**{**fields, "as_of": as_of, "agent": caller.agent, "tenant": caller.tenant_id})
