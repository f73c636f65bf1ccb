"""Named statements of a backend: the shared ones in its dialect, its own, and the rows that they read and write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engrain.storage.named_sql import expand, load_bodies
from engrain.storage.rows import RecordRows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engrain.errors import StorageError
    from engrain.storage.dialects import Dialect


@dataclass(frozen=True, slots=True)
class Statements:
    """Statements of one backend by name, with its dialect and the rows of its records."""

    dialect: Dialect
    records: RecordRows
    named: Mapping[str, str]
    refusal: Callable[[Exception], StorageError | None]  # ours for what one statement may not do; None for what else
    composed: Mapping[str, Callable[..., list[Any]]] = field(
        default_factory=dict
    )  # made of others, and run in its place


class _Spelled(Mapping[str, str]):
    """Statements in a dialect, each spelled when it is first asked for: a process runs few of them."""

    def __init__(self, bodies: Mapping[str, str], dialect: Dialect) -> None:
        self._bodies = bodies
        self._dialect = dialect
        self._spelled: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        statement = self._spelled.get(name)
        if statement is None:
            statement = self._spelled[name] = self._dialect.statement(expand(self._bodies[name]))
        return statement

    def __iter__(self) -> Iterator[str]:
        return iter(self._bodies)

    def __len__(self) -> int:
        return len(self._bodies)


def load_statements(
    dialect: Dialect, own_package: str, refusal: Callable[[Exception], StorageError | None]
) -> Statements:
    """Load the statements of a backend: the shared ones in its dialect, and those of its own package."""
    bodies = load_bodies("engrain.storage", "queries.sql") | load_bodies(own_package, "queries.sql")
    return Statements(dialect, RecordRows(dialect), _Spelled(bodies, dialect), refusal)
