"""Files, zip archives and folders as sources of JSON values, before their format is known."""

from __future__ import annotations

import codecs
import json
import re
import struct
import zipfile
import zlib
from collections import deque
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from itertools import islice, repeat
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, BinaryIO, NamedTuple, TypeAlias

from engrain.errors import UnreadableImport
from engrain.portability.formats import fields
from engrain.portability.formats.records import WHOLE_FILE, BrokenRecord, Container, Entry, Layout, Page
from engrain.portability.json_stream import CHEAP_CHARACTERS, JsonFault, JsonStream, check_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Reopen: TypeAlias = Callable[[], AbstractContextManager[IO[bytes]]]

MAX_LINE_BYTES = 16 * 2**20
_CHUNK_BYTES = 2**18  # even, so that no UTF-16 unit is cut in two
# A file that opens with "{" is JSON lines, or one JSON object over several lines. Only up to this size is it parsed
# whole to find out: one conversation is not larger, and a larger file of lines must not be read into memory.
_MAX_OBJECT_BYTES = 16 * 2**20
_MAX_UNZIPPED_BYTES = 2**30
_MAX_EXPANSION = 100  # JSON text deflates 5 to 20 times, a bomb 1,000 times
_MIN_BOMB_BYTES = 2**20
_HEAD_BYTES = 2**16
MARKDOWN_ENDINGS = (".md", ".markdown")
_SAMPLE_LINES = 100  # a transcript may open with a few dozen notices that say little
_MEMBER = re.compile(r"conversations(-[0-9]{1,6})?\.json")  # large exports come in numbered pieces
_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
# zipfile lets all of these through for damaged, truncated and encrypted archives.
_ZIP_FAULTS = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, LookupError, RuntimeError, ValueError)


class Source(NamedTuple):
    """The JSON values of one file."""

    layout: Layout
    stem: str
    place: str
    scan: Callable[[], Iterator[Page]]
    """Numbers (from 1; of lines, for lines) and values, Malformed in place of one that cannot be had; repeatable."""

    def entries(self, page: Page, item: str) -> Iterator[Entry | BrokenRecord]:
        """Yield the JSON objects of a page, with a BrokenRecord for other values; `item` is Format.item."""
        lines = f"{self.place}line " if self.layout == "lines" else ""
        for number, value in zip(*page, strict=True):
            position = f"{lines}{number}" if lines else self.place + self._position(number, item)
            if isinstance(value, dict):
                yield Entry(value, number, position, self.stem)
            elif isinstance(value, fields.Malformed):
                yield BrokenRecord(position, str(value))
            else:
                yield BrokenRecord(position, f"{fields.describe(value)}, expected an object")

    def sample(self) -> Iterator[object]:
        """The values that show the format: all of a document, the first lines of a file of lines."""
        values = (value for page in self.scan() for value in page.values)
        return islice(values, _SAMPLE_LINES if self.layout == "lines" else None)

    def _position(self, number: int, item: str) -> str:
        if self.layout == "list":
            return item.format(index=number - 1, number=number)
        return WHOLE_FILE


class Part(NamedTuple):
    """One file to read: the path itself, a member of a zip archive or a file of a folder."""

    name: str
    load: Callable[[frozenset[Layout]], Source]
    """Opens it as one of the layouts; UnreadableImport where it is neither JSON nor lines of text."""


def container_of(path: Path) -> Container:
    """The kind of container at `path`; UnreadableImport where nothing can be read there."""
    if path.is_dir():
        return "folder"
    if not path.exists():
        raise UnreadableImport(f"{path} does not exist")
    if not path.is_file():
        raise UnreadableImport(f"{path} is not a regular file: write it to a file first")
    return "zip" if _head(path).startswith(_ZIP_MAGIC) else "file"


def parts_of(path: Path, container: Container, endings: Sequence[tuple[str, ...]]) -> list[Part]:
    """The files to read in order, at least one; UnreadableImport where there is none.

    Of a folder those with the first of `endings` that any has.
    """
    match container:
        case "file":
            return [Part(name=path.name, load=partial(_load_file, path, ""))]
        case "folder":
            return _folder_parts(path, endings)
        case "zip":
            return _zip_parts(path)


