"""Local socket: a process that has a memory open answers the hooks of its user on a socket beside the database.

A hook that finds it need not open the database, and searches by meaning with the embedder that is loaded there. Only
the owner of the database can connect: the socket has mode 0600. Each line is one call, and so is each answer.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import sys
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engrain.errors import DatabaseUnreachable, EngrainError, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from engrain.service import Memory

_MOST_PATH_BYTES = 100  # the system's own limit is 104 or 108
_MOST_LINE_BYTES = 16 * 2**20
_IDLE_S = 30.0
_PROBE_S = 1.0
_TRY_AGAIN_S = 3.0
_PAUSE_S = 0.05


def socket_path(database: Path) -> Path:
    """Return the path of the socket of a database."""
    resolved = database.resolve()
    return resolved.with_name(f"{resolved.name}.sock")


class LocalConnection:
    """Connection of a hook to the process that has its memory open, as one agent."""

    def __init__(self, stream: socket.socket, identity: Mapping[str, str | None]) -> None:
        self._socket = stream
        self._reader = stream.makefile("rb")
        self._identity = identity

    def call(self, verb: str, arguments: Mapping[str, Any], *, session: str | None, timeout_s: float) -> Any:
        """Return what a verb answers in a session.

        Raises:
            InvalidInput: the arguments are refused.
            DatabaseUnreachable: there is no answer in time, or the database cannot do it now.
        """
        asked = {"identity": {**self._identity, "session": session}, "verb": verb, "arguments": arguments}
        self._socket.settimeout(timeout_s)
        try:
            self._socket.sendall(json.dumps(asked).encode() + b"\n")
            document = json.loads(self._reader.readline(_MOST_LINE_BYTES))
            answer, error = document.get("answer"), document.get("error")
        except (OSError, ValueError, AttributeError) as cause:
            raise DatabaseUnreachable(f"the process at the socket does not answer ({type(cause).__name__})") from cause
        if error == InvalidInput.code:
            raise InvalidInput(f"{verb} was refused")
        if error is not None:
            raise DatabaseUnreachable(f"{verb} failed with {error!s:.80}")
        return answer

    def close(self) -> None:
        self._reader.close()
        self._socket.close()


def connect(database: Path, identity: Mapping[str, str | None], *, timeout_s: float) -> LocalConnection | None:
    """Connect to the process that serves a database's socket; None where there is none of this user's."""
    path = socket_path(database)
    if not _is_own(path):
        return None
    stream = _new_socket()
    stream.settimeout(timeout_s)
    try:
        stream.connect(str(path))
    except OSError:  # the process has ended without a word
        stream.close()
        return None
    return LocalConnection(stream, identity)


@contextmanager
def serve_socket(memory: Memory, database: Path | None) -> Iterator[bool]:
    """Answer hooks on the socket of a database inside the block; yields whether this process does from its beginning.

    Where another process does, this one takes its place within seconds of its end. No process does where the system has
    no such sockets or the path is too long for one.
    """
    path = None if database is None else socket_path(database)
    if path is None or sys.platform == "win32" or len(os.fsencode(path)) > _MOST_PATH_BYTES:
        yield False
        return
    server = _Server(memory, path)
    try:
        yield server.is_listening
    finally:
        server.close()


class _Server:
    """Thread that answers on the socket at a path, and waits for its turn while another process does."""

    def __init__(self, memory: Memory, path: Path) -> None:
        self._memory = memory
        self._path = path
        self._ended = threading.Event()
        self._listener = _listen(path)
        self._thread = threading.Thread(target=self._run, name="engrain-hooks", daemon=True)
        self._thread.start()

    @property
    def is_listening(self) -> bool:
        """True if hooks reach this process."""
        return self._listener is not None

    def close(self) -> None:
        """Remove the socket, if it is this process's, and end the thread."""
        self._ended.set()
        if (listener := self._listener) is not None:
            listener.remove(self._path)
        self._thread.join(_PROBE_S)

    def _run(self) -> None:
        while not self._ended.is_set():
            if self._listener is None:
                self._ended.wait(_TRY_AGAIN_S)
                self._listener = None if self._ended.is_set() else _listen(self._path)
            elif not self._listener.is_at(self._path):  # another process took the path at the same moment
                self._listener.remove(self._path)
                self._listener = None
            elif (stream := self._listener.accept()) is not None:
                answering = (stream, self._memory)
                threading.Thread(target=_answer, args=answering, name="engrain-hook", daemon=True).start()
            else:
                self._ended.wait(_PAUSE_S)  # or a process without a free descriptor would spin
        if self._listener is not None:
            self._listener.remove(self._path)


@dataclass(frozen=True, slots=True)
class _Listener:
    """Listening socket, and the number of its file."""

    opened: socket.socket
    inode: int

    def is_at(self, path: Path) -> bool:
        """True if a path leads to it."""
        try:
            return path.lstat().st_ino == self.inode
        except OSError:
            return False

    def accept(self) -> socket.socket | None:
        """Return the next connection; None if there is none within seconds."""
        try:
            return self.opened.accept()[0]
        except OSError:
            return None

    def remove(self, path: Path) -> None:
        """Remove its file, and close it."""
        with suppress(OSError):
            if self.is_at(path):
                path.unlink()
        with suppress(OSError):
            self.opened.shutdown(socket.SHUT_RDWR)  # or a thread that waits for a connection would wait on
        self.opened.close()


def _listen(path: Path) -> _Listener | None:
    """Listen at a path, in place of a socket that nobody answers on; None where that cannot be."""
    if _is_served(path):
        return None
    own = path.with_name(f"{path.name}{os.getpid() % 10_000}")
    listener = _new_socket()
    listener.settimeout(_TRY_AGAIN_S)
    try:
        own.unlink(missing_ok=True)
        listener.bind(str(own))
        own.chmod(0o600)
        listener.listen(16)
        inode = own.lstat().st_ino
        own.replace(path)
    except OSError:  # a file system without sockets, or a folder that is read-only
        listener.close()
        with suppress(OSError):
            own.unlink(missing_ok=True)
        return None
    return _Listener(listener, inode)


def _new_socket() -> socket.socket:
    if sys.platform == "win32":
        raise OSError("Python has no sockets at paths on Windows")
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)


def _is_own(path: Path) -> bool:
    if sys.platform == "win32":
        return False
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISSOCK(status.st_mode) and status.st_uid == os.geteuid()


def _is_served(path: Path) -> bool:
    with _new_socket() as probe:
        probe.settimeout(_PROBE_S)
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True


def _answer(stream: socket.socket, memory: Memory) -> None:
    """Answer the calls of one hook until it closes the connection."""
    stream.settimeout(_IDLE_S)
    with stream, stream.makefile("rb") as reader, suppress(OSError):
        while line := reader.readline(_MOST_LINE_BYTES):
            stream.sendall(json.dumps(_outcome(memory, line)).encode() + b"\n")


def _outcome(memory: Memory, line: bytes) -> dict[str, Any]:
    from engrain.interfaces.assistants.verb_calls import call

    try:
        asked = json.loads(line)
        return {"answer": call(memory, asked["identity"], asked["verb"], asked["arguments"])}
    except EngrainError as error:
        return {"error": error.code}
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return {"error": InvalidInput.code}
