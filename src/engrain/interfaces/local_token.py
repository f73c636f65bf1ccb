"""Local token: the secret of a loopback server, in a file that only its user can read."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from engrain.config.tree import Settings

_PREFIX = "et_"  # of every token, as ek_ is of every key
_OTHERS_READ = stat.S_IRWXG | stat.S_IRWXO


def token_file() -> Path:
    """Path of the token in the user's own config folder, be it there or not."""
    return Path(platformdirs.user_config_dir("engrain", appauthor=False)) / "token"


def read_token() -> str:
    """The user's token, made with the first call; it stays the same, so that clients may be configured with it.

    Raises:
        InvalidInput: the file belongs to somebody else, others may read it, or there is no place for it.
    """
    path = token_file()
    try:
        _create(path)
        with path.open(encoding="ascii") as file:
            status, token = os.fstat(file.fileno()), file.read().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"the local token {path} cannot be read or made: {error}; or serve with --keys") from error
    if sys.platform != "win32" and (status.st_uid != os.geteuid() or status.st_mode & _OTHERS_READ):
        mode = stat.S_IMODE(status.st_mode)
        raise InvalidInput(
            f"the local token {path} is not its user's alone (mode {mode:o}): remove it, as others know it"
        )
    if not token.startswith(_PREFIX):
        raise InvalidInput(f"{path} holds no token of engrain's: remove it, and it is made anew")
    return token


def find_key(settings: Settings) -> str | None:
    """The access key of the server that `db` names: that of the settings, else on this machine its user's token."""
    if settings.key is not None:
        return settings.key.get_secret_value()
    from engrain.client.address import parse_address

    has_token = parse_address(settings.db).is_loopback and token_file().is_file()
    return read_token() if has_token else None


def _create(path: Path) -> None:
    """Write a new token where there is none; of several processes that do so at once, one wins."""
    if path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_name(f"token.{os.getpid()}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(f"{_PREFIX}{secrets.token_urlsafe(32)}\n")
    try:
        with contextlib.suppress(FileExistsError):
            os.link(new, path)
    finally:
        new.unlink()
