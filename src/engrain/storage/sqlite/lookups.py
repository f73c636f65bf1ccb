"""Statements made of a table and a compiled condition: who is asked for, who may see it, how much is enough."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from engrain.domain.records import KINDS, Caller, Kind, MemoryRecord
from engrain.storage.named_sql import load
from engrain.storage.sqlite.filters import compiled
from engrain.storage.sqlite.rows import COLUMNS, TABLES, micros, record

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    import apsw

    from engrain.domain.ports import Candidate, Ref, Request

SQL = load("engrain.storage.sqlite", "queries.sql")

# A filter that few memories pass is answered from those memories; a wide one by asking for more until enough pass.
NARROW = 5_000
_ASK_AGAIN_FACTOR = 4

_IDS = "id IN (SELECT value FROM json_each(:ids))"
_DOCS = "doc IN (SELECT value FROM json_each(:docs))"
# Where docs are given, an index on any of the other conditions would read a whole scope.
_BY_DOC = "NOT INDEXED"
# The plus keeps SQLite from reading the whole scope by another index than that of the ids.
_SEEN_BY = "tenant_id = :tenant_id AND +scope IN (SELECT value FROM json_each(:scopes))"


def namespaces_of(db: apsw.Connection, caller: Caller, kinds: Collection[Kind] = KINDS) -> list[int]:
    """The namespaces of a caller's scopes; those nothing was ever written to do not exist."""
    bound = {"tenant_id": caller.tenant_id, "scopes": json.dumps(caller.scopes)}
    return [namespace for kind, _, namespace in db.execute(SQL["namespaces"], bound) if kind in kinds]


def select(
    db: apsw.Connection, kind: Kind, condition: str, bound: dict[str, Any], *, order: str = "", by: str = ""
) -> list[tuple[int, MemoryRecord]]:
    """Docs and records of one kind; the condition is made of this room's own words, values are bound."""
    statement = f"SELECT doc, {COLUMNS[kind]} FROM {TABLES[kind]} {by} WHERE {condition} {order}"  # noqa: S608  # no input in it
    return [(row[0], record(kind, row[1:])) for row in db.execute(statement, bound)]


def visible(db: apsw.Connection, caller: Caller, ids: Sequence[str]) -> list[tuple[int, MemoryRecord]]:
    """Those of `ids` the caller may see, live or not, in the order asked."""
    bound = {"tenant_id": caller.tenant_id, "scopes": json.dumps(caller.scopes), "ids": json.dumps(list(ids))}
    found = {
        memory.id: (doc, memory) for kind in KINDS for doc, memory in select(db, kind, f"{_IDS} AND {_SEEN_BY}", bound)
    }
    return [found[id_] for id_ in dict.fromkeys(ids) if id_ in found]


def of_docs(db: apsw.Connection, docs: Iterable[Ref]) -> dict[int, MemoryRecord]:
    """The records of docs, whoever owns them: housekeeping only."""
    bound = {"docs": json.dumps(list(docs))}
    return {doc: memory for kind in KINDS for doc, memory in select(db, kind, _DOCS, bound, by=_BY_DOC)}


def live_records(db: apsw.Connection, request: Request, docs: Iterable[Ref]) -> dict[Ref, MemoryRecord]:
    """The records of those docs that are live and match the request."""
    found: dict[Ref, MemoryRecord] = {}
    asked = list(docs)
    wanted = json.dumps(asked)
    for kind in request.filter.kinds if asked else ():
        condition, bound = compiled(request, kind)
        found.update(select(db, kind, f"{_DOCS} AND {condition}", {**bound, "docs": wanted}, by=_BY_DOC))
    return found


def matching(db: apsw.Connection, request: Request, docs: Iterable[Ref]) -> list[int]:
    """Those of `docs` that are live and match the request, ascending."""
    asked = list(docs)
    wanted = json.dumps(asked)
    kinds = request.filter.kinds if asked else ()
    return sorted(doc for kind in kinds for doc in _docs_where(db, request, kind, within=wanted))


def is_settled(db: apsw.Connection, request: Request) -> bool:
    """Whether the indexes hold all that is live at the request's time, and nothing else."""
    return not db.execute(SQL["has_expired"], {"now": micros(request.now)}).get


def enough(
    db: apsw.Connection,
    request: Request,
    limit: int,
    ask: Callable[[int, Sequence[int] | None], list[Candidate]],
    *,
    settled: bool,
    narrow: int,
) -> list[Candidate]:
    """The best `limit` candidates that match the request, exactly, however few its filter lets through."""
    if settled and not request.filter.is_narrow:
        return ask(limit, None)  # whatever a namespace's index holds passes
    among = _few(db, request, narrow) if request.filter.is_narrow else None
    count = limit
    while True:
        found = ask(count, among)
        passing = found if among is not None else _passing(db, request, found)
        if len(passing) >= limit or len(found) < count:
            return passing[:limit]
        count *= _ASK_AGAIN_FACTOR


def _passing(db: apsw.Connection, request: Request, found: list[Candidate]) -> list[Candidate]:
    allowed = set(matching(db, request, [each.ref for each in found]))
    return [each for each in found if each.ref in allowed]


def _few(db: apsw.Connection, request: Request, most: int) -> list[int] | None:
    """All docs that match, ascending; None where there are more than `most`."""
    docs: list[int] = []
    for kind in request.filter.kinds:
        docs.extend(_docs_where(db, request, kind, limit=most + 1))
        if len(docs) > most:
            return None
    return sorted(docs)


def _docs_where(
    db: apsw.Connection,
    request: Request,
    kind: Kind,
    *,
    within: str | None = None,
    limit: int = -1,
) -> list[int]:
    """Docs of one kind that match the request, of all or of a JSON list `within`."""
    condition, bound = compiled(request, kind)
    by, given = ("", "1") if within is None else (_BY_DOC, _DOCS)
    table = TABLES[kind]
    statement = f"SELECT doc FROM {table} {by} WHERE {given} AND {condition} LIMIT {limit:d}"  # noqa: S608  # no input in it
    return [doc for (doc,) in db.execute(statement, bound if within is None else {**bound, "docs": within})]
