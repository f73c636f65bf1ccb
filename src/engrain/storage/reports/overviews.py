"""Overview for a dashboard: counts by day, and standouts among the newest of each scope; all bounded."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from engrain.domain.maintenance.overview import COUNTED, MOST_EVENTS, MOST_MEMORIES, Highlights
from engrain.domain.records import KINDS, Kind
from engrain.storage.filters import HAPPENED_AT, compile_request
from engrain.storage.rows import KIND_TABLES
from engrain.storage.search import matching
from engrain.storage.search.history import find_removal
from engrain.storage.search.namespaces import load_search_space

if TYPE_CHECKING:
    from datetime import datetime

    from engrain.domain.requests import Request
    from engrain.storage.unit_of_work import Snapshot

_TYPES = tuple(event_type for types in COUNTED.values() for event_type in types)
_TOTALS = "SELECT 'total' AS part, count(*), NULL, NULL, coalesce(sum(bytes), 0) FROM newest"
_BEST = (
    "SELECT * FROM (SELECT 'best', reference_count, happened_at, id, doc FROM newest "
    "WHERE reference_count > 0 ORDER BY reference_count DESC, happened_at DESC, id DESC LIMIT :limit) AS best"
)
_ABOUT = (
    "SELECT 'about', count(*), NULL, entity_id, 0 FROM newest "
    "WHERE entity_id IS NOT NULL AND validity = 'active' GROUP BY entity_id"
)


def count_activity(
    snapshot: Snapshot, *, since: datetime, most: int = MOST_EVENTS
) -> tuple[dict[tuple[str, str], int], datetime | None]:
    """Count events in the caller's scopes by day (UTC, 2026-11-21) and type, of the types in COUNTED.

    Of the newest `most` events from `since` on; and the time of the oldest of these if there are more, or from which on
    events are there if older ones were removed by their age, else None.
    """
    bound = {**snapshot.bindings(), "types": snapshot.dialect.listed(_TYPES), "since": snapshot.dialect.time(since)}
    rows = snapshot.rows("activity", **bound, limit=most)
    counts = {(str(day), str(type_)): int(count) for day, type_, count, _ in rows}
    if sum(counts.values()) == most:
        return counts, min((snapshot.dialect.moment(oldest) for *_, oldest in rows), default=None)
    removed_before = find_removal(snapshot)
    return counts, removed_before if removed_before is not None and removed_before > since else None


def find_standouts(snapshot: Snapshot, request: Request, *, limit: int, most: int = MOST_MEMORIES) -> Highlights:
    """Find the highlights of the newest `most` (happened_at, id) matching memories of each kind and scope.

    At most `limit` memories with a reference, and as many entities.
    """
    looked_at: dict[str, int] = dict.fromkeys(KINDS, 0)
    size: dict[str, int] = dict.fromkeys(KINDS, 0)
    best: list[tuple[int, Any, str, int]] = []
    about: Counter[str] = Counter()
    for kind, scope in load_search_space(snapshot, request).places:
        newest, bound = _newest_of_scope(snapshot, request, kind, scope)
        if not bound:
            continue
        bound |= {"most": most, "limit": limit}
        parts = " UNION ALL ".join([_TOTALS, _BEST, _ABOUT] if kind == "fact" else [_TOTALS, _BEST])
        # Read once: without MATERIALIZED each part would read them.
        for part, count, at, id_, number in snapshot.ask(f"WITH newest AS MATERIALIZED ({newest}) {parts}", bound):
            match part:
                case "total":
                    looked_at[kind] += int(count)
                    size[kind] += int(number)
                case "best":
                    best.append((count, at, id_, number))
                case _:
                    about[str(id_)] += int(count)
    docs = [doc for *_, doc in sorted(best, key=lambda row: row[:3], reverse=True)[: max(limit, 0)]]
    records = matching.load_matching(snapshot, request, docs)
    return Highlights(
        most_referenced=tuple(records[doc] for doc in docs if doc in records),
        entities=tuple(sorted(about.items(), key=lambda count: (-count[1], count[0]))[: max(limit, 0)]),
        looked_at=looked_at,
        content_bytes=size,
    )


def _newest_of_scope(snapshot: Snapshot, request: Request, kind: Kind, scope: str) -> tuple[str, dict[str, Any]]:
    """The newest :most of one scope, along its index, as a statement; and what that is bound to."""
    condition, bound = compile_request(snapshot, request, kind, scope="scope = :scope")
    by, more = HAPPENED_AT[kind], ", entity_id, validity" if kind == "fact" else ""
    table = (
        f"SELECT {by} AS happened_at, id, doc, reference_count, octet_length(content) AS bytes{more} "  # noqa: S608  # no input in it
        f"FROM {KIND_TABLES[kind]} WHERE {condition} ORDER BY {by} DESC, id DESC LIMIT :most"
    )
    return table, {**bound, "scope": scope} if bound else {}
