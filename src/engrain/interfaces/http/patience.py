"""HTTP/1.1 connections with an end to how long a client may dawdle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from engrain import metrics

if TYPE_CHECKING:
    import asyncio

_COME_AGAIN = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class PatientConnection(H11Protocol):
    """A connection that is closed where its client sends no whole request head, or takes no answer, in time.

    uvicorn waits for both forever: so many clients that never finish would hold every descriptor there is. How long a
    body may take is for who reads it.
    """

    patience_s = 30.0
    most = 1_000  # connections at once

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._waiting: asyncio.TimerHandle | None = None  # for the rest of a head
        self._stuck: asyncio.TimerHandle | None = None  # until the client takes what is written

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        if len(self.connections) > self.most:
            metrics.count("connections_refused_busy")
            self.transport.write(_COME_AGAIN)
            self.transport.close()
            return
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for timer in (self._waiting, self._stuck):
            if timer is not None:
                timer.cancel()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stuck = self.loop.call_later(self.patience_s, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None

    def _wait_for_head(self) -> None:
        """Count the time from the first byte of a request, or from the connection, to the end of its head."""
        if self._answers and self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        elif not self._answers and self._waiting is None:
            self._waiting = self.loop.call_later(self.patience_s, self._give_up)

    def _give_up(self) -> None:
        self._waiting = None
        if not self._answers:
            self.timeout_keep_alive_handler()

    @property
    def _answers(self) -> bool:
        """Whether a request's head is there, and its answer not yet given."""
        return not getattr(self.cycle, "response_complete", True)  # the cycle is None before the first request


def patient(seconds: float, *, most: int) -> type[PatientConnection]:
    """The protocol for a server whose clients have so many seconds, and of which at most so many are connected."""
    return type("PatientConnection", (PatientConnection,), {"patience_s": seconds, "most": most})
