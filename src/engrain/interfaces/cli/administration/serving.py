"""Commands that stay and serve others."""

import json
import os
import secrets
import sys
import threading
import webbrowser
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engrain.domain import checks
from engrain.errors import EngineUnavailable, InvalidInput
from engrain.interfaces.assistants import local_socket
from engrain.interfaces.cli.completion import complete_names
from engrain.interfaces.cli.invocation import Invocation, flag, path_of
from engrain.interfaces.mcp.handshake import answer_opening, claim_stdin
from engrain.interfaces.mcp.instructions import DEFAULT_PROFILE, PROFILES
from engrain.portability.assistants import projects

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

_Profile = Annotated[
    str | None,
    flag("--profile NAME", f"Tools to offer. One of: {', '.join(PROFILES)}.", autocompletion=complete_names(PROFILES)),
]
_Action = Annotated[
    str | None,
    typer.Argument(metavar="[ACTION]", help="install: configure a client. uninstall: remove what install wrote."),
]
_Client = Annotated[str | None, typer.Argument(metavar="[CLIENT]", help="The client to configure.")]
_OnlyPrint = Annotated[bool, flag("--print", "Only show what would be written or removed, and where.")]
_Hooks = Annotated[bool, flag("--hooks", "With install: also the hooks that store turns and give context.")]
_OF_THE_SERVER = frozenset({"anyio", "fastapi", "mcp", "opentelemetry", "prometheus_client", "starlette", "uvicorn"})


def mcp(
    invocation: Invocation,
    action: _Action = None,
    client: _Client = None,
    *,
    profile: _Profile = None,
    hooks: _Hooks = False,
    only_print: _OnlyPrint = False,
) -> None:
    """Serve the memory as tools of the Model Context Protocol, on stdin and stdout.

    For a client that starts this command. `engrain mcp install CLIENT` writes it into the configuration of claude-code,
    claude-desktop, cursor, vscode, codex or gemini, with the profile assistant and beside all that is there; with
    `--hooks` the client also stores its turns and gets context by itself (claude-code, codex, cursor, gemini).
    `engrain mcp uninstall CLIENT` removes the server and the hooks, and nothing else.
    """
    match None if action is None else checks.choice(action, ("install", "uninstall"), name="action"):
        case "install":
            _install(invocation, client, profile or DEFAULT_PROFILE, hooks=hooks, only_print=only_print)
            return
        case "uninstall":
            _uninstall(invocation, client, only_print=only_print)
            return
    chosen = checks.choice(profile or DEFAULT_PROFILE, PROFILES, name="profile")
    db = invocation.settings().db
    if checks.is_address(db):
        raise InvalidInput(f"{db:.80} is a server, which has these tools itself: give the client {db:.80}/mcp")
    if find_spec("mcp") is None:
        raise EngineUnavailable("engrain mcp needs a package: pip install 'engrain[mcp]'")
    opening = answer_opening(chosen, claim_stdin(), sys.stdout)
    from engrain.interfaces.mcp.server import serve_stdio

    with invocation.memory(stays=True) as memory, local_socket.serve_socket(memory, path_of(memory.settings.db)):
        serve_stdio(memory, chosen, opening, project=projects.find_tag(Path.cwd()))


