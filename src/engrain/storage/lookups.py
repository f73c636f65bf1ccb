"""Statements made of a table and a compiled condition: who is asked for, who may see it, how much is enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.domain.records import KINDS, Caller, Episode, Kind, MemoryRecord
from engrain.domain.requests import Request, TurnPlace
from engrain.storage.filters import HAPPENED_AT, compiled, seen_by
from engrain.storage.rows import KIND_TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from engrain.domain.requests import Candidate, Ref
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


def namespaces_of(tx: Transaction, caller: Caller, kinds: Collection[Kind] = KINDS) -> list[int]:
    """The namespaces of a caller's scopes; those nothing was ever written to do not exist."""
    rows = tx.rows("namespaces", **seen_by(caller, tx.dialect))
    return [namespace for kind, _, namespace in rows if kind in kinds]


def select(
    tx: Transaction, kind: Kind, condition: str, bound: dict[str, Any], *, order: str = "", by: str = ""
) -> list[tuple[int, MemoryRecord]]:
    """Docs and records of one kind; the condition is made of this room's own words, values are bound."""
    rows = tx.speech.rows.kinds[kind]
    statement = f"SELECT doc, {rows.columns} FROM {KIND_TABLES[kind]} {by} WHERE {condition} {order}"  # noqa: S608  # no input in it
    return [(row[0], rows.record(row[1:])) for row in tx.ask(statement, bound)]


def visible(
    tx: Transaction, caller: Caller, ids: Sequence[str], *, lock: bool = False
) -> list[tuple[int, MemoryRecord]]:
    """Those of `ids` the caller may see, live or not, in the order asked; `lock` keeps others from changing them."""
    bound = {**seen_by(caller, tx.dialect), "ids": tx.dialect.listed(ids)}
    order = tx.dialect.lock if lock else ""
    found = {
        memory.id: (doc, memory) for kind in KINDS for doc, memory in select(tx, kind, _SEEN_BY_ID, bound, order=order)
    }
    return [found[id_] for id_ in dict.fromkeys(ids) if id_ in found]


def of_docs(tx: Transaction, docs: Iterable[Ref], tenants: Iterable[str] | None = None) -> dict[int, MemoryRecord]:
    """The records of docs, whoever sees them; given whose they are, a database can look where it keeps them."""
    bound = {"docs": tx.dialect.listed(docs)}
    condition = _DOCS
    if tenants is not None:
        condition = f"{_DOCS} AND tenant_id IN :tenants"
        bound["tenants"] = tx.dialect.listed(set(tenants))
    return {doc: memory for kind in KINDS for doc, memory in select(tx, kind, condition, bound, by=_BY_DOC)}


def records(tx: Transaction, request: Request, docs: Iterable[Ref]) -> dict[Ref, MemoryRecord]:
    """The records of those docs that match the request."""
    found: dict[Ref, MemoryRecord] = {}
    left = list(docs)
    for kind in request.filter.kinds:
        condition, bound = compiled(request, kind, tx.dialect)
        if bound and left:
            bound["docs"] = tx.dialect.listed(left)
            found.update(select(tx, kind, f"{_DOCS} AND {condition}", bound, by=_BY_DOC))
            left = [doc for doc in left if doc not in found]  # most often there is only one kind
    return found


def matching(tx: Transaction, request: Request, docs: Iterable[Ref]) -> list[int]:
    """Those of `docs` that match the request, ascending."""
    asked = list(docs)
    kinds = request.filter.kinds if asked else ()
    return sorted(doc for kind in kinds for doc in _docs_where(tx, request, kind, within=asked))


def few(tx: Transaction, request: Request, most: int) -> list[int] | None:
    """All docs that match, ascending; None where there are more than `most`."""
    docs: list[int] = []
    for kind in request.filter.kinds:
        docs.extend(_docs_where(tx, request, kind, limit=most + 1))
        if len(docs) > most:
            return None
    return sorted(docs)


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
    namespaces = namespaces_of(tx, request.caller, request.filter.kinds)
    bound = {"tenant_id": request.caller.tenant_id, "namespaces": tx.dialect.listed(namespaces), "limit": MOST_GONE}
    return records(tx, request, [doc for (doc,) in tx.rows("gone_docs", **bound)]) if namespaces else {}


def recent(tx: Transaction, request: Request, limit: int) -> list[MemoryRecord]:
    """The newest memories that match, by happened_at, then id, both descending."""
    found: list[MemoryRecord] = []
    for kind in request.filter.kinds:
        condition, bound = compiled(request, kind, tx.dialect)
        if bound:
            order = f"ORDER BY {HAPPENED_AT[kind]} DESC, id DESC LIMIT :limit"
            rows = select(tx, kind, condition, {**bound, "limit": limit}, order=order)
            found.extend(memory for _, memory in rows)
    return sorted(found, key=lambda memory: (memory.happened_at, memory.id), reverse=True)[:limit]


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


def turns(tx: Transaction, request: Request, docs: Collection[Ref]) -> dict[Ref, TurnPlace]:
    """Session, role and speaker of those docs that are episodes in the caller's scopes."""
    rows = tx.rows("turn_places", **seen_by(request.caller, tx.dialect), docs=tx.dialect.listed(docs)) if docs else []
    return {
        doc: TurnPlace(scope=scope, session=session, role=role, speaker=speaker)
        for doc, scope, session, role, speaker in rows
    }


def speakers(tx: Transaction, caller: Caller) -> list[str]:
    """Who ever spoke in the caller's scopes, sorted."""
    return [name for (name,) in tx.rows("speakers", **seen_by(caller, tx.dialect), limit=MOST_SPEAKERS)]


def _passing(tx: Transaction, request: Request, found: list[Candidate]) -> list[Candidate]:
    allowed = set(matching(tx, request, [each.ref for each in found]))
    return [each for each in found if each.ref in allowed]


def _docs_where(
    tx: Transaction, request: Request, kind: Kind, *, within: Sequence[Ref] | None = None, limit: int | None = None
) -> list[int]:
    """Docs of one kind that match the request, of all or of some."""
    condition, bound = compiled(request, kind, tx.dialect)
    if not bound:
        return []
    by, given = ("", "") if within is None else (_BY_DOC, f"{_DOCS} AND ")
    most = "" if limit is None else f"LIMIT {limit:d}"
    if within is not None:
        bound["docs"] = tx.dialect.listed(within)
    statement = f"SELECT doc FROM {KIND_TABLES[kind]} {by} WHERE {given}{condition} {most}"  # noqa: S608  # no input in it
    return [doc for (doc,) in tx.ask(statement, bound)]