def _folder_parts(path: Path, endings: Sequence[tuple[str, ...]]) -> list[Part]:
    """The files of a folder; a link out of it is not followed."""
    root = path.resolve()
    inside = sorted(file for file in path.rglob("*") if file.is_file() and file.resolve().is_relative_to(root))
    found = next(
        (files for group in endings if (files := [file for file in inside if file.suffix.lower() in group])), []
    )
    if not found:
        raise UnreadableImport(
            f"{path} is a folder without {' or '.join(group[0] for group in endings)} files: name a file"
        )
    named = [(file.relative_to(path).as_posix(), file) for file in found]
    return [Part(name=name, load=partial(_load_file, file, f"{name}, ")) for name, file in named]


def _zip_parts(path: Path) -> list[Part]:
    with _zip_faults(f"{path} is a zip archive that cannot be opened"), zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
    found = sorted({name for name in names if _is_member(name)})
    if not found:
        seen = ", ".join(names[:8]) or "nothing"
        raise UnreadableImport(f"{path} is a zip archive without conversations.json; it holds {seen}")
    places = [""] if len(found) == 1 else [f"{name}, " for name in found]
    return [
        Part(name=name, load=partial(_load_member, path, name, place))
        for name, place in zip(found, places, strict=True)
    ]


def unzipped_bytes(path: Path) -> int:
    """Bytes that an import of this file reads once it is unpacked; 0 for a file that is no zip archive.

    No member gives more than its directory entry says: it is cut there, and then fails its checksum.
    """
    if container_of(path) != "zip":
        return 0
    with _zip_faults(f"{path} is a zip archive that cannot be opened"), zipfile.ZipFile(path) as archive:
        return sum(member.file_size for member in archive.infolist() if _is_member(member.filename))


def _load_member(path: Path, name: str, place: str, _layouts: frozenset[Layout]) -> Source:
    return _document(partial(_open_member, path, name), f"{name} in {path}", PurePosixPath(name).stem, place)


@contextmanager
def _open_member(path: Path, name: str) -> Iterator[IO[bytes]]:
    """Open a member of an archive, which is unpacked piece by piece."""
    with _zip_faults(f"{name} in {path} cannot be unpacked"), zipfile.ZipFile(path) as archive:
        member = archive.getinfo(name)
        _refuse_bomb(path, member)
        with archive.open(member) as unpacked:
            yield unpacked


@contextmanager
def _zip_faults(problem: str) -> Iterator[None]:
    """Turn what zipfile raises inside the block into UnreadableImport."""
    try:
        yield
    except UnreadableImport:  # a ValueError too
        raise
    except (*_ZIP_FAULTS, OSError) as error:
        raise UnreadableImport(f"{problem}: {error}") from error


def _is_member(name: str) -> bool:
    return not name.endswith("/") and _MEMBER.fullmatch(PurePosixPath(name).name) is not None


def _refuse_bomb(path: Path, member: zipfile.ZipInfo) -> None:
    size, packed = member.file_size, min(member.compress_size, path.stat().st_size)
    if size > _MAX_UNZIPPED_BYTES:
        most = f"{_MAX_UNZIPPED_BYTES // 2**20} MB"
        raise UnreadableImport(f"{member.filename} in {path} is larger than {most}: unpack it and name the file")
    if size > max(_MIN_BOMB_BYTES, _MAX_EXPANSION * packed):
        raise UnreadableImport(f"{member.filename} in {path} unpacks from {packed} to {size} bytes: not a real export")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UnreadableImport(
            f"{member.filename} in {path} is packed by an unusual method: unpack it and name the file"
        )


def _load_file(path: Path, place: str, layouts: frozenset[Layout]) -> Source:
    if layouts == {"markdown"} or (path.suffix.lower() in MARKDOWN_ENDINGS and "markdown" in layouts):
        return _markdown(path, place)
    lines = Source(layout="lines", stem=path.stem, place=place, scan=partial(_scan_lines, path))
    if layouts == {"lines"}:
        return lines
    layouts -= {"markdown"}
    opening = _opening(path)
    if "lines" not in layouts or opening == "[":
        return _document(partial(_open_file, path), str(path), path.stem, place)
    first_line = next(lines.sample(), None)
    if opening != "{" or isinstance(first_line, dict) or path.stat().st_size > _MAX_OBJECT_BYTES:
        return lines
    try:
        return _document(partial(_open_file, path), str(path), path.stem, place)
    except UnreadableImport:
        if any(isinstance(value, dict) for value in lines.sample()):
            return lines  # of which the first is broken
        raise


