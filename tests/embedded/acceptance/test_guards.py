"""What a server refuses before any verb is asked, told over real sockets to clients that nobody would wish for."""

import contextlib
import json
import socket
from urllib.parse import urlsplit

import pytest

from engrain import Memory, metrics
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from engrain.interfaces.http.middleware.guards import Bounds, Guards, is_own_host
from tests.support.asgi import serving

LARGE = 100_000_000
MOST = 10_000
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
BOUNDS = {"max_body_bytes": MOST, "max_file_bytes": 10 * MOST, "body_timeout_s": 60.0, "files": frozenset({"/file"})}


class Echo:
    """Says how many bytes it was given; and how many it ever was."""

    def __init__(self):
        self.given = 0
        self.broke_off = False

    async def __call__(self, scope, receive, send):
        count, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.broke_off = True
                break
            count += len(message["body"])
            self.given += len(message["body"])
            more = message["more_body"]
        body = str(count).encode()
        headers = [(b"x-path", scope["path"].encode()), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class Client:
    """A socket, and what comes back on it."""

    def __init__(self, url):
        parts = urlsplit(url)
        self.host = parts.netloc
        self._socket = socket.create_connection((parts.hostname, parts.port), timeout=60)
        self._file = self._socket.makefile("rb")

    def send(self, data):
        self._socket.sendall(data)

    def ask(self, path="/", *, method="POST", body=b"", **headers):
        """One request, whole; its answer."""
        self.head(path, method=method, content_length=str(len(body)), **headers)
        self.send(body)
        return self.answer()

    def head(self, path="/", *, method="POST", **headers):
        said = {"host": self.host, **{name.replace("_", "-"): value for name, value in headers.items()}}
        lines = [
            f"{method} {path} HTTP/1.1",
            *(f"{name}: {value}" for name, value in said.items() if value is not None),
        ]
        self.send("\r\n".join([*lines, "", ""]).encode())

    def answer(self):
        status = int(self._file.readline().split()[1])
        headers = {}
        while line := self._file.readline().strip():
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        return status, headers, self._file.read(int(headers.get("content-length", 0)))

    def is_closed(self):
        """Whether the server has ended the connection; waits until it does, or says something more."""
        try:
            return self._file.read(1) == b""
        except ConnectionResetError:  # it did not read all that was sent
            return True

    def close(self):
        self._file.close()
        self._socket.close()


@contextlib.contextmanager
def client_of(app):
    with serving(app) as url, contextlib.closing(Client(url)) as client:
        yield client


@contextlib.contextmanager
def guarded(**bounds):
    """An echo behind guards, and a client of it."""
    echo = Echo()
    with client_of(Guards(echo, Bounds(**{**BOUNDS, **bounds}))) as client:
        yield echo, client


def code_of(answer):
    status, headers, body = answer
    assert headers["content-type"] == "application/problem+json"
    said = json.loads(body)
    assert said["status"] == status
    return status, said["code"]


class TestSize:
    def test_what_fits_is_handed_on(self):
        with guarded() as (_, client):
            assert client.ask(body=b"x" * MOST)[::2] == (200, str(MOST).encode())
            client.head(transfer_encoding="chunked")
            client.send(b"5\r\nhello\r\n6\r\n there\r\n0\r\n\r\n")
            assert client.answer()[::2] == (200, b"11")

    def test_what_says_that_it_is_too_large_is_refused_unread(self):
        with guarded() as (echo, client):
            client.head(content_length=str(LARGE))
            assert code_of(client.answer()) == (413, "content_too_large")
            assert client.is_closed()
            assert echo.given == 0

    def test_what_grows_too_large_is_refused_as_it_comes(self):
        """A body in chunks says nothing of its size: the server stops reading, whatever is still to come."""
        with guarded() as (echo, client):
            client.head(transfer_encoding="chunked")
            piece = b"%x\r\n%s\r\n" % (MOST, b"x" * MOST)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                for _ in range(LARGE // MOST):
                    client.send(piece)
            assert echo.given <= MOST
            assert echo.broke_off

    def test_who_waits_for_the_answer_is_told(self):
        with guarded() as (_, client):
            client.head(transfer_encoding="chunked")
            client.send(b"%x\r\n%s\r\n" % (MOST + 1, b"x" * (MOST + 1)))
            assert code_of(client.answer()) == (413, "content_too_large")
            assert client.is_closed()

    def test_a_file_may_be_larger_and_has_an_end_too(self):
        with guarded() as (_, client):
            assert client.ask("/file", body=b"x" * 10 * MOST)[::2] == (200, str(10 * MOST).encode())
            client.head("/file", content_length=str(10 * MOST + 1))
            assert code_of(client.answer()) == (413, "content_too_large")

    def test_what_is_refused_is_counted(self):
        before = metrics.snapshot().get("requests_refused_size", 0)
        with guarded() as (_, client):
            client.head(content_length=str(LARGE))
            client.answer()
        assert metrics.snapshot()["requests_refused_size"] == before + 1


class TestTime:
    def test_a_body_that_does_not_come_is_not_waited_for(self):
        with guarded(body_timeout_s=0.2) as (echo, client):
            client.head(content_length="10")
            client.send(b"x")
            assert code_of(client.answer()) == (408, "request_timeout")
            assert client.is_closed()
            assert echo.broke_off

    def test_a_client_that_drips_is_not_waited_for_either(self):
        """Each piece comes soon, all of them never."""
        with guarded(body_timeout_s=0.5, max_body_bytes=10**9) as (_, client):
            client.head(transfer_encoding="chunked")
            client._socket.settimeout(0.05)
            while True:
                client.send(b"1\r\nx\r\n")
                with contextlib.suppress(TimeoutError):
                    if said := client._socket.recv(9):
                        break
            assert said == b"HTTP/1.1 "

    def test_what_follows_a_whole_body_has_all_time(self):
        """An application that waits for its client to leave, as streams of events do, is left alone."""
        left = []

        async def patient(scope, receive, send):
            while (await receive())["more_body"]:
                pass
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1")]})
            if scope["path"] == "/stays":
                left.append(await receive())
            await send({"type": "http.response.body", "body": b"x"})

        with (
            serving(Guards(patient, Bounds(**{**BOUNDS, "body_timeout_s": 0.005}))) as url,
            contextlib.closing(Client(url)) as client,
            contextlib.closing(Client(url)) as other,
        ):
            client.head("/stays", content_length="0")
            assert client._file.readline().split()[1] == b"200"
            assert [other.ask()[0] for _ in range(20)] == [200] * 20  # meanwhile the time is over
            assert left == []
        assert left == [{"type": "http.disconnect"}]


@pytest.mark.parametrize(
    ("host", "allowed", "ours"),
    [
        ("localhost", (), True),
        ("LOCALHOST:8765", (), True),
        ("localhost.", (), True),
        ("127.0.0.1:8765", (), True),
        ("[::1]:8765", (), True),
        ("192.168.1.7", (), True),
        ("memory.example", ("memory.example",), True),
        ("Memory.example:443", ("memory.example",), True),
        ("anything", ("*",), True),
        (None, (), True),
        ("evil.example", (), False),
        ("evil.example", ("memory.example",), False),
        ("localhost.evil.example", (), False),
        ("127.0.0.1.evil.example:80", (), False),
        ("127.0.0.1@evil.example", (), False),
        ("xlocalhost", (), False),
        ("", (), False),
        ("[evil", (), False),
    ],
)
def test_a_server_answers_to_its_own_names(host, allowed, ours):
    assert is_own_host(host, frozenset(allowed)) is ours


class TestPages:
    """Browsers carry out what any page asks for, and say whose page it is."""

    def test_a_name_that_points_here_by_a_trick_is_refused(self):
        with guarded() as (echo, client):
            refused = client.ask(host="evil.example", origin="http://evil.example")
            assert code_of(refused) == (421, "misdirected_request")
            assert echo.given == 0

    @pytest.mark.parametrize(
        "origin", ["https://evil.example", "null", "http://localhost:1", "https://app.example.evil", "http://[", ""]
    )
    def test_pages_of_other_sites_are_refused_and_told_nothing(self, origin):
        with guarded(allowed_origins=frozenset({"https://app.example"})) as (echo, client):
            for method in ("POST", "GET", "OPTIONS"):
                refused = client.ask(method=method, origin=origin)
                assert code_of(refused) == (403, "forbidden")
                assert not [name for name in refused[1] if name.startswith("access-control")]
            assert echo.given == 0

    def test_a_page_of_the_server_itself_may_ask(self):
        with guarded() as (_, client):
            assert client.ask(origin=f"http://{client.host}")[0] == 200

    def test_a_page_that_is_let_in_may_ask_and_read(self):
        with guarded(allowed_origins=frozenset({"https://app.example"})) as (_, client):
            asked = {"origin": "https://app.example", "access_control_request_method": "POST"}
            status, headers, _ = client.ask(method="OPTIONS", **asked)
            assert (status, headers["access-control-allow-origin"]) == (204, "https://app.example")
            assert "Authorization" in headers["access-control-allow-headers"]
            assert "access-control-allow-credentials" not in headers
            status, headers, _ = client.ask(origin="https://app.example")
            assert (status, headers["access-control-allow-origin"], headers["vary"]) == (
                *(200, "https://app.example"),
                "Origin",
            )


def test_every_answer_has_the_headers_that_bound_it_and_an_application_its_own():
    async def own(_scope, _receive, send):
        headers = [(b"content-length", b"0"), (b"cache-control", b"max-age=9")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    with guarded() as (_, client):
        for asked in ({}, {"origin": "https://evil.example"}, {"host": "evil.example"}):
            assert client.ask(**asked)[1].items() >= HEADERS.items()
    with client_of(Guards(own, Bounds(**BOUNDS))) as client:
        assert client.ask()[1].items() >= {**HEADERS, "cache-control": "max-age=9"}.items()


class TestMemory:
    """The same before the memory itself: refused as a problem with the request's id, and nothing is written."""

    @pytest.fixture
    def memory(self):
        settings = {"embedding": {"model": "none"}, "server": {"max_body_bytes": MOST, "body_timeout_s": 60}}
        with Memory.open(":memory:", settings=settings) as memory:
            yield memory

    @pytest.fixture
    def client(self, memory):
        with client_of(create_app(memory, gate=Gate(memory, keys_required=False))) as client:
            yield client

    @pytest.mark.parametrize(
        ("asked", "status"),
        [({"host": "evil.example"}, 421), ({"origin": "https://evil.example"}, 403), ({}, 201)],
    )
    def test_whose_page_asks_is_looked_at_first(self, client, memory, asked, status):
        body = json.dumps({"content": "Hello."}).encode()
        told = client.ask("/v1/episodes", body=body, content_type="application/json", x_request_id="r-1", **asked)
        assert (told[0], told[1]["x-request-id"]) == (status, "r-1")
        assert told[1].items() >= HEADERS.items()
        assert memory.agent().stats().episodes.total == (status == 201)

    def test_a_body_that_grows_too_large_is_no_memory(self, client, memory):
        client.head("/v1/episodes", content_type="application/json", transfer_encoding="chunked", x_request_id="r-2")
        client.send(b"%x\r\n%s\r\n" % (2 * MOST, b"x" * 2 * MOST))
        told = client.answer()
        assert code_of(told) == (413, "content_too_large")
        assert (told[1]["x-request-id"], json.loads(told[2])["request_id"]) == ("r-2", "r-2")
        assert client.is_closed()
        assert memory.agent().stats().episodes.total == 0
