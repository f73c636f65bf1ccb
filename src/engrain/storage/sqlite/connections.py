"""Connections to one file: a writer behind a lock, a reader for each thread."""

from __future__ import annotations

import os
import secrets
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote
from weakref import WeakSet

import apsw

from engrain.errors import DatabaseReadOnly, MemoryClosed, NotAnEngrainFile, StorageError
from engrain.log_events import get_logger
from engrain.storage.file_modes import describe_exposure
from engrain.storage.sqlite.driver_errors import ErrorTranslation, raise_translated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engrain.storage.transaction import Connection

_Connection = TypeVar("_Connection", bound=apsw.Connection)
MEMORY_LOCATION = ":memory:"
# 16 MB of log: small commits rewrite the same pages, and a checkpoint writes each of them once.
_PAGES_BEFORE_CHECKPOINT = 4_000
_PAGES_MERGED_AT_ONCE = 500
_MAPPED_BYTES = 2**28
_MOST_MARKS = 2**31 - 1  # which SQLite has room for
# A conversation that is observed, asked about and remembered has 100 to 200 statements: with the driver's 100, a fifth
# was prepared anew for each turn.
_MOST_PREPARED = 300
_LOG = get_logger(__name__)
_OWNER_ONLY = 0o600
_OWNER_ONLY_FOLDER = 0o700


class _Writer(apsw.Connection):
    """Connection of all writes; `run`, in a transaction, executes each statement in the same cursor.

    To make another costs as much as a statement. The rows of one are to be read before the next.
    """

    run: Callable[..., apsw.Cursor] | None = None


def release_mapped_pages(db: Connection) -> None:
    """Unmap what a connection has read of its file; between statements, inside a transaction too."""
    db.execute(f"PRAGMA mmap_size = 0; PRAGMA mmap_size = {_MAPPED_BYTES}")


