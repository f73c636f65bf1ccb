"""Static page of the server: `/`, its files under `/page`, and the exchange of a one-time key for the token.

The files in `interfaces/web` are built from `web/` of the repository. They hold no data: all that the page shows it
reads from /v1, with the key that its user gave it.
"""

import gzip
import hashlib
import hmac
import threading
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from engrain.errors import Unauthenticated

if TYPE_CHECKING:
    from collections.abc import Callable

_MEDIA_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
# Nothing is loaded from elsewhere, no script or style stands in the page, no text becomes markup (trusted types), and
# no other page may frame it.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)


@dataclass(frozen=True, slots=True)
class _File:
    media_type: str
    content: bytes
    compressed: bytes
    tag: str


class OneTimeKey:
    """Key in the address with which `engrain ui` opens the page: it is exchanged for the server's token, once.

    An address is seen by others: in the list of processes, in the history of the browser. So it holds nothing that
    opens twice. Thread-safe.
    """

    def __init__(self, key: str, token: str) -> None:
        self._key: bytes | None = key.encode()
        self._token = token
        self._lock = threading.Lock()

    def exchange(self, key: str) -> str:
        """Return the token for the key.

        Raises:
            Unauthenticated: it is another key, or was exchanged before.
        """
        with self._lock:
            if self._key is None or not hmac.compare_digest(key.encode(), self._key):
                raise Unauthenticated("this address opens once and was used before; start engrain ui again")
            self._key = None
        return self._token


def router(one_time_key: OneTimeKey | None = None) -> APIRouter:
    """Make the routes of the page, and of its sign-in where there is a one-time key."""
    made = APIRouter(include_in_schema=False)
    for path in _load():
        made.add_api_route(path, _answer(path), response_model=None)
    if one_time_key is not None:
        made.add_api_route("/page/sign-in", _sign_in(one_time_key), methods=["POST"], response_model=None)
    return made


def _sign_in(one_time_key: OneTimeKey) -> "Callable[[Request], Response]":
    def sign_in(request: Request) -> Response:
        _, _, key = request.headers.get("authorization", "").partition(" ")
        return Response(one_time_key.exchange(key), media_type="text/plain")

    return sign_in


def _answer(path: str) -> "Callable[[Request], Response]":
    def answer(request: Request) -> Response:
        file = _load()[path]
        headers = {"Cache-Control": "no-cache", "ETag": file.tag, "Vary": "Accept-Encoding"}
        headers |= {"Content-Security-Policy": _POLICY, "Cross-Origin-Opener-Policy": "same-origin"}
        if file.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(
                file.compressed, headers={**headers, "Content-Encoding": "gzip"}, media_type=file.media_type
            )
        return Response(file.content, headers=headers, media_type=file.media_type)

    return answer


@cache
def _load() -> dict[str, _File]:
    """The files of the page by their paths, read and compressed once in a process."""
    folder = files("engrain.interfaces") / "web"
    found = {"/": folder / "index.html", **{f"/page/{file.name}": file for file in (folder / "page").iterdir()}}
    loaded = {}
    for path, file in found.items():
        content = file.read_bytes()
        tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
        media_type = _MEDIA_TYPES[file.name.rpartition(".")[2]]
        loaded[path] = _File(media_type, content, gzip.compress(content, mtime=0), tag)
    return loaded
