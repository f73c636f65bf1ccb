"""Commands that stay and serve others."""

from typing import Annotated

import typer

from engrain.domain import checks
from engrain.errors import EngineUnavailable
from engrain.interfaces.cli.arguments import one_of
from engrain.interfaces.cli.invocation import Invocation, command

app = typer.Typer()

# Those of interfaces/mcp/profiles.py, which only the extra `mcp` can load.
PROFILES = ("butler", "assistant", "consolidator", "notes", "graph", "all")


@command(app, "mcp")
def mcp(
    invocation: Invocation,
    *,
    profile: Annotated[
        str, typer.Option("--profile", metavar="NAME", help=f"Which tools to offer. {one_of(PROFILES)}")
    ] = "butler",
) -> None:
    """Serve the memory as tools of the Model Context Protocol, on stdin and stdout.

    For a client that starts this command; docs/mcp.md shows its configuration.
    """
    chosen = checks.choice(profile, PROFILES, what="profile")
    try:
        from engrain.interfaces.mcp.server import serve_stdio
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise EngineUnavailable("engrain mcp needs a package: pip install 'engrain[mcp]'") from error
    with invocation.memory(stays=True) as memory:
        serve_stdio(memory, chosen)
