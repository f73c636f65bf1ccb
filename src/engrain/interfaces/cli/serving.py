"""Commands that stay and serve others."""

import os
import sys
from importlib.util import find_spec
from typing import Annotated

import typer

from engrain.domain import checks
from engrain.errors import EngineUnavailable
from engrain.interfaces.cli.completion import complete_names
from engrain.interfaces.cli.invocation import Invocation
from engrain.interfaces.mcp.handshake import answer_opening, claim_stdin
from engrain.interfaces.mcp.instructions import PROFILES

_Profile = Annotated[
    str,
    typer.Option(
        "--profile",
        metavar="NAME",
        help=f"Tools to options. One of: {', '.join(PROFILES)}.",
        autocompletion=complete_names(PROFILES),
    ),
]
_OF_THE_SERVER = frozenset({"anyio", "fastapi", "mcp", "opentelemetry", "prometheus_client", "starlette", "uvicorn"})


def mcp(
    invocation: Invocation,
    *,
    profile: _Profile = "butler",
) -> None:
    """Serve the memory as tools of the Model Context Protocol, on stdin and stdout.

    For a client that starts this command; docs/mcp.md shows its configuration.
    """
    chosen = checks.choice(profile, PROFILES, name="profile")
    if find_spec("mcp") is None:
        raise EngineUnavailable("engrain mcp needs a package: pip install 'engrain[mcp]'")
    opening = answer_opening(chosen, claim_stdin(), sys.stdout)
    from engrain.interfaces.mcp.server import serve_stdio

    with invocation.memory(stays=True) as memory:
        serve_stdio(memory, chosen, opening)


def token(invocation: Invocation) -> None:
    """Show the token of this user's servers on loopback, made with the first call.

    Clients send it as `Authorization: Bearer TOKEN`. It stands in a file that only this user can read.
    """
    from engrain.interfaces import local_token

    secret = local_token.read_token()
    invocation.answer({"token": secret, "file": str(local_token.token_file())}, secret)


def serve(
    invocation: Invocation,
    *,
    host: Annotated[
        str | None, typer.Option("--host", metavar="ADDRESS", help="Address to serve on; the setting if left out.")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", help="Port to serve on, 0 for any; the setting if left out.")
    ] = None,
    profile: _Profile = "butler",
    keys: Annotated[
        bool | None,
        typer.Option(
            "--keys/--no-keys",
            help="Ask for keys, or for nothing; left out, on loopback for its user's token, elsewhere for keys.",
        ),
    ] = None,
    worker: Annotated[bool, typer.Option("--worker/--no-worker", help="Do jobs in this process, too, or not.")] = True,
    mem0: Annotated[
        bool | None,
        typer.Option("--mem0/--no-mem0", help="Answer mem0's client under /mem0; the setting if left out."),
    ] = None,
) -> None:
    """Serve the memory to others: HTTP under /v1, tools under /mcp, health and metrics, and the jobs.

    Until it is interrupted, or told to stop by SIGTERM: what is under way is finished, nothing acknowledged is lost.
    """
    chosen = checks.choice(profile, PROFILES, name="profile")
    try:
        from engrain.interfaces import local_token, serving
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _OF_THE_SERVER:
            raise
        raise EngineUnavailable("engrain serve needs packages: pip install 'engrain[server]'") from error
    settings = invocation.settings(server={"host": host, "port": port, "mem0": mem0})
    with (
        serving.bind(settings.server.host, settings.server.port) as listener,
        invocation.memory(stays=True, settings=settings) as memory,
    ):
        required = serving.check_keys(memory, listener, wanted=keys)
        token_file = None if required or keys is False else str(local_token.token_file())
        options = serving.ServerOptions(
            keys_required=required,
            token=None if token_file is None else local_token.read_token(),
            profile=chosen,
            has_worker=worker,
            serves_mem0=settings.server.mem0,
        )
        address = serving.address_of(listener)
        told = {"address": address, "keys": required, "token_file": token_file}
        told |= {"mcp": f"{address}/mcp", "pid": os.getpid()}
        asked = "keys are asked for" if required else f"for the token in {token_file}"
        if not required and token_file is None:
            asked = "nothing is asked for: every user and program of this machine is an admin"
        serving.serve(
            memory,
            listener,
            options,
            ready=lambda: invocation.announce(told, f"serving {address} ({asked}); Ctrl-C stops it"),
        )
