"""Storage: one store over SQLite or PostgreSQL, opened by location."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engrain.domain import checks
from engrain.errors import InvalidInput
from engrain.log_events import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engrain.storage.store import SqlStore

_LOG = get_logger(__name__)
IN_MEMORY = ":memory:"
_BEFORE_HOST = re.compile(r"(://[^/?#@:]*):[^/?#]*@")
_IN_QUERY = re.compile(r"([?&]password=)[^&#]*")
_IN_KEYWORDS = re.compile(r"(\bpassword\s*=\s*)('[^']*'|\S+)")
_KEYWORDS = re.compile(r"\s*(host|hostaddr|port|dbname|user|password|passfile|service|sslmode)\s*=")
_MB = 2**20
_SERVERS = ("postgresql://", "postgres://")


def open_store(
    location: str | Path,
    *,
    busy_timeout_s: float = 5.0,
    synchronous: str = "normal",
    pool_size: int = 8,
    cache_mb: int = 1024,
    shards: Mapping[str, str] | None = None,
) -> SqlStore:
    """The store at a path, a `sqlite:///` or `postgresql://` URL or ":memory:", created where there is none.

    `shards` are URLs of further servers by name, each of which has some of the tenants; one that is away is opened when
    it answers.

    `busy_timeout_s` bounds how long a call waits for another process's write, or for the server; `synchronous` is
    SQLite's alone, `pool_size` (connections at once) PostgreSQL's. `cache_mb` bounds what searches keep in the process.

    Raises:
        InvalidInput: a URL of a database that engrain does not speak.
        StorageError: the leaf that says what is wrong with the database.
    """
    from engrain.storage.store import SqlStore

    where = checks.path(location, name="location").removeprefix("sqlite:///")
    open_server = partial(_open_server, busy_timeout_s=busy_timeout_s, pool_size=pool_size, cache_mb=cache_mb)
    if shards:
        return _open_shards(where, shards, open_server)
    if is_server(where):
        return _open_alone(open_server(where))
    if "://" in where:
        scheme = where.partition("://")[0]
        if scheme in {"https", "http"}:
            raise InvalidInput(f"{where:.80} is the address of a server, and this needs the database: use it there")
        raise InvalidInput(f"{scheme}:// is no database of engrain's; give a path, postgresql://... or :memory:")
    if has_keywords(where):  # the message has no password in it
        raise InvalidInput("a server is named by a URL, not by key=value: give postgresql://user@host:port/dbname")
    if not where.strip():
        raise InvalidInput("the path of the memory is empty; name a file such as agent.db")
    from engrain.storage.sqlite.backend import SqliteBackend

    path = where if where == IN_MEMORY else _absolute_path(checks.path(where, name="location"))
    return SqlStore(
        SqliteBackend(path, busy_timeout_s=busy_timeout_s, synchronous=synchronous, cache_bytes=cache_mb * _MB)
    )


def _absolute_path(path: str) -> str:
    """Return a path that stays the same when the process changes its folder: later threads open the file, too."""
    try:
        return str(Path(path).absolute())
    except FileNotFoundError as error:
        raise InvalidInput(f"the folder of {path!r:.300} is gone; give an absolute path") from error


def _open_server(url: str, *, busy_timeout_s: float, pool_size: int, cache_mb: int) -> SqlStore:
    from engrain.storage.postgres.backend import PostgresBackend
    from engrain.storage.store import SqlStore

    return SqlStore(PostgresBackend(url, pool_size=pool_size, timeout_s=busy_timeout_s, cache_bytes=cache_mb * _MB))


def _open_alone(server: SqlStore) -> SqlStore:
    """Open a server without others, which may be one of several: only the tenants that it has are there then."""
    from engrain.storage.shards.directory import is_marked, refuse_absent

    try:
        return server.with_check(refuse_absent) if is_marked(server) else server
    except BaseException:
        server.close()
        raise


def _open_shards(home: str, shards: Mapping[str, str], open_: Callable[[str], SqlStore]) -> SqlStore:
    """Open several servers as one store; that of the location is the first, and is called `home`."""
    from engrain.storage.shards.store import ShardedStore
    from engrain.storage.store import HOME

    servers = {HOME: home, **shards}
    if HOME in shards:
        raise InvalidInput(f"storage.shards names {HOME!r}, which is the server of `db`; choose another name")
    for name, url in servers.items():
        if not is_server(url):
            raise InvalidInput(
                f"the server {checks.name(name, name='storage.shards')!r:.80} is at {mask_password(url):.80}, and "
                "tenants are on PostgreSQL servers: give `db` and all of storage.shards as postgresql://..."
            )
    opened: dict[str, SqlStore] = {}
    try:
        for name, url in servers.items():
            opened[name] = _open_shard(name, url, open_)
            _refuse_twins(opened, name)
        return ShardedStore(opened)
    except BaseException:
        for store in opened.values():
            store.close()
        raise


def _open_shard(name: str, url: str, open_: Callable[[str], SqlStore]) -> SqlStore:
    """Open one of several servers: the first now, another as soon as it answers, since its tenants alone need it."""
    from engrain.storage.postgres.servers import hide_password, parse_url
    from engrain.storage.shards.directory import mark_server
    from engrain.storage.shards.late_store import AWAY, LateStore
    from engrain.storage.store import HOME

    def open_marked() -> SqlStore:
        store = open_(url)
        try:
            mark_server(store)
        except BaseException:
            store.close()
            raise
        return store

    try:
        return open_marked()
    except AWAY as error:
        if name == HOME:
            raise
        _LOG.warning("server is away", extra={"server": name, "reason": str(error)})
        return LateStore(hide_password(parse_url(url)), open_marked)


def _refuse_twins(opened: Mapping[str, SqlStore], name: str) -> None:
    where = opened[name].location
    twin = next(other for other, store in opened.items() if store.location == where)
    if twin != name:
        raise InvalidInput(f"the servers {twin} and {name} are both {where}; name each once")


def is_server(location: str) -> bool:
    """Tell whether a location is the URL of a PostgreSQL server."""
    return location.startswith(_SERVERS)


def has_keywords(location: str) -> bool:
    """Tell whether a location names a server by `host=...` and the like, as libpq takes it and engrain does not."""
    return _KEYWORDS.match(location) is not None


def mask_password(location: str) -> str:
    """Return a location as it may be printed: without the password of a URL, be it one of ours (a redis://, say)."""
    if has_keywords(location):
        return _IN_KEYWORDS.sub(r"\1", location)
    return _IN_QUERY.sub(r"\1", _BEFORE_HOST.sub(r"\1@", location)) if "://" in location else location
