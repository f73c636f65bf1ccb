"""Matching of memories against a request's filter: exact answers however few of them the filter lets through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.domain.records import Episode, Kind, MemoryRecord
from engrain.storage.filters import compile_request
from engrain.storage.rows import KIND_TABLES
from engrain.storage.search.namespaces import load_search_space
from engrain.storage.selection import BY_DOC, DOCS, select, start_select

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from engrain.domain.requests import Ref, Request
    from engrain.storage.search.candidates import RankedDocs
    from engrain.storage.unit_of_work import Snapshot

# A filter that few memories pass is answered from those memories; a wide one by asking for more until enough pass.
NARROW = 5_000
# Of what is no longer in the searches, a question about the past looks at the newest so many.
MOST_INACTIVE = 5_000
MOST_SPEAKERS = 1_000
_ASK_AGAIN_FACTOR = 4


def load_matching(
    snapshot: Snapshot,
    request: Request,
    docs: Iterable[Ref],
    *,
    kinds: Mapping[int, Kind] | None = None,
    is_last: bool = False,
) -> dict[Ref, MemoryRecord]:
    """Load the records of those docs that match the request; a kind without memories is not queried.

    `kinds` of the docs, where they are known, leave one statement for each kind that there is, all in one round trip;
    `is_last` ends the transaction with them.
    """
    found: dict[Ref, MemoryRecord] = {}
    left = list(docs)
    started = []
    for kind in load_search_space(snapshot, request).kinds if left else ():
        condition, bound = compile_request(snapshot, request, kind)
        wanted = left if kinds is None else [doc for doc in left if kinds[int(doc)] == kind]
        if bound and wanted:
            bound["docs"] = snapshot.dialect.listed(wanted)
            answer = start_select(snapshot, kind, f"{DOCS} AND {condition}", bound, by=BY_DOC)
            if kinds is None:
                found.update(answer())
                left = [doc for doc in left if doc not in found]  # most often there is only one kind
            else:
                started.append(answer)
    if is_last and started and snapshot.backend.forecasts is not None:
        snapshot.backend.forecasts.end_with_next(snapshot)
    for answer in started:
        found.update(answer())
    return found


def filter_docs(snapshot: Snapshot, request: Request, docs: Sequence[Ref]) -> list[int]:
    """Return those of `docs` that match the request, ascending."""
    return sorted(_select_docs(snapshot, request, within=docs)) if docs else []


def find_few(snapshot: Snapshot, request: Request, most: int) -> list[int] | None:
    """Find all docs that match, ascending; None where there are more than `most`."""
    docs = _select_docs(snapshot, request, limit=most + 1)
    return None if len(docs) > most else sorted(docs)


def collect_enough(
    snapshot: Snapshot,
    request: Request,
    limit: int,
    ask: Callable[[int, Sequence[int] | None], RankedDocs],
    *,
    only_live: bool,
    narrow: int,
) -> RankedDocs:
    """Collect the best `limit` candidates that match the request, exactly, however few its filter lets through.

    `ask` gives the best so many, of all or of some docs; `only_live` says that whatever it gives is live.
    """
    if only_live and not request.filter.is_narrow:
        return ask(limit, None)
    among = find_few(snapshot, request, narrow) if request.filter.is_narrow else None
    count = limit
    while True:
        found = ask(count, among)
        passing = found if among is not None else found.only(filter_docs(snapshot, request, found.docs.tolist()))
        if len(passing) >= limit or len(found) < count:
            return passing[:limit]
        count *= _ASK_AGAIN_FACTOR


def load_inactive(snapshot: Snapshot, request: Request) -> dict[Ref, MemoryRecord]:
    """Load what matches and is no longer in the searches: the newest, where the request asks for the past."""
    if not request.filter.asks_past:
        return {}
    namespaces = load_search_space(snapshot, request).namespaces
    bound = {"tenant_id": snapshot.tenant_id, "namespaces": snapshot.dialect.listed(namespaces), "limit": MOST_INACTIVE}
    return (
        load_matching(snapshot, request, [doc for (doc,) in snapshot.rows("gone_docs", **bound)]) if namespaces else {}
    )


def load_neighbours(snapshot: Snapshot, request: Request, memory: MemoryRecord, reach: int) -> list[MemoryRecord]:
    """Load the turns around an episode that match, in order, without itself."""
    if not isinstance(memory, Episode) or memory.session is None:
        return []
    condition, bound = compile_request(snapshot, request, "episode")
    if not bound:
        return []
    around = "scope = :scope AND session = :around AND turn BETWEEN :first AND :last AND id <> :id"
    bound |= {"scope": memory.scope, "around": memory.session, "id": memory.id}
    bound |= {"first": memory.turn - reach, "last": memory.turn + reach}
    return [turn for _, turn in select(snapshot, "episode", f"{around} AND {condition}", bound, order="ORDER BY turn")]


def list_speakers(snapshot: Snapshot) -> list[str]:
    """List the speakers in the caller's scopes, sorted."""
    return [name for (name,) in snapshot.rows("speakers", **snapshot.bindings(), limit=MOST_SPEAKERS)]


def _select_docs(
    snapshot: Snapshot, request: Request, *, within: Sequence[Ref] | None = None, limit: int | None = None
) -> list[int]:
    """Docs that match the request, of all or of some, in one statement."""
    by, within_docs = ("", "") if within is None else (BY_DOC, f"{DOCS} AND ")
    parts: list[str] = []
    bound: dict[str, Any] = {}
    for kind in load_search_space(snapshot, request).kinds:
        condition, values = compile_request(snapshot, request, kind)
        if values:
            parts.append(f"SELECT doc FROM {KIND_TABLES[kind]} {by} WHERE {within_docs}{condition}")  # noqa: S608  # no input in it
            bound |= values
    if not parts:
        return []
    if within is not None:
        bound["docs"] = snapshot.dialect.listed(within)
    most = "" if limit is None else f" LIMIT {limit:d}"
    return [doc for (doc,) in snapshot.ask(" UNION ALL ".join(parts) + most, bound)]