def _markdown(path: Path, place: str) -> Source:
    """A file of headings and text, as one record."""
    if path.stat().st_size > _MAX_OBJECT_BYTES:
        raise UnreadableImport(f"{path} is larger than {_MAX_OBJECT_BYTES // 2**20} MB: split it")
    with _read_errors(path):
        raw = path.read_bytes()
    encoding = encoding_of(raw)
    try:
        text = encoding.decode(raw[len(encoding.mark) :], skipped=len(encoding.mark))
    except fields.Malformed as fault:
        raise UnreadableImport(f"{path} is {fault}") from fault
    value = {"text": text, "name": PurePosixPath(place.removesuffix(", ") or path.name).with_suffix("").as_posix()}
    return Source(layout="markdown", stem=path.stem, place=place, scan=partial(_scan_one, value))


def _opening(path: Path) -> str:
    """The first character that is not white space, "" where the head of the file has none."""
    head = _head(path)
    encoding = encoding_of(head)
    return head[len(encoding.mark) :].decode(encoding.codec, errors="ignore").lstrip()[:1]


def _head(path: Path) -> bytes:
    with _read_errors(path), path.open("rb") as stream:
        return stream.read(_HEAD_BYTES)


def _scan_lines(path: Path) -> Iterator[Page]:
    with _read_errors(path):
        yield from read_pages(path)


def _document(reopen: Reopen, called: str, stem: str, place: str) -> Source:
    """A JSON document; it is read through once, so that nothing is taken of a broken one, and again for its items."""
    try:
        with reopen() as stream:
            document = JsonStream(_text_pieces(stream), fields.decoder)
            is_list = document.is_list()
            last = deque(document.values(), maxlen=1)
    except (fields.Malformed, JsonFault) as fault:
        raise UnreadableImport(f"{called} is {fault}") from fault
    if is_list:
        return Source(layout="list", stem=stem, place=place, scan=partial(_scan_items, reopen))
    if not last:
        raise UnreadableImport(f"{called} is empty")
    if not isinstance(last[0], dict):
        raise UnreadableImport(f"{called} holds {fields.describe(last[0])}, not conversations")
    return Source(layout="object", stem=stem, place=place, scan=partial(_scan_one, last[0]))


def _scan_one(value: object) -> Iterator[Page]:
    yield Page((1,), (value,))


def _scan_items(reopen: Reopen) -> Iterator[Page]:
    """Number and value of the items of a list, read one at a time; Malformed where the file has changed meanwhile."""
    number = 0
    try:
        with reopen() as stream:
            for number, value in enumerate(JsonStream(_text_pieces(stream), fields.decoder).values(), 1):
                yield Page((number,), (value,))
    except (fields.Malformed, JsonFault, UnreadableImport) as fault:
        yield Page((number + 1,), (fields.Malformed(str(fault)),))


def _text_pieces(stream: IO[bytes]) -> Iterator[str]:
    """Text of a document piece by piece; Malformed gives the position of a byte that is not of its encoding."""
    head = stream.read(_CHUNK_BYTES)
    encoding = encoding_of(head)
    decoder = codecs.getincrementaldecoder(encoding.codec)()
    count, chunk = len(encoding.mark), head[len(encoding.mark) :]
    while True:
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            before = count + len(chunk) - len(error.object)
            raise encoding.fault(error, skipped=before) from error
        yield text
        if not chunk:
            return
        count += len(chunk)
        chunk = stream.read(_CHUNK_BYTES)


@contextmanager
def _open_file(path: Path) -> Iterator[IO[bytes]]:
    with _read_errors(path), path.open("rb") as stream:
        yield stream


@contextmanager
def _read_errors(path: Path) -> Iterator[None]:
    """Turn operating-system errors inside the block into UnreadableImport."""
    try:
        yield
    except OSError as error:
        raise UnreadableImport(f"{path} cannot be read: {error.strerror or error}") from error


class Encoding(NamedTuple):
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
            raise self.fault(error, skipped=skipped) from error

    def fault(self, error: UnicodeDecodeError, *, skipped: int) -> fields.Malformed:
        """The fault of a text that is not of this encoding."""
        wrong = error.object[error.start]
        return fields.Malformed(f"not {self.title} text: byte {skipped + error.start + 1} is 0x{wrong:02x}")


_UTF_8 = Encoding("utf-8", "UTF-8", b"", b"\n")
_MARKED = (
    Encoding("utf-8", "UTF-8", codecs.BOM_UTF8, b"\n"),
    Encoding("utf-16-le", "UTF-16", codecs.BOM_UTF16_LE, b"\n\0"),
    Encoding("utf-16-be", "UTF-16", codecs.BOM_UTF16_BE, b"\0\n"),
)


