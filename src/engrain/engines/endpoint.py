"""HTTP client of one endpoint of a served model: JSON POSTs with retries, and an error message for every failure.

No message holds the key, or what was asked: errors are logged and shown to other people than the speakers.
"""

from __future__ import annotations

import json
import os
import random
import re
import threading
import time
import weakref
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeVar

from engrain import metrics
from engrain.errors import EngineUnavailable, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from httpx2 import Client, Response

    from engrain.engines.endpoint_config import EndpointConfig

_CONNECT_S = 5.0
_FIRST_PAUSE_S, _MAX_PAUSE_S = 0.5, 8.0
_MAX_ANSWER_BYTES = 64_000_000  # 2,048 vectors of 3,072 numbers in JSON are about half of it
# Statuses after which the same request may succeed later, besides every 5xx.
_RETRYABLE = frozenset({408, 409, 425, 429})
_CODE = re.compile(r"[A-Za-z0-9_.-]{1,60}")  # an error code of the service, as opposed to prose that quotes the request


_Answer = TypeVar("_Answer")


class Refused(EngineUnavailable):
    """The service understood the request and refused it (400, 413, 422): a retry would change nothing.

    Attributes:
        status: the HTTP status, where there is one.
        reason: the code that the service gives, where it gives one.
    """

    def __init__(self, message: str, *, status: int | None = None, reason: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Limits on retries: the number of attempts, and the time for all of them and the pauses between them."""

    attempts: int
    total_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Clocks, sleep and randomness, which tests replace."""

    clock: Callable[[], float] = time.monotonic
    wall_clock: Callable[[], float] = time.time  # epoch seconds, for a Retry-After that names a date
    pause: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random


@dataclass(frozen=True, slots=True)
class TransientFailure:
    """A failure after which a retry may succeed; `message` says what happened."""

    message: str
    retry_after_s: float = 0.0


def retry(
    attempt: Callable[[float], _Answer | TransientFailure], *, policy: RetryPolicy, timing: Timing, where: str
) -> _Answer:
    """Call `attempt` with the deadline of all attempts (by `timing.clock`) until it returns no TransientFailure.

    The pause doubles each time, and a random part of up to half is taken off, so that many clients do not return at
    once; a failure may ask for a longer one.

    Raises:
        EngineUnavailable: attempts or time are used up; `where` begins its message.
    """
    deadline = timing.clock() + policy.total_s
    attempts = 0
    while True:
        attempts += 1
        outcome = attempt(deadline)
        if not isinstance(outcome, TransientFailure):
            return outcome
        backoff = min(_MAX_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** (attempts - 1)) * (0.5 + timing.chance() / 2)
        pause = max(outcome.retry_after_s, backoff)
        if attempts == policy.attempts or timing.clock() + pause >= deadline:
            times = "once" if attempts == 1 else f"{attempts} times"
            raise EngineUnavailable(f"{where} {outcome.message}; tried {times}")
        metrics.count("engine_retries")
        timing.pause(pause)


class Endpoint:
    """HTTP client that POSTs JSON to one address. Thread-safe; open from the first request to the last reference."""

    def __init__(
        self, label: str, config: EndpointConfig, timing: Timing | None = None, *, max_bytes: int = _MAX_ANSWER_BYTES
    ) -> None:
        """Take the engine's `label` for error messages; no answer is read beyond `max_bytes`.

        Raises:
            InvalidInput: the key is nothing that a header can carry.
        """
        self._label = label
        self._config = config
        self._timing = timing or Timing()
        self._max_bytes = max_bytes
        self._client_lock = threading.Lock()
        self._client: Client | None = None
        self._process = 0
        self._secret = _secret(config)

    def post(self, body: Mapping[str, Any], *, policy: RetryPolicy) -> Any:
        """POST the body and return the parsed JSON answer.

        Connection failures, 408, 409, 425, 429 and 5xx are retried after a growing pause, or when the service asks.

        Raises:
            Refused: 400, 413, 422 and the like.
            EngineUnavailable: no answer within `policy`, or one that is of no use.
        """
        if self._config.needs_key and self._secret is None:
            raise EngineUnavailable(f"{self._label} has no key: set {self._config.key_setting}")
        payload = json.dumps(body, ensure_ascii=False).encode()
        where = f"{self._label} at {self._config.url}"
        return retry(lambda deadline: self._send(payload, deadline), policy=policy, timing=self._timing, where=where)

    def _send(self, payload: bytes, deadline: float) -> Any | TransientFailure:
        """Send one request: the parsed answer, or a failure that may pass."""
        client = self._client_of_process()
        import httpx2

        try:
            left_s = max(deadline - self._timing.clock(), 0.001)
            timeout = httpx2.Timeout(left_s, connect=min(left_s, _CONNECT_S))
            with client.stream("POST", self._config.url, content=payload, timeout=timeout) as response:
                content = self._read_content(response, deadline)
        except httpx2.TimeoutException:
            return TransientFailure("did not answer in time")
        except httpx2.HTTPError as error:
            # Of these messages only the ones about connecting are sure to quote nothing that was sent.
            about = f" ({error})" if isinstance(error, httpx2.ConnectError) else ""
            return TransientFailure(f"cannot be reached: {type(error).__name__}{about}")
        if content is None:
            return TransientFailure("did not finish its answer in time")
        return self._parse(response, content)

    def _read_content(self, response: Response, deadline: float) -> bytes | None:
        """The whole answer; None where it is not complete at the deadline."""
        pieces = []
        size = 0
        for piece in response.iter_bytes():
            pieces.append(piece)
            size += len(piece)
            if size > self._max_bytes:
                size_mb = self._max_bytes // 1_000_000
                raise EngineUnavailable(f"{self._label} at {self._config.url} answered more than {size_mb} MB")
            if self._timing.clock() > deadline:
                return None
        return b"".join(pieces)

    def _parse(self, response: Response, content: bytes) -> Any | TransientFailure:
        status = response.status_code
        where = f"{self._label} at {self._config.url}"
        if response.is_success:
            try:
                return json.loads(content)
            except (ValueError, RecursionError):
                kind = response.headers.get("content-type", "no type").partition(";")[0]
                raise EngineUnavailable(
                    f"{where} answered no JSON ({kind:.40}): check {self._config.url_setting}"
                ) from None  # the cause would quote the answer
        code = _error_code(content)
        shown = f"{status} {code}" if code else f"{status}"
        if status in _RETRYABLE or response.is_server_error:
            return TransientFailure(f"answered {shown}", self._retry_after_s(response.headers.get("retry-after")))
        if status in {401, 403}:
            raise EngineUnavailable(f"{where} does not accept the key ({shown}): set {self._config.key_setting}")
        if status in {404, 405} or response.is_redirect:
            raise EngineUnavailable(
                f"{where} has nothing there ({shown}): check {self._config.url_setting} and the model's name"
            )
        raise Refused(f"{where} refused the request ({shown})", status=status, reason=code)

    def _retry_after_s(self, value: str | None) -> float:
        """Seconds to wait by the Retry-After header; 0 where it is missing or cannot be parsed.

        Either seconds or a date: https://www.rfc-editor.org/rfc/rfc9110.html#section-10.2.3
        """
        if value is None:
            return 0.0
        if value.strip().isdecimal():
            return float(value[:9])
        try:
            return max(parsedate_to_datetime(value).timestamp() - self._timing.wall_clock(), 0.0)
        except (ValueError, OverflowError):
            return 0.0

    def _client_of_process(self) -> Client:
        """The client of this process; a fork opens its own, for its parent's connections stay the parent's."""
        with self._client_lock:
            if self._client is None or self._process != os.getpid():
                self._client = self._open()
                self._process = os.getpid()
                weakref.finalize(self, _close, self._client, self._process)
            return self._client

    def _open(self) -> Client:
        try:
            import httpx2
        except ImportError as error:
            raise EngineUnavailable(
                f"{self._label} needs a package that is not installed: pip install 'engrain[http]'"
            ) from error
        headers = {"content-type": "application/json", "user-agent": "engrain"}
        if self._secret is not None:
            headers["authorization"] = f"Bearer {self._secret}"
        # No redirects: the key is for this address alone.
        return httpx2.Client(headers=headers, follow_redirects=False)


def join_url(base: str, path: str) -> str:
    """The address of `path` under a base that may name it already: both `.../v1` and `.../v1/embeddings` are right."""
    base = base.rstrip("/")
    return base if base.endswith(path) else base + path


def _secret(config: EndpointConfig) -> str | None:
    if config.key is None:
        return None
    secret = config.key.get_secret_value().strip()
    if not (secret.isascii() and secret.isprintable()) or " " in secret:
        raise InvalidInput(f"the key in {config.key_setting} is none: a key is printable ASCII without blanks")
    return secret or None


def _error_code(content: bytes) -> str | None:
    """The code of an OpenAI-style error, for messages; nothing of its prose, which may quote the request."""
    try:
        error = json.loads(content)["error"]
        code = error.get("code") or error.get("type")
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return None
    return code if isinstance(code, str) and _CODE.fullmatch(code) else None


def _close(client: Client, process: int) -> None:
    if process == os.getpid():
        client.close()
