"""Named statements of a backend: the shared ones in its dialect, its own, and the rows that they read and write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engrain.storage.named_sql import load_sql
from engrain.storage.rows import RecordRows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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


def load_statements(
    dialect: Dialect, own_package: str, refusal: Callable[[Exception], StorageError | None]
) -> Statements:
    """Load the statements of a backend: the shared ones in its dialect, and those of its own package."""
    shared = {name: dialect.statement(text) for name, text in load_sql("engrain.storage", "queries.sql").items()}
    own = {name: dialect.statement(text) for name, text in load_sql(own_package, "queries.sql").items()}
    return Statements(dialect, RecordRows(dialect), {**shared, **own}, refusal)
