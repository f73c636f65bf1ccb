"""Connection to a server: one pool of HTTP connections, retries, and the library's errors for the server's problems."""

from __future__ import annotations

import json
import random
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from engrain import errors, metrics
from engrain.errors import DatabaseUnreachable, EngrainError, InvalidInput, MemoryClosed, OutcomeUnknown, RateLimited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from httpx2 import Response

    from engrain.client.address import Address
    from engrain.client.requests import Request

_CONNECT_S = 5.0
_SLOW_S = 3_600.0
_FIRST_PAUSE_S, _MAX_PAUSE_S = 0.05, 2.0
_OK_FROM, _REDIRECT_FROM, _FAULT_FROM, _SERVER_FAULT_FROM = 200, 300, 400, 500
# Problems after which nothing was done: whatever the request was, it may be sent again.
_UNDONE = frozenset({"busy", "rate_limited", "request_timeout", "database_busy"})
# Problems that pass, after which a write may or may not be there.
_PASSING = frozenset({"database_unreachable", "outcome_unknown", "memory_closed"})
_ERRORS: Mapping[str, type[EngrainError]] = {
    kind.code: kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, EngrainError)
} | {
    # The memory that is closed is the server's, and this one is not.
    "memory_closed": DatabaseUnreachable,
    "no_such_route": DatabaseUnreachable,
}

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """A failed attempt, which may succeed when it is repeated.

    Attributes:
        error: what to raise where it is not.
        was_done: whether the server may have done what was asked.
    """

    error: EngrainError
    was_done: bool
    retry_after_s: float = 0.0


