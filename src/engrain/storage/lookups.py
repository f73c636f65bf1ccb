"""Statements made of a table and a compiled condition: who is asked for, who may see it, how much is enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.domain.records import KINDS, Caller, Episode, Kind, MemoryRecord
from engrain.storage.filters import compiled, seen_by
from engrain.storage.rows import KIND_TABLES
from engrain.storage.searched import searched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from engrain.domain.requests import Candidate, Ref, Request
    from engrain.storage.transaction import Transaction

# A filter that few memories pass is answered from those memories; a wide one by asking for more until enough pass.
NARROW = 5_000
# Of what is no longer in the searches, a question about the past looks at the newest so many.
MOST_GONE = 5_000
MOST_SPEAKERS = 1_000
_ASK_AGAIN_FACTOR = 4

# Where docs or ids are given, an index on any of the other conditions would read a whole scope.
_BY_DOC = "NOT INDEXED"
_DOCS = "doc IN :docs"
_SEEN_BY_ID = "tenant_id = :tenant_id AND id IN :ids AND +scope IN :scopes"


def select(
    tx: Transaction, kind: Kind, condition: str, bound: dict[str, Any], *, order: str = "", by: str = ""
) -> list[tuple[int, MemoryRecord]]:
    """Docs and records of one kind; the condition is made of this room's own words, values are bound."""
    rows = tx.speech.rows.kinds[kind]
    statement = f"SELECT doc, {rows.columns} FROM {KIND_TABLES[kind]} {by} WHERE {condition} {order}"  # noqa: S608  # no input in it
    return [(row[0], rows.record(row[1:])) for row in tx.ask(statement, bound)]


def visible(tx: Transaction, caller: Caller, ids: Sequence[str], *, lock: str = "") -> list[tuple[int, MemoryRecord]]:
    """Those of `ids` the caller may see, live or not, in the order asked, under one of the dialect's locks.

    Whoever locks several takes them in one order: by kind, then id.
    """
    bound = {**seen_by(caller, tx.dialect), "ids": tx.dialect.listed(ids)}
    order = f"ORDER BY id {lock}" if lock else ""
    found = {
        memory.id: (doc, memory) for kind in KINDS for doc, memory in select(tx, kind, _SEEN_BY_ID, bound, order=order)
    }
    return [found[id_] for id_ in dict.fromkeys(ids) if id_ in found]


def held(tx: Transaction, tenant_id: str, ids: Iterable[str]) -> list[str]:
    """Those of `ids` that are there, whoever sees them; nobody removes them until the end of the transaction."""
    bound = {"tenant_id": tenant_id, "ids": tx.dialect.listed(ids)}
    return [
        id_
        for table in KIND_TABLES.values()
        for (id_,) in tx.ask(
            f"SELECT id FROM {table} WHERE tenant_id = :tenant_id AND id IN :ids ORDER BY id {tx.dialect.hold}",  # noqa: S608  # names of the schema
            bound,
        )
    ]


def of_docs(tx: Transaction, docs: Iterable[Ref], tenants: Iterable[str] | None = None) -> dict[int, MemoryRecord]:
    """The records of docs, whoever sees them; given whose they are, a database can look where it keeps them."""
    bound = {"docs": tx.dialect.listed(docs)}
    condition = _DOCS
    if tenants is not None:
        condition = f"{_DOCS} AND tenant_id IN :tenants"
        bound["tenants"] = tx.dialect.listed(set(tenants))
    return {doc: memory for kind in KINDS for doc, memory in select(tx, kind, condition, bound, by=_BY_DOC)}


def records(tx: Transaction, request: Request, docs: Iterable[Ref]) -> dict[Ref, MemoryRecord]:
    """The records of those docs that match the request; of a kind that there is none of, nothing is asked."""
    found: dict[Ref, MemoryRecord] = {}
    left = list(docs)
    known = tx.known or {}
    for kind in searched(tx, request).kinds if left else ():
        condition, bound = compiled(request, kind, tx.dialect)
        asked = [doc for doc in left if known.get(("kind", doc), kind) == kind]
        if bound and asked:
            bound["docs"] = tx.dialect.listed(asked)
            found.update(select(tx, kind, f"{_DOCS} AND {condition}", bound, by=_BY_DOC))
            left = [doc for doc in left if doc not in found]  # most often there is only one kind
    return found


