"""Clients of a served memory: each a thread that recalls and observes, and notes what it was told and when."""

from __future__ import annotations

import contextlib
import functools
import http.client
import itertools
import json
import random
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, Literal

from bench.speed import language

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engrain import Memory

Verb = Literal["recall", "observe"]

AGENTS = 8
_SHARE_OF_RECALLS = 0.8
_CLIENTS_A_PROCESS = 8  # so that what is measured is the server, and not clients that wait for one another
_PATIENCE_S = 60.0


@dataclass
class Seen:
    """Answers to clients: seconds of each answered call, acknowledged ids by key, and other answers."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {"recall": [], "observe": []})
    acknowledged: dict[str, str] = field(default_factory=dict)
    retried: dict[str, int] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)

    def add(self, other: Seen) -> None:
        for verb, took in other.seconds.items():
            self.seconds[verb] += took
        self.acknowledged |= other.acknowledged
        for mine, theirs in ((self.retried, other.retried), (self.errors, other.errors)):
            for name, count in theirs.items():
                mine[name] = mine.get(name, 0) + count

    @property
    def calls(self) -> int:
        return sum(map(len, self.seconds.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Work of the clients: a duration, or a number of calls each."""

    clients: int
    seconds: float = float("inf")
    calls: float = float("inf")  # of each client
    talk: int = 2_000  # turns that the memory holds before, and that questions are about
    retries: bool = False  # again, with the same key, where the server says so or the connection ends


def over_http(work: Work, address: str, key: str | None = None) -> Seen:
    """Run all clients and merge their answers; they are threads of as many processes as keep them from waiting."""
    firsts = range(0, work.clients, _CLIENTS_A_PROCESS)
    groups = [range(first, min(first + _CLIENTS_A_PROCESS, work.clients)) for first in firsts]
    seen = Seen()
    with ProcessPoolExecutor(len(groups), mp_context=get_context("spawn")) as pool:
        for each in pool.map(_group, *zip(*((work, address, key, group) for group in groups), strict=True)):
            seen.add(each)
    return seen


def over_http_here(work: Work, address: str, seen: list[Seen], stopping: threading.Event) -> None:
    """The same by threads of this process, each noting what it sees as it goes, until they are told to stop."""

    def client(number: int) -> None:
        with contextlib.closing(_Caller(address, None, number, seen[number], retries=work.retries)) as caller:
            _go_on(work, number, seen[number], caller, stopping=stopping)

    with ThreadPoolExecutor(work.clients) as pool:
        for each in [pool.submit(client, number) for number in range(work.clients)]:
            each.result()


def in_process(work: Work, memory: Memory) -> Seen:
    """The same by as many threads on a memory of this process."""

    def calls(number: int) -> Callable[[Verb, str, str], None]:
        agent = memory.agent(f"agent {number % AGENTS}", session=f"client {number}")

        def call(verb: Verb, text: str, name: str) -> None:
            agent.recall(text) if verb == "recall" else agent.observe(text, idempotency_key=name)

        return call

    return _all(work, range(work.clients), lambda number, _: calls(number))


def plan(work: Work, number: int) -> Iterator[tuple[Verb, str, str]]:
    """The calls of one client: verb, text, and a key of its own for each write; the same every time."""
    said, asked = _talk(work.talk)
    chance = random.Random(number)
    for place in itertools.count():
        is_recall = chance.random() < _SHARE_OF_RECALLS
        text = chance.choice(asked) if is_recall else f"{chance.choice(said).content} ({number}, {place})"
        yield "recall" if is_recall else "observe", text, f"client {number} call {place}"


@functools.cache
def _talk(turns: int) -> tuple[list[language.SpokenTurn], list[str]]:
    said = language.talk(turns)
    return said, language.questions(said, 200, naming=False)


def _group(work: Work, address: str, key: str | None, numbers: range) -> Seen:
    return _all(work, numbers, lambda number, seen: _Caller(address, key, number, seen, retries=work.retries))


def _all(work: Work, numbers: range, caller: Callable[[int, Seen], Callable[[Verb, str, str], None]]) -> Seen:
    start = threading.Barrier(len(numbers))

    def client(number: int) -> Seen:
        seen = Seen()
        call = caller(number, seen)
        _talk(work.talk)
        start.wait()
        _go_on(work, number, seen, call, stopping=threading.Event())
        return seen

    seen = Seen()
    with ThreadPoolExecutor(len(numbers)) as pool:
        for each in pool.map(client, numbers):
            seen.add(each)
    return seen


def _go_on(
    work: Work, number: int, seen: Seen, call: Callable[[Verb, str, str], None], *, stopping: threading.Event
) -> None:
    """Do what is planned until time or calls are over, or it is told to stop."""
    end = time.monotonic() + work.seconds
    for done, (verb, text, name) in enumerate(plan(work, number)):
        if time.monotonic() > end or done >= work.calls or stopping.is_set():
            return
        begun = time.perf_counter()
        try:
            call(verb, text, name)
        except Exception as error:  # noqa: BLE001  # every error is what is counted here
            said = f"{type(error).__name__}: {error}"[:80]
            seen.errors[said] = seen.errors.get(said, 0) + 1
        else:
            seen.seconds[verb].append(time.perf_counter() - begun)


class Refused(Exception):
    """The server answered with something that a client should not come again for."""


class _Caller:
    """One client of a server, on one connection that it opens again when it ends."""

    def __init__(self, address: str, key: str | None, number: int, seen: Seen, *, retries: bool) -> None:
        self._connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=_PATIENCE_S)
        self._headers = {
            "Content-Type": "application/json",
            "Engrain-Agent": f"agent {number % AGENTS}",
            "Engrain-Session": f"client {number}",
            **({} if key is None else {"Authorization": f"Bearer {key}"}),
        }
        self._seen = seen
        self._retries = retries

    def __call__(self, verb: Verb, text: str, name: str) -> None:
        path, body = ("/v1/recall", {"query": text}) if verb == "recall" else ("/v1/episodes", {"content": text})
        headers = self._headers if verb == "recall" else self._headers | {"Idempotency-Key": name}
        while True:
            why, pause_s, answer = self._once(path, json.dumps(body), headers)
            if why is None:
                if verb == "observe":
                    self._seen.acknowledged[name] = answer["id"]
                return
            if not self._retries:
                raise Refused(why)
            self._seen.retried[why] = self._seen.retried.get(why, 0) + 1
            time.sleep(pause_s)

    def close(self) -> None:
        self._connection.close()

    def _once(self, path: str, body: str, headers: dict[str, str]) -> tuple[str | None, float, dict[str, Any]]:
        """Why the call has to be made again and after how long, None and the answer where it need not.

        Raises:
            Refused: it would be refused again.
        """
        try:
            self._connection.request("POST", path, body, headers)
            answered = self._connection.getresponse()
            said = answered.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            return f"connection: {type(error).__name__}", 0.05, {}
        if answered.status < 300:
            return None, 0.0, json.loads(said)
        code = json.loads(said or b"{}").get("code")
        after = answered.headers.get("retry-after")
        if answered.status != 503 or after is None:
            raise Refused(f"{answered.status} {code}")
        return f"503 {code}", min(float(after), 0.2), {}
