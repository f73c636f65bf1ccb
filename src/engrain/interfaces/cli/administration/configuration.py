"""`engrain config` and `engrain trust`: settings in force with their sources, and trust in a settings file."""

import json
from typing import Annotated, Any

import typer

from engrain import config
from engrain.config.sources import CALLER, revoke_trust, trust_file
from engrain.errors import InvalidInput
from engrain.interfaces.cli.completion import complete_settings
from engrain.interfaces.cli.invocation import Invocation, flag
from engrain.storage import mask_password


def show_settings(
    invocation: Invocation,
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Only this setting or section.", autocompletion=complete_settings),
    ] = None,
) -> None:
    """Show every setting in force, and who gave it.

    An option, a variable, a file, or nobody: then it is the default. Of a key only whether it is set.
    """
    settings = in_force(invocation)
    if name is not None:
        settings = [setting for setting in settings if f"{setting['name']}.".startswith(f"{name}.")]
    if not settings:
        raise InvalidInput(f"no setting or section is called {name!r}; engrain config lists all")
    invocation.answer({"settings": settings}, describe(settings))


def trust(
    invocation: Invocation,
    file: Annotated[str | None, typer.Argument(metavar="FILE", help="Settings file; engrain.toml if left out.")] = None,
    *,
    revoke: Annotated[bool, flag("--revoke", "Trust the file no longer.")] = False,
) -> None:
    """Trust a settings file of a folder as it is now.

    Only then it may name commands, addresses, databases, keys and folders. A changed file must be trusted again.
    """
    if revoke:
        path, revoked = revoke_trust(file)
        text = f"{path} {'is trusted no longer' if revoked else 'was not trusted'}"
        invocation.answer({"file": str(path), "revoked": revoked}, text)
        return
    path, names = trust_file(file)
    invocation.answer(
        {"file": str(path), "trusted": names}, f"trusted {path}, which sets {', '.join(names) or 'little'}"
    )


def in_force(invocation: Invocation) -> list[dict[str, Any]]:
    """Name, value and origin of each setting, as JSON; a database's password is left out of its address."""
    return [
        {
            "name": setting.name,
            "value": mask_password(setting.value) if setting.name == "db" else setting.value,
            "origin": f"option --{setting.name}" if setting.origin == CALLER else setting.origin,
        }
        for setting in config.effective(invocation.replaced_settings, file=invocation.config)
    ]


def describe(settings: list[dict[str, Any]]) -> str:
    """One aligned line for each setting; what is not the default says whose it is."""
    lines = [(setting["name"], _plain(setting["value"]), setting["origin"]) for setting in settings]
    names, values = (max(len(line[place]) for line in lines) for place in (0, 1))
    return "\n".join(f"{name:<{names}}  {value:<{values}}  {origin}".rstrip() for name, value, origin in lines)


def _plain(value: object) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
