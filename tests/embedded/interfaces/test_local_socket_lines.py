"""Lines that the socket of a process is sent: one that is no call gets an answer, and the next one too."""

import socket

import pytest

from engrain import Memory
from engrain.interfaces.assistants.local_socket import serve_socket, socket_path

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no such sockets here")


@pytest.mark.parametrize("line", [b"[" * 200_000, b"{", b"[]", b"\xff"], ids=["deep", "cut", "a list", "no text"])
def test_a_line_that_is_no_call_is_refused_and_the_connection_goes_on(tmp_path, line):
    path = tmp_path / "memory.db"
    with (
        Memory.open(path, embedder="none") as memory,
        serve_socket(memory, path),
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stream,
    ):
        stream.settimeout(60)
        stream.connect(str(socket_path(path)))
        with stream.makefile("rb") as answers:
            for _ in range(2):
                stream.sendall(line + b"\n")
                assert answers.readline() == b'{"error": "invalid_input"}\n'
