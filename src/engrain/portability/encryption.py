"""Encryption of backups: AES-256-GCM in chunks, each authenticated with its number and whether it is the last.

The construction is STREAM (https://eprint.iacr.org/2015/189, figure 9): nothing can be cut, moved, left out or added
unseen, and a chunk is never given out before it is authentic. The file begins with a line that says what it is, the
kind of secret, and the random salt from which its own key is derived.
"""

from __future__ import annotations

import hashlib
import io
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from engrain.errors import InvalidInput, UnusableBackup
from engrain.portability.signing import read_secret

if TYPE_CHECKING:
    from collections.abc import Callable

    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    from engrain.domain.ports import SecretText

_MAGIC = b"engrain encrypted backup 1\n"
_SALT_BYTES, _TAG_BYTES = 16, 16
_CHUNK_BYTES = 2**16
_PASSPHRASE, _KEY_FILE = b"p", b"k"
_HEAD_BYTES = len(_MAGIC) + 1 + _SALT_BYTES
# 128 MB and about half a second, more than OWASP asks for: https://cheatsheetseries.owasp.org, Password Storage, scrypt
_SCRYPT_N, _SCRYPT_R, _SCRYPT_P = 2**17, 8, 1


class ByteSink(Protocol):
    """Takes bytes in their order."""

    def write(self, data: bytes, /) -> object:
        """Write all of `data`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cipher:
    """Encrypts and decrypts streams with a passphrase or the content of a key file."""

    kind: bytes
    secret: bytes = field(repr=False)

    def encrypt(self, stream: BinaryIO) -> EncryptedWriter:
        """Begin an encrypted stream at the beginning of `stream`."""
        head = _MAGIC + self.kind + secrets.token_bytes(_SALT_BYTES)
        stream.write(head)
        return EncryptedWriter(stream, self._sealer(head), head)

    def decrypt(self, stream: BinaryIO, path: Path) -> BinaryIO:
        """Return the decrypted bytes of a stream; it can be read from any place."""
        stream.seek(0)
        head = stream.read(_HEAD_BYTES)
        if head[len(_MAGIC) : len(_MAGIC) + 1] != self.kind:
            other = "a passphrase" if self.kind == _KEY_FILE else "a key file"
            raise UnusableBackup(f"{path} was encrypted with {other}; set the one it was made with")
        return io.BufferedReader(_DecryptedFile(stream, self._sealer(head), head, path), _CHUNK_BYTES)

    def _sealer(self, head: bytes) -> AESGCM:
        """Derive the key of one file."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        salt = head[-_SALT_BYTES:]
        if self.kind == _PASSPHRASE:
            most = 2 * 128 * _SCRYPT_N * _SCRYPT_R
            key = hashlib.scrypt(self.secret, salt=salt, n=_SCRYPT_N, r=_SCRYPT_R, p=_SCRYPT_P, maxmem=most, dklen=32)
        else:
            key = hashlib.blake2b(_MAGIC, key=hashlib.sha512(self.secret).digest(), salt=salt, digest_size=32).digest()
        return AESGCM(key)


class EncryptedWriter:
    """Writer of encrypted chunks; holds one of them."""

    def __init__(self, stream: BinaryIO, sealer: AESGCM, head: bytes) -> None:
        """Begin after the head, which is authenticated with every chunk."""
        self._stream = stream
        self._sealer = sealer
        self._head = head
        self._pending = bytearray()
        self._number = 0

    def write(self, data: bytes) -> None:
        """Encrypt all chunks that are full and not the last."""
        self._pending += data
        while len(self._pending) > _CHUNK_BYTES:
            self._write_chunk(bytes(self._pending[:_CHUNK_BYTES]), is_last=False)
            del self._pending[:_CHUNK_BYTES]

    def finish(self) -> None:
        """Write the last chunk."""
        self._write_chunk(bytes(self._pending), is_last=True)
        self._pending.clear()

    def _write_chunk(self, plain: bytes, *, is_last: bool) -> None:
        self._stream.write(self._sealer.encrypt(_nonce(self._number, is_last=is_last), plain, self._head))
        self._number += 1


class _DecryptedFile(io.RawIOBase):
    """Decrypted bytes of an encrypted file, chunk by chunk."""

    def __init__(self, stream: BinaryIO, sealer: AESGCM, head: bytes, path: Path) -> None:
        self._stream = stream
        self._sealer = sealer
        self._head = head
        self._path = path
        body = stream.seek(0, os.SEEK_END) - _HEAD_BYTES
        self._chunks = -(-body // (_CHUNK_BYTES + _TAG_BYTES))
        self._size = max(0, body - self._chunks * _TAG_BYTES)
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = max(0, offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence])
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        number, start = divmod(self._at, _CHUNK_BYTES)
        if self._at >= self._size:
            return 0
        view = memoryview(buffer)
        piece = self._chunk(number)[start : start + len(view)]
        view[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def _chunk(self, number: int) -> bytes:
        from cryptography.exceptions import InvalidTag

        self._stream.seek(_HEAD_BYTES + number * (_CHUNK_BYTES + _TAG_BYTES))
        sealed = self._stream.read(_CHUNK_BYTES + _TAG_BYTES)
        try:
            nonce = _nonce(number, is_last=number == self._chunks - 1)
            return self._sealer.decrypt(nonce, sealed, self._head)
        except InvalidTag as error:
            raise UnusableBackup(
                f"{self._path} cannot be decrypted: its passphrase or key file is another, or it was altered"
            ) from error


def load_cipher(passphrase: SecretText | None, key_file: str | None) -> Cipher | None:
    """Load the cipher of the settings; None where they name no secret.

    Raises:
        InvalidInput: both are named, the package `cryptography` is missing, or the file is none that only its owner
            reads.
    """
    if passphrase is None and key_file is None:
        return None
    if passphrase is not None and key_file is not None:
        raise InvalidInput("backup.passphrase and backup.encryption_key_file are both set; set one of them")
    try:
        import cryptography  # noqa: F401  # an extra
    except ImportError as error:
        raise InvalidInput(
            'encrypted backups need the package cryptography: pip install "engrain[encryption]"'
        ) from error
    if passphrase is not None:
        return Cipher(kind=_PASSPHRASE, secret=passphrase.get_secret_value().encode())
    return Cipher(kind=_KEY_FILE, secret=read_secret(Path(str(key_file)), setting="backup.encryption_key_file"))


def is_encrypted(stream: BinaryIO) -> bool:
    """Tell whether a stream is an encrypted one, from where it stands."""
    return stream.read(len(_MAGIC)) == _MAGIC


def decrypted(stream: BinaryIO, path: Path, load: Callable[[], Cipher | None]) -> BinaryIO:
    """Return a stream, or its decrypted bytes where it is encrypted.

    Raises:
        UnusableBackup: it is encrypted, and the settings name no secret or another kind.
    """
    found = is_encrypted(stream)
    stream.seek(0)
    if not found:
        return stream
    cipher = load()
    if cipher is None:
        raise UnusableBackup(
            f"{path} is encrypted: set ENGRAIN_BACKUP__PASSPHRASE or ENGRAIN_BACKUP__ENCRYPTION_KEY_FILE "
            "to what it was made with"
        )
    return cipher.decrypt(stream, path)


def _nonce(number: int, *, is_last: bool) -> bytes:
    """Build the nonce of a chunk; the key is of one file, so no nonce comes twice."""
    return bytes(7) + number.to_bytes(4, "big") + bytes([is_last])
