"""Write the newest schema of SQLite, which a new file is made of, from the revisions that an older one runs.

`python tools/generate_schema.py` writes src/engrain/storage/sqlite/schema.sql, `--check` fails where it is out of date.
"""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import apsw

from engrain.storage.migrations import scripts
from engrain.storage.sqlite.schema import upgrade

SCHEMA = Path(__file__).resolve().parent.parent / "src/engrain/storage/sqlite/schema.sql"
_HEADING = """\
-- The newest schema, which a new file is made of: what all revisions make of an empty one.
-- Written by tools/generate_schema.py; a change of the schema is a new revision."""
# What FTS5 makes beside its table is in the name of that table.
_DEFINITIONS = """
SELECT definition.sql FROM sqlite_schema AS definition
WHERE definition.sql IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM pragma_table_list AS listed WHERE listed.name = definition.tbl_name AND listed.type = 'shadow')
ORDER BY definition.rowid
"""
_TABLES = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name <> 'sqlite_schema'"


def text() -> str:
    """The definitions and rows of an empty file that has run every revision, one statement after the other."""
    with closing(apsw.Connection("")) as db, db:
        upgrade(db, "", scripts("sqlite"))
        definitions = [sql for (sql,) in db.execute(_DEFINITIONS)]
        rows = [row for (table,) in sorted(db.execute(_TABLES)) for row in _insertions(db, table)]
    return "".join(f"{statement};\n" for statement in [f"{_HEADING}\n\n{definitions[0]}", *definitions[1:], *rows])


def _insertions(db: apsw.Connection, table: str) -> list[str]:
    rows = db.execute(f"SELECT * FROM {table}").fetchall()
    return [f"INSERT INTO {table} VALUES ({', '.join(map(apsw.format_sql_value, row))})" for row in rows]


def main(arguments: list[str]) -> int:
    """Write the file, or with --check tell that it is out of date."""
    fresh = text()
    if SCHEMA.exists() and SCHEMA.read_text(encoding="utf-8") == fresh:
        return 0
    if "--check" in arguments:
        sys.stderr.write("storage/sqlite/schema.sql is out of date: python tools/generate_schema.py\n")
        return 1
    SCHEMA.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
