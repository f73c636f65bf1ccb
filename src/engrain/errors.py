"""Errors of engrain: one root, and a stable code for each kind.

    EngrainError
    ├── InvalidInput (ValueError)      invalid_input         a value was refused; nothing was written
    │   ├── UntrustedSettings          untrusted_settings    a settings file that its user has not trusted yet
    │   ├── UnreadableImport           unreadable_import     unknown format, or a broken record in strict mode
    │   └── UnusableBackup             unusable_backup       no backup, damaged, too new, or not for where it should go
    ├── NotFound (LookupError)         not_found             a write named a memory that is not there
    ├── VersionConflict                version_conflict      an item has another version than the write expects
    ├── Unauthenticated                unauthenticated       a request carried no valid key
    ├── Forbidden                      forbidden             the key of the request may not do this
    ├── RateLimited                    rate_limited          too many requests; `retry_after_s` says when to try again
    ├── MemoryClosed                   memory_closed         a call on a Memory after close()
    ├── CannotListen                   cannot_listen         the address to serve on is taken, unknown or not allowed
    ├── EngineUnavailable              engine_unavailable    an embedder (or other engine) cannot answer
    └── StorageError                   storage_error         the database refused
        ├── NotAnEngrainFile           not_an_engrain_file   the file is something else; it was left as it is
        ├── SchemaTooNew               schema_too_new        written by a newer engrain; it was left as it is
        ├── DatabaseDamaged            database_damaged      the file is corrupt
        ├── DatabaseReadOnly           database_read_only    the file or its folder cannot be written
        ├── DatabaseFull               database_full         no room left; the write was rolled back
        ├── DatabaseBusy               database_busy         another writer held the lock past the busy timeout
        ├── DatabaseUnreachable        database_unreachable  the server cannot be reached, or refuses to let us in
        ├── IntegrityViolated          integrity_violated    a write broke an invariant and was rolled back
        └── OutcomeUnknown             outcome_unknown       the connection was lost while committing

Messages say what happened, with which value, and what to do next. HTTP, exit and MCP codes live in `interfaces`.
"""

from __future__ import annotations

from typing import ClassVar


class EngrainError(Exception):
    """Root of all errors that engrain raises on purpose. `code` is stable across releases."""

    code: ClassVar[str] = "engrain_error"


class InvalidInput(EngrainError, ValueError):
    """A value was refused before anything was written."""

    code = "invalid_input"


class UntrustedSettings(InvalidInput):
    """A settings file was found, not named, and sets what only a trusted file may; nothing of it was used."""

    code = "untrusted_settings"


class UnreadableImport(InvalidInput):
    """An import file has no known format, or a broken record with `strict` set."""

    code = "unreadable_import"


class UnusableBackup(InvalidInput):
    """A backup is damaged, of a newer format, or not meant for where it should be restored; nothing was written."""

    code = "unusable_backup"


class NotFound(EngrainError, LookupError):
    """A write named a memory that the caller cannot see or that does not exist."""

    code = "not_found"


class VersionConflict(EngrainError):
    """An item has another version than the write expects; nothing was written: read it again, then write."""

    code = "version_conflict"


class Unauthenticated(EngrainError):
    """A request carried no key, or an invalid one; the message does not say which."""

    code = "unauthenticated"


class Forbidden(EngrainError):
    """The caller is known but may not do this."""

    code = "forbidden"


class RateLimited(EngrainError):
    """Too many requests with one key, or too many without a key; nothing was done."""

    code = "rate_limited"

    def __init__(self, message: str, *, retry_after_s: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class MemoryClosed(EngrainError):
    """A call on a Memory, or on an agent of it, after `close()`."""

    code = "memory_closed"


class CannotListen(EngrainError):
    """The address to serve on is taken, no address of this machine, or not allowed to this user."""

    code = "cannot_listen"


class EngineUnavailable(EngrainError):
    """An engine (embedder, LLM, re-ranker) cannot answer; the message names it and what to do."""

    code = "engine_unavailable"


class StorageError(EngrainError):
    """The database refused; the transaction was rolled back."""

    code = "storage_error"


class NotAnEngrainFile(StorageError):
    """The file is not a memory of engrain; it was left as it is."""

    code = "not_an_engrain_file"


class SchemaTooNew(StorageError):
    """The database was written by a newer engrain; it was left as it is."""

    code = "schema_too_new"


class DatabaseDamaged(StorageError):
    """SQLite found the file to be corrupt."""

    code = "database_damaged"


class DatabaseReadOnly(StorageError):
    """The file, or the folder it lies in, cannot be written."""

    code = "database_read_only"


class DatabaseFull(StorageError):
    """No room left on the device or in the file's limit; the write was rolled back."""

    code = "database_full"


class DatabaseBusy(StorageError):
    """Another writer held the lock for longer than the busy timeout; nothing was written."""

    code = "database_busy"


# The database can be read all the same: a read that would write besides goes on without that.
UNWRITABLE = (DatabaseBusy, DatabaseFull, DatabaseReadOnly)


class DatabaseUnreachable(StorageError):
    """The server cannot be reached, went away and stayed away, or refuses the user, password or database named."""

    code = "database_unreachable"


class IntegrityViolated(StorageError):
    """A write broke an invariant that the database holds (a key, a reference, a check); it was rolled back."""

    code = "integrity_violated"


class OutcomeUnknown(StorageError):
    """The connection was lost while committing; the write may or may not be there: look before repeating."""

    code = "outcome_unknown"
