"""Signatures of backups: an HMAC by a key of the installation, of the settings or of a file of its owner's."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from engrain.errors import Forbidden, InvalidInput, StorageError, UnusableBackup

if TYPE_CHECKING:
    from engrain.domain.access.keys import Grant
    from engrain.domain.ports import SecretText

_KEY_BYTES = 32
_NAME_BYTES = 8
SIGNATURE_BYTES = _NAME_BYTES + _KEY_BYTES
_PURPOSE = b"engrain backup 1\n"
_OWNER_ONLY = 0o600
_LARGEST_KEY = 65_536
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_in_memory = secrets.token_bytes(_KEY_BYTES)  # of databases that end with this process


@dataclass(frozen=True, slots=True)
class SigningKey:
    """Key of an installation. A signature is the name of its key and the HMAC-SHA256 of what it signs."""

    secret: bytes = field(repr=False)

    @property
    def name(self) -> str:
        """Name of the key, which tells nothing of it, hexadecimal."""
        return hashlib.sha256(_PURPOSE + b"name\n" + self.secret).digest()[:_NAME_BYTES].hex()

    def sign(self, digest: bytes) -> bytes:
        return bytes.fromhex(self.name) + hmac.digest(self.secret, _PURPOSE + digest, "sha256")


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningConfig:
    """Place of the key: the settings' own, else their file, else one beside the database at `location`."""

    location: str
    key: SecretText | None = None
    key_file: str | None = None

    def load_key(self) -> SigningKey:
        """Load the key; the file is made where it is missing.

        Raises:
            InvalidInput: others can read the file, or it is none of a key.
            StorageError: it cannot be read or made.
        """
        if self.key is not None:
            return SigningKey(hashlib.sha256(self.key.get_secret_value().encode()).digest())
        path = self._key_path()
        if path is None:
            return SigningKey(_in_memory)
        if not path.exists():
            _make_key(path)
        return SigningKey(hashlib.sha256(read_secret(path, setting="backup.signing_key_file")).digest())

    def _key_path(self) -> Path | None:
        if self.key_file is not None:
            return Path(self.key_file)
        if "://" in self.location:  # a server's database, which others may read: the key is with whoever serves it
            return Path(platformdirs.user_data_dir("engrain", appauthor=False)) / "backup-key"
        return None if self.location in {"", ":memory:"} else Path(f"{self.location}.backup-key")


def check_signature(
    path: Path, sha256: str, signature: bytes | None, key: SigningKey, *, untrusted: bool, grant: Grant | None
) -> None:
    """Check that the installation signed a file, unless whoever may decide that says it need not have.

    Raises:
        Forbidden: `untrusted` with a key that is bound to one agent.
        UnusableBackup: nobody signed it, another installation did, or it was edited since.
    """
    is_bound = grant is not None and grant.is_bound
    if untrusted and is_bound:
        raise Forbidden("the key speaks for one agent or user, which restores signed backups only; leave untrusted out")
    if untrusted or (signature is not None and hmac.compare_digest(signature, key.sign(bytes.fromhex(sha256)))):
        return
    choice = (
        "an admin whose key is bound to no agent can restore it as untrusted"
        if is_bound
        else "restore it as untrusted if you know who made it (untrusted=True, --untrusted, ?untrusted=true)"
    )
    if signature is None:
        raise UnusableBackup(f"{path} is not signed, so anybody may have made it; {choice}")
    name = signature[:_NAME_BYTES].hex()
    if name != key.name:
        raise UnusableBackup(
            f"{path} was signed by another installation (its key is {name}, the one here {key.name}): "
            "name its key in ENGRAIN_BACKUP__SIGNING_KEY_FILE (NAME.backup-key beside its SQLite file NAME, or "
            f"backup-key in its data folder), or {choice}"
        )
    raise UnusableBackup(f"{path} was edited after it was signed; use another copy, or {choice}")


def read_secret(path: Path, *, setting: str) -> bytes:
    """Read a secret from a file that only its owner can read.

    Raises:
        InvalidInput: others can read it, it is no file, or holds nothing that could be a secret.
        StorageError: it cannot be read.
    """
    try:
        handle = open_unwaited(path)
        with os.fdopen(handle, "rb") as stream:
            state = os.fstat(handle)
            if not stat.S_ISREG(state.st_mode):
                raise InvalidInput(f"{setting} {path} is no file; name one that is")
            if sys.platform != "win32":  # which has access lists instead of owners and modes
                if state.st_uid not in {os.geteuid(), 0}:
                    raise InvalidInput(f"{setting} {path} is no file of this user's; name one that is")
                if state.st_mode & _OTHERS:
                    raise InvalidInput(f"{setting} {path} can be read by others: chmod 600 {path}")
            secret = stream.read(_LARGEST_KEY + 1).strip()
    except OSError as error:
        raise StorageError(f"{setting} {path} cannot be read: {error.strerror or error}") from error
    if not _KEY_BYTES <= len(secret) <= _LARGEST_KEY:
        raise InvalidInput(f"{setting} {path} holds no key: it needs {_KEY_BYTES} to {_LARGEST_KEY:,} bytes")
    return secret


def open_unwaited(path: Path) -> int:
    """Open whatever a user has named for reading: of a pipe, too, without waiting for its writer."""
    if sys.platform == "win32":  # where no pipe is in a folder
        return os.open(path, os.O_RDONLY)
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK)


def _make_key(path: Path) -> None:
    """Make a random key in a file; whoever is first makes it for all."""
    part = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY), "wb") as stream:
            stream.write(secrets.token_hex(_KEY_BYTES).encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        with suppress(FileExistsError):
            os.link(part, path)
    except OSError as error:
        raise StorageError(
            f"the key that signs backups cannot be made at {path} ({error.strerror or error}): name another place "
            "with ENGRAIN_BACKUP__SIGNING_KEY_FILE, or give one with ENGRAIN_BACKUP__SIGNING_KEY"
        ) from error
    finally:
        with suppress(OSError):
            part.unlink()
