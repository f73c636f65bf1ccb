"""The command line as a test runs it: in this process, as a process of its own, or on a terminal."""

import json
import os
import re
import select
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from engrain.interfaces.cli import main
from tests.support import forked
from tests.support.processes import Forked, engrain

SAMPLE = Path(__file__).parents[2] / "examples" / "two_friends.jsonl"
PATIENCE_S = 180


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def error(self):
        return json.loads(self.err)["error"]


@pytest.fixture
def database(tmp_path, monkeypatch):
    """The file that ENGRAIN_DB names; no other setting of the machine is in force, and no vectors are made."""
    for name in [name for name in os.environ if name.startswith("ENGRAIN_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ENGRAIN_DB", str(tmp_path / "memory.db"))
    monkeypatch.setenv("ENGRAIN_EMBEDDING__MODEL", "none")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "memory.db"


@pytest.fixture
def cli(database, capsys):
    """Runs one command in this process."""

    assert not database.exists()

    def run(*arguments):
        capsys.readouterr()
        code = main([str(each) for each in arguments])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


@pytest.fixture
def process(database):
    """Runs one command as a process, fed from `stdin`; it is not forked where Python itself shall start otherwise."""

    def run(*arguments, stdin=b"", **environment):
        is_forked = not any(name.startswith(("PYTHON", "LC_")) for name in environment)
        command = engrain(*arguments) if is_forked else [sys.executable, "-m", "engrain", *map(str, arguments)]
        ran = subprocess.run(
            command,
            input=stdin,
            cwd=database.parent,
            env={**os.environ, **environment},
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())

    return run


class Terminal:
    """A command whose stdout and stderr are a terminal of 100 columns."""

    def __init__(self, *arguments, folder, **environment):
        self.shown = ""
        self._end, other = os.openpty()
        settings = {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40", **environment}
        environment = {**{name: value for name, value in os.environ.items() if name != "NO_COLOR"}, **settings}
        # Started in the background by a shell, it would ignore SIGINT; on a terminal it does not.
        asked = forked.command(arguments, folder=folder, environment=environment, interruptible=True)
        self.process = Forked(asked, stdin=subprocess.DEVNULL, stdout=other, stderr=other)
        os.close(other)

    def read(self):
        """What is shown next; "" when the command has ended."""
        ready, _, _ = select.select([self._end], [], [], PATIENCE_S)
        assert ready, f"nothing more was shown after {self.shown[-500:]!r}"
        try:
            piece = os.read(self._end, 65_536).decode(errors="replace")
        except OSError:  # Linux says EIO where the other end is closed
            piece = ""
        self.shown += piece
        return piece

    def read_until(self, pattern):
        while not re.search(pattern, self.shown):
            assert self.read(), f"ended without showing {pattern!r}: {self.shown[-500:]!r}"

    def finish(self):
        while self.read():
            pass
        return self.process.wait(PATIENCE_S)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self._end)


@pytest.fixture
def terminal(database):
    """Starts one command on a terminal."""
    started = []

    def start(*arguments, **environment):
        started.append(Terminal(*arguments, folder=database.parent, **environment))
        return started[-1]

    yield start
    for each in started:
        each.close()


@pytest.fixture
def chat(cli):
    """The sample chat, imported."""
    assert cli("import", SAMPLE).code == 0
    return cli
