"""File transfer: uploads and downloads through a temporary folder of their own, and the limits of imports."""

import json
import os
import shutil
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path, PurePosixPath
from typing import TypeVar

from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from engrain.domain.records import Record
from engrain.errors import InvalidInput, RateLimited, UnreadableImport
from engrain.portability.formats.files import unzipped_bytes

_Result = TypeVar("_Result")
_CHUNK = 256 * 1024
_LONGEST_NAME = 100
REPORT = "Engrain-Report"


class ImportLimit:
    """Limits the imports of a tenant to one at a time in this process; further ones get RateLimited. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tenants: set[str] = set()

    def check(self, tenant: str) -> None:
        """Check that a tenant may import now.

        Raises:
            RateLimited: it is importing another file.
        """
        if tenant in self._tenants:
            raise RateLimited("a file is being imported already; send this one when that has ended", retry_after_s=10)

    @contextmanager
    def hold(self, tenant: str) -> Iterator[None]:
        """Hold the import of a tenant for one block; raises as `check` does."""
        with self._lock:
            self.check(tenant)
            self._tenants.add(tenant)
        try:
            yield
        finally:
            self._tenants.discard(tenant)


def check_unzipped(path: Path, most_bytes: int) -> None:
    """Check that a received archive is unpacked to no more than a file may have.

    Raises:
        UnreadableImport: it is larger, or a zip archive that cannot be opened.
    """
    size = unzipped_bytes(path)
    if size > most_bytes:
        raise UnreadableImport(f"{path} unpacks to {size:,} bytes; this server takes {most_bytes:,}: send less at once")


@asynccontextmanager
async def receive_file(request: Request, *, name: str) -> AsyncIterator[Path]:
    """Receive the body of a request as a file, for one block; it is never in memory as a whole.

    Raises:
        InvalidInput: `name` is none that a file can have, or the request has no body.
    """
    folder = Path(await run_in_threadpool(tempfile.mkdtemp, prefix="engrain-"))
    try:
        path = folder / _file_name(name)
        with await run_in_threadpool(path.open, "xb") as stream:
            async for chunk in request.stream():
                await run_in_threadpool(stream.write, chunk)
        if not path.stat().st_size:
            raise InvalidInput("the request has no body; send the file as its body")
        yield path
    finally:
        await run_in_threadpool(shutil.rmtree, folder, ignore_errors=True)


def read_received(path: Path, work: Callable[[Path], _Result]) -> _Result:
    """Return the result of `work` on a received file.

    Raises:
        InvalidInput: as `work`; it names the file as the client does, without the temporary folder.
    """
    try:
        return work(path)
    except InvalidInput as error:
        raise type(error)(str(error).replace(f"{path.parent}{os.sep}", "")) from error


def send_file(name: str, media_type: str, write: Callable[[Path], Record]) -> Response:
    """Answer with a file that `write` makes, and with its report in the header Engrain-Report.

    The file is unlinked before it is sent: whatever happens then, nothing is left of it.
    """
    with tempfile.TemporaryDirectory(prefix="engrain-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / name
        report = write(path)
        stream = path.open("rb")
        size = path.stat().st_size

    def chunks() -> Iterator[bytes]:
        with stream:
            while chunk := stream.read(_CHUNK):
                yield chunk

    headers = {
        "Content-Length": str(size),
        "Content-Disposition": f'attachment; filename="{name}"',
        REPORT: json.dumps({**report.to_dict(), "path": name}),
    }
    return StreamingResponse(chunks(), media_type=media_type, headers=headers)


def _file_name(name: str) -> str:
    """Return a file's name without its folders.

    Raises:
        InvalidInput: nothing else is left of it, or it is too long.
    """
    last = PurePosixPath(name).name
    if not last.isprintable() or last in ("", ".", "..") or len(last.encode(errors="replace")) > _LONGEST_NAME:
        raise InvalidInput(f"filename {name!r:.80} is no plain name of at most {_LONGEST_NAME} bytes")
    return last
