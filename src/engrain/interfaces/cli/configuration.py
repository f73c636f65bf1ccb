"""`engrain config`: every setting in force, and where it comes from."""

import json
from typing import Annotated, Any

import typer

from engrain import config
from engrain.errors import InvalidInput
from engrain.interfaces.cli.completion import complete_settings
from engrain.interfaces.cli.invocation import Invocation
from engrain.storage import mask_password as shown_location


def show_settings(
    invocation: Invocation,
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Only this setting or section.", autocompletion=complete_settings),
    ] = None,
) -> None:
    """Every setting in force, and who gave it.

    An option, a variable, a file, or nobody: then it is the default. Of a key only whether it is set.
    """
    found = in_force(invocation)
    if name is not None:
        found = [setting for setting in found if f"{setting['name']}.".startswith(f"{name}.")]
    if not found:
        raise InvalidInput(f"no setting or section is called {name!r}; engrain config lists all")
    invocation.answer({"settings": found}, shown(found))


def in_force(invocation: Invocation) -> list[dict[str, Any]]:
    """Name, value and origin of each setting, as JSON; a database's password is left out of its address."""
    found = config.effective(invocation.given, file=invocation.config)
    return [
        {
            "name": each.name,
            "value": shown_location(each.value) if each.name == "db" else each.value,
            "origin": f"option --{each.name}" if each.origin == config.CALLER else each.origin,
        }
        for each in found
    ]


def shown(found: list[dict[str, Any]]) -> str:
    """One aligned line for each setting; what is not the default says whose it is."""
    lines = [(each["name"], _plain(each["value"]), each["origin"]) for each in found]
    names, values = (max(len(line[place]) for line in lines) for place in (0, 1))
    return "\n".join(f"{name:<{names}}  {value:<{values}}  {origin}".rstrip() for name, value, origin in lines)


def _plain(value: object) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
