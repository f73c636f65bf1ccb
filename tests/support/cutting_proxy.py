"""A TCP proxy on loopback that cuts a connection at its COMMIT: before the server hears it, or once it has answered."""

import contextlib
import select
import socket
import threading

_COMMIT = b"COMMIT\0"
_STATEMENTS = (b"Q", b"P")  # messages Query and Parse; those of the log-in and the end are others
_READY = b"Z\x00\x00\x00\x05I"  # the message ReadyForQuery, outside a transaction
_MOST = 65_536


class CuttingProxy:
    """Between a client and 127.0.0.1:`port`; inside `with` it listens on a port of its own.

    `cuts` is how many COMMITs, or other bytes `at` which it cuts, are still to be cut, `is_delivered` whether the
    server hears those; `before` is called with each statement before the server hears it. An answer is awaited until
    its `end`: by default the one of PostgreSQL's answers.
    """

    def __init__(self, port, before=lambda _statement: None, at=_COMMIT, end=_READY):
        self._server = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._stopped, self._stop = socket.socketpair()
        self._threads = [threading.Thread(target=self._accept)]
        self.cuts = 0
        self.is_delivered = False
        self._before = before
        self._at = at
        self._end = end

    def __enter__(self):
        self._threads[0].start()
        return self

    def __exit__(self, *_):
        self._stop.close()  # every thread selects on the other end
        for thread in self._threads:
            thread.join()
        self._listener.close()
        self._stopped.close()

    def _accept(self):
        while self._listener in self._readable(self._listener):
            client, _ = self._listener.accept()
            thread = threading.Thread(target=self._relay, args=(client,))
            self._threads.append(thread)
            thread.start()

    def _relay(self, client):
        with client, socket.create_connection(self._server) as server, contextlib.suppress(ConnectionError):
            answered = b""
            while ready := self._readable(client, server):
                for source, target in ((client, server), (server, client)):
                    if source not in ready:
                        continue
                    said = source.recv(_MOST)
                    if not said:
                        return
                    if source is client and said[:1] in _STATEMENTS:
                        self._before(said)
                    if source is client and self.cuts and self._at in said:
                        self.cuts -= 1
                        if self.is_delivered:
                            server.sendall(said)
                            self._await_end(client, server)
                        return
                    answered = self.note_answer(answered + said) if source is server else answered
                    target.sendall(said)

    def note_answer(self, _answered):
        """Look at what the server has sent, and return what is to be looked at again with the next of it."""
        return b""

    def _await_end(self, client, server):
        """Wait until the server is ready again: a client may send the Sync of a COMMIT in a packet of its own."""
        answer = b""
        while not (answer and answer.endswith(self._end)) and (ready := self._readable(client, server)):
            if client in ready:
                server.sendall(client.recv(_MOST))
            if server in ready:
                answer += server.recv(_MOST)

    def _readable(self, *sockets):
        """Which of the sockets can be read; none once the proxy is told to stop."""
        ready, _, _ = select.select([*sockets, self._stopped], [], [])
        return [] if self._stopped in ready else ready
