"""`engrain serve`: it answers, it ends well, and no client can take it down."""

import contextlib
import json
import resource
import signal
import socket

import pytest

from engrain import Memory
from engrain.errors import CannotListen, InvalidInput
from engrain.interfaces import serving
from tests.support.engrain import PATIENCE_S, EngrainServer, Raw

SAID = "I moved to Lisbon in May"


@pytest.fixture(scope="module")
def impatient(tmp_path_factory):
    """A server with room for two requests, whose clients have a moment."""
    bounds = {"SERVER__MAX_REQUESTS": "2", "SERVER__BODY_TIMEOUT_S": "0.3"}
    with EngrainServer(tmp_path_factory.mktemp("impatient") / "memory.db", **bounds) as server:
        yield server


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A server with room for two requests and eight connections."""
    bounds = {"SERVER__MAX_REQUESTS": "2", "SERVER__MAX_CONNECTIONS": "8"}
    with EngrainServer(tmp_path_factory.mktemp("small") / "memory.db", **bounds) as server:
        yield server


def observe(server, content=SAID, **headers):
    return server.ask("POST", "/v1/episodes", {"content": content}, **headers)


def recalled(server, query, **headers):
    found = server.ask("POST", "/v1/recall", {"query": query}, **headers)
    assert found.status == 200, found.body
    return [hit["memory"]["content"] for hit in found.json["hits"]]


def in_time(server, path, body=None):
    """What is answered to somebody who speaks within a moment; on a busy machine that may not be the first to try."""
    while True:
        with contextlib.suppress(ConnectionError):
            answered = server.ask("GET" if body is None else "POST", path, body)
            if answered.status != 408:
                return answered


def kept(path):
    with Memory.open(path, settings={"embedding": {"model": "none"}}) as memory:
        return [hit.memory.content for hit in memory.agent().recall("", preset="recency", limit=100)]


def status_of(memory, job):
    return next(each.status for each in memory.jobs.list() if each.id == job.id)


class TestItsLife:
    def test_it_says_where_it_is_answers_and_finishes_what_is_under_way(self, path):
        """Nobody new is let in meanwhile."""
        with EngrainServer(path) as server, Raw(server.port) as client:
            assert (server.told["keys"], server.told["pid"]) == (False, server.process.pid)
            assert observe(server, "the first").status == 201
            assert recalled(server, "first") == ["the first"]
            rest = client.begin("/v1/episodes", {"content": SAID}, sent=10)
            server.process.send_signal(signal.SIGINT)
            while server.accepts():
                pass
            client.send(rest)
            status, body = client.answer()
            assert (status, json.loads(body)["content"]) == (b"201", SAID)
            assert server.process.wait(PATIENCE_S) == 0
            assert "Traceback" not in server.errors()
            assert SAID not in server.errors()
        assert kept(path) == [SAID, "the first"]

    def test_a_request_that_does_not_end_holds_it_only_so_long(self, path):
        with EngrainServer(path, SERVER__SHUTDOWN_S="0") as server, Raw(server.port) as client:
            client.begin("/v1/episodes", {"content": SAID}, sent=10)
            assert server.stop() == 0
            assert client.is_closed()
        assert kept(path) == []

    def test_the_second_signal_ends_it_at_once(self, path):
        with EngrainServer(path) as server, Raw(server.port) as client:
            assert observe(server).status == 201
            client.begin("/v1/episodes", {"content": "never said"}, sent=10)
            server.process.send_signal(signal.SIGTERM)
            while server.accepts():
                pass
            assert server.stop() == 128 + signal.SIGTERM
        assert kept(path) == [SAID]

    def test_vectors_that_were_to_be_made_are_made_before_it_ends(self, path):
        with EngrainServer(path, EMBEDDING__MODEL="minilm") as server:
            for number in range(5):
                assert observe(server, f"turn {number}").status == 201
        with Memory.open(path, settings={"embedding": {"model": "none"}}) as memory:
            assert memory.agent().stats().pending_embeddings == 0

    def test_two_servers_share_one_file(self, small):
        with EngrainServer(small.db) as other:
            for number in range(6):
                writer, reader = (small, other) if number % 2 else (other, small)
                assert observe(writer, f"word{number}x").status == 201
                assert recalled(reader, f"word{number}x")[0] == f"word{number}x"


class TestItsJobs:
    def test_it_does_them_unless_another_process_is_to(self, path):
        with Memory.open(path, settings={"embedding": {"model": "none"}}) as memory:
            job = memory.jobs.run("decay", enqueue=True)
            with EngrainServer(path, "--no-worker", JOBS__POLL_S="0.01") as server:
                assert observe(server).status == 201
            assert status_of(memory, job) == "waiting"
            with EngrainServer(path, JOBS__POLL_S="0.01"):
                while status_of(memory, job) in {"waiting", "running"}:
                    pass
            assert status_of(memory, job) == "done"


class TestWhereItMayBe:
    def test_a_port_that_is_taken_is_said_so(self, small, cli):
        refused = cli("serve", "--port", small.port)
        assert refused.code == 2
        assert refused.err == (
            f"engrain: cannot serve on 127.0.0.1:{small.port}: another process serves there; stop it, or choose "
            "another --port (0 takes any free one)\n"
        )

    @pytest.mark.parametrize(
        ("host", "why"),
        [
            ("192.0.2.1", "the address is not this machine's"),
            ("no.such.host.invalid", "no known host"),
            ("a" * 70 + ".invalid", "no known host"),
        ],
    )
    def test_a_host_that_is_not_ours_is_said_so_and_makes_no_file(self, cli, database, host, why):
        refused = cli("serve", "--host", host, "--port", "0", "--json")
        assert (refused.code, refused.error["code"]) == (2, "cannot_listen")
        assert why in refused.error["message"]
        assert not database.exists()

    def test_an_empty_host_is_refused(self):
        with pytest.raises(InvalidInput, match=r"127\.0\.0\.1 is this machine alone"), serving.bind("", 0):
            pass

    def test_a_port_not_allowed_is_said_so(self):
        """As root everything is allowed, so the system's answer is given by the error alone."""
        assert "choose one above 1023" in str(serving._cannot_listen("127.0.0.1:80", PermissionError(13, "no")))
        assert "No buffer" in str(serving._cannot_listen("127.0.0.1:80", OSError(105, "No buffer space available")))

    def test_who_listens_first_has_it(self):
        with serving.bind("127.0.0.1", 0) as one:
            assert one.proto == socket.IPPROTO_TCP  # or asyncio leaves TCP_NODELAY out, and each answer waits 40 ms
            one.listen()
            taken = serving.bind("127.0.0.1", one.getsockname()[1])
            with pytest.raises(CannotListen, match="another process serves there"), taken:
                pass

    @pytest.mark.parametrize(
        ("host", "is_local"), [("127.0.0.1", True), ("127.8.8.8", True), ("localhost", True), ("0.0.0.0", False)]
    )
    def test_loopback_is_told_from_the_rest(self, host, is_local):
        with serving.bind(host, 0) as listener:
            assert serving.is_loopback(listener) is is_local