class Connections:
    """One writer and a reader per thread, all in WAL mode; a database in memory has one connection for both.

    Transactions begin IMMEDIATE: a read is never upgraded to a write, which is what makes SQLite say it is locked.
    A file that cannot be written can be read; where its folder cannot be either, it is read as it was when opened.
    """

    def __init__(self, location: str, *, busy_timeout_s: float = 5.0, synchronous: str = "normal") -> None:
        """Open `location`, creating an empty file that only its owner can read.

        `synchronous` "normal" survives the end of the process at any moment, "full" that of the power supply too.
        """
        self.location = location
        self.in_memory = location == MEMORY_LOCATION
        self._busy_timeout_s = busy_timeout_s
        self._synchronous = synchronous
        self.lock = threading.RLock()
        self._threads = threading.local()
        self._opened: WeakSet[apsw.Connection] = WeakSet()  # a reader goes with its thread
        self._opened_lock = threading.Lock()
        self._is_frozen = False
        self._is_closed = False
        with ErrorTranslation(location):
            if not self.in_memory:
                _create_private(Path(location))
            try:
                self._writer = self._open(_Writer)
            except (apsw.ReadOnlyError, apsw.CantOpenError):
                self._is_frozen = not Path(f"{location}-wal").exists()  # what is in a log would be missed
                self._writer = self._open(_Writer)
        self._identity = None if self.in_memory or self._is_frozen else FileIdentity(location)
        self.transaction = WriteTransaction(location, self._writer, self._identity)

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """A transaction that holds the write lock from its first statement; it commits, or leaves nothing."""
        with self.lock, self.transaction as db:
            yield db

    @contextmanager
    def unmapped_writing(self) -> Iterator[apsw.Connection]:
        """`writing`, for what looks at all of the file, without mapping it into this process's memory."""
        with self.lock:
            self._writer.pragma("mmap_size", 0)
            try:
                with self.writing() as db:
                    yield db
            finally:
                self._writer.pragma("mmap_size", _MAPPED_BYTES)

    def count_changes(self) -> int:
        """Count the rows that the writer has changed since it was opened."""
        return self._writer.total_changes()

    def clear_log(self) -> None:
        """Clear the log of what the transaction removes, once it is committed; the file itself is overwritten by then.

        Words leave the keyword index by merging it anew, a piece at a time, so that others can write between. A mark in
        the file's header says until then that it has some that were removed.
        """
        self._writer.pragma("user_version", secrets.randbelow(_MOST_MARKS) + 1)
        self.transaction.finish = self._finish_removal

    def _finish_removal(self) -> None:
        """Clear index and log, after the commit; what fails now did not fail the write, and is tried by the next one.

        No room may be left for it, or another process may be writing.
        """
        try:
            self.merge_removed_words()
        except StorageError as error:
            _LOG.warning("removed words stay in the index until the next write", extra={"error": type(error).__name__})
            self.transaction.finish = self._finish_removal
        else:
            self._finish_truncation(wait_s=self._busy_timeout_s)

    def _finish_truncation(self, *, wait_s: float = 0.0) -> None:
        """Empty the log; where another process reads what is in it, the next write that finds it free does."""
        try:
            with ErrorTranslation(self.location, self._writer):
                is_empty = self._truncate_log(wait_s=wait_s)
        except StorageError as error:
            _LOG.warning("the log is emptied by the next write", extra={"error": type(error).__name__})
            is_empty = False
        if not is_empty:
            self.transaction.finish = self._finish_truncation

    def merge_removed_words(self) -> None:
        """Merge the keyword index into one segment if it may have words of what was removed; until then it keeps them.

        Another process that removed something may have been killed before it did.
        """
        with self.lock, ErrorTranslation(self.location, self._writer):
            mark = self._writer.pragma("user_version")
        if not mark:
            return
        self.merge_words(-_PAGES_MERGED_AT_ONCE)
        with self.writing() as db:
            if db.pragma("user_version") == mark:  # else somebody has removed more since
                db.pragma("user_version", 0)

    def _truncate_log(self, *, wait_s: float) -> bool:
        """Fold the log into the file and empty it; False where a reader held it for all of that time."""
        if self.in_memory:
            return True
        self._writer.set_busy_timeout(round(wait_s * 1000))
        try:
            [[is_busy, _, _]] = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            self._writer.set_busy_timeout(round(self._busy_timeout_s * 1000))
        return not is_busy

    @contextmanager
    def compacting(self) -> Iterator[apsw.Connection]:
        """The writer outside of any transaction, and no other here; its log is folded into the file afterwards."""
        with self.lock, ErrorTranslation(self.location, self._writer):
            self._check_open()
            yield self._writer
            self._truncate_log(wait_s=self._busy_timeout_s)

    def merge_words(self, pages: int = _PAGES_MERGED_AT_ONCE) -> None:
        """Merge the segments of the keyword index that are many by now, a piece at a time: others write between.

        A first piece of less than none begins to merge all: https://www.sqlite.org/fts5.html#the_merge_command
        """
        while True:
            with self.writing() as db:
                before = db.total_changes()
                db.execute("INSERT INTO memory_words (memory_words, rank) VALUES ('merge', ?)", (pages,))
                if db.total_changes() - before < 2:  # noqa: PLR2004  # what FTS5 says of a merge that had nothing to do
                    return
            pages = _PAGES_MERGED_AT_ONCE

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """This thread's reader, outside any transaction: each statement sees the newest commit."""
        with ErrorTranslation(self.location):
            self._check_open()
            if self.in_memory:
                with self.lock:
                    yield self._writer
                return
            reader = getattr(self._threads, "reader", None)
            if reader is None:
                if self._identity is not None:
                    self._identity.check()
                reader = self._threads.reader = self._open(apsw.Connection)
            yield reader

    @contextmanager
    def snapshot(self) -> Iterator[apsw.Connection]:
        """This thread's reader in a transaction: from the first statement to the last it sees one state of the file."""
        with self.reading() as db:
            try:
                if db.in_transaction:  # Ctrl-C came while the one before was ended
                    db.execute("ROLLBACK")
                db.execute("BEGIN")
                yield db
            finally:
                if db.in_transaction:  # which an error of the file itself may have ended
                    db.execute("COMMIT")

    @contextmanager
    def fresh(self) -> Iterator[apsw.Connection]:
        """A connection of its own, for checks of the whole file.

        `PRAGMA quick_check` on a connection that has searched compares the file with FTS5's stale cache of it and
        reports damage where there is none (SQLite 3.54.1); can go when a used reader answers "ok" after another one
        wrote.
        """
        if self.in_memory:
            with self.reading() as db:
                yield db
            return
        with ErrorTranslation(self.location):
            self._check_open()
            connection = self._connect(apsw.Connection)
            try:
                yield connection
            finally:
                connection.close()

    @contextmanager
    def unmapped_snapshot(self) -> Iterator[apsw.Connection]:
        """One state of the file for whoever reads all of it, without mapping it into this process's memory."""
        with self.fresh() as db:
            db.execute("BEGIN")
            try:
                yield db
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")  # COMMIT fails where the file was found damaged, and says no more of it

    def close(self) -> None:
        """Close every connection of every thread; the last one out folds the write-ahead log into the file."""
        with self.lock, self._opened_lock, ErrorTranslation(self.location):
            self._is_closed = True
            self._threads = threading.local()
            for connection in self._opened:
                with suppress(apsw.ThreadingViolationError):  # at work in another thread, and gone when it has answered
                    connection.close()
            self._opened.clear()

    def use_write_ahead_log(self) -> None:
        """Put the file in WAL mode, once it is known to be ours: this writes to it.

        SQLite's busy timeout does not cover the change, which several processes may attempt at once.
        """
        if self.in_memory or self._writer.readonly("main"):
            return
        deadline = time.monotonic() + self._busy_timeout_s
        with ErrorTranslation(self.location, self._writer):
            while True:
                try:
                    self._writer.pragma("journal_mode", "wal")
                except apsw.BusyError:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.01)
                else:
                    return

    def _check_open(self) -> None:
        if self._is_closed:
            raise MemoryClosed(f"{self.location} is closed; open it again")

    def _connect(self, kind: type[_Connection]) -> _Connection:
        if self._is_frozen:
            location = f"file:{quote(str(Path(self.location).absolute()))}?immutable=1"
            return kind(location, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        # It is there, or was deleted.
        connection = kind(self.location, flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=_MOST_PREPARED)
        connection.set_busy_timeout(round(self._busy_timeout_s * 1000))
        return connection

    def _open(self, kind: type[_Connection]) -> _Connection:
        connection = self._connect(kind)
        # One plan for one statement. Without it, this build of SQLite (STAT4) prepares a statement anew for every bound
        # value that could change its plan: 12 us instead of 2 us for a session's last turn.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        connection.execute(f"PRAGMA temp_store = memory; PRAGMA cache_size = -8000; PRAGMA mmap_size = {_MAPPED_BYTES}")
        # Always, not while something is erased: pages that were split, moved or freed before would still have its text.
        connection.execute("PRAGMA foreign_keys = on; PRAGMA secure_delete = on")
        if not self.in_memory:
            connection.execute(f"PRAGMA synchronous = {self._synchronous}")
            connection.wal_autocheckpoint(_PAGES_BEFORE_CHECKPOINT)
        with self._opened_lock:
            self._opened.add(connection)
        return connection


class FileIdentity:
    """Identity of an open file: what is written once another is there, or none, is lost when the file is closed.

    SQLite looks for this itself in every other journal mode (SQLITE_READONLY_DBMOVED).
    """

    __slots__ = ("_file", "_location")

    def __init__(self, location: str) -> None:
        self._location = location
        self._file = os.stat(location)  # noqa: PTH116  # at each write, in half the time of a path's

    def check(self) -> None:
        """Check that the file is where it was opened.

        Raises:
            DatabaseReadOnly: it was deleted, moved or replaced.
        """
        try:
            found = os.stat(self._location)  # noqa: PTH116  # likewise
        except (FileNotFoundError, NotADirectoryError):
            found = None
        if found is not None and found.st_ino == self._file.st_ino and found.st_dev == self._file.st_dev:
            return
        raise DatabaseReadOnly(
            f"{self._location} is not the file any more that was opened, which was deleted, moved or replaced; nothing "
            "was written: close the memory and open it again"
        )


class WriteTransaction:
    """Context of every transaction of one writer, inside its lock: a generator's takes four times as long.

    The lock is taken by a `with` of its own, as Ctrl-C may come at any call, and only there it is never held for good.
    What Ctrl-C leaves of a transaction goes before the next one begins. `finish` is what to do once one is committed.
    """

    __slots__ = ("_db", "_identity", "_location", "_run", "finish")

    def __init__(self, location: str, db: _Writer, identity: FileIdentity | None) -> None:
        self._location = location
        self._db = db
        self._identity = identity
        self._run = db.cursor().execute  # the writer itself holds it for a while, or it would hold itself open
        self.finish: Callable[[], None] | None = None

    def __enter__(self) -> apsw.Connection:
        try:
            if self._db.in_transaction:
                self._run("ROLLBACK")
            if self._identity is not None:
                self._identity.check()
            self._run("BEGIN IMMEDIATE")
        except BaseException as error:
            self._roll_back(error)
            raise
        self._db.run = self._run
        return self._db

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        finish, self.finish = self.finish, None
        self._db.run = None
        try:
            if error is None:
                self._run("COMMIT")
                if finish is not None:
                    finish()
            else:
                self.finish = finish  # of a write before this one
                self._roll_back(error)
        except BaseException as failure:
            self.finish = finish
            self._roll_back(failure)
            raise

    def _roll_back(self, error: BaseException) -> None:
        """Leave nothing; raise ours in place of an error of the driver."""
        with suppress(apsw.ConnectionClosedError):
            if self._db.in_transaction:
                self._run("ROLLBACK")
        raise_translated(error, self._location, self._db)


def _create_private(path: Path) -> None:
    """An empty file with owner-only permissions where there is none; SQLite would follow the process's umask."""
    if path.is_dir():
        raise NotAnEngrainFile(f"{path} is a folder; name a file in it, such as {path / 'agent.db'}")
    path.parent.mkdir(mode=_OWNER_ONLY_FOLDER, parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, _OWNER_ONLY))
    except FileExistsError:
        if warning := describe_exposure(path):
            _LOG.warning(warning)
