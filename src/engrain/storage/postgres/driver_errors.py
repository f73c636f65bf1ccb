"""Translation of PostgreSQL driver errors into ours, which say what to do."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from engrain import errors

if TYPE_CHECKING:
    from collections.abc import Iterator

# The server says so just before it ends the connection.
ENDED_BY_SERVER = frozenset({"57P01", "57P02", "57P03", "57P04", "57P05", "25P03", "25P04"})
_RACES = (psycopg.errors.UniqueViolation, psycopg.errors.ForeignKeyViolation)
# A SQLSTATE, or the two characters that a class of them begins with; the exact one is looked for first.
# https://www.postgresql.org/docs/current/errcodes-appendix.html
_LEAVES: tuple[tuple[frozenset[str], type[errors.StorageError], str], ...] = (
    (
        frozenset({"55P03", "55006", "40001", "40P01", "53300"}),
        errors.DatabaseBusy,
        "others are writing, or hold every connection, and did not finish in time; nothing was written: try again",
    ),
    (
        frozenset({"53100"}),
        errors.DatabaseFull,
        "no room is left on the server; the write was rolled back: free some space and try again",
    ),
    (
        frozenset({"25006", "42501"}),
        errors.DatabaseReadOnly,
        "the server is read-only or this role lacks a right: check that it is no standby, and what the role is granted",
    ),
    (
        frozenset({"XX001", "XX002"}),
        errors.DatabaseDamaged,
        "PostgreSQL finds the database damaged: stop writing and restore a backup",
    ),
    (
        frozenset({"23"}),
        errors.IntegrityViolated,
        "the write broke an invariant and was rolled back: what it named may have changed, so look and try again",
    ),
    (
        frozenset({"08", "28", "3D"}) | ENDED_BY_SERVER,
        errors.DatabaseUnreachable,
        "the server cannot be reached or refuses us: check that it runs, its host, port, database, user and password",
    ),
)
_LEAF_OF = {state: (leaf, advice) for states, leaf, advice in _LEAVES for state in states}
_UNREACHABLE = _LEAF_OF["08"]
_BUSY = _LEAF_OF["53300"]
# What the driver itself raises of a connection; its other errors of this kind are of pipelines and cancelling.
_OF_CONNECTIONS = (psycopg.OperationalError, psycopg.errors.ConnectionTimeout)
# A refused log-in has no SQLSTATE for libpq's callers, so the server's words are all there is; in a server that speaks
# another language this is DatabaseUnreachable, with those words.
_NO_PLACE = ("too many clients", "too many connections", "remaining connection slots")


@contextmanager
def translate_errors(location: str) -> Iterator[None]:
    """Translate driver errors raised inside into ours, which name the database."""
    try:
        yield
    except psycopg.Error as error:
        raise translate_error(error, location) from error


def translate_error(error: psycopg.Error, location: str) -> errors.EngrainError:
    """Translate one driver error; what has no class of its own is a plain StorageError."""
    if isinstance(error, PoolClosed):
        return errors.MemoryClosed(f"{location} is closed; open it again")
    message = _server_message(error)
    if isinstance(error, PoolTimeout | TooManyRequests):
        return errors.DatabaseBusy(
            f"{location}: every connection is in use and none came free in time; nothing was written: "
            f"try again, or use more of them ({message})"
        )
    leaf, advice = _choose_leaf(error, message)
    return leaf(f"{location}: {advice} ({message})")


def is_race(error: BaseException | None) -> bool:
    """True where somebody else's write came between our look and our write.

    They took an id, or the place of a fact, or what a memory names went, or a namespace became a large one (the
    statement `count_words` then leaves it without `has_words`). The next run sees what they did; a second such race is
    rare, and a row that breaks a rule of itself breaks it every time.
    """
    if isinstance(error, psycopg.errors.NotNullViolation):
        return error.diag.column_name == "has_words"
    return isinstance(error, _RACES)


def translate_refusal(error: Exception) -> errors.StorageError | None:
    """Translate a value or an invariant that one statement ran into, after which its transaction can go on.

    None for a race, after which all of it is run again.
    """
    if not isinstance(error, psycopg.IntegrityError | psycopg.DataError) or is_race(error):
        return None
    refused = translate_error(error, "the database")
    return refused if isinstance(refused, errors.StorageError) else None


def _choose_leaf(error: psycopg.Error, message: str) -> tuple[type[errors.StorageError], str]:
    state = error.sqlstate or ""
    found = _LEAF_OF.get(state) or _LEAF_OF.get(state[:2])
    if found is None and isinstance(error, psycopg.IntegrityError):
        found = _LEAF_OF["23"]
    if found is None and type(error) in _OF_CONNECTIONS:
        found = _BUSY if any(words in message for words in _NO_PLACE) else _UNREACHABLE
    refused = f"PostgreSQL refused and nothing was written: {type(error).__name__}{f' {state}' if state else ''}"
    return found or (errors.StorageError, refused)


def _server_message(error: psycopg.Error) -> str:
    """The server's message in one line, without the details, which quote the rows at fault: memories."""
    primary = error.diag.message_primary
    if primary is None:
        return " ".join(str(error).split())
    return f"{primary} [{error.diag.constraint_name}]" if error.diag.constraint_name else primary