def encoding_of(head: bytes) -> Encoding:
    """The encoding of a file: UTF-16 by its byte order mark, otherwise UTF-8."""
    return next((encoding for encoding in _MARKED if head.startswith(encoding.mark)), _UTF_8)


def read_pages(path: Path) -> Iterator[Page]:
    """Read the JSON value of every line that is not blank, Malformed in place of a value that cannot be had."""
    first = 1
    for lines in read_lines(path):
        page = _parse_whole(lines, first) or _parse_each(lines, first)
        first += len(lines)
        if page.values:
            yield page


def read_lines(path: Path) -> Iterator[list[str | fields.Malformed]]:
    """Read the lines of a file, some at a time; Malformed for one too long or of broken encoding."""
    with path.open("rb") as stream:
        encoding = encoding_of(stream.read(4))
        stream.seek(len(encoding.mark))
        for block in _split_blocks(stream, encoding.newline):
            yield _decode_lines(block, encoding)


def _decode_lines(block: bytes | None, encoding: Encoding) -> list[str | fields.Malformed]:
    """Decode the lines of a block, which is None for one line that is too long."""
    if block is None:
        return [_too_long()]
    if len(block) <= MAX_LINE_BYTES:
        with suppress(UnicodeDecodeError):
            return [*block.decode(encoding.codec).split("\n")]
    lines: list[str | fields.Malformed] = []
    start = 0
    while start <= len(block):
        end = _find(block, encoding.newline, start)
        end = len(block) if end < 0 else end
        lines.append(_decode(block[start:end], encoding))
        start = end + len(encoding.newline)
    return lines


def _decode(line: bytes, encoding: Encoding) -> str | fields.Malformed:
    if len(line) > MAX_LINE_BYTES:
        return _too_long()
    try:
        return encoding.decode(line)
    except fields.Malformed as fault:
        return fault


def _too_long() -> fields.Malformed:
    return fields.Malformed(f"the line is longer than {MAX_LINE_BYTES // 2**20} MB")


def _parse_whole(lines: list[str | fields.Malformed], first: int) -> Page | None:
    """Parse short lines that are one JSON value each, as nearly all are; None where one is anything else."""
    try:
        bare = [line.rstrip("\r") for line in lines]  # type: ignore[union-attr]  # Malformed has none
        found = list(map(fields.scan, bare, repeat(0)))  # ends early where a line begins no value
    except (AttributeError, json.JSONDecodeError, RecursionError):
        return None
    lengths = list(map(len, bare))
    if [end for _, end in found] != lengths or max(lengths) > CHEAP_CHARACTERS:
        return None
    return Page(range(first, first + len(bare)), [value for value, _ in found])


def _parse_each(lines: Sequence[str | fields.Malformed], first: int) -> Page:
    """Parse those lines that are not blank, one by one."""
    numbers, values = [], []
    for number, line in enumerate(lines, first):
        if isinstance(line, fields.Malformed) or line.strip():
            numbers.append(number)
            values.append(line if isinstance(line, fields.Malformed) else _parse(line))
    return Page(numbers, values)


def _parse(text: str) -> object:
    try:
        check_size(text)
        return fields.parse_json(text)
    except JsonFault as fault:
        return fields.Malformed(str(fault))
    except fields.Malformed as fault:
        return fault


def _split_blocks(stream: BinaryIO, newline: bytes) -> Iterator[bytes | None]:
    """Yield blocks of whole lines, without the last newline; None for a line that is longer than MAX_LINE_BYTES.

    Holds at most that much, and what is read at a time.
    """
    pending, is_too_long = bytearray(), False
    while chunk := stream.read(_CHUNK_BYTES):
        start = 0
        if is_too_long and (end := _find(chunk, newline, 0)) >= 0:
            yield None
            is_too_long, start = False, end + len(newline)
        last = _find_last(chunk, newline, start)
        if last >= 0:
            yield bytes(pending) + chunk[start:last]
            pending, start = bytearray(), last + len(newline)
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


def _find_last(chunk: bytes, newline: bytes, start: int) -> int:
    """The index of the last newline from `start` on, as `_find`."""
    at = chunk.rfind(newline, start)
    while at % len(newline) and at >= 0:
        at = chunk.rfind(newline, start, at + len(newline) - 1)
    return at
