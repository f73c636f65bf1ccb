"""Sealed files: text lines in gzip, so that `zcat` shows them, with a digest of all bytes at the end.

The seal is a gzip member of its own without content: its extra field (RFC 1952 §2.3.1.1) has the SHA-256. Nothing of
the file can change unseen, the bits that gzip itself ignores included.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import secrets
import stat
import zlib
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO

from engrain.errors import DatabaseFull, InvalidInput, StorageError, UnusableBackup

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_LINE_BYTES = 2**26
_MEMBER_BYTES = 2**20
_BLOCK_BYTES = 2**16
# A row has an id, which is random: text that packs better than this is no backup, and is not unpacked for long.
_MAX_EXPANSION = 100
_SLACK_BYTES = MAX_LINE_BYTES + 2 * _MEMBER_BYTES  # one line may pack better than the rest
_LEVEL = 6
_MAGIC = b"\x1f\x8b\x08"
_DIGEST_BYTES = 32
_SEAL_HEAD = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff" + (4 + _DIGEST_BYTES).to_bytes(2, "little") + b"EN\x20\0"
_SEAL_TAIL = b"\x03\0" + bytes(8)
_SEAL_BYTES = len(_SEAL_HEAD) + _DIGEST_BYTES + len(_SEAL_TAIL)
_OWNER_ONLY = 0o600
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class SealedWriter:
    """Writer of lines into a sealed file; holds at most a megabyte of them."""

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        """Truncate `stream`, which becomes the file at `path`, and begin."""
        with write_errors(path):
            stream.seek(0)
            stream.truncate()
        self._stream = stream
        self._path = path
        self._pending: list[bytes] = []
        self._size = 0
        self._digest = hashlib.sha256()

    def write(self, line: bytes) -> None:
        """Add one line, its newline included.

        Raises:
            InvalidInput: it has more than 64 MB, the limit of reading.
        """
        if len(line) > MAX_LINE_BYTES:
            size = f"{len(line) / 2**20:,.0f} MB of one memory ({line[:80].decode(errors='replace')}...)"
            raise InvalidInput(f"{size} are more than a backup's line may have: shorten its metadata or tool calls")
        self._pending.append(line)
        self._size += len(line)
        if self._size >= _MEMBER_BYTES:
            self._flush()

    def seal(self) -> str:
        """Write the seal; returns the SHA-256 of everything before it, hexadecimal."""
        self._flush()
        with write_errors(self._path):
            self._stream.write(_SEAL_HEAD + self._digest.digest() + _SEAL_TAIL)
        return self._digest.hexdigest()

    def _flush(self) -> None:
        raw = b"".join(self._pending)
        self._pending, self._size = [], 0
        if raw:
            packed = gzip.compress(raw, _LEVEL, mtime=0)
            if len(packed) * _MAX_EXPANSION < len(raw):
                packed = gzip.compress(raw, 0, mtime=0)
            with write_errors(self._path):
                self._stream.write(packed)
            self._digest.update(packed)


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Turn operating-system errors inside the block into errors about this file.

    Raises:
        DatabaseFull: there is no room left.
        StorageError: the file cannot be written for another reason.
    """
    try:
        yield
    except OSError as error:
        raise _write_error(path, error) from error


@contextmanager
def create_file(path: Path, *, replaces: bool) -> Iterator[BinaryIO]:
    """Open a stream that becomes the file at `path` if the block succeeds, and leaves nothing if it fails.

    Owner-only, written under another name beside it, synced, renamed. With `replaces` an existing sealed file is
    replaced; nothing else ever is.

    Raises:
        InvalidInput: the path is a folder, a link, or a file of something else.
        DatabaseFull: there is no room left.
        StorageError: the file cannot be written for another reason.
    """
    _check_target(path, replaces=replaces)
    part = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.part")
    try:
        with write_errors(path):
            handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, _OWNER_ONLY)
            with os.fdopen(handle, "w+b") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            part.replace(path)
            _sync_folder(path.parent)
    finally:
        with suppress(OSError):
            part.unlink()


