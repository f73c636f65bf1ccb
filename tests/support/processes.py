"""Processes of the package for tests: each of its own, and forked from one that has loaded the package already."""

import atexit
import contextlib
import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from subprocess import DEVNULL, PIPE

from tests.support import forked

ROOT = Path(__file__).parents[2]


def without_settings():
    """The environment without settings of the memory, but the key of the tests that signs backups."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("ENGRAIN_") or name == "ENGRAIN_BACKUP__SIGNING_KEY"
    }


@functools.cache
def socket_of_server():
    """The socket of the process that forks the others; it ends with this one."""
    folder = tempfile.mkdtemp(prefix="engrain-forked-")
    path = Path(folder, "socket")
    command = [sys.executable, "-m", "tests.support.forked", path]
    serving = subprocess.Popen(command, cwd=ROOT, stdin=PIPE, stdout=PIPE, start_new_session=True)
    assert serving.stdout.readline() == b"ready\n"

    def end():
        serving.communicate()
        shutil.rmtree(folder)

    atexit.register(end)
    return path


def engrain(*arguments):
    """A command for a shell or a client that starts processes: `engrain ARGUMENT...`, forked."""
    return [sys.executable, "-S", forked.__file__, str(socket_of_server()), *map(str, arguments)]


class Forked:
    """A call of a function in a process of its own, as `subprocess.Popen` has it."""

    def __init__(self, asked, *, stdin=None, stdout=None, stderr=None):
        self._connection = forked.connected(socket_of_server())
        theirs, opened = [], []
        self.stdin, self.stdout, self.stderr = None, None, None
        for number, (name, stream) in enumerate((("stdin", stdin), ("stdout", stdout), ("stderr", stderr))):
            if stream == PIPE:
                ends = os.pipe()
                here, there = ends if number else ends[::-1]
                setattr(self, name, open(here, "rb" if number else "wb"))  # noqa: PTH123, SIM115
            elif stream == DEVNULL:
                there = os.open(os.devnull, os.O_RDWR)
            else:
                theirs.append(number if stream is None else stream if isinstance(stream, int) else stream.fileno())
                continue
            theirs.append(there)
            opened.append(there)
        forked.ask(self._connection, asked, theirs)
        for stream in opened:
            os.close(stream)
        self.returncode = None
        self.pid = forked.number(self._connection)
        try:
            self._process = os.pidfd_open(self.pid)
        except ProcessLookupError:
            self._process = None

    def poll(self):
        try:
            return self.wait(0)
        except BlockingIOError:
            return None

    def wait(self, timeout=None):
        """The exit code, or minus the number of the signal that ended it; `TimeoutError` where it runs on."""
        if self.returncode is None:
            self._connection.settimeout(timeout)
            self.returncode = forked.number(self._connection)
            self._connection.close()
            if self._process is not None:
                os.close(self._process)
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None and self._process is not None:
            with contextlib.suppress(ProcessLookupError):  # it has ended, and the server is about to say so
                signal.pidfd_send_signal(self._process, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def __del__(self):
        self._connection.close()