def matching(tx: Transaction, request: Request, docs: Iterable[Ref]) -> list[int]:
    """Those of `docs` that match the request, ascending."""
    asked = list(docs)
    return sorted(_docs_where(tx, request, within=asked)) if asked else []


def few(tx: Transaction, request: Request, most: int) -> list[int] | None:
    """All docs that match, ascending; None where there are more than `most`."""
    docs = _docs_where(tx, request, limit=most + 1)
    return None if len(docs) > most else sorted(docs)


def enough(
    tx: Transaction,
    request: Request,
    limit: int,
    ask: Callable[[int, Sequence[int] | None], list[Candidate]],
    *,
    settled: bool,
    narrow: int,
) -> list[Candidate]:
    """The best `limit` candidates that match the request, exactly, however few its filter lets through.

    `ask` gives the best so many, of all or of some docs; `settled` says that whatever it gives is live.
    """
    if settled and not request.filter.is_narrow:
        return ask(limit, None)
    among = few(tx, request, narrow) if request.filter.is_narrow else None
    count = limit
    while True:
        found = ask(count, among)
        passing = found if among is not None else _passing(tx, request, found)
        if len(passing) >= limit or len(found) < count:
            return passing[:limit]
        count *= _ASK_AGAIN_FACTOR


def gone(tx: Transaction, request: Request) -> dict[Ref, MemoryRecord]:
    """What matches the request and is no longer in the searches: the newest, where it asks for the past at all."""
    if not request.filter.asks_past:
        return {}
    namespaces = searched(tx, request).namespaces
    bound = {"tenant_id": request.caller.tenant_id, "namespaces": tx.dialect.listed(namespaces), "limit": MOST_GONE}
    return records(tx, request, [doc for (doc,) in tx.rows("gone_docs", **bound)]) if namespaces else {}


def neighbours(tx: Transaction, request: Request, memory: MemoryRecord, reach: int) -> list[MemoryRecord]:
    """The turns around an episode that match, in order, without itself."""
    if not isinstance(memory, Episode) or memory.session is None:
        return []
    condition, bound = compiled(request, "episode", tx.dialect)
    if not bound:
        return []
    around = "scope = :scope AND session = :around AND turn BETWEEN :first AND :last AND id <> :id"
    bound |= {"scope": memory.scope, "around": memory.session, "id": memory.id}
    bound |= {"first": memory.turn - reach, "last": memory.turn + reach}
    return [turn for _, turn in select(tx, "episode", f"{around} AND {condition}", bound, order="ORDER BY turn")]


def speakers(tx: Transaction, caller: Caller) -> list[str]:
    """Who ever spoke in the caller's scopes, sorted."""
    return [name for (name,) in tx.rows("speakers", **seen_by(caller, tx.dialect), limit=MOST_SPEAKERS)]


def _passing(tx: Transaction, request: Request, found: list[Candidate]) -> list[Candidate]:
    allowed = set(matching(tx, request, [each.ref for each in found]))
    return [each for each in found if each.ref in allowed]


def _docs_where(
    tx: Transaction, request: Request, *, within: Sequence[Ref] | None = None, limit: int | None = None
) -> list[int]:
    """Docs that match the request, of all or of some, in one statement."""
    by, given = ("", "") if within is None else (_BY_DOC, f"{_DOCS} AND ")
    parts: list[str] = []
    bound: dict[str, Any] = {}
    for kind in searched(tx, request).kinds:
        condition, values = compiled(request, kind, tx.dialect)
        if values:
            parts.append(f"SELECT doc FROM {KIND_TABLES[kind]} {by} WHERE {given}{condition}")  # noqa: S608  # no input in it
            bound |= values
    if not parts:
        return []
    if within is not None:
        bound["docs"] = tx.dialect.listed(within)
    most = "" if limit is None else f" LIMIT {limit:d}"
    return [doc for (doc,) in tx.ask(" UNION ALL ".join(parts) + most, bound)]
