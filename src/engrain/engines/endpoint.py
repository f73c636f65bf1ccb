"""One address of a model that is served over HTTP: asked with patience, and every failure put into words.

No message holds the key, or what was asked: errors are logged and shown to other people than those who spoke.
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
from typing import TYPE_CHECKING, Any, Final, TypeVar

from engrain import metrics
from engrain.errors import EngineUnavailable, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from httpx2 import Client, Response
    from pydantic import SecretStr

_CONNECT_S = 5.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 8.0
_MOST_ANSWER_BYTES = 64_000_000  # 2,048 vectors of 3,072 numbers in JSON are about half of it
# What the same request may succeed with later, besides every 5xx.
_PASSING = frozenset({408, 409, 425, 429})
_CODE = re.compile(r"[A-Za-z0-9_.-]{1,60}")  # an error code of the service, as opposed to prose that quotes the request


_Answer = TypeVar("_Answer")


class Refused(EngineUnavailable):
    """The service understood the request and will not answer it (400, 413, 422): asking again would change nothing.

    Attributes:
        status: that of HTTP, where there is one.
        reason: the code that the service gives, where it gives one.
    """

    def __init__(self, message: str, *, status: int | None = None, reason: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long an answer is worth waiting for, all attempts and the pauses between them together."""

    attempts: int
    total_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """What the passing of time is read from, and spent with."""

    clock: Callable[[], float] = time.monotonic
    wall_clock: Callable[[], float] = time.time  # epoch seconds, for a Retry-After that names a date
    pause: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Where a service is, what opens it, and what to set where either is wrong."""

    url: str
    key: SecretStr | None
    set_url: str
    set_key: str
    needs_key: bool


@dataclass(frozen=True, slots=True)
class Setback:
    """A failure that may pass."""

    said: str
    retry_after_s: float = 0.0


def patiently(
    attempt: Callable[[float], _Answer | Setback], *, patience: Patience, timing: Timing, where: str
) -> _Answer:
    """What an attempt gives that is no setback; each is told when the time for all of them ends (by `timing.clock`).

    The pause doubles each time, and is by chance up to half of it shorter, so that many clients do not return at once;
    where a setback asks for a longer one, it is that.

    Raises:
        EngineUnavailable: attempts or time are used up; `where` begins its message.
    """
    ends = timing.clock() + patience.total_s
    attempts = 0
    while True:
        attempts += 1
        outcome = attempt(ends)
        if not isinstance(outcome, Setback):
            return outcome
        backoff = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** (attempts - 1)) * (0.5 + timing.chance() / 2)
        pause = max(outcome.retry_after_s, backoff)
        if attempts == patience.attempts or timing.clock() + pause >= ends:
            times = "once" if attempts == 1 else f"{attempts} times"
            raise EngineUnavailable(f"{where} {outcome.said}; tried {times}")
        metrics.count("engine_retries")
        timing.pause(pause)


class Endpoint:
    """Answers POSTs of JSON. Thread-safe; opens nothing before the first one, and closes with its last reference."""

    def __init__(
        self, who: str, access: Access, timing: Timing | None = None, *, most_bytes: int = _MOST_ANSWER_BYTES
    ) -> None:
        """Speak for `who`, the engine that error messages name; no answer is read beyond `most_bytes`.

        Raises:
            InvalidInput: the key is nothing that a header can carry.
        """
        self._who = who
        self._access = access
        self._timing = timing or Timing()
        self._most_bytes = most_bytes
        self._opening = threading.Lock()
        self._client: Client | None = None
        self._process = 0
        self._secret = _secret(access)

    def post(self, body: Mapping[str, Any], *, patience: Patience) -> Any:
        """The answer, parsed.

        Connection failures, 408, 409, 429 and 5xx are tried again after a growing pause, or when the service asks.

        Raises:
            Refused: 400, 413, 422 and the like.
            EngineUnavailable: no answer within `patience`, or one that is of no use.
        """
        if self._access.needs_key and self._secret is None:
            raise EngineUnavailable(f"{self._who} has no key: set {self._access.set_key}")
        payload = json.dumps(body, ensure_ascii=False).encode()
        where = f"{self._who} at {self._access.url}"
        return patiently(lambda ends: self._try(payload, ends), patience=patience, timing=self._timing, where=where)

    def _try(self, payload: bytes, ends: float) -> Any | Setback:
        """One request: the parsed answer, or what was in the way and may pass."""
        client = self._opened()
        import httpx2

        try:
            left_s = max(ends - self._timing.clock(), 0.001)
            timeout = httpx2.Timeout(left_s, connect=min(left_s, _CONNECT_S))
            with client.stream("POST", self._access.url, content=payload, timeout=timeout) as response:
                content = self._content(response, ends)
        except httpx2.TimeoutException:
            return Setback("did not answer in time")
        except httpx2.HTTPError as error:
            # Of these messages only the ones about connecting are sure to quote nothing that was sent.
            about = f" ({error})" if isinstance(error, httpx2.ConnectError) else ""
            return Setback(f"cannot be reached: {type(error).__name__}{about}")
        if content is None:
            return Setback("did not finish its answer in time")
        return self._read(response, content)

    def _content(self, response: Response, ends: float) -> bytes | None:
        """The whole answer; None where it still drips when time is up."""
        pieces = []
        size = 0
        for piece in response.iter_bytes():
            pieces.append(piece)
            size += len(piece)
            if size > self._most_bytes:
                said = f"answered more than {self._most_bytes // 1_000_000} MB"
                raise EngineUnavailable(f"{self._who} at {self._access.url} {said}")
            if self._timing.clock() > ends:
                return None
        return b"".join(pieces)

    def _read(self, response: Response, content: bytes) -> Any | Setback:
        status = response.status_code
        where = f"{self._who} at {self._access.url}"
        if response.is_success:
            try:
                return json.loads(content)
            except (ValueError, RecursionError):
                kind = response.headers.get("content-type", "no type").partition(";")[0]
                raise EngineUnavailable(
                    f"{where} answered no JSON ({kind:.40}): check {self._access.set_url}"
                ) from None  # the cause would quote the answer
        code = _code(content)
        said = f"{status} {code}" if code else f"{status}"
        if status in _PASSING or response.is_server_error:
            return Setback(f"answered {said}", self._retry_after_s(response.headers.get("retry-after")))
        if status in {401, 403}:
            raise EngineUnavailable(f"{where} does not accept the key ({said}): set {self._access.set_key}")
        if status in {404, 405} or response.is_redirect:
            raise EngineUnavailable(
                f"{where} has nothing there ({said}): check {self._access.set_url} and the model's name"
            )
        raise Refused(f"{where} refused the request ({said})", status=status, reason=code)

    def _retry_after_s(self, value: str | None) -> float:
        """Seconds that the service asks to wait; 0 where it does not say, or nothing that can be read.

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

    def _opened(self) -> Client:
        """The client of this process; a fork opens its own, for its parent's connections stay the parent's."""
        with self._opening:
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
                f"{self._who} needs a package that is not installed: pip install 'engrain[http]'"
            ) from error
        headers = {"content-type": "application/json", "user-agent": "engrain"}
        if self._secret is not None:
            headers["authorization"] = f"Bearer {self._secret}"
        # No redirects: the key is for this address alone.
        return httpx2.Client(headers=headers, follow_redirects=False)


def joined(base: str, path: str) -> str:
    """The address of `path` under a base that may name it already: both `.../v1` and `.../v1/embeddings` are right."""
    base = base.rstrip("/")
    return base if base.endswith(path) else base + path


def sendable(text: str | None) -> str:
    """The text as JSON can carry it: surrogate pairs joined, lone ones replaced; one space where there is none."""
    whole: Final = text or " "
    return whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _secret(access: Access) -> str | None:
    if access.key is None:
        return None
    secret = access.key.get_secret_value().strip()
    if not (secret.isascii() and secret.isprintable()) or " " in secret:
        raise InvalidInput(f"the key in {access.set_key} is none: a key is printable ASCII without blanks")
    return secret or None


def _code(content: bytes) -> str | None:
    """The code that an OpenAI-style error carries, for messages; nothing of its prose, which may quote the request."""
    try:
        error = json.loads(content)["error"]
        code = error.get("code") or error.get("type")
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return None
    return code if isinstance(code, str) and _CODE.fullmatch(code) else None


def _close(client: Client, process: int) -> None:
    if process == os.getpid():
        client.close()
