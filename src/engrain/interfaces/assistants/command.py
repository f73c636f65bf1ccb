"""Command of the hooks of coding assistants, as help and completion show it; hooks themselves go past the parser."""

from typing import Annotated

import typer

from engrain.interfaces.assistants.hook import DEFAULT_CLIENT, run
from engrain.interfaces.assistants.protocols import PROTOCOLS
from engrain.interfaces.cli.completion import complete_names
from engrain.interfaces.cli.invocation import Invocation, flag


def hook(
    invocation: Invocation,
    event: Annotated[str, typer.Argument(metavar="EVENT", help="The event, by the assistant's own name for it.")],
    *,
    client: Annotated[
        str,
        flag(
            "--client NAME", f"The assistant. One of: {', '.join(PROTOCOLS)}.", autocompletion=complete_names(PROTOCOLS)
        ),
    ] = DEFAULT_CLIENT,
) -> None:
    """Store the turns of a coding assistant and give it context, as its hook: its JSON on stdin, the answer on stdout.

    The exit code is 0 whatever happens; what went wrong stands in hooks.log, and at the start of a session in the
    answer. `engrain mcp install CLIENT --hooks` sets it up.
    """
    named = {"client": client, "config": invocation.config, **invocation.replaced_settings}
    run([event, *(part for name, value in named.items() if value is not None for part in (f"--{name}", str(value)))])
