"""Handshake on pipes: answers the first messages of a client before the SDK is loaded.

Loading the SDK and opening the memory take a second of CPU. A client that probes with `server/discover` waits one
second, then begins the older handshake with `initialize`, which the SDK refuses once it has served the probe. So
discovery is answered here and decides nothing; the first other message opens an era of the protocol.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TextIO

from engrain import __version__
from engrain.interfaces.mcp.instructions import INSTRUCTIONS, SUBSCRIBABLE

# Those of the SDK, in its order; a test compares every answer with its own.
HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)
_META = "io.modelcontextprotocol/"
_SERVER = {"name": "engrain", "version": __version__}
_UNSUPPORTED_VERSION = -32022


@dataclass(frozen=True, slots=True)
class Opening:
    """The line that the SDK reads before the rest of `stdin`; `answered` is its id where it needs no other answer."""

    stdin: TextIO
    line: str
    answered: str | int | None = None


def claim_stdin() -> TextIO:
    """Return stdin for the protocol alone: other code of this process, and what it starts, reads an empty one."""
    private = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    # Never closed: a thread may still wait for a line when the process ends.
    return open(private, encoding="utf-8", errors="replace", closefd=False)


def answer_opening(profile: str, stdin: TextIO, stdout: TextIO) -> Opening:
    """Answer discovery and `initialize`, up to the first line that needs the server itself, empty at the end."""
    while line := stdin.readline():
        message = _parse(line)
        if discovered := _answer_discovery(message, profile):
            _write(stdout, message, discovered)
        elif begun := _answer_initialize(message, profile):
            _write(stdout, message, begun)
            return Opening(stdin, _without_details(message), message["id"])
        else:
            break
    return Opening(stdin, line)


def _write(stdout: TextIO, message: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
    stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}) + "\n")
    stdout.flush()


def _without_details(message: Mapping[str, Any]) -> str:
    """Return an `initialize` that the SDK accepts, whatever a client says of itself besides: it has been accepted."""
    params = message["params"]
    client = {name: params["clientInfo"][name] for name in ("name", "version")}
    known = {"protocolVersion": params["protocolVersion"], "capabilities": {}, "clientInfo": client}
    return json.dumps({**message, "params": known})


def _parse(line: str) -> dict[str, Any]:
    """Return the message of a line; an empty one where it is none, which the SDK refuses."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _capabilities(*, subscribe: bool) -> dict[str, Any]:
    return {
        "completions": {},
        "prompts": {"listChanged": False},
        "resources": {"listChanged": False, "subscribe": subscribe},
        "tools": {"listChanged": False},
    }


def _is_request(message: Mapping[str, Any], method: str) -> bool:
    id_ = message.get("id")
    is_named = isinstance(id_, str | int) and not isinstance(id_, bool)
    return is_named and message.get("jsonrpc") == "2.0" and message.get("method") == method


def _answer_discovery(message: Mapping[str, Any], profile: str) -> dict[str, Any] | None:
    """Return the answer to a discovery of the modern era; None where the message is something else."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    if not _is_request(message, "server/discover") or not isinstance(meta, dict) or "request_context" in meta:
        return None
    version = meta.get(f"{_META}protocolVersion")
    if not isinstance(version, str) or not isinstance(meta.get(f"{_META}clientCapabilities"), dict):
        return None
    if version not in MODERN_VERSIONS:
        data = {"supported": MODERN_VERSIONS, "requested": version}
        return {"error": {"code": _UNSUPPORTED_VERSION, "message": "Unsupported protocol version", "data": data}}
    result = {
        "supportedVersions": MODERN_VERSIONS,
        "capabilities": _capabilities(subscribe=False),
        "instructions": INSTRUCTIONS[profile],
        "resultType": "complete",
        "cacheScope": "private",
        "ttlMs": 0,
        "_meta": {f"{_META}serverInfo": _SERVER},
    }
    return {"result": result}


def _answer_initialize(message: Mapping[str, Any], profile: str) -> dict[str, Any] | None:
    """Return the answer to the older handshake; None where the message is something else, or the SDK may refuse it."""
    match message.get("params"):
        case {
            "protocolVersion": str(version),
            "capabilities": dict(),
            "clientInfo": {"name": str(), "version": str()},
            **others,
        } if _is_request(message, "initialize") and "_meta" not in others:
            result = {
                "protocolVersion": version if version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
                "capabilities": _capabilities(subscribe=profile in SUBSCRIBABLE),
                "serverInfo": _SERVER,
                "instructions": INSTRUCTIONS[profile],
            }
            return {"result": result}
        case _:
            return None
