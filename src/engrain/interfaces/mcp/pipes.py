"""Streams of the SDK over stdin and stdout, after an opening that was answered without it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Self, cast

from anyio import AsyncFile, to_thread
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

from engrain.interfaces.mcp.handshake import Opening

if TYPE_CHECKING:
    from types import TracebackType

    from mcp.shared._context_streams import ContextReceiveStream, ContextSendStream


class AnswerFilter:
    """A stream of outgoing messages that drops the answer to one request, which was answered before."""

    def __init__(self, stream: "ContextSendStream[SessionMessage]", answered: str | int | None) -> None:
        self._stream = stream
        self._answered = answered

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message, or drop it."""
        message = item.message
        if self._answered is not None and isinstance(message, JSONRPCResponse) and message.id == self._answered:
            self._answered = None
        else:
            await self._stream.send(item)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: "TracebackType | None"
    ) -> None:
        await self.aclose()


@asynccontextmanager
async def open_streams(
    opening: Opening,
) -> "AsyncIterator[tuple[ContextReceiveStream[SessionMessage | Exception], AnswerFilter]]":
    """Open the streams that a server of the SDK reads and writes: first the opening, then what follows on stdin."""
    # The SDK does nothing with its stdin but iterate over the lines.
    lines = cast("AsyncFile[str]", _read_lines(opening))
    async with stdio_server(stdin=lines) as (reading, writing):
        yield reading, AnswerFilter(writing, opening.answered)


async def _read_lines(opening: Opening) -> AsyncIterator[str]:
    line = opening.line
    while line:
        yield line
        line = await to_thread.run_sync(opening.stdin.readline)