class Connection:
    """HTTP client of one server, with one pool of connections. Thread-safe."""

    def __init__(self, address: Address, key: str | None, *, timeout_s: float) -> None:
        """Prepare the pool; nothing is sent before the first request.

        Raises:
            InvalidInput: the key is nothing that a header can carry, or httpx2 is not installed.
        """
        try:
            import httpx2
        except ImportError as error:
            message = "a memory on a server needs a package: pip install 'engrain[http]'"
            raise InvalidInput(message) from error
        if key is not None and not (key and key.isascii() and key.isprintable() and " " not in key):
            raise InvalidInput(
                "key is no access key: it is printable ASCII without blanks, as engrain keys create shows"
            )
        self.url = address.url
        self._timeout_s = timeout_s
        self._closed = threading.Event()
        self._http = httpx2
        headers = {"User-Agent": "engrain", "Accept": "application/json, */*"}
        headers |= {} if key is None else {"Authorization": f"Bearer {key}"}
        # No redirects: the key is for this address alone. No proxy of the environment for this machine itself.
        self._client = httpx2.Client(
            base_url=address.url, headers=headers, follow_redirects=False, trust_env=not address.is_loopback
        )

    def send(self, request: Request, *, retries: bool = True) -> Any:
        """Send a request and return the JSON of its answer; None where there is none.

        Failures after which nothing was done are retried until `timeout_s` is over, and of a repeatable request every
        loss of the connection, too.

        Raises:
            EngrainError: the class of the server's problem, with its words.
            DatabaseUnreachable: no server answers, and nothing was changed.
            OutcomeUnknown: the answer to a write was lost; the message says how to look or repeat.
        """
        return self._retry(request, self._read_json, retries=retries)

    def download(self, request: Request, receive: Callable[[Iterator[bytes]], None]) -> Any:
        """Send a request and pass its answer to `receive` in pieces, anew at each attempt; return its report."""

        def read(response: Response) -> Any:
            receive(response.iter_bytes(256 * 1024))
            return json.loads(response.headers["Engrain-Report"])

        return self._retry(request, read)

    def close(self) -> None:
        """Close the connections; calls that wait for a retry end."""
        self._closed.set()
        self._client.close()

    def _retry(self, request: Request, read: Callable[[Response], _Result], *, retries: bool = True) -> _Result:
        deadline = time.monotonic() + self._timeout_s
        pause_s, was_done = _FIRST_PAUSE_S, False
        while True:
            outcome = self._attempt(request, read, deadline)
            if not isinstance(outcome, _Failure):
                return outcome
            was_done = request.changes and (was_done or outcome.was_done)
            wait_s = max(outcome.retry_after_s, pause_s * (0.5 + random.random() / 2))  # noqa: S311  # spreads clients
            may_retry = retries and (request.is_repeatable or not was_done)
            if not may_retry or time.monotonic() + wait_s >= deadline:
                raise _unknown(request, outcome.error) if was_done else outcome.error
            metrics.count("client_retries")
            if self._closed.wait(wait_s):
                raise MemoryClosed("this Memory was closed while a call waited for the server")
            pause_s = min(2 * pause_s, _MAX_PAUSE_S)

    def _attempt(self, request: Request, read: Callable[[Response], _Result], deadline: float) -> _Result | _Failure:
        """Send the request once: what `read` makes of a good answer, or a failure that may pass."""
        http = self._http
        left_s = max(deadline - time.monotonic(), 0.001)
        timeout = http.Timeout(max(left_s, _SLOW_S) if request.is_slow else left_s, connect=min(left_s, _CONNECT_S))
        try:
            with self._open(request, timeout) as response:
                if _OK_FROM <= response.status_code < _REDIRECT_FROM:
                    return read(response)
                response.read()
                return self._fault(response)
        except (http.ConnectError, http.ConnectTimeout, http.PoolTimeout) as error:
            return _Failure(error=self._unreachable("cannot be reached", error), was_done=False)
        except http.TimeoutException as error:
            return _Failure(error=self._unreachable(f"did not answer within {left_s:.0f} s", error), was_done=True)
        except http.HTTPError as error:
            return _Failure(error=self._unreachable("ended the connection", error), was_done=True)
        except RuntimeError as error:  # httpx2 says so of a client that was closed
            if self._closed.is_set():
                raise MemoryClosed("this Memory is closed; open it again with Memory.open") from error
            raise

    def _open(self, request: Request, timeout: Any) -> Any:
        return self._client.stream(
            request.method,
            request.path,
            params=list(request.query),
            headers=[*request.headers, *([] if request.body is None else [(b"Content-Type", b"application/json")])],
            content=_file_pieces(request) if request.file is not None else request.body,
            timeout=timeout,
        )

    def _unreachable(self, what: str, error: Exception) -> DatabaseUnreachable:
        # Of these messages only the ones about connecting are sure to quote nothing that was sent.
        about = f": {error}" if isinstance(error, self._http.ConnectError) else ""
        kind = type(error).__name__
        return DatabaseUnreachable(f"the server at {self.url} {what} ({kind}{about}); look whether it runs")

    def _read_json(self, response: Response) -> Any:
        content = response.read()
        if not content:
            return None
        try:
            return json.loads(content)
        except ValueError:
            raise self._no_engrain(response) from None  # the cause would quote the answer

    def _fault(self, response: Response) -> _Failure:
        """Turn a problem of the server into a failure; one that does not pass is raised."""
        status, problem = response.status_code, _problem(response)
        code, detail = problem.get("code"), str(problem.get("detail", ""))
        retry_after_s = _seconds(response.headers.get("Retry-After"))
        if not isinstance(code, str):  # of a proxy, or of something else that is no server of ours
            if status < _SERVER_FAULT_FROM:
                raise self._no_engrain(response)
            return _Failure(error=self._no_engrain(response), was_done=True, retry_after_s=retry_after_s)
        error = _error(code, status, detail, retry_after_s)
        if code in _UNDONE or code in _PASSING:
            return _Failure(error=error, was_done=code in _PASSING, retry_after_s=retry_after_s)
        raise error

    def _no_engrain(self, response: Response) -> DatabaseUnreachable:
        kind = response.headers.get("Content-Type", "no type").partition(";")[0]
        status = response.status_code
        if _REDIRECT_FROM <= status < _FAULT_FROM:
            return DatabaseUnreachable(f"{self.url} redirects ({status}) to another address; open that one")
        return DatabaseUnreachable(f"{self.url} answered {status} ({kind:.40}), as no engrain server does")


def _unknown(request: Request, error: EngrainError) -> OutcomeUnknown:
    repeat = "look whether it is there" if request.key is None else f"repeat it with idempotency_key={request.key!r}"
    return OutcomeUnknown(f"{request.verb} was sent and its answer is lost ({error}): {repeat}")


def _error(code: str, status: int, detail: str, retry_after_s: float) -> EngrainError:
    """Return the library's error for a problem; of a code that it has not, the class by the status."""
    kind = _ERRORS.get(code)
    if kind is RateLimited or code == "busy":
        return RateLimited(detail, retry_after_s=retry_after_s or 1.0)
    if kind is not None:
        return kind(detail)
    return InvalidInput(detail) if status < _SERVER_FAULT_FROM else EngrainError(detail)


def _problem(response: Response) -> Mapping[str, Any]:
    with suppress(ValueError):
        document = json.loads(response.content)
        if isinstance(document, dict):
            return document
    return {}


def _seconds(value: str | None) -> float:
    return float(value[:6]) if value is not None and value.isdecimal() else 0.0


def _file_pieces(request: Request) -> Iterator[bytes]:
    assert request.file is not None
    with request.file.open("rb") as stream:
        while piece := stream.read(256 * 1024):
            yield piece
