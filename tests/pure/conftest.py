"""Tests in this folder touch nothing outside the process; one that starts a process or opens a socket fails."""

import sys

import pytest

FORBIDDEN = {"subprocess.Popen", "os.fork", "os.posix_spawn", "socket.connect", "socket.bind", "sqlite3.connect"}
# An audit hook stays to the end of the process, which runs the tests of other folders, too.
running = []


def refuse(event, _):
    if running and event in FORBIDDEN:
        raise AssertionError(f"{running[-1]} is in tests/pure and uses {event}")


sys.addaudithook(refuse)


@pytest.fixture(autouse=True)
def pure(request):
    running.append(request.node.nodeid)
    yield
    running.pop()
