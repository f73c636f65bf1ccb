"""Address of a server: the URL that a memory is opened with, checked before a key is sent to it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from engrain.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Address:
    """URL of a server, with the path under which a proxy serves it; `is_loopback` if it is on this machine."""

    url: str
    is_loopback: bool


def parse_address(location: str) -> Address:
    """Parse the URL of a server.

    Raises:
        InvalidInput: it has no host, a user, a query or a fragment, or is http:// and not on this machine.
    """
    try:
        parts = urlsplit(location)
        port = parts.port
    except ValueError as error:
        raise InvalidInput(f"the address {location!r:.200} is no URL ({error}); give https://host") from error
    if "@" in parts.netloc:
        raise InvalidInput("the address of a server names no user or password; give the access key as key=...")
    host = parts.hostname
    if not host or parts.query or parts.fragment:
        raise InvalidInput(f"the address {location!r:.200} is no server's; give https://host, with a port or path")
    is_loopback = _is_loopback(host)
    if parts.scheme == "http" and not is_loopback:
        raise InvalidInput(
            f"http://{host} would carry the key and the memories unencrypted; give https://, "
            "or http:// on this machine (127.0.0.1, localhost)"
        )
    return Address(_join(parts, host, port), is_loopback)


def _join(parts: SplitResult, host: str, port: int | None) -> str:
    """Return the URL without the /v1 that some callers add, and without a slash at the end."""
    name = f"[{host}]" if ":" in host else host
    path = parts.path.rstrip("/").removesuffix("/v1").rstrip("/")
    return f"{parts.scheme}://{name}{'' if port is None else f':{port}'}{path}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
