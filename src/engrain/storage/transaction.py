"""Transaction of either driver, with named statements."""

from __future__ import annotations

from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from engrain.storage.dialects import Dialect
    from engrain.storage.rows import RecordT, Rows
    from engrain.storage.statements import Statements

_Answer = TypeVar("_Answer")
_Function = TypeVar("_Function", bound="Callable[..., object]")
_PARTS_AT_ONCE = 250


class Connection(Protocol):
    """Connection of either driver: a statement, its values by name."""

    def execute(self, statement: Any, values: Any = None, /) -> Any: ...
    def cursor(self) -> Any: ...


def repeatable(function: _Function) -> _Function:
    """Mark a function that is run again where COMMIT has no answer.

    Either a second run changes nothing, or it finds an id of the first taken: all ids that it adds were made before it.
    Where the first has left its event (`UnitOfWork.proof`), its result is the answer.
    """
    function.is_repeatable = True  # type: ignore[attr-defined]  # read by `SqlStore`
    return function


def for_every_user(function: _Function) -> _Function:
    """Mark a function that changes memories of a whole tenant, whichever users they are of."""
    function.is_for_every_user = True  # type: ignore[attr-defined]  # read by `SqlStore`
    return function


class Transaction:
    """Runs named statements on one connection; its opener commits it.

    One that only reads remembers in `known` what it is asked again and again.
    """

    __slots__ = ("_run", "_started", "composed", "db", "dialect", "known", "statements")

    def __init__(self, db: Connection, statements: Statements, known: dict[Hashable, Any] | None = None) -> None:
        self.db = db
        self._run = getattr(db, "run", None) or db.execute  # of a file's writer in one cursor
        self.statements = statements
        self.composed = statements.composed
        self.dialect: Dialect = statements.dialect
        self.known = known
        self._started: dict[Hashable, Callable[[], list[Any]]] | None = None

    def once(self, key: Hashable, ask: Callable[[], _Answer]) -> _Answer:
        """Return what `ask` returns; in a transaction that only reads, what it returned the first time."""
        if self.known is None:
            return ask()
        if key not in self.known:
            self.known[key] = ask()
        answer: _Answer = self.known[key]
        return answer

    def rows(self, name: str, /, **values: Any) -> list[Sequence[Any]]:
        """Return all rows of a named statement; of one that was started with these values what it answers."""
        if name in self.composed:
            return self.composed[name](self, **values)
        started = self._started.get(_key_of(name, values)) if self._started else None
        if started is not None:
            return started()
        found: list[Sequence[Any]] = self._run(self.statements.named[name], values).fetchall()
        return found

    def one(self, name: str, /, **values: Any) -> Sequence[Any] | None:
        """Return the first row of a named statement, or None."""
        if name in self.composed:
            return next(iter(self.composed[name](self, **values)), None)
        found: list[Sequence[Any]] = self._run(self.statements.named[name], values).fetchall()
        return found[0] if found else None

    def start(self, name: str, /, **values: Any) -> None:
        """Start a named statement that `rows` may ask for: a server gets it together with the next that is read."""
        if name not in self.composed:
            self._started = self._started or {}
            self._started[_key_of(name, values)] = cache(self.db.execute(self.statements.named[name], values).fetchall)

    def run(self, name: str, /, **values: Any) -> None:
        """Run a named statement and ignore its rows."""
        if name in self.composed:
            self.composed[name](self, **values)
            return
        self._run(self.statements.named[name], values)

    def run_each(self, name: str, /, values: Iterable[Mapping[str, Any] | Sequence[Any]]) -> None:
        """Run a named statement for each set of values; SQLite takes them in the order of their names, too."""
        self.db.cursor().executemany(self.statements.named[name], values)

    def savepoint(self, work: Callable[[], _Answer]) -> _Answer:
        """Return what `work` returns; where it fails, nothing of it is left, and the transaction goes on."""
        self._run("SAVEPOINT apart").fetchone()  # a server is told now, so that errors are raised on their side
        try:
            answer = work()
            self._run("RELEASE SAVEPOINT apart").fetchone()
        except BaseException:
            self._run("ROLLBACK TO SAVEPOINT apart")
            self._run("RELEASE SAVEPOINT apart")
            raise
        return answer

    def add(self, rows: Rows[Any], table: str, record: Any, /, **more: Any) -> None:
        """Insert one row of a table: a record, and further columns."""
        self._run(rows.insertions[table, *more], [*rows.values(record), *more.values()])

    def add_each(self, rows: Rows[Any], table: str, records: Sequence[Any], /, **more: Sequence[Any]) -> None:
        """Insert one row of a table for each record, with further columns, in one statement."""
        further = zip(*more.values(), strict=True) if more else repeat((), len(records))
        placed = zip(records, further, strict=True)
        if self.dialect.json_rows:
            self.db.execute(rows.insertion_of_json(table, *more), [rows.json(placed, *more)])
        else:
            values = [[*rows.values(record), *columns] for record, columns in placed]
            self.db.cursor().executemany(rows.insertions[table, *more], values)

    def add_like(self, rows: Rows[Any], table: str, sample: Any, /, **columns: Sequence[Any]) -> None:
        """Insert one row of a table for each of records that are as a sample but for some columns, and further ones."""
        more = [name for name in columns if name not in rows.names]
        if self.dialect.json_rows:
            self.db.execute(rows.insertion_of_json(table, *more), [rows.json_like(sample, columns)])
        else:
            self.db.cursor().executemany(rows.insertions[table, *more], rows.values_like(sample, columns))

    def ask(self, statement: str, values: Mapping[str, Any]) -> list[Sequence[Any]]:
        """Return all rows of a statement composed of the schema's own words, in the shared spelling."""
        return self.start_ask(statement, values)()

    def start_ask(self, statement: str, values: Mapping[str, Any]) -> Callable[[], list[Sequence[Any]]]:
        """Start a statement as `ask` does, and return a function that returns its rows."""
        answer: Callable[[], list[Sequence[Any]]] = self.db.execute(self.dialect.statement(statement), values).fetchall
        return answer

    def execute(self, statement: str, values: Mapping[str, Any]) -> None:
        """Carry out a statement composed as `ask` takes it, without rows."""
        self.db.execute(self.dialect.statement(statement), values)

    def load(self, rows: Rows[RecordT], rest: str, values: Mapping[str, Any]) -> list[RecordT]:
        """Load the records of a statement as `ask` does: `rest` is what follows its columns."""
        return [rows.record(row) for row in self.ask(f"SELECT {rows.columns} {rest}", values)]

    def ask_parts(self, parts: Sequence[str], values: Mapping[str, Any]) -> list[Sequence[Any]]:
        """Return all rows of several statements as `ask` does, a batch of them at a time: SQLite takes 500 in one."""
        batches = (parts[start : start + _PARTS_AT_ONCE] for start in range(0, len(parts), _PARTS_AT_ONCE))
        return [row for batch in batches for row in self.ask(" UNION ALL ".join(batch), values)]


def _key_of(name: str, values: Mapping[str, Any]) -> Hashable:
    """Name a statement with its values, which are plain ones, lists of them and arrays."""
    items = [(key, value.tobytes() if hasattr(value, "tobytes") else value) for key, value in sorted(values.items())]
    return name, *[(key, tuple(value) if isinstance(value, list) else value) for key, value in items]
