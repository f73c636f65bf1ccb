"""Transactions that take few round trips: statements travel together until an answer is read."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import psycopg
from psycopg._queries import PostgresQuery
from psycopg.adapt import Transformer
from psycopg.generators import fetch_many, send
from psycopg.pq import ExecStatus, Format, TransactionStatus

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from psycopg import abc
    from psycopg.pq.abc import PGconn, PGresult

_Key: TypeAlias = tuple[bytes, tuple[int, ...]]  # a statement and the types of its values
Opening: TypeAlias = "tuple[bytes, Sequence[bytes]]"  # a statement and its values

_COMMIT = b"COMMIT"
_MOST_WAITING = 100
_MOST_PREPARED = 400
_DONE = frozenset({ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK})
# After these, plans of statements may return other columns than they were prepared for.
_CHANGES_TABLES = re.compile(rb"(DROP|ALTER) ").match


class Session(psycopg.Connection[tuple[Any, ...]]):
    """Connection that prepares the statements it runs for the second time, up to a number of them."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.names: dict[_Key, bytes] = {}  # of prepared statements
        self._seen: set[_Key] = set()  # statements that ran once
        self._last_name = 0

    @cached_property
    def transformer(self) -> abc.Transformer:
        """Conversion of values, by the types that the session knows when it begins its first transaction."""
        return Transformer(self)

    def is_worth_preparing(self, key: _Key) -> bool:
        """Tell whether to prepare a statement: it ran before, and neither are there many nor does a pooler mix them."""
        if self.prepare_threshold is None or len(self.names) >= _MOST_PREPARED:
            return False
        if key in self._seen:
            return True
        if len(self._seen) >= 2 * _MOST_PREPARED:
            self._seen.clear()
        self._seen.add(key)
        return False

    def add_name(self, key: _Key) -> bytes:
        """Return the name of a statement that is to be prepared."""
        self._last_name += 1
        self.names[key] = name = b"engrain_%d" % self._last_name
        return name


class PipelineTransaction:
    """One transaction of a session. Not thread-safe.

    A statement is sent when somebody reads its answer or that of a later one, or with COMMIT: all that wait take one
    round trip, and an error of any of them is raised there. BEGIN travels with the first.
    """

    def __init__(self, session: Session, opening: Sequence[Opening]) -> None:
        """Begin with the statements of `opening`, each with its values, as soon as anything is to be sent."""
        self.session = session
        self._opening = opening
        self._waiting: list[Statement] = []
        self._ends_with_next = False
        self._is_over = False
        self.may_be_committed = False

    def execute(self, text: Any, values: Any = None) -> Statement:
        """Return a statement, which runs when somebody reads its answer, or before."""
        if self._is_over:
            raise RuntimeError("the transaction was committed with the statements before this one")
        if len(self._waiting) >= _MOST_WAITING:
            self.flush()
        statement = Statement(self, text, values)
        self._waiting.append(statement)
        return statement

    def cursor(self) -> psycopg.Cursor[tuple[Any, ...]]:
        """Return a cursor of the session, once whatever waits has run."""
        self.flush()
        return self.session.cursor()

    def end_with_next(self) -> None:
        """Commit together with the statements that are sent next: none may follow them."""
        self._ends_with_next = True

    def flush(self) -> None:
        """Run whatever waits.

        Raises:
            psycopg.Error: the first error; what comes after it has not run.
        """
        if self._waiting or self._opening:
            self._run_all(commits=self._ends_with_next)

    def commit(self) -> None:
        """Commit, in one round trip with what waits; without a single statement there is nothing to commit.

        Raises:
            psycopg.Error: as the server has it; a COMMIT that was answered by a ROLLBACK is one too.
        """
        if not self._is_over and (self._waiting or not self._opening):
            self._run_all(commits=True)

    def roll_back(self) -> None:
        """Leave nothing of it."""
        self._waiting, self._is_over = [], True
        if self.session.pgconn.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
            try:
                run_command(self.session, b"ROLLBACK")
            except psycopg.Error:
                self.session.close()  # which rolls back as well

    def _run_all(self, *, commits: bool) -> None:
        """Send what waits and read the answers: one round trip."""
        session, statements, opening = self.session, self._waiting, self._opening
        self._waiting, self._opening = [], ()
        self._is_over = self.may_be_committed = commits
        try:
            results, sent = _exchange(session, opening, statements, commits=commits)
        except BaseException:
            session.close()  # what is still to come would be taken for the answer to something else
            raise
        answers = iter(results[len(opening) :])
        for statement in statements:
            statement.take(answers)
        failure = next((result for result in results if result.status not in _DONE), None)
        if failure is not None:
            # What fails before COMMIT keeps it from running.
            self.may_be_committed &= failure is results[-1] and len(results) == sent
            raise _make_error(failure)
        if commits and results[-1].command_status != _COMMIT:
            self.may_be_committed = False
            raise psycopg.errors.InFailedSqlTransaction("a statement had failed, so the transaction was rolled back")


