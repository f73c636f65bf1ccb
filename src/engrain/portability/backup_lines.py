"""Lines of a backup: written with their counts and digests, and read back verified line by line.

The first line is a header, then each table has a line that begins it, its rows, and a line that ends it with
their count and SHA-256; the last line has the count and digest of all lines before it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NoReturn

from engrain.domain import checks
from engrain.domain.maintenance.backups import Extent, Row, VectorSpace
from engrain.domain.records import Record
from engrain.errors import InvalidInput, UnusableBackup
from engrain.portability.canonical_json import encode_row
from engrain.storage.backup.tables import BACKED_UP, DEFAULTS
from engrain.storage.migrations import HEAD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from engrain.portability.sealed_files import SealedFile, SealedWriter

    _NumberedLine = tuple[int, tuple[bytes, dict[str, Any]]]

_FORMAT = 1
_KIND = "engrain backup"
_PROGRESS_EVERY = 1_000
_HEADER = frozenset("kind format engrain schema made_at tenant agent embedder tables".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """Header of a backup: extent, time, version of engrain, schema, embedder and tables."""

    engrain: str
    schema: str
    made_at: datetime
    extent: Extent
    embedder: VectorSpace | None
    tables: tuple[str, ...]

    def to_line(self) -> dict[str, Any]:
        return {
            "kind": _KIND,
            "format": _FORMAT,
            "engrain": self.engrain,
            "schema": self.schema,
            "made_at": self.made_at.isoformat(),
            "tenant": self.extent.tenant_id,
            "agent": self.extent.agent,
            **({} if self.extent.user is None else {"user": self.extent.user}),
            "embedder": None if self.embedder is None else self.embedder.to_dict(),
            "tables": list(self.tables),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TableBackup(Record):
    """One table of a backup: the number of rows, and the SHA-256 of their lines, hexadecimal."""

    table: str
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Line:
    """One row with its table and its line number, counted from 1."""

    number: int
    table: str
    row: Row
    size: int


class BackupWriter:
    """Writer of the lines of a backup, which counts and digests them."""

    def __init__(self, writer: SealedWriter, header: Header) -> None:
        """Write the header."""
        self._writer = writer
        self._all = hashlib.sha256()
        self._count = 0
        self._write(header.to_line())

    def table(self, table: str, rows: Iterable[Row], progress: Callable[[str, int], None] | None) -> TableBackup:
        """Write a table; `progress` gets it and the number of its rows so far."""
        self._write({"begin": table})
        digest = hashlib.sha256()
        count = 0
        for count, row in enumerate(rows, start=1):
            digest.update(self._write(row))
            if progress is not None and count % _PROGRESS_EVERY == 0:
                progress(table, count)
        self._write({"end": table, "rows": count, "sha256": digest.hexdigest()})
        return TableBackup(table=table, rows=count, sha256=digest.hexdigest())

    def end(self) -> str:
        """Write the last line and the seal; returns the digest of the file."""
        self._write({"lines": self._count, "sha256": self._all.hexdigest()})
        return self._writer.seal()

    def _write(self, value: Row) -> bytes:
        line = encode_row(value)
        self._writer.write(line)
        self._all.update(line)
        self._count += 1
        return line


class BackupReader:
    """Reader of a sealed file as a backup."""

    def __init__(self, file: SealedFile, path: object) -> None:
        """Read the header.

        Raises:
            UnusableBackup: it is no backup, or of a newer engrain.
        """
        self._file = file
        self._path = path
        self.header = self._header()

    def rows(self) -> Iterator[Line]:
        """Read every row in order, each table whole.

        Raises:
            UnusableBackup: a count or digest does not match, or a line is not in the form that engrain writes.
        """
        lines = enumerate(self._lines(), start=1)
        total = hashlib.sha256(next(lines)[1][0])
        for table in self.header.tables:
            number, (raw, value) = self._next(lines)
            total.update(raw)
            if value != {"begin": table}:
                self._refuse(number, f"table {table} should begin here")
            digest, count = hashlib.sha256(), 0
            for number, (raw, value) in lines:  # the last one ends the table
                total.update(raw)
                if "end" in value:
                    break
                row = self._complete(table, value)
                if set(row) != set(BACKED_UP[table]):
                    self._refuse(number, f"its columns are not those of {table} in this version of engrain")
                digest.update(raw)
                count += 1
                yield Line(number, table, row, len(raw))
            if value != {"end": table, "rows": count, "sha256": digest.hexdigest()}:
                self._refuse(number, f"table {table} has {count} rows that are not those it promises")
        number, (_, value) = self._next(lines)
        if value != {"lines": number - 1, "sha256": total.hexdigest()}:
            self._refuse(number, "its lines are not those it promises")
        if next(lines, None) is not None:
            self._refuse(number + 1, "there is more than it promises")

    def rows_again(self) -> Iterator[Line]:
        """Read the rows again, after `rows` has verified them; the file still has the digest verified then."""
        table = ""
        for number, raw in enumerate(self._file.lines(), start=1):
            row = _decode(raw.decode())
            if "begin" in row:
                table = row["begin"]
            elif "end" in row:
                table = ""
            elif table:
                yield Line(number, table, self._complete(table, row), len(raw))

    def _complete(self, table: str, row: Row) -> Row:
        """Add the columns that an older schema did not have, with their defaults."""
        return row if self.header.schema == HEAD else {**DEFAULTS.get(table, {}), **row}

    def _next(self, lines: Iterator[_NumberedLine]) -> _NumberedLine:
        line = next(lines, None)
        if line is None:
            raise UnusableBackup(f"{self._path} ends too early; use another copy")
        return line

    def _lines(self) -> Iterator[tuple[bytes, dict[str, Any]]]:
        for number, raw in enumerate(self._file.lines(), start=1):
            try:
                value = _decode(raw.decode())
                if isinstance(value, dict) and encode_row(value) == raw and not (b"\\u0000" in raw and _has_nul(value)):
                    yield raw, value
                    continue
            except (ValueError, RecursionError):
                pass
            self._refuse(number, "it is no line that engrain writes")

    def _header(self) -> Header:
        raw = next(self._file.lines(), b"")
        try:
            header = json.loads(raw)
        except (ValueError, RecursionError):
            header = None
        if not isinstance(header, dict) or header.get("kind") != _KIND:
            raise UnusableBackup(f"{self._path} is no backup of engrain; name a file that `engrain backup` wrote")
        form, version = header.get("format"), header.get("engrain")
        if not isinstance(form, int) or form > _FORMAT or str(header.get("schema")) > HEAD:
            raise UnusableBackup(
                f"{self._path} was written by a newer engrain ({version}, format {form}): upgrade engrain first"
            )
        try:
            return _parse_header(header)
        except (InvalidInput, KeyError, TypeError, ValueError) as error:
            raise UnusableBackup(f"{self._path}, line 1: it is no first line that engrain writes ({error})") from error

    def _refuse(self, number: int, why: str) -> NoReturn:
        raise UnusableBackup(f"{self._path}, line {number}: {why}; nothing was restored")


def _parse_header(fields: dict[str, Any]) -> Header:
    if fields.keys() - {"user"} != _HEADER or fields["format"] != _FORMAT:
        raise ValueError("its keys are others")
    made_at = datetime.fromisoformat(fields["made_at"])
    if made_at.utcoffset() != UTC.utcoffset(None):
        raise ValueError("its time is not in UTC")
    tables = tuple(fields["tables"])
    if list(tables) != [table for table in BACKED_UP if table in tables]:
        raise ValueError("its tables are others")
    tenant, agent, user = (checks.optional_name(fields.get(key), name=key) for key in ("tenant", "agent", "user"))
    if (agent or user) is not None and tenant is None:
        raise ValueError("an agent or a user without a tenant")
    embedder = fields["embedder"]
    return Header(
        engrain=str(fields["engrain"]),
        schema=str(fields["schema"]),
        made_at=made_at,
        extent=Extent(tenant_id=tenant, agent=agent, user=user),
        embedder=None
        if embedder is None
        else VectorSpace(
            name=checks.name(embedder["name"], name="embedder"),
            dims=checks.count(embedder["dims"], name="dims", high=65_536),
        ),
        tables=tables,
    )


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


_decode = json.JSONDecoder(parse_constant=_refuse_constant).decode  # `json.loads` with options makes one each time


def _has_nul(value: object) -> bool:
    match value:
        case str():
            return "\x00" in value
        case list():
            return any(map(_has_nul, value))
        case dict():
            return any(_has_nul(key) or _has_nul(item) for key, item in value.items())
        case _:
            return False
