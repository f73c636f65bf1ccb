"""Verification of the rows of a backup: their values, their owner, and their references."""

from __future__ import annotations

import base64
import binascii
import math
from datetime import UTC, datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from engrain.domain import checks
from engrain.domain.entities.registry import MERGED_INTO
from engrain.errors import InvalidInput, UnusableBackup
from engrain.storage.backup.tables import BACKED_UP, DEPARTURES, TABLES, VECTORS, is_of_user, is_shared

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from types import UnionType

    from engrain.domain.maintenance.backups import Row
    from engrain.portability.backup_lines import BackupReader, Header, Line
    from engrain.storage.backup.named_ids import NamedIds
    from engrain.storage.rows import ColumnType

_MAX_INT = 2**63 - 1
# Numbers by the largest they can be, where that is known; none is negative.
_LARGEST: Mapping[str, float] = {**dict.fromkeys("confidence weight asking".split(), 1), "importance": 10}


def verify(reader: BackupReader, path: Path, names: NamedIds, progress: Callable[[str, int], None]) -> int:
    """Verify all rows of a backup and record their ids in `names`; returns the number of rows.

    Raises:
        UnusableBackup: a row is not in the form that engrain writes, or refers to one that is not in the backup.
    """
    count = 0
    for line in reader.rows():
        try:
            _check(line, reader.header)
            _record_ids(line, names, is_of_agent=reader.header.extent.agent is not None)
        except (InvalidInput, ValueError) as error:
            raise UnusableBackup(f"{path}, line {line.number}: {error}; nothing was restored") from error
        count += 1
        if count % 1_000 == 0:
            progress("checking", count)
    missing = names.missing()
    if missing is not None:
        raise UnusableBackup(
            f"{path}, line {missing.line}: it refers to {missing.kind} {missing.id}, which is not in the backup; "
            "nothing was restored"
        )
    return count


def _check(line: Line, header: Header) -> None:
    row = line.row
    _check_owner(line.table, row, header)
    if line.table == VECTORS:
        _check_vector(row, header)
        return
    if line.table == DEPARTURES:
        return
    for name, check in column_checks(line.table):
        check(name, row[name])


@cache
def column_checks(table: str) -> Sequence[tuple[str, Callable[[str, Any], None]]]:
    """Return the columns of a table in a backup, each with the check of its values."""
    return [(name, _CHECKS[TABLES[table].columns[name]]) for name in BACKED_UP[table]]


def _check_names(name: str, value: Any) -> None:
    if not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
        raise InvalidInput(f"{name} is no list of texts")


def _check_type(name: str, value: Any, *, kind: type | UnionType, wanted: str) -> None:
    if not isinstance(value, kind):
        raise InvalidInput(f"{name} is no {wanted}")


def _check_owner(table: str, row: Row, header: Header) -> None:
    """Check that the row belongs to the extent of the backup."""
    tenant = checks.name(row["tenant_id"], name="tenant_id")
    if header.extent.tenant_id not in (None, tenant):
        raise InvalidInput(f"the row is of tenant {tenant}, the backup of {header.extent}")
    agent, user = header.extent.agent, header.extent.user
    if user is not None and not is_of_user(table, row, user):
        raise InvalidInput(f"the row of {table} is not of user {user!r:.80}, as the backup is")
    if agent is not None and not is_shared(table, row, agent):
        whose = ", ".join(f"{column} {row[column]}" for column in ("scope", "agent", "actor") if column in row)
        raise InvalidInput(f"the row of {table} is of {whose or 'the whole tenant'}, the backup of {header.extent}")


def _check_time(name: str, value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, str) or datetime.fromisoformat(value).utcoffset() != UTC.utcoffset(None):
        raise InvalidInput(f"{name} is no time in UTC")


def _check_number(name: str, value: Any, *, largest: float = math.inf) -> None:
    if value is None:
        return
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= _LARGEST.get(name, largest):
        raise InvalidInput(f"{name} is out of range")


def _check_whole(name: str, value: Any) -> None:
    _check_number(name, value, largest=_MAX_INT)
    if isinstance(value, float):
        raise InvalidInput(f"{name} is no whole number")


def _check_vector(row: Row, header: Header) -> None:
    if header.embedder is None:
        raise InvalidInput("it is a vector, and no embedder is named")
    try:
        vector = np.frombuffer(base64.b64decode(row["embedding"], validate=True), "<f4")
    except (TypeError, binascii.Error, ValueError) as error:
        raise InvalidInput("embedding is no vector") from error
    if len(vector) != header.embedder.dims or not np.isfinite(vector).all():
        raise InvalidInput(f"embedding is no vector of {header.embedder.dims} finite numbers")


_CHECKS: Mapping[ColumnType, Callable[[str, Any], None]] = {
    "text": partial(_check_type, kind=str | None, wanted="text"),
    "whole": _check_whole,
    "number": _check_number,
    "time": _check_time,
    "names": _check_names,
    "list": partial(_check_type, kind=list, wanted="list"),
    "object": partial(_check_type, kind=dict, wanted="object"),
}


def _record_ids(line: Line, names: NamedIds, *, is_of_agent: bool) -> None:
    row, tenant = line.row, line.row["tenant_id"]
    if "id" in row:
        checks.name(row["id"], name="id")
    kind = TABLES[line.table].kind
    if kind is not None and not names.add(tenant, kind, row["id"]):
        raise InvalidInput(f"{kind} {row['id']} is there twice")
    if line.table == VECTORS and not names.has_memory(tenant, row["id"]):
        raise InvalidInput(f"it is the vector of {row['id']}, which is not in the backup")
    for column, of in TABLES[line.table].references.items():
        if row[column] is not None:
            names.want(line.number, tenant, row.get(of, of), row[column])
    if is_of_agent:
        _record_share(line, names)


def _record_share(line: Line, names: NamedIds) -> None:
    """Record what a row of an agent's backup refers to besides: nothing of others."""
    row, tenant = line.row, line.row["tenant_id"]
    if line.table == "tombstones":
        names.add(tenant, "tombstone", row["id"])
    for column, of in TABLES[line.table].share_references.items():
        if row[column] is not None:
            names.want(line.number, tenant, of, row[column])
    merged_into = row["metadata"].get(MERGED_INTO) if line.table == "entities" else None
    if merged_into is not None:
        names.want(line.number, tenant, "entity", str(merged_into))