class Statement:
    """Statement of a transaction, and its answer once it has run."""

    __slots__ = ("_is_new", "_query", "_result", "_rows", "_transaction")

    def __init__(self, transaction: PipelineTransaction, text: Any, values: Any) -> None:
        self._transaction = transaction
        self._query = PostgresQuery(transaction.session.transformer)
        self._query.convert(text, values)
        self._is_new = False  # whether it is prepared with this run
        self._result: PGresult | None = None
        self._rows: Iterator[tuple[Any, ...]] | None = None

    def send(self, session: Session) -> int:
        """Send it, prepared from the second time on, and return the number of answers to come."""
        pgconn, query = session.pgconn, self._query
        key = (query.query, query.types)
        name = session.names.get(key)
        if name is None:
            if not session.is_worth_preparing(key):
                pgconn.send_query_params(query.query, query.params, query.types, query.formats, Format.BINARY)
                return 1
            self._is_new = True
            name = session.add_name(key)
            pgconn.send_prepare(name, query.query, query.types)
        pgconn.send_query_prepared(name, query.params, query.formats, Format.BINARY)
        return 1 + self._is_new

    def take(self, answers: Iterator[PGresult]) -> None:
        """Take the answers to it; one that could not be prepared is prepared the next time."""
        session = self._transaction.session
        if self._is_new:
            prepared = next(answers, None)
            if prepared is None or prepared.status not in _DONE:
                session.names.pop((self._query.query, self._query.types), None)
        result = next(answers, None)
        if result is None or result.status not in _DONE:
            return
        self._result = result
        if result.status == ExecStatus.TUPLES_OK:
            session.transformer.set_pgresult(result)
            self._rows = iter(session.transformer.load_rows(0, result.ntuples, tuple))
        elif _CHANGES_TABLES(result.command_status or b""):
            session.names.clear()

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next row; None where there is none, and for a statement without rows."""
        self._run()
        return None if self._rows is None else next(self._rows, None)

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows."""
        return list(self)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        self._run()
        if self._rows is None:
            raise psycopg.ProgrammingError("the statement has no rows")
        return self._rows

    @property
    def rowcount(self) -> int:
        """Number of rows that it returned or changed."""
        return self._run().command_tuples or 0

    def _run(self) -> PGresult:
        if self._result is None:
            self._transaction.flush()
        if self._result is None:
            raise psycopg.errors.InFailedSqlTransaction("the statement has not run, as one before it failed")
        return self._result


def run_command(session: Session, command: bytes) -> None:
    """Run what has no rows to return, by libpq itself: half of a cursor's work.

    Raises:
        psycopg.Error: as the server has it.
    """
    result = session.pgconn.exec_(command)
    if result.status != ExecStatus.COMMAND_OK:
        raise _make_error(result)


def _exchange(
    session: Session, opening: Sequence[Opening], statements: Sequence[Statement], *, commits: bool
) -> tuple[list[PGresult], int]:
    """Send statements in one packet; return the answers, up to an end of the connection, and the number sent."""
    pgconn = session.pgconn
    pgconn.enter_pipeline_mode()
    for text, values in opening:
        pgconn.send_query_params(text, values)
    sent = len(opening) + sum([statement.send(session) for statement in statements])
    if commits:
        pgconn.send_query_params(_COMMIT, None)
        sent += 1
    pgconn.pipeline_sync()
    results: list[PGresult] = session.wait(_read_results(pgconn))
    if results[-1].status != ExecStatus.PIPELINE_SYNC:
        session.close()
        return results, sent
    pgconn.exit_pipeline_mode()
    return results[:-1], sent


def _read_results(pgconn: PGconn) -> Generator[Any, Any, list[PGresult]]:
    """Read what is answered up to Sync, or to the error with which the server ended the connection."""
    results: list[PGresult] = []
    yield from send(pgconn)
    while not results or results[-1].status != ExecStatus.PIPELINE_SYNC:
        lost = None
        try:
            found = yield from fetch_many(pgconn)
        except psycopg.OperationalError as error:
            found, lost = [], error
        if not found and not any(result.status == ExecStatus.FATAL_ERROR for result in results):
            raise lost or psycopg.OperationalError("the server has sent no answer")
        if not found:
            break
        results += found
    return results


def _make_error(result: PGresult) -> psycopg.Error:
    error = psycopg.errors.error_from_result(result)
    return psycopg.OperationalError(str(error)) if error.sqlstate is None else error
