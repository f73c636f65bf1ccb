"""A store's connections that note each statement, and what PostgreSQL would do for it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

_PLANNED = re.compile(r"^(SELECT|INSERT|UPDATE|DELETE|WITH)\b")


@dataclass
class Recorded:
    """The statements of a store's verbs as they ran, each with its plan where asked."""

    inner: object
    explains: bool
    settings: str
    statements: list[str] = field(default_factory=list)
    plans: dict[str, list[str]] = field(default_factory=dict)
    values: list[object] = field(default_factory=list)

    def read(self, tenant, work, **options):
        return self.inner.read(tenant, lambda db: work(self._begun(db)), **options)

    def write(self, tenant, work, **options):
        return self.inner.write(tenant, lambda db: work(self._begun(db)), **options)

    def _begun(self, db):
        if self.settings:
            db.execute(self.settings)
        return _Connection(db, self)

    def note(self, db, statement, values):
        self.statements.append(statement)
        self.values.append(values)
        if self.explains and _PLANNED.match(statement):
            lines = db.execute(f"EXPLAIN (COSTS OFF) {statement}", values).fetchall()
            self.plans[statement] = [line for (line,) in lines]


@dataclass
class _Connection:
    db: object
    recorded: Recorded

    def execute(self, statement, values=None):
        self.recorded.note(self.db, statement, values)
        return self.db.execute(statement, values)

    def cursor(self):
        return _Cursor(self.db.cursor(), self)

    def end_with_next(self):
        self.db.end_with_next()


@dataclass
class _Cursor:
    cursor: object
    connection: _Connection
    rowcount: int = -1

    def executemany(self, statement, values):
        self.rowcount = sum(self.connection.execute(statement, each).rowcount for each in list(values))


@contextmanager
def recorded(store, *, explains=False, settings="") -> Iterator[Recorded]:
    """What a store's verbs say inside, in transactions that begin with some settings."""
    inner = store._connections
    store._connections = Recorded(inner, explains, settings)
    try:
        yield store._connections
    finally:
        store._connections = inner
