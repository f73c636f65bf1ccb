"""Trust in settings files: which settings a merely found file may give, and the record of files a user trusts."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engrain.errors import UntrustedSettings

# What a file found in the working folder may set unseen: how searches, blocks and logs of this process look. All else
# runs programs, sends texts elsewhere, deletes, or changes whose memory this is; a new setting is among it by itself.
_FREE_SECTIONS = ("retrieval.", "context.", "logging.")
_NOT_FREE = frozenset({"context.count_tokens"})  # tiktoken fetches its tables from the network
_SECRET_NAMES = (".key", ".signing_key", ".passphrase")
_OTHERS_READ = stat.S_IRGRP | stat.S_IROTH


def needing_trust(values: Mapping[str, Any]) -> list[str]:
    """Dotted names of the settings that a merely found file may not give, in the file's order."""
    return [name for name, _ in _leaves(values) if not name.startswith(_FREE_SECTIONS) or name in _NOT_FREE]


def check(path: Path, content: bytes, status: os.stat_result, values: Mapping[str, Any], *, is_named: bool) -> None:
    """Check that a settings file is trusted, named by its user, or harmless; and that others cannot change it.

    Refused as a whole: leaving out an address or a database alone would send the texts to another one.

    Raises:
        UntrustedSettings: the message names the settings, the file and what to do.
    """
    if is_trusted(path, content):
        return
    remedy = f"read it, then run: engrain trust {path}"
    if sys.platform != "win32":  # Windows has access lists instead
        problem = exposure(owner=status.st_uid, mode=status.st_mode, user=os.geteuid())
        if problem:
            raise UntrustedSettings(f"{path} {problem}; correct that, or {remedy}")
    names = [] if is_named else needing_trust(values)
    if names:
        change = "has changed since it was trusted and " if _record(path).exists() else ""
        raise UntrustedSettings(
            f"{path} {change}sets {', '.join(names)}; a file that only lies in the working folder may set "
            f"retrieval, context and logging alone. Nothing of it is used: {remedy} (or name it with --config)"
        )


def is_trusted(path: Path, content: bytes) -> bool:
    """True where this content of the file was trusted."""
    with contextlib.suppress(OSError):
        return _record(path).read_text(encoding="utf-8").partition(" ")[0] == _digest(content)
    return False


def trust(path: Path, content: bytes) -> None:
    """Remember the content of a file as trusted, in place of any earlier one; only the user can read the record."""
    record = _record(path)
    record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = record.with_suffix(f".{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        new.unlink()
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(f"{_digest(content)}  {path.resolve()}\n")  # as sha256sum -c reads it
    new.replace(record)


def revoke(path: Path) -> bool:
    """Trust a file no longer; False where it was not trusted."""
    try:
        _record(path).unlink()
    except FileNotFoundError:
        return False
    return True


def exposed_secrets(path: Path, status: os.stat_result, values: Mapping[str, Any]) -> str | None:
    """Warning that other users can read a file of secrets; None where they cannot, or it has none."""
    secrets = [name for name, value in _leaves(values) if f".{name}".endswith(_SECRET_NAMES) or _has_password(value)]
    if sys.platform == "win32" or not secrets or not status.st_mode & _OTHERS_READ:
        return None
    mode = stat.S_IMODE(status.st_mode)
    return f"other users may read {path} (mode {mode:o}), which sets {', '.join(secrets)}: chmod 600 {path}"


def exposure(*, owner: int, mode: int, user: int) -> str | None:
    """Reason why somebody else than a user (or root, who reads whose it likes) could have written a file; or None."""
    if owner not in (0, user) and user != 0:
        return f"belongs to another user (uid {owner})"
    if mode & stat.S_IWOTH:
        return f"can be changed by every user (mode {stat.S_IMODE(mode):o})"
    return None


def _digest(content: bytes) -> str:
    from hashlib import sha256  # only where there is a settings file

    return sha256(content).hexdigest()


def _record(path: Path) -> Path:
    import platformdirs

    name = _digest(os.fsencode(path.resolve()))
    return Path(platformdirs.user_config_dir("engrain", appauthor=False)) / "trusted" / name


def _has_password(value: object) -> bool:
    return isinstance(value, str) and "://" in value and "@" in value


def _leaves(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value
