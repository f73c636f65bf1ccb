"""`engrain serve` as a process of its own, on a port of loopback that was free."""

import contextlib
import http.client
import json
import os
import signal
import socket
import tempfile
from dataclasses import dataclass
from subprocess import PIPE

from engrain import Memory
from tests.support import forked
from tests.support.processes import ROOT, Forked

PATIENCE_S = 180


class EngrainServer:
    """A server on one database, answering inside the block; at its end it is told to stop, and has to end well.

    `variables` are settings as the environment says them: `SERVER__THREADS="2"`. It asks for nothing, unless
    the options say `--keys`, or `asks_for_token`.
    """

    def __init__(self, db, *options, asks_for_token=False, **variables):
        self.db = db
        if not asks_for_token and "--keys" not in options:
            options = ("--no-keys", *options)
        settings = {"EMBEDDING__MODEL": "none"} | variables
        own = {name: value for name, value in os.environ.items() if not name.startswith("ENGRAIN_")}
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # closed at the end; no pipe, which nobody would read meanwhile
        asked = forked.command(
            ["serve", "--db", db, "--json", "--port", "0", *options],
            folder=ROOT,
            environment=own | {f"ENGRAIN_{name}": value for name, value in settings.items()},
        )
        self.process = Forked(asked, stdout=PIPE, stderr=self._log)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"engrain serve ended with {self.process.wait()}: {self.errors()}")
        self.told = json.loads(line)
        self.address = self.told["address"]

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if self.process.poll() is None and kind is None:
                assert self.stop() == 0, self.errors()
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self._log.close()

    @property
    def port(self):
        return int(self.address.rpartition(":")[2])

    def ask(self, method, path, body=None, **headers):
        return request(self.address, method, path, body, **headers)

    def accepts(self):
        """Whether it takes connections."""
        try:
            socket.create_connection(("127.0.0.1", self.port), PATIENCE_S).close()
        except (ConnectionRefusedError, ConnectionResetError):  # reset: it came while the door was closing
            return False
        return True

    def stop(self, number=signal.SIGTERM):
        """Its exit code, once it has done what was begun."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)

    def errors(self):
        """What it has said on stderr so far."""
        return os.pread(self._log.fileno(), 1_000_000, 0).decode()


@contextlib.contextmanager
def keyed_server(path, *, tenant="default", **keys):
    """A server of a new memory that asks for keys, and the secret of each that is described, by its name."""
    with Memory.open(path, settings={"embedding": {"model": "none"}, "tenant": tenant}) as memory:
        secrets = {name: memory.keys.create(**described).secret for name, described in keys.items()}
    with EngrainServer(path, "--keys", TENANT=tenant) as server:
        yield server, secrets


@dataclass(frozen=True)
class Answered:
    status: int
    headers: object
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


def request(address, method, path, body=None, **headers):
    """What is answered to one request on a connection of its own; a body that is no bytes is sent as JSON."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=PATIENCE_S)
    try:
        if body is not None and not isinstance(body, bytes):
            body, headers = json.dumps(body).encode(), {"Content-Type": "application/json"} | headers
        connection.request(method, path, body, {name.replace("_", "-"): each for name, each in headers.items()})
        got = connection.getresponse()
        return Answered(got.status, got.headers, got.read())
    finally:
        connection.close()


class Raw:
    """A connection on which a test says what it likes, byte by byte."""

    def __init__(self, port, *, receive_bytes=None):
        self.socket = socket.socket()
        if receive_bytes is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect(("127.0.0.1", port))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def begin(self, path, body, *, sent, method="POST"):
        """Send a request but for the end of its body."""
        said = json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        self.send(f"{head}Content-Length: {len(said)}\r\n\r\n".encode() + said[:sent])
        return said[sent:]

    def answer(self):
        """Status and body of what is answered; b"" for the status where the connection ends without one."""
        reader = self.socket.makefile("rb")
        status = reader.readline().partition(b" ")[2][:3]
        length = 0
        while (line := reader.readline().strip()) not in {b"", b"\r\n"}:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return status, reader.read(length)

    def is_closed(self):
        """Wait for the end of the connection, whatever comes before it."""
        with contextlib.suppress(ConnectionResetError):
            while self.socket.recv(65_536):
                pass
        return True