def _install(invocation: Invocation, client: str | None, profile: str, *, hooks: bool, only_print: bool) -> None:
    """Write, or only show, the configuration by which a client starts this server, and its hooks if asked."""
    from engrain.interfaces.assistants import installation as hook_installation
    from engrain.interfaces.mcp import installation

    name = _check_client(client)
    if hooks and name not in hook_installation.FILES:
        having = ", ".join(hook_installation.FILES)
        raise InvalidInput(f"{name} has no hooks: leave out --hooks, or choose one of: {having}")
    chosen, options = installation.CLIENTS[name], _options(invocation)
    entry, variables = _build_server(invocation, name, checks.choice(profile, PROFILES, name="profile"), options)
    path = installation.config_path(chosen, home=Path.home())
    parts: list[tuple[Path, Callable[[str, str], str]]] = [
        (path, lambda before, where: installation.merge(chosen, before, entry, where=where))
    ]
    told: dict[str, Any] = {"path": str(path), "entry": entry, "environment": variables}
    if hooks:
        entries = hook_installation.build_hooks(name, installation.find_command(), options)
        hooks_path = hook_installation.hooks_path(name, home=Path.home())
        parts.append(
            (hooks_path, lambda before, where: hook_installation.merge_hooks(name, before, entries, where=where))
        )
        told |= {"hooks_path": str(hooks_path), "hooks": entries}
    if variables:
        invocation.note(f"{name} must be started with {' and '.join(variables)} set: they are in no file of it")
    if only_print:
        shown = [f"{where}:\n{merge('', 'the configuration').rstrip()}" for where, merge in parts]
        invocation.answer(told, "\n\n".join(shown))
        return
    texts: dict[Path, str] = {}
    for where, merge in parts:  # of which some clients have one file for both
        texts[where] = merge(texts.get(where, _read(where)), str(where))
    for where, text in texts.items():
        installation.write(where, text)
    invocation.answer(told, f"installed in {' and '.join(map(str, texts))}; restart {name} to use it")


def _build_server(
    invocation: Invocation, name: str, profile: str, options: list[str]
) -> tuple[dict[str, Any], list[str]]:
    """The entry of the server in the configuration of a client, and the variables that the client must have.

    Raises:
        InvalidInput: the memory is a server's, and the client takes none by its address, or a profile is named.
    """
    from engrain.client.address import parse_address
    from engrain.interfaces.mcp import installation
    from engrain.storage import is_server

    chosen, db = installation.CLIENTS[name], invocation.settings().db
    if not checks.is_address(db):
        variables = ["ENGRAIN_DB"] if is_server(db) else []
        served = ["mcp", "--profile", profile, *options]
        return installation.build_entry(chosen, installation.find_command(), served, variables=variables), variables
    if profile != DEFAULT_PROFILE:
        raise InvalidInput(f"{db:.80} serves its own tools: leave out --profile, and start engrain serve with it")
    caller = invocation.find_caller()
    headers = {f"Engrain-{of.title()}": caller[of] for of in ("agent", "user") if of in caller}
    entry = installation.build_remote_entry(chosen, parse_address(db).url, headers)
    if entry is None:
        raise InvalidInput(f"{name} takes no server in its file: add {db:.80}/mcp as a connector in its settings")
    return entry, [installation.KEY_VARIABLE]


def _uninstall(invocation: Invocation, client: str | None, *, only_print: bool) -> None:
    """Remove, or only show, what `install` wrote into the configuration of a client."""
    from engrain.interfaces.assistants import installation as hook_installation
    from engrain.interfaces.mcp import installation

    name = _check_client(client)
    chosen, home = installation.CLIENTS[name], Path.home()
    parts: list[tuple[Path, Callable[[str, str], tuple[str, Any]]]] = [
        (
            installation.config_path(chosen, home=home),
            lambda before, where: installation.remove(chosen, before, where=where),
        )
    ]
    if name in hook_installation.FILES:
        path = hook_installation.hooks_path(name, home=home)
        parts.append((path, lambda before, where: hook_installation.remove_hooks(before, where=where)))
    texts: dict[Path, str] = {}
    removed: list[dict[str, Any]] = []
    for where, cut in parts:  # of which some clients have one file for both
        texts[where], gone = cut(texts.get(where, _read(where)), str(where))
        if gone:
            removed.append({"path": str(where), "removed": gone})
    files = list(dict.fromkeys(part["path"] for part in removed))
    if not only_print:
        for where in files:
            installation.write(Path(where), texts[Path(where)])
    shown = [f"{part['path']}:\n{json.dumps(part['removed'], indent=2, ensure_ascii=False)}" for part in removed]
    if not removed:
        text = f"nothing of engrain is in {' and '.join(map(str, texts))}"
    else:
        text = "\n\n".join(shown) if only_print else f"removed from {' and '.join(files)}; restart {name}"
    invocation.answer({"removed": removed}, text)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8-sig") if path.exists() else ""


