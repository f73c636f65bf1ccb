"""Filling of a database by SQL: memories that engrain has written, copied until there are millions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from bench.speed import language

if TYPE_CHECKING:
    from engrain import Memory

SOURCE, LARGE = "source", "large"
_SUBJECTS = 3
_COPIES_AT_ONCE = 10
# Each copy is an hour older than the one before: ids and docs begin with the time.
_FUNCTIONS = """
CREATE FUNCTION older_id(id text, hours bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT substr(moved, 1, 8) || '-' || substr(moved, 9, 4) || substr(id, 14) FROM (
        SELECT lpad(
            to_hex(('x' || substr(replace(id, '-', ''), 1, 12))::bit(48)::bigint - hours * 3600000), 12, '0'
        ) AS moved
    ) AS number
$$;
CREATE FUNCTION older_doc(doc bigint, hours bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT doc - hours * 3600000 * (1 << 22)
$$;
CREATE FUNCTION older_lenders(docs bytea, hours bigint) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(
        int8send(older_doc(('x' || encode(substr(docs, place, 8), 'hex'))::bit(64)::bigint, hours)), '' ORDER BY place
    ) FROM generate_series(1, length(docs), 8) AS place
$$;
"""
_TIMES = ("event_time", "created_at", "valid_from", "valid_to", "invalidated_at", "happened_at", "first_seen_at")
_IDS = ("id", "memory_id", "source_id", "target_id", "source_episode_id", "supersedes_id")
# Tables that hold rows of a memory, in an order that satisfies their references; what is not copied keeps its value.
_TABLES = (
    *("sessions_consolidations", "speakers", "namespaces", "episodes", "facts", "memory_links", "memory_events"),
    *("memory_index", "memory_words"),
)
_COLUMNS = """
SELECT column_name::text FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name = %s AND is_generated = 'NEVER' ORDER BY ordinal_position
"""
_INDEXES = """
SELECT CAST(CAST(indexrelid AS regclass) AS text), pg_get_indexdef(indexrelid)
FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
WHERE relnamespace = current_schema()::regnamespace AND relname = ANY(%s) AND NOT indisunique
"""
_COPY = """
INSERT INTO {table} ({columns}) SELECT {values}
FROM {table} AS source, generate_series(CAST(%(first)s AS int), CAST(%(last)s AS int)) AS copy (number)
WHERE source.tenant_id = %(source)s
"""


def fill_source(memory: Memory, *, turns: int, facts: int) -> list[language.SpokenTurn]:
    """Let one tenant observe a talk and remember facts; returns the talk."""
    said = language.talk(turns)
    agent = memory.agent("aide", tenant=SOURCE)
    for turn in said:
        agent.observe(turn.content, session=turn.session, speaker=turn.speaker, event_time=turn.said_at)
    for number in range(facts):
        turn = said[number % len(said)]
        agent.remember(turn.content, subject=f"thing {number // _SUBJECTS}", predicate=f"property {number % _SUBJECTS}")
    memory.flush()
    return said


def multiply(url: str, *, copies: int, tenants: int) -> None:
    """Copy the source's rows so often into the large tenant, and once into each of so many small ones."""
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("SELECT set_config('engrain.every_tenant', 'on', false)")
        db.execute("SET maintenance_work_mem = '256MB'")
        db.execute(_FUNCTIONS)
        made = db.execute(_INDEXES, (list(_TABLES),)).fetchall()  # making one anew takes a tenth of filling it
        for name, _ in made:
            db.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(name)))
        for first in range(0, copies, _COPIES_AT_ONCE):
            last = min(first + _COPIES_AT_ONCE, copies) - 1
            _copy_rows(db, sql.Literal(LARGE), first, last, is_first=first == 0)
        for first in range(0, tenants, _COPIES_AT_ONCE):
            last = min(first + _COPIES_AT_ONCE, tenants) - 1
            _copy_rows(db, sql.SQL("'tenant ' || copy.number"), first, last, is_first=True)
        named = {"copies": copies, "large": LARGE}
        db.execute(
            "UPDATE namespaces SET memories = memories * %(copies)s, words = words * %(copies)s "
            "WHERE tenant_id = %(large)s",
            named,
        )
        for _, definition in made:
            db.execute(definition.encode())
        db.execute("VACUUM ANALYZE")


def _copy_rows(db: psycopg.Connection[Any], tenant: sql.Composable, first: int, last: int, *, is_first: bool) -> None:
    for table in _TABLES:
        once = table in ("speakers", "namespaces") and tenant == sql.Literal(LARGE)
        if once and not is_first:
            continue
        columns = [name for (name,) in db.execute(_COLUMNS, (table,))]
        values = [_value(column, table, tenant) for column in columns]
        statement = sql.SQL(_COPY).format(
            table=sql.Identifier(table),
            columns=sql.SQL(", ").join(map(sql.Identifier, columns)),
            values=sql.SQL(", ").join(values),
        )
        db.execute(statement, {"first": first, "last": first if once else last, "source": SOURCE})


def _value(column: str, table: str, tenant: sql.Composable) -> sql.Composable:
    """The value of a column in a copy."""
    named = sql.Identifier("source", column)
    if column == "tenant_id":
        return tenant
    if column in ("doc", "lenders") or column in _IDS:
        function = sql.Identifier("older_id" if column in _IDS else f"older_{column}")
        return sql.SQL("{}({}, copy.number)").format(function, named)
    if column == "content":  # of its own, or hundreds of copies would be one memory that was repeated
        return sql.SQL("left(repeat(md5({} || copy.number), 9), length({}))").format(named, named)
    if column in ("session", "subject", "subject_key"):
        return sql.SQL("{} || ' ' || copy.number").format(named)
    if column in _TIMES and table != "sessions_consolidations":
        return sql.SQL("{} - make_interval(hours => copy.number)").format(named)
    return named
