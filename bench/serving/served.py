"""A database that holds some talk, and `engrain serve` on it as a process of its own."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from bench.serving.clients import AGENTS
from bench.speed import language
from engrain import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator


class Server:
    """`engrain serve` on one database, answering inside the block."""

    def __init__(self, db: str, *options: str, **settings: str) -> None:
        self._process = _started("serve", "--port", "0", "--no-keys", "--json", *options, db=db, settings=settings)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"engrain serve ended with {self._process.wait()}")
        self.address: str = json.loads(line)["address"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._process:
            self._process.terminate()

    @property
    def is_running(self) -> bool:
        """False once its process has ended."""
        return self._process.poll() is None

    @property
    def megabytes(self) -> float:
        """Its private memory on this machine, without pages of files, which the system takes back."""
        _, resident, shared, *_ = Path(f"/proc/{self._process.pid}/statm").read_text(encoding="ascii").split()
        return (int(resident) - int(shared)) * resource.getpagesize() / 1e6


class Worker:
    """`engrain worker` on the same database, at work, to be killed."""

    def __init__(self, db: str, **settings: str) -> None:
        self._db, self._settings = db, settings
        self._start()

    @property
    def is_running(self) -> bool:
        """False once its process has ended."""
        return self._process.poll() is None

    def kill(self) -> None:
        """As the kernel does when memory is short: it says no word."""
        with self._process:
            self._process.kill()
            self._reading.join()

    def kill_and_restart(self) -> None:
        self.kill()
        self._start()

    def _start(self) -> None:
        """Start it, and wait until it is at work: it ends if PostgreSQL goes away while it opens the memory."""
        self._process = _started("worker", db=self._db, settings=self._settings, stderr=subprocess.PIPE)
        assert self._process.stderr is not None
        if not any(b"is at work" in line for line in self._process.stderr):
            raise RuntimeError(f"engrain worker ended with {self._process.wait()}")
        self._reading = threading.Thread(target=self._process.stderr.read)  # or a full pipe would stop it
        self._reading.start()


def fill(memory: Memory, turns: int) -> None:
    """Tell the agents of the clients some talk, each turn to one of them, and make the vectors."""
    for place, said in enumerate(language.talk(turns)):
        agent = memory.agent(f"agent {place % AGENTS}", session=said.session)
        agent.observe(said.content, speaker=said.speaker, event_time=said.said_at)
    memory.flush()


@contextmanager
def opened(db: str, settings: dict[str, str]) -> Iterator[Memory]:
    """The memory in this process, with the settings that a server gets as variables."""
    given: dict[str, dict[str, str]] = {}
    for name, value in settings.items():
        section, _, setting = name.lower().partition("__")
        given.setdefault(section, {})[setting] = value
    with Memory.open(db, settings=given) as memory:
        yield memory


def _started(
    *command: str, db: str, settings: dict[str, str], stderr: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("ENGRAIN_")}
    return subprocess.Popen(
        [sys.executable, "-m", "engrain", *command, "--db", db],
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=own | {f"ENGRAIN_{name}": value for name, value in settings.items()},
    )
