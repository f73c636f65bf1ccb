"""Named statements of a backend: the shared ones in its dialect, its own, and the rows that they read and write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engrain.storage.named_sql import expand, load_bodies
from engrain.storage.rows import RecordRows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engrain.errors import StorageError
    from engrain.storage.dialects import Dialect


class SpelledStatements(dict[str, str]):
    """Statements in a dialect by name, each spelled when it is first asked for: a process runs few of them."""

    def __init__(self, bodies: Mapping[str, str], dialect: Dialect) -> None:
        """Take the statements as their files have them."""
        super().__init__()
        self._bodies = bodies
        self._dialect = dialect

    def __missing__(self, name: str) -> str:
        statement = self[name] = self._dialect.statement(expand(self._bodies[name]))
        return statement

    def replace(self, bodies: Mapping[str, str]) -> SpelledStatements:
        """Return these with others in the place of some."""
        return SpelledStatements({**self._bodies, **bodies}, self._dialect)

    def spell_all(self) -> dict[str, str]:
        """Return every statement, for whoever goes through them."""
        return {name: self[name] for name in self._bodies}


@dataclass(frozen=True, slots=True)
class Statements:
    """Statements of one backend by name, with its dialect and the rows of its records."""

    dialect: Dialect
    records: RecordRows
    named: SpelledStatements
    refusal: Callable[[Exception], StorageError | None]  # ours for what one statement may not do; None for what else
    composed: Mapping[str, Callable[..., list[Any]]] = field(
        default_factory=dict
    )  # made of others, and run in its place


def load_statements(dialect: Dialect, room: str, refusal: Callable[[Exception], StorageError | None]) -> Statements:
    """Load the statements of a backend: the shared ones in its dialect, and those of its own room."""
    bodies = load_bodies() | load_bodies(room)
    return Statements(dialect, RecordRows(dialect), SpelledStatements(bodies, dialect), refusal)
