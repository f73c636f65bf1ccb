"""Plain connection: calls of a few verbs of a server by the standard library, for a process that lives for one hook.

The client of the library loads every verb and httpx2, which takes longer than a hook may.
"""

from __future__ import annotations

import json
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from engrain.client.address import parse_address
from engrain.errors import DatabaseUnreachable, InvalidInput
from engrain.verbs.table import by_name

if TYPE_CHECKING:
    from collections.abc import Mapping

_OK_FROM, _REDIRECT_FROM = 200, 300
_MOST_BYTES = 64 * 2**20


class PlainConnection:
    """One connection to a server, as one agent."""

    def __init__(self, location: str, key: str | None, *, identity: Mapping[str, str | None]) -> None:
        """Prepare it; nothing is sent yet.

        Raises:
            InvalidInput: the address is none, or the key or a name is nothing that a header can carry.
        """
        self._url = parse_address(location).url
        parts = urlsplit(self._url)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._http = kind(parts.hostname or "", parts.port)
        self._path = f"{parts.path}/v1"
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "engrain"}
        named = {"Authorization": None if key is None else f"Bearer {key}"}
        named |= {f"Engrain-{name.title()}": value for name, value in identity.items()}
        for name, value in named.items():
            if value is not None:
                self._headers[name] = _header_value(name, value)

    def call(self, verb: str, arguments: Mapping[str, Any], *, session: str | None, timeout_s: float) -> Any:
        """Return what a verb answers in a session.

        Raises:
            InvalidInput: the server refuses the arguments, or the session is nothing that a header can carry.
            DatabaseUnreachable: there is no answer in time, or none of an engrain server that does what was asked.
        """
        body = dict(arguments)
        named = {"Idempotency-Key": body.pop("idempotency_key", None), "Engrain-Session": session}
        headers = self._headers | {
            name: _header_value(name, value) for name, value in named.items() if value is not None
        }
        self._http.timeout = timeout_s
        if self._http.sock is not None:
            self._http.sock.settimeout(timeout_s)
        method, path = by_name()[verb].route.split()
        try:
            self._http.request(method, self._path + path, json.dumps(body).encode(), headers)
            response = self._http.getresponse()
            status, content = response.status, response.read(_MOST_BYTES)
        except (OSError, HTTPException) as error:
            self._http.close()
            raise DatabaseUnreachable(f"the server at {self._url} does not answer ({type(error).__name__})") from error
        document = _parse(content)
        if _OK_FROM <= status < _REDIRECT_FROM and document is not None:
            return document
        code = document.get("code") if isinstance(document, dict) else None
        if code == InvalidInput.code:
            raise InvalidInput(f"{verb} was refused by the server at {self._url}")
        raise DatabaseUnreachable(f"the server at {self._url} answered {verb} with {status} {code or 'and no problem'}")

    def close(self) -> None:
        self._http.close()


def _parse(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None


def _header_value(name: str, value: str) -> str:
    """Return a value as http.client sends it: the bytes of its UTF-8, read as Latin-1."""
    if not value.isprintable() or value != value.strip():
        raise InvalidInput(f"{name} cannot be sent over HTTP; it must be printable, without outer spaces")
    return value.encode().decode("latin-1")
