"""Recent turns of sessions in Redis, a cache in front of the database.

What Redis lacks, or may lack, is read from the database: a session whose turns could not be written is distrusted until
its key was deleted, and turns that are not consecutive are no answer.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from engrain import metrics
from engrain.domain.access.scopes import audience_of
from engrain.domain.records import Episode
from engrain.errors import InvalidInput
from engrain.log_events import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from redis import Redis
    from redis.client import Pipeline

_LOG = get_logger(__name__)

# Of one session Redis holds so many turns; of more sessions than that which it missed, none is trusted for a while.
MOST_TURNS = 1_000
_MOST_MISSED = 100_000
_DROPPED_AT_ONCE = 1_000
_SHORTEST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 30.0
_TIMES = frozenset(("event_time", "created_at", "expires_at", "last_referenced_at", "next_consolidation_retry_at"))


class RedisRecent:
    """Sorted sets `{prefix}:episodic:{tenant}:{agent}:{session}`, by the time of each turn. Thread-safe.

    Nothing here raises for what Redis does: it answers that it does not know, `redis_degraded` counts how often, and is
    asked again after a pause that grows from 0.05 to 30 s.
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "engrain",
        ttl_s: float = 86_400.0,
        timeout_s: float = 0.25,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Reach the server at `url` (redis://, rediss:// or unix://), for the first time when it is needed.

        Raises:
            InvalidInput: no such address, or the package redis is not installed.
        """
        self._prefix = prefix
        self._ttl_s = ttl_s
        self._clock = clock
        self._client = _client(url, timeout_s)
        self._lock = threading.Lock()
        self._missed: dict[str, object] = {}  # a key, and when it was missed last
        self._pause_s = 0.0
        self._asked_again_at = 0.0
        self._trusted_from = 0.0

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def add(self, episodes: Iterable[Episode]) -> None:
        """Hold turns that are durable: one round trip."""
        turns: dict[str, list[Episode]] = {}
        for episode in episodes:
            if episode.session is not None and audience_of(episode.scope) == episode.agent:
                turns.setdefault(self._key(episode.tenant_id, episode.scope, episode.session), []).append(episode)
        if not turns:
            return

        def work(pipeline: Pipeline) -> None:
            for key, turns_of_key in turns.items():
                pipeline.zadd(key, {_written(episode): _micros(episode.event_time) for episode in turns_of_key})
                pipeline.zremrangebyrank(key, 0, -MOST_TURNS - 1)
                pipeline.pexpire(key, int(self._ttl_s * 1000))

        if self._ask(work) is None:
            self._miss(turns)

    def newest(self, tenant_id: str, scope: str, session: str, limit: int) -> list[Episode] | None:
        """The newest `limit` turns of a session, or as many as are known to be the newest, newest first.

        None where Redis cannot tell: it is out of reach, or has missed a turn.
        """
        key = self._key(tenant_id, scope, session)
        with self._lock:
            if self._clock() < self._trusted_from:
                return None

        def work(pipeline: Pipeline) -> None:
            pipeline.zrevrange(key, 0, max(limit, 1) - 1)

        answered = self._ask(work)
        with self._lock:
            if answered is None or key in self._missed:  # missed meanwhile
                return None
        found = [_read(member) for member in answered[-1]]
        turns = [turn.turn for turn in found]
        first = turns[0] if turns else 0
        return found if turns == list(range(first, first - len(turns), -1)) else None

    def drop(self, sessions: Iterable[tuple[str, str, str]]) -> None:
        """Drop sessions, by tenant, scope and name: something of them was forgotten."""
        keys = [self._key(*session) for session in sessions]
        for start in range(0, len(keys), _DROPPED_AT_ONCE):
            self._miss(keys[start:][:_DROPPED_AT_ONCE])
            self._ask(lambda _: None)

    def answers(self) -> bool:
        """Tell whether the server answers now; not asked within a pause."""
        return self._ask(lambda pipeline: cast("None", pipeline.ping())) is not None

    def _key(self, *parts: str) -> str:
        return ":".join((self._prefix, "episodic", *(quote(part, safe="") for part in parts)))

    def _miss(self, keys: Iterable[str]) -> None:
        """Trust these no more, until they were deleted."""
        with self._lock:
            self._missed |= {key: object() for key in keys}
            if len(self._missed) > _MOST_MISSED:
                self._missed.clear()
                self._trusted_from = self._clock() + self._ttl_s  # by then all of them have run out

    def _ask(self, work: Callable[[Pipeline], None]) -> list[Any] | None:
        """Run one pipeline, which begins by deleting what the server missed; None where it cannot answer."""
        from redis.exceptions import RedisError

        with self._lock:
            missed = dict(self._missed)
            if self._clock() < self._asked_again_at:
                metrics.count("redis_degraded")
                return None
        try:
            with self._client.pipeline(transaction=True) as pipeline:
                if missed:
                    pipeline.delete(*missed)
                work(pipeline)
                answered: list[Any] = pipeline.execute()
        except (RedisError, OSError) as error:
            self._rest(error)
            return None
        with self._lock:
            self._missed = {key: at for key, at in self._missed.items() if missed.get(key) is not at}
            if self._pause_s:
                self._pause_s = self._asked_again_at = 0.0
                metrics.count("redis_healed")
                _LOG.info("redis answers again")
        return answered

    def _rest(self, error: Exception) -> None:
        """Ask nothing for a while, longer each time."""
        metrics.count("redis_degraded")
        with self._lock:
            self._pause_s = min(max(2 * self._pause_s, _SHORTEST_PAUSE_S), _LONGEST_PAUSE_S)
            self._asked_again_at = self._clock() + self._pause_s
            _LOG.warning("redis does not answer", extra={"error": type(error).__name__, "pause_s": self._pause_s})


def _client(url: str, timeout_s: float) -> Redis:
    try:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ModuleNotFoundError as error:
        raise InvalidInput("setting redis.url needs the package redis: pip install 'engrain[redis]'") from error
    try:
        return Redis.from_url(
            url,
            decode_responses=True,
            socket_timeout=timeout_s,
            socket_connect_timeout=timeout_s,
            retry=Retry(NoBackoff(), 0),
        )
    except ValueError:  # its message may quote a password
        raise InvalidInput("setting redis.url is no redis://, rediss:// or unix:// address") from None


def _micros(moment: datetime) -> int:
    """Exact as a score, which is a float64, until the year 2255."""
    return int(moment.timestamp()) * 1_000_000 + moment.microsecond


def _written(episode: Episode) -> str:
    """Turns of one time sort by their number."""
    return f"{episode.turn:012d}{json.dumps(episode.to_dict(), ensure_ascii=False)}"


def _read(member: str) -> Episode:
    document = json.loads(member[12:])
    known = {field.name for field in fields(Episode)}
    values: dict[str, Any] = {
        name: datetime.fromisoformat(value) if name in _TIMES and value is not None else _frozen(value)
        for name, value in document.items()
        if name in known
    }
    return Episode(**values)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