class TestWhoIsLetIn:
    def test_others_than_this_machines_are_never_let_in_without_keys(self, cli):
        refused = cli("serve", "--host", "0.0.0.0", "--port", "0", "--no-keys")
        assert refused.code == 2
        assert "--no-keys is for loopback alone" in refused.err

    def test_nor_where_there_is_no_key_to_come_with(self, cli):
        refused = cli("serve", "--host", "0.0.0.0", "--port", "0")
        assert refused.code == 2
        assert "engrain keys create --role writer" in refused.err

    def test_a_revoked_key_is_no_key(self, path):
        with Memory.open(path, settings={"embedding": {"model": "none"}}) as memory:
            made = memory.keys.create(role="writer")
            with serving.bind("0.0.0.0", 0) as listener:
                assert serving.check_keys(memory, listener, wanted=None) is True
                memory.keys.revoke(made.key.id)
                with pytest.raises(InvalidInput, match="no valid key"):
                    serving.check_keys(memory, listener, wanted=None)

    def test_on_loopback_keys_are_asked_for_where_that_is_wanted(self, path):
        with Memory.open(path, settings={"embedding": {"model": "none"}}) as memory:
            made = memory.keys.create(role="writer")
        with EngrainServer(path, "--keys") as server:
            assert server.told["keys"] is True
            assert observe(server).status == 401
            assert observe(server, Authorization=f"Bearer {made.secret}").status == 201
            assert server.ask("GET", "/healthz").status == 200


