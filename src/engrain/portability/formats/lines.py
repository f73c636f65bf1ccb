"""Reader of JSON lines in constant memory."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from engrain.portability.formats.fields import Malformed, parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_LINE_BYTES = 64 * 2**20
_CHUNK_BYTES = 2**18  # even, so that no UTF-16 unit is cut in two


@dataclass(frozen=True, slots=True)
class Encoding:
    """Text encoding of a file: codec, byte order mark and newline."""

    codec: str
    title: str
    mark: bytes
    newline: bytes

    def decode(self, line: bytes, *, skipped: int = 0) -> str:
        """Decode a line; Malformed gives the position of the first wrong byte, from 1, after `skipped` others."""
        try:
            return line.decode(self.codec)
        except UnicodeDecodeError as error:
            wrong = error.object[error.start]
            raise Malformed(f"not {self.title} text: byte {skipped + error.start + 1} is 0x{wrong:02x}") from error


_UTF_8 = Encoding("utf-8", "UTF-8", b"", b"\n")
_MARKED = (
    Encoding("utf-8", "UTF-8", codecs.BOM_UTF8, b"\n"),
    Encoding("utf-16-le", "UTF-16", codecs.BOM_UTF16_LE, b"\n\0"),
    Encoding("utf-16-be", "UTF-16", codecs.BOM_UTF16_BE, b"\0\n"),
)


def encoding_of(head: bytes) -> Encoding:
    """The encoding of a file: UTF-16 by its byte order mark, otherwise UTF-8."""
    return next((encoding for encoding in _MARKED if head.startswith(encoding.mark)), _UTF_8)


def lines(path: Path) -> Iterator[tuple[int, str | Malformed]]:
    """Number (from 1) and text of every line that is not blank; Malformed for one too long or of broken encoding."""
    with path.open("rb") as stream:
        encoding = encoding_of(stream.read(4))
        stream.seek(len(encoding.mark))
        for number, raw in enumerate(_split(stream, encoding.newline), start=1):
            text = _decoded(raw, encoding)
            if isinstance(text, Malformed) or text.strip():
                yield number, text


def json_lines(path: Path) -> Iterator[tuple[int, object]]:
    """Number and JSON value of every line that is not blank, Malformed in place of a value that cannot be had."""
    for number, text in lines(path):
        yield number, text if isinstance(text, Malformed) else _parsed(text)


def _parsed(text: str) -> object:
    try:
        return parse_json(text)
    except Malformed as fault:
        return fault


def _decoded(raw: bytes | None, encoding: Encoding) -> str | Malformed:
    if raw is None:
        return Malformed(f"the line is longer than {MAX_LINE_BYTES // 2**20} MB")
    try:
        return encoding.decode(raw)
    except Malformed as fault:
        return fault


def _split(stream: BinaryIO, newline: bytes) -> Iterator[bytes | None]:
    """Lines without their newline, None for one longer than MAX_LINE_BYTES; holds at most that much at a time."""
    pending, is_too_long = bytearray(), False
    while chunk := stream.read(_CHUNK_BYTES):
        start = 0
        while (end := _find(chunk, newline, start)) >= 0:
            is_too_long = is_too_long or len(pending) + end - start > MAX_LINE_BYTES
            yield None if is_too_long else bytes(pending) + chunk[start:end]
            pending, is_too_long = bytearray(), False
            start = end + len(newline)
        if not is_too_long:
            pending += chunk[start:]
        if len(pending) > MAX_LINE_BYTES:
            pending, is_too_long = bytearray(), True
    if pending or is_too_long:
        yield None if is_too_long else bytes(pending)


def _find(chunk: bytes, newline: bytes, start: int) -> int:
    """The index of the next newline, -1 where there is none; in UTF-16 its bytes also occur across two characters."""
    at = chunk.find(newline, start)
    while at % len(newline) and at >= 0:
        at = chunk.find(newline, at + 1)
    return at
