"""HTTP server process of `engrain serve`: socket, application, worker and orderly shutdown."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import logging
import os
import signal
import socket
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import uvicorn
from anyio.to_thread import current_default_thread_limiter

from engrain.errors import CannotListen, InvalidInput
from engrain.interfaces import logs
from engrain.interfaces.access import Gate
from engrain.interfaces.compat.mem0.routers import ROUTERS
from engrain.interfaces.http.app import create_app
from engrain.interfaces.http.middleware.slow_clients import make_timed_protocol
from engrain.interfaces.http.page import OneTimeKey
from engrain.interfaces.mcp.instructions import DEFAULT_PROFILE
from engrain.jobs.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from types import FrameType

    from starlette.types import ASGIApp

    from engrain.config.server import Server as Bounds
    from engrain.service import Memory

_LOG = logging.getLogger(__name__)
_STOPS = (signal.SIGINT, signal.SIGTERM)
_KILLED = 128  # a shell's exit code for a process that a signal ended, beside the signal's number
_WAITING_CONNECTIONS = 2048  # of clients that come while all are busy, kept by the system


@contextlib.contextmanager
def bind(host: str, port: int) -> Iterator[socket.socket]:
    """Bind a socket to an address, without listening yet; port 0 takes any free one.

    Raises:
        CannotListen: the port is taken, the address is not this machine's, or the system does not allow it.
    """
    family, address = _resolve(host, port)
    # asyncio sends at once (TCP_NODELAY) only on sockets that say they are TCP; others hold an answer back for 40 ms.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
        except OSError as error:
            raise _cannot_listen(_shown(host, port), error) from error
        yield listener


def address_of(listener: socket.socket) -> str:
    """Return the URL under which clients reach a socket."""
    host, port = listener.getsockname()[:2]
    return f"http://{_shown(host, port)}"


def is_loopback(listener: socket.socket) -> bool:
    """Tell whether only processes of this machine can reach a socket."""
    return ipaddress.ip_address(listener.getsockname()[0].partition("%")[0]).is_loopback


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """Options of one server: keys, tools, worker and compatible routes."""

    keys_required: bool
    token: str | None = None  # asked for where no key is; None to ask for nothing
    profile: str = DEFAULT_PROFILE  # the tools under /mcp
    has_worker: bool = True
    serves_mem0: bool = False
    one_time_key: str | None = None  # the page exchanges it for the token


def serve(memory: Memory, listener: socket.socket, options: ServerOptions, *, ready: Callable[[], None]) -> None:
    """Serve a memory on a socket until a signal stops the process; all work is finished when this returns.

    `ready` is called when requests are answered. Requests under way have `server.shutdown_s` to finish, and so have the
    vectors of what was written last, which stay queued otherwise. The memory is closed afterwards.
    """
    logs.configure(memory.settings.logging)
    shutdown = Shutdown()
    bounds = memory.settings.server
    try:
        listener.listen(_WAITING_CONNECTIONS)
    except OSError as error:  # another process took the address meanwhile
        raise _cannot_listen(address_of(listener), error) from error
    with shutdown.handle_signals():
        worker = Worker(memory) if options.has_worker else None
        if worker is not None:
            worker.start()
        try:
            run(make_application(memory, options), listener, bounds, ready=ready, shutdown=shutdown)
        finally:
            if worker is not None:
                worker.stop(bounds.shutdown_s)
        memory.close(flush=False, wait_s=bounds.shutdown_s)


def make_application(memory: Memory, options: ServerOptions) -> ASGIApp:
    """Make the one application of all that is served."""
    gate = Gate(memory, keys_required=options.keys_required, token=options.token)
    one_time_key = None
    if options.one_time_key is not None and options.token is not None:
        one_time_key = OneTimeKey(options.one_time_key, options.token)
    app = create_app(memory, gate=gate, mcp_profile=options.profile, one_time_key=one_time_key)
    if options.serves_mem0:
        for router in ROUTERS:
            app.include_router(router)
    return app


def check_keys(memory: Memory, listener: socket.socket, *, wanted: bool | None) -> bool:
    """Decide whether keys are required: as `wanted`, else everywhere but on loopback.

    Raises:
        InvalidInput: others than this machine's could come without a key, or nobody could come for want of one.
    """
    local = is_loopback(listener)
    if wanted is False and not local:
        raise InvalidInput(
            f"{address_of(listener)} is reached by other machines, and --no-keys is for loopback alone; leave it out"
        )
    required = not local if wanted is None else wanted
    now = memory.now
    if required and not any(key.is_valid(now) for key in memory.keys.list()):
        raise InvalidInput(
            f"tenant {memory.settings.tenant} has no valid key, and nobody is let in on {address_of(listener)} without "
            "one; make one first: engrain keys create --role writer"
        )
    return required


@dataclass
class Shutdown:
    """Shutdown by signal: the first one begins it, the second ends the process at once."""

    begin: Callable[[], None] = field(default=lambda: None)  # done in the signal's handler, once
    has_begun: bool = False

    @contextlib.contextmanager
    def handle_signals(self) -> Generator[None]:
        """Handle SIGINT and SIGTERM inside the block; no other thread than the main one can."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._stop) for number in _STOPS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        if self.has_begun:
            os._exit(_KILLED + number)  # what was acknowledged is in the database: kill -9 would lose nothing either
        self.has_begun = True
        self.begin()


class _Server(uvicorn.Server):
    """uvicorn with our signal handling (its own ends by the signal it got) and a call when it is ready."""

    def __init__(self, config: uvicorn.Config, *, threads: int, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._threads = threads
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        current_default_thread_limiter().total_tokens = self._threads
        await super().startup(sockets)
        self._ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    def stop(self) -> None:
        self.should_exit = True


def run(
    app: ASGIApp, listener: socket.socket, bounds: Bounds, *, ready: Callable[[], None], shutdown: Shutdown
) -> None:
    """Answer on `listener` until `shutdown` begins, then finish what is under way, `bounds.shutdown_s` at most.

    `ready` is called when requests are answered.
    """
    config = uvicorn.Config(
        app,
        http=make_timed_protocol(bounds.body_timeout_s, max_connections=bounds.max_connections),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=bounds.keep_alive_s,
        timeout_graceful_shutdown=bounds.shutdown_s,
    )
    server = _Server(config, threads=bounds.threads, ready=ready)
    shutdown.begin = server.stop
    if shutdown.has_begun:
        server.stop()
    server.run([listener])


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, Any]:
    """Return the first address of a host, IPv4 before IPv6."""
    if not host:
        raise InvalidInput("server.host is empty; 127.0.0.1 is this machine alone, 0.0.0.0 every address of it")
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise CannotListen(f"cannot serve on {_shown(host, port)}: {host!r} is no known host ({error})") from error
    family, _, _, _, address = min(addresses, key=lambda entry: entry[0] != socket.AF_INET)
    return family, address


def _cannot_listen(where: str, error: OSError) -> CannotListen:
    return CannotListen(f"cannot serve on {where}: {_reason(error)}")


def _reason(error: OSError) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return "another process serves there; stop it, or choose another --port (0 takes any free one)"
        case errno.EACCES | errno.EPERM:
            return "the system does not allow this port to this user; choose one above 1023"
        case errno.EADDRNOTAVAIL:
            return "the address is not this machine's; 127.0.0.1 is this machine alone, 0.0.0.0 all of its addresses"
        case _:
            return error.strerror or str(error)


def _shown(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
