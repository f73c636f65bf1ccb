"""A pooler in transaction mode that knows nothing of prepared statements, as PgBouncer before 1.21."""

import contextlib
import os
import socket
import struct
import threading

import psycopg

_ENCRYPTION = (80877103, 80877104)  # requests for TLS and for GSSAPI
_LOGIN_IS_DONE = b"R" + struct.pack("!ii", 8, 0)


class TransactionPooler:
    """Between clients and a server, on a port of its own; sessions go to clients for one transaction at a time.

    The last session that came back goes out first. Every client is let in, as the user that `url` names.
    """

    def __init__(self, url):
        self._server_url = url
        self._idle = []
        self._sockets = []
        self._sessions = []
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self._lock:
            self._listener.close()
            for opened in self._sockets:
                with contextlib.suppress(OSError):
                    opened.shutdown(socket.SHUT_RDWR)
            for logged_in in self._sessions:
                logged_in.close()

    @property
    def port(self):
        return self._listener.getsockname()[1]

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                with self._lock:
                    self._sockets.append(client)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        """Relay turn by turn: what the client sends until it waits, and what the server answers until it is ready."""
        with contextlib.suppress(OSError, EOFError), client, client.makefile("rb") as sent:
            self._let_in(client, sent)
            session = None
            while True:
                turn, kind = b"", b""
                while kind not in (b"S", b"Q"):
                    kind, message = _read_message(sent)
                    if kind == b"X":
                        return
                    turn += message
                session = session or self._take()
                session.sendall(turn)
                if self._relay_answer(session, client) == b"I":
                    with self._lock:
                        self._idle.append(session)
                    session = None

    def _let_in(self, client, sent):
        length, code = struct.unpack("!ii", sent.read(8))
        while code in _ENCRYPTION:
            client.sendall(b"N")
            length, code = struct.unpack("!ii", sent.read(8))
        sent.read(length - 8)
        with psycopg.connect(self._server_url) as like:
            names = ("server_version", "client_encoding", "standard_conforming_strings", "integer_datetimes")
            known = [(name, like.info.parameter_status(name)) for name in names]
        told = [b"S" + _sized(f"{name}\0{value}\0".encode()) for name, value in known]
        key = b"K" + _sized(struct.pack("!ii", 0x7FFFFFFF, 1))  # a session that no server has
        client.sendall(b"".join([_LOGIN_IS_DONE, *told, key, b"Z" + _sized(b"I")]))

    def _take(self):
        with self._lock:
            if self._idle:
                return self._idle.pop()
        logged_in = psycopg.connect(self._server_url, autocommit=True)
        session = socket.socket(fileno=os.dup(logged_in.fileno()))
        session.setblocking(True)
        with self._lock:
            self._sockets.append(session)
            self._sessions.append(logged_in)
        return session

    def _relay_answer(self, session, client):
        """Return the state of the session afterwards: b"I" where no transaction is open."""
        with session.makefile("rb") as answered:
            while True:
                kind, message = _read_message(answered)
                client.sendall(message)
                if kind == b"Z":
                    return message[-1:]


def _read_message(stream):
    head = stream.read(5)
    if len(head) < 5:
        raise EOFError
    return head[:1], head + stream.read(struct.unpack("!i", head[1:])[0] - 4)


def _sized(body):
    return struct.pack("!i", len(body) + 4) + body
