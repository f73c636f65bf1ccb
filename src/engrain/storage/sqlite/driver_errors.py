"""Translation of SQLite driver errors into ours, which say what to do."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import apsw

from engrain import errors

_LEAVES: tuple[tuple[tuple[type[apsw.Error], ...], type[errors.StorageError], str], ...] = (
    (
        (apsw.BusyError, apsw.LockedError, apsw.ProtocolError),
        errors.DatabaseBusy,
        "another process is writing and did not finish in time; nothing was written: try again",
    ),
    (
        (apsw.FullError,),
        errors.DatabaseFull,
        "no room is left; the write was rolled back: free some space and try again",
    ),
    (
        (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, apsw.AuthError),
        errors.DatabaseReadOnly,
        "the file or its folder cannot be opened for writing: check that they exist and who owns them",
    ),
    (
        (apsw.NotADBError,),
        errors.NotAnEngrainFile,
        "this is not a SQLite file, so nothing was changed: choose another path",
    ),
    (
        (apsw.CorruptError, apsw.FormatError),
        errors.DatabaseDamaged,
        "SQLite finds the file damaged: run `engrain doctor --thorough`, then restore a backup",
    ),
    (
        (apsw.ConstraintError,),
        errors.IntegrityViolated,
        "the write broke an invariant and was rolled back: what it named may have changed, so look and try again",
    ),
)


# A device, a quota or a limit of the process is at its end; SQLite says so of the first alone.
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_LEAST_FREE_BYTES = 32_768  # by which SQLite lets the file of its shared memory grow: https://sqlite.org/walformat.html


class ErrorTranslation:
    """Translation of driver and file system errors raised inside into ours, which name the file."""

    __slots__ = ("_connection", "_location")

    def __init__(self, location: str, connection: apsw.Connection | None = None) -> None:
        """`connection`: what is at work inside, asked why an input or output failed."""
        self._location = location
        self._connection = connection

    def __enter__(self) -> None:
        """Every read and write goes through here: a generator's context takes four times as long."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is not None:
            raise_translated(error, self._location, self._connection)


def raise_translated(error: BaseException, location: str, connection: apsw.Connection | None) -> None:
    """Raise ours in place of an error of the driver or the file system; do nothing where it is another."""
    match error:
        case apsw.IOError():
            has_no_room = connection is not None and connection.system_errno in _NO_ROOM
            cause: apsw.Error = apsw.FullError(str(error)) if has_no_room or _is_disk_full(location) else error
            raise translate_error(cause, location) from error
        case apsw.Error():
            raise translate_error(error, location) from error
        case OSError():
            leaf = apsw.FullError if error.errno in _NO_ROOM else apsw.CantOpenError
            raise translate_error(leaf(error.strerror), location) from error
        case _:
            return


def _is_disk_full(location: str) -> bool:
    """Look how much is free beside a file: SQLite keeps no errno where its shared memory could not grow."""
    try:
        return shutil.disk_usage(Path(location).parent).free < _LEAST_FREE_BYTES
    except OSError:
        return False


def translate_error(error: apsw.Error, location: str) -> errors.EngrainError:
    """Translate one driver error; what has no class of its own is a plain StorageError."""
    if isinstance(error, apsw.ConnectionClosedError | apsw.CursorClosedError):
        return errors.MemoryClosed(f"{location} is closed; open it again")
    for classes, leaf, advice in _LEAVES:
        if isinstance(error, classes):
            return leaf(f"{location}: {advice} ({error})")
    return errors.StorageError(f"{location}: SQLite refused and nothing was written ({type(error).__name__}: {error})")


def translate_refusal(error: Exception) -> errors.StorageError | None:
    """Translate a value or an invariant that one statement ran into, after which its transaction can go on."""
    if not isinstance(error, apsw.ConstraintError | apsw.MismatchError | apsw.TooBigError):
        return None
    refused = translate_error(error, "the file")
    return refused if isinstance(refused, errors.StorageError) else None