class SealedFile:
    """Sealed file open for reading: verified whole, then read line by line, any number of times."""

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        """Verify every byte.

        Raises:
            UnusableBackup: it is no sealed file, cut short, or altered.
        """
        self._path = path
        self._stream = stream
        self._size = os.fstat(stream.fileno()).st_size - _SEAL_BYTES
        self.sha256 = self._verify()

    def lines(self) -> Iterator[bytes]:
        """Read every line with its newline.

        Raises:
            UnusableBackup: it unpacks to more than a backup can, has a line of more than 64 MB or an end without
                newline, or changed meanwhile.
        """
        pending = bytearray()
        digest = hashlib.sha256()
        for chunk in self._unpack(digest):
            start = 0
            while (end := chunk.find(b"\n", start)) >= 0:
                pending += chunk[start : end + 1]
                yield bytes(pending)
                pending.clear()
                start = end + 1
            pending += chunk[start:]
            if len(pending) > MAX_LINE_BYTES:
                raise UnusableBackup(
                    f"{self._path} has a line of more than {MAX_LINE_BYTES // 2**20} MB; it was not made by engrain"
                )
        if pending or digest.hexdigest() != self.sha256:
            raise UnusableBackup(f"{self._path} changed while it was read, or ends within a line; try again")

    def _verify(self) -> str:
        head = self._stream.read(len(_MAGIC))
        if head != _MAGIC or self._size <= 0:
            raise UnusableBackup(f"{self._path} is no backup of engrain; name a file that `engrain backup` wrote")
        digest = hashlib.sha256()
        for block in self._blocks():
            digest.update(block)
        seal = self._stream.read()
        if not (len(seal) == _SEAL_BYTES and seal.startswith(_SEAL_HEAD) and seal.endswith(_SEAL_TAIL)):
            raise UnusableBackup(
                f"{self._path} has no seal at its end: it is cut short, altered, or no backup of engrain"
            )
        if seal != _SEAL_HEAD + digest.digest() + _SEAL_TAIL:
            raise UnusableBackup(
                f"{self._path} was altered: its bytes do not have the digest at its end; use another copy"
            )
        return digest.hexdigest()

    def _blocks(self) -> Iterator[bytes]:
        """Read everything before the seal, in blocks."""
        self._stream.seek(0)
        left = self._size
        while left and (block := self._stream.read(min(_BLOCK_BYTES, left))):
            left -= len(block)
            yield block

    def _unpack(self, digest: hashlib._Hash) -> Iterator[bytes]:
        packed = unpacked = 0
        member = zlib.decompressobj(31)
        try:
            for block in self._blocks():
                digest.update(block)
                packed += len(block)
                left = block
                while left:
                    if member.eof:
                        member = zlib.decompressobj(31)
                    chunk = member.decompress(left, _MEMBER_BYTES)
                    left = member.unused_data if member.eof else member.unconsumed_tail
                    unpacked += len(chunk)
                    if unpacked > _SLACK_BYTES + _MAX_EXPANSION * packed:
                        raise UnusableBackup(
                            f"{self._path} unpacks to far more than a backup can; it was not made by engrain"
                        )
                    yield chunk
        except zlib.error as error:
            raise UnusableBackup(f"{self._path} cannot be unpacked: {error}; use another copy") from error
        if not member.eof:
            raise UnusableBackup(f"{self._path} is cut short; use another copy")


@contextmanager
def open_sealed(path: Path) -> Iterator[SealedFile]:
    """Open and verify the sealed file at `path`.

    Raises:
        UnusableBackup: there is none, or it is not whole.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe would wait for its writer
    except OSError as error:
        raise UnusableBackup(f"{path} cannot be read: {error.strerror or error}") from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise UnusableBackup(f"{path} is no regular file; name a file that `engrain backup` wrote")
    with os.fdopen(handle, "rb") as stream:
        try:
            file = SealedFile(path, stream)
        except OSError as error:
            raise UnusableBackup(f"{path} cannot be read: {error.strerror or error}") from error
        yield file


def _check_target(path: Path, *, replaces: bool) -> None:
    if path.is_symlink():
        raise InvalidInput(f"{path} is a link, and what is behind one is not replaced; name the file itself")
    if not path.parent.is_dir():
        raise InvalidInput(f"{path.parent} is no folder; make it first")
    if not path.exists():
        return
    if not path.is_file():
        raise InvalidInput(f"{path} is no regular file; name another")
    if not (replaces and _is_sealed(path)):
        raise InvalidInput(f"{path} is there already{' and no backup' if replaces else ''}; name another file")


def _is_sealed(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as stream:
        stream.seek(0, os.SEEK_END)
        stream.seek(max(stream.tell() - _SEAL_BYTES, 0))
        return stream.read().startswith(_SEAL_HEAD)
    return False


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_error(path: Path, error: OSError) -> StorageError:
    if error.errno in _FULL:
        return DatabaseFull(
            f"no room left to write {path} ({error.strerror}); nothing is left of it: make room or name another place"
        )
    return StorageError(f"{path} cannot be written: {error.strerror or error}; nothing is left of it")