class TestClientsThatMisbehave:
    def test_a_head_that_does_not_end_ends_the_connection(self, impatient):
        with Raw(impatient.port) as client:
            client.send(b"POST /v1/episodes HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
            assert client.is_closed()
        assert in_time(impatient, "/v1/episodes", {"content": SAID}).status == 201

    def test_so_does_a_second_one_on_the_same_connection(self, impatient):
        status = b"408"
        while status == b"408":
            with Raw(impatient.port) as client:
                client.send(client.begin("/v1/episodes", {"content": "first"}, sent=5))
                status, _ = client.answer()
                if status == b"201":
                    client.send(b"POST /v1/ep")
                assert client.is_closed()
        assert status == b"201"

    def test_and_saying_nothing_at_all(self, impatient):
        with Raw(impatient.port) as client:
            assert client.is_closed()

    def test_an_answer_that_is_not_taken_ends_the_connection(self, impatient):
        """Its place is free again: two such clients would be all that this server answers at once."""
        with Memory.open(impatient.db, settings={"embedding": {"model": "none"}}) as memory:
            memory.agent().observe("huge " + "x" * 9_000_000)
        with Raw(impatient.port, receive_bytes=4_096) as one, Raw(impatient.port, receive_bytes=4_096) as other:
            for client in (one, other):
                client.send(client.begin("/v1/recall", {"query": "huge"}, sent=1))
            while in_time(impatient, "/v1/recall", {"query": "Lisbon", "limit": 1}).status != 200:
                pass

    def test_who_goes_away_in_the_middle_is_not_missed(self, impatient):
        for sent in (0, 5, 20):
            with Raw(impatient.port) as client:
                client.begin("/v1/episodes", {"content": "never said"}, sent=sent)
        with Raw(impatient.port) as client:
            client.send(client.begin("/v1/recall", {"query": "Lisbon"}, sent=1))
        while (found := in_time(impatient, "/v1/recall", {"query": "never said"})).status == 503:
            pass
        assert b"never said" not in found.body.partition(b'"hits"')[2]

    @pytest.mark.parametrize(
        "nonsense",
        [b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", b"\x16\x03\x01"],
    )
    def test_what_is_no_http_is_refused(self, impatient, nonsense):
        with Raw(impatient.port) as client:
            client.send(nonsense)
            assert client.is_closed()
        assert in_time(impatient, "/healthz").status == 200

    def test_a_head_without_end_is_refused(self, impatient):
        with Raw(impatient.port) as client:
            client.send(b"GET / HTTP/1.1\r\nX-Long: " + b"x" * 100_000)
            assert client.is_closed()

    @pytest.mark.parametrize("said", [b"Content-Length: 100000000", b"Transfer-Encoding: chunked"])
    def test_a_body_of_100_megabytes_is_refused_before_it_is_there(self, small, said):
        piece = b"%x\r\n%s\r\n" % (1_000_000, b"x" * 1_000_000) if b"chunked" in said else b"x" * 1_000_000
        with Raw(small.port) as client:
            client.send(b"POST /v1/episodes HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n")
            client.send(said + b"\r\n\r\n")
            with contextlib.suppress(ConnectionError):  # it need not read what it has refused
                for _ in range(100):
                    client.send(piece)
            with contextlib.suppress(ConnectionResetError):
                assert client.answer()[0] == b"413"
        assert observe(small).status == 201

    def test_a_body_that_does_not_come_is_given_up(self, impatient):
        with Raw(impatient.port) as client:
            client.begin("/v1/episodes", {"content": "never said"}, sent=5)
            assert client.answer()[0] == b"408"

    def test_whoever_comes_beyond_the_limit_is_told_when_to_come_again(self, small):
        with Raw(small.port) as one, Raw(small.port) as other:
            rests = [client.begin("/v1/episodes", {"content": SAID}, sent=5) for client in (one, other)]
            while (refused := observe(small)).status == 201:
                pass
            assert (refused.status, refused.headers["retry-after"]) == (503, "1")
            assert refused.headers["content-type"] == "application/problem+json"
            assert (refused.json["code"], refused.json["request_id"]) == ("busy", refused.headers["x-request-id"])
            assert refused.headers["x-content-type-options"] == "nosniff"
            assert small.ask("GET", "/healthz").status == 200
            for client, rest in zip((one, other), rests, strict=True):
                client.send(rest)
                assert client.answer()[0] == b"201"
        assert observe(small).status == 201

    def test_so_is_a_connection_beyond_the_limit(self, small):
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(Raw(small.port)) for _ in range(8)]
            while (refused := small.ask("GET", "/healthz")).status == 200:
                pass
            assert (refused.status, refused.headers["retry-after"]) == (503, "1")
            del clients


def test_a_full_disk_is_said_so_and_once_there_is_room_again_it_goes_on(path):
    with EngrainServer(path) as server:
        assert observe(server).status == 201
        before = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
        there = max(each.stat().st_size for each in path.parent.iterdir())
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (there + 50_000, before[1]))
        full = observe(server, "x" * 1_000_000)
        assert (full.status, full.json["code"]) == (507, "database_full")
        assert recalled(server, "Lisbon") == [SAID]
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, before)
        assert observe(server, "there is room again").status == 201
    assert sorted(kept(path)) == [SAID, "there is room again"]


def test_signals_are_handled_in_the_main_thread_only():
    """As a test that runs a server in a thread."""
    from concurrent.futures import ThreadPoolExecutor

    def inside():
        with serving.Shutdown().handle_signals():
            return signal.getsignal(signal.SIGTERM)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(inside).result() is signal.getsignal(signal.SIGTERM)
