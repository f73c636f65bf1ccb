"""Processes killed at a write call: before it, after it, or when half of its bytes are written.

Write calls are those of SQLite, counted by a VFS (writing, truncating, syncing and deleting files of any database), and
those by which Python writes other files.
"""

import contextlib
import gc
import json
import os
import signal
import sys
import traceback
from typing import Literal, NamedTuple

import apsw

# Functions of C that write a file, or give it another name.
_OF_PYTHON = {"write", "flush", "truncate", "fsync", "rename", "replace", "unlink", "close"}
PLACES = ("before", "torn", "after")


class KillPoint(NamedTuple):
    """The write call at which a process is killed, from 1, and whether it is done by then."""

    number: int
    place: Literal["before", "torn", "after"]


class WriteCalls:
    """Counts write calls, and kills the process at one of them."""

    def __init__(self, point=None):
        self.count = 0
        self._point = point
        self._place = None  # of the write call of Python that goes on

    def make(self, write, *, half=None):
        """Make a write call, and return its answer; `half` does the first half of it, where it can be torn."""
        place = self._next()
        if place == "after":
            write()
        elif place == "torn" and half is not None:
            half()
        if place is not None:
            die()
        return write()

    def profile(self, _, event, function):
        """Count the write calls of Python, as a profile function; none of them is torn."""
        if event in ("c_call", "c_return") and _is_write(function):
            if event == "c_call":
                self._place = self._next()
            if self._place is not None and (self._place == "after") == (event == "c_return"):
                die()

    def _next(self):
        """Count another call; where the process dies of it, None where it lives on."""
        self.count += 1
        return self._point.place if self._point is not None and self.count == self._point.number else None


def _is_write(function):
    """True of a function of C that writes; texts are replaced in memory."""
    return function.__name__ in _OF_PYTHON and not isinstance(getattr(function, "__self__", None), str | bytes)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


@contextlib.contextmanager
def counted(point=None, *, of_python=False):
    """Count the write calls of a block, be it of SQLite or of Python; a kill point ends the process there."""
    calls = WriteCalls(point)
    if of_python:
        sys.setprofile(calls.profile)
        try:
            yield calls
        finally:
            sys.setprofile(None)
        return
    with writing_by(calls.make):
        yield calls


@contextlib.contextmanager
def writing_by(make):
    """Let `make(write, half=...)` make every write call of SQLite; `half` is given where the call can be torn."""
    system = _FileSystem(make)
    try:
        yield
    finally:
        system.unregister()


class _File(apsw.VFSFile):
    """A file whose write calls are made by a function."""

    def __init__(self, make, name, flags):
        super().__init__("unix", name, flags)
        self._make = make

    def xWrite(self, data, offset):  # noqa: N802  # SQLite's name
        write = super().xWrite
        self._make(lambda: write(data, offset), half=lambda: write(data[: len(data) // 2], offset))

    def xTruncate(self, size):  # noqa: N802  # SQLite's name
        truncate = super().xTruncate
        self._make(lambda: truncate(size))

    def xSync(self, flags):  # noqa: ARG002, N802  # SQLite's names
        self._make(lambda: None)  # a process that is killed loses nothing that was written


class _FileSystem(apsw.VFS):
    """The default VFS, whose write calls are made by a function."""

    def __init__(self, make):
        super().__init__("counted", "unix", makedefault=True)
        self._make = make

    def xOpen(self, name, flags):  # noqa: N802  # SQLite's name
        return _File(self._make, name, flags)

    def xDelete(self, name, syncdir):  # noqa: ARG002, N802  # SQLite's names
        delete = super().xDelete
        return self._make(lambda: delete(name, False))


class Death(NamedTuple):
    """The end of a process: all that it had acknowledged, and whether it was killed."""

    acknowledged: list
    is_killed: bool


def kill(work, point, *, of_python=False, meanwhile=contextlib.nullcontext):
    """Do `work(acknowledge)` in a fork of this process that is killed at a write call.

    The process waits until the block of `meanwhile` has begun, which lasts to its death.
    """
    ours, theirs = os.pipe()
    begins, begun = os.pipe()
    gc.freeze()
    pid = os.fork()
    if pid == 0:
        _work_and_die(work, point, theirs, begins, of_python=of_python)
    os.close(theirs)
    os.close(begins)
    with os.fdopen(ours, "rb") as answers, meanwhile():
        os.write(begun, b"\n")
        os.close(begun)
        lines = [json.loads(line) for line in answers if line.endswith(b"\n")]
        _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, -signal.SIGKILL):
        raise RuntimeError(f"the process ended with {code} instead of dying at {point}: {lines}")
    return Death(lines, is_killed=code != 0)


def _work_and_die(work, point, theirs, begins, *, of_python):
    try:
        os.read(begins, 1)

        def acknowledge(value):
            os.write(theirs, json.dumps(value).encode() + b"\n")

        with counted(point, of_python=of_python):
            work(acknowledge)
        os._exit(0)
    except BaseException:  # noqa: BLE001  # the fork ends here, whatever happened
        traceback.print_exc()
        os._exit(1)
