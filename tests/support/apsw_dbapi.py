"""What SQLAlchemy asks of a driver, over apsw: Alembic then runs on the SQLite that engrain runs on.

Python's own sqlite3 is as old as the system it was built on, and may not know what our keyword index is made of.
"""

import sqlite3

import apsw

apilevel, threadsafety, paramstyle = "2.0", 1, "qmark"
sqlite_version = apsw.sqlite_lib_version()
sqlite_version_info = tuple(int(part) for part in sqlite_version.split("."))
PARSE_DECLTYPES, PARSE_COLNAMES = sqlite3.PARSE_DECLTYPES, sqlite3.PARSE_COLNAMES
Binary = bytes
Error, DatabaseError, InterfaceError, InternalError = apsw.Error, apsw.Error, apsw.MisuseError, apsw.InternalError
IntegrityError, OperationalError, ProgrammingError = apsw.ConstraintError, apsw.SQLError, apsw.MisuseError
DataError, NotSupportedError = apsw.MismatchError, apsw.NotFoundError


class _Cursor:
    def __init__(self, db):
        self._cursor = db.cursor()
        self._cursor.exec_trace = self._describe  # later, apsw no longer tells the columns of an empty answer
        self._db = db
        self.description, self.rowcount, self.lastrowid, self._rows = None, -1, None, []

    def execute(self, statement, values=()):
        if not self._db.in_transaction:
            self._db.execute("BEGIN")
        self._cursor.execute(statement, values)
        self._rows = self._cursor.fetchall()
        self.rowcount = self._db.changes()

    def executemany(self, statement, values):
        for each in values:
            self.execute(statement, each)

    def _describe(self, cursor, *_):
        self.description = [(*column, None, None, None, None, None) for column in cursor.get_description()] or None
        return True

    def fetchone(self):
        return self._rows.pop(0) if self._rows else None

    def fetchall(self):
        rows, self._rows = self._rows, []
        return rows

    def close(self):
        self._cursor.close()


class _Connection:
    isolation_level = ""

    def __init__(self, path):
        self._db = apsw.Connection(path)

    def cursor(self):
        return _Cursor(self._db)

    def create_function(self, name, count, function, **_):
        self._db.create_scalar_function(name, function, count)

    def commit(self):
        if self._db.in_transaction:
            self._db.execute("COMMIT")

    def rollback(self):
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def close(self):
        self._db.close()


def connect(path, **_):
    return _Connection(path)
