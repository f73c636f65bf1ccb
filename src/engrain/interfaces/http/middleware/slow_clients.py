"""Timeouts for slow clients: HTTP/1.1 connections that are closed where a client stalls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from engrain import metrics

if TYPE_CHECKING:
    import asyncio

_BUSY = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class TimedConnection(H11Protocol):
    """A connection that is closed where its client sends no whole request head, or reads no answer, in time.

    uvicorn waits for both forever: clients that never finish would take every file descriptor. The time for a body is
    limited by its reader.
    """

    timeout_s = 30.0
    max_connections = 1_000

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None  # until the client reads the answer

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        if len(self.connections) > self.max_connections:
            metrics.count("connections_refused_busy")
            self.transport.write(_BUSY)
            self.transport.close()
            return
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for timer in (self._head_timer, self._write_timer):
            if timer is not None:
                timer.cancel()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._write_timer = self.loop.call_later(self.timeout_s, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _wait_for_head(self) -> None:
        """Count the time from the first byte of a request, or from the connection, to the end of its head."""
        if self._is_answering and self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
        elif not self._is_answering and self._head_timer is None:
            self._head_timer = self.loop.call_later(self.timeout_s, self._time_out)

    def _time_out(self) -> None:
        self._head_timer = None
        if not self._is_answering:
            self.timeout_keep_alive_handler()

    @property
    def _is_answering(self) -> bool:
        """Tell whether a request has arrived and its answer is not complete."""
        return not getattr(self.cycle, "response_complete", True)  # the cycle is None before the first request


def make_timed_protocol(timeout_s: float, *, max_connections: int) -> type[TimedConnection]:
    """Make the protocol class of a server with this timeout and this many connections at most."""
    limits = {"timeout_s": timeout_s, "max_connections": max_connections}
    return type("TimedConnection", (TimedConnection,), limits)
