"""Streams of the SDK over stdin and stdout, after an opening that was answered without it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Self, TextIO, cast

from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

from engrain.interfaces.mcp.handshake import Opening

if TYPE_CHECKING:
    from types import TracebackType

    from anyio import AsyncFile
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
    reader, line = _LineReader(opening.stdin), opening.line
    while line:
        yield line
        line = await reader.read_line()


class _LineReader:
    """Reads lines of a stream, each when it is asked for, in a thread that lets the process end while it waits.

    The threads of anyio are joined at the end: after Ctrl-C a server whose client says nothing would stay until the
    client closes its pipe.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._waiting: SimpleQueue[asyncio.Future[str]] = SimpleQueue()
        Thread(target=self._run, name="engrain stdin", daemon=True).start()

    async def read_line(self) -> str:
        """Return the next line, an empty one at the end."""
        line: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting.put(line)
        return await line

    def _run(self) -> None:
        while True:
            future = self._waiting.get()
            try:
                answer = partial(future.set_result, self._stream.readline())
            except Exception as error:  # noqa: BLE001  # it is whoever waits for the line that meets it
                answer = partial(future.set_exception, error)
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                future.get_loop().call_soon_threadsafe(_give, future, answer)


def _give(future: "asyncio.Future[str]", answer: Callable[[], None]) -> None:
    if not future.done():
        answer()
