"""Sealed files: text lines in gzip, so that `zcat` shows them, with a signed digest of all bytes at the end.

The seal is a gzip member of its own without content: its extra field (RFC 1952 §2.3.1.1) has the SHA-256, and the
signature of it by a key of the installation. Nothing of the file can change unseen, the bits that gzip itself ignores
included; whoever lacks the key can seal a file, and cannot sign it. Files of earlier versions have a digest alone.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import secrets
import stat
import sys
import zlib
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO

from engrain.errors import DatabaseFull, InvalidInput, StorageError, UnusableBackup
from engrain.portability import encryption
from engrain.portability.encryption import ByteSink, Cipher, EncryptedWriter
from engrain.portability.signing import SIGNATURE_BYTES, SigningKey, open_unwaited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
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
_SEAL_TAIL = b"\x03\0" + bytes(8)


def _seal_head(payload_bytes: int) -> bytes:
    """Begin a member whose extra field has one subfield of a length."""
    lengths = [size.to_bytes(2, "little") for size in (4 + payload_bytes, payload_bytes)]
    return b"\x1f\x8b\x08\x04\0\0\0\0\0\xff" + lengths[0] + b"EN" + lengths[1]


_SEALS = (_DIGEST_BYTES + SIGNATURE_BYTES, _DIGEST_BYTES)  # signed, and not
_LARGEST_SEAL = len(_seal_head(_SEALS[0])) + _SEALS[0] + len(_SEAL_TAIL)
_OWNER_ONLY = 0o600
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class SealedWriter:
    """Writer of lines into a sealed file; holds at most a megabyte of them."""

    def __init__(
        self, stream: BinaryIO, path: Path, key: SigningKey | None = None, cipher: Cipher | None = None
    ) -> None:
        """Truncate `stream`, which becomes the file at `path`, and begin; a key signs it and a cipher encrypts it."""
        with write_errors(path):
            stream.seek(0)
            stream.truncate()
            self._stream: ByteSink = stream if cipher is None else cipher.encrypt(stream)
        self._key = key
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
        digest = self._digest.digest()
        payload = digest if self._key is None else digest + self._key.sign(digest)
        with write_errors(self._path):
            self._stream.write(_seal_head(len(payload)) + payload + _SEAL_TAIL)
            if isinstance(self._stream, EncryptedWriter):
                self._stream.finish()
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
            handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
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
        self._payload, self._size = self._read_seal()
        self.sha256 = self._verify()

    @property
    def signature(self) -> bytes | None:
        """Signature of the digest; None where the file has none."""
        return self._payload[_DIGEST_BYTES:] or None

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

    def _read_seal(self) -> tuple[bytes, int]:
        """Read the payload of the seal, and the number of bytes before it."""
        head = self._stream.read(len(_MAGIC))
        whole = self._stream.seek(0, os.SEEK_END)
        if head != _MAGIC:
            raise UnusableBackup(f"{self._path} is no backup of engrain; name a file that `engrain backup` wrote")
        end = self._stream.seek(max(0, whole - _LARGEST_SEAL))
        tail = self._stream.read()
        for size in _SEALS:
            seal = tail[-(len(_seal_head(size)) + size + len(_SEAL_TAIL)) :]
            if seal.startswith(_seal_head(size)) and seal.endswith(_SEAL_TAIL) and end + len(tail) > len(seal):
                return seal[len(_seal_head(size)) : -len(_SEAL_TAIL)], whole - len(seal)
        raise UnusableBackup(f"{self._path} has no seal at its end: it is cut short, altered, or no backup of engrain")

    def _verify(self) -> str:
        digest = hashlib.sha256()
        for block in self._blocks():
            digest.update(block)
        if digest.digest() != self._payload[:_DIGEST_BYTES]:
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
def open_sealed(path: Path, load_cipher: Callable[[], Cipher | None] = lambda: None) -> Iterator[SealedFile]:
    """Open and verify the sealed file at `path`; `load_cipher` gives what decrypts an encrypted one.

    Raises:
        UnusableBackup: there is none, or it is not whole.
    """
    try:
        handle = open_unwaited(path)
    except OSError as error:
        raise UnusableBackup(f"{path} cannot be read: {error.strerror or error}") from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise UnusableBackup(f"{path} is no regular file; name a file that `engrain backup` wrote")
    with os.fdopen(handle, "rb") as stream:
        try:
            file = SealedFile(path, encryption.decrypted(stream, path, load_cipher))
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
        stream.seek(max(stream.seek(0, os.SEEK_END) - _LARGEST_SEAL, 0))
        tail = stream.read()
        stream.seek(0)
        return encryption.is_encrypted(stream) or any(_seal_head(size) in tail for size in _SEALS)
    return False


def _sync_folder(folder: Path) -> None:
    if sys.platform == "win32":  # opens no folder; NTFS keeps a journal of names
        return
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