def _check_client(client: str | None) -> str:
    """Return the name of a client that can be configured.

    Raises:
        InvalidInput: none was named, or an unknown one.
    """
    from engrain.interfaces.mcp import installation

    if client is None:
        raise InvalidInput(f"no client is named; add one of: {', '.join(installation.CLIENTS)}")
    return checks.choice(client, installation.CLIENTS, name="client")


def _options(invocation: Invocation) -> list[str]:
    """The options that name the memory: paths are absolute, as a client starts it in a folder of its own.

    The location of a PostgreSQL server, which may hold a password, is in none.
    """
    db = invocation.settings().db
    path = path_of(db)
    given = {
        "--db": db if checks.is_address(db) else None if path is None else str(path.absolute()),
        "--config": None if invocation.config is None else str(Path(invocation.config).absolute()),
        **{f"--{name}": value for name, value in invocation.find_caller().items()},
    }
    return [part for name, value in given.items() if value is not None for part in (name, value)]


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
    host: Annotated[str | None, flag("--host ADDRESS", "Address to serve on; the setting if left out.")] = None,
    port: Annotated[int | None, flag("--port N", "Port to serve on, 0 for any; the setting if left out.")] = None,
    profile: _Profile = DEFAULT_PROFILE,
    keys: Annotated[
        bool | None,
        flag(
            "--keys/--no-keys",
            "Ask for keys, or for nothing; left out, on loopback for its user's token, elsewhere for keys.",
        ),
    ] = None,
    worker: Annotated[bool, flag("--worker/--no-worker", "Do jobs in this process, too, or not.")] = True,
    mem0: Annotated[
        bool | None, flag("--mem0/--no-mem0", "Answer mem0's client under /mem0; the setting if left out.")
    ] = None,
) -> None:
    """Serve the memory to others: a page at /, HTTP under /v1, tools under /mcp, health and metrics, and the jobs.

    Until it is interrupted, or told to stop by SIGTERM: what is under way is finished, nothing acknowledged is lost.
    """
    chosen = checks.choice(profile, PROFILES, name="profile")
    serving = _load_serving("serve")
    from engrain.interfaces import local_token

    settings = invocation.settings(server={"host": host, "port": port, "mem0": mem0})
    with (
        serving.bind(settings.server.host, settings.server.port) as listener,
        invocation.memory(stays=True, settings=settings) as memory,
        local_socket.serve_socket(memory, path_of(settings.db)),
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


def ui(
    invocation: Invocation,
    *,
    port: Annotated[int, flag("--port N", "Port to serve on; any free one if left out.")] = 0,
    opens: Annotated[bool, flag("--open/--no-open", "Open a browser, or only show the address.")] = True,
) -> None:
    """Open a page on which the memory is seen, searched and mended, in the browser.

    It is served on loopback until Ctrl-C, to the browser alone that opens the address first: the key in it works once.
    Jobs are left to `engrain serve` and `engrain worker`.
    """
    serving = _load_serving("ui")
    settings = invocation.settings(server={"host": "127.0.0.1", "port": port})
    key, token = (f"{prefix}{secrets.token_urlsafe(32)}" for prefix in ("once_", "et_"))
    with (
        serving.bind(settings.server.host, settings.server.port) as listener,
        invocation.memory(stays=True, settings=settings) as memory,
    ):
        options = serving.ServerOptions(keys_required=False, token=token, has_worker=False, one_time_key=key)
        page = f"{serving.address_of(listener)}/#once={key}"

        def show() -> None:
            invocation.announce({"page": page, "pid": os.getpid()}, f"the page is at {page}; Ctrl-C stops it")
            if opens:
                threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()

        serving.serve(memory, listener, options, ready=show)


def _load_serving(command: str) -> "ModuleType":
    """Import the server; its packages are an extra."""
    try:
        from engrain.interfaces import serving
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _OF_THE_SERVER:
            raise
        raise EngineUnavailable(f"engrain {command} needs packages: pip install 'engrain[server]'") from error
    return serving
