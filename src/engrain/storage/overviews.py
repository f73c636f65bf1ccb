"""What a dashboard reads: counts by day, and what stands out among the newest of each place; all within bounds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from engrain.domain.maintenance.overview import COUNTED, MOST_EVENTS, MOST_MEMORIES, Standouts
from engrain.domain.records import KINDS
from engrain.storage import lookups
from engrain.storage.filters import HAPPENED_AT, compiled, seen_by
from engrain.storage.rows import KIND_TABLES
from engrain.storage.searched import searched
from engrain.storage.verbs import Verbs

if TYPE_CHECKING:
    from datetime import datetime

    from engrain.domain.records import Caller, Kind
    from engrain.domain.requests import Request
    from engrain.storage.transaction import Transaction

_TYPES = tuple(each for types in COUNTED.values() for each in types)
_BEST = "WHERE reference_count > 0 ORDER BY reference_count DESC, happened_at DESC, id DESC LIMIT :limit"
_ABOUT = "WHERE entity_id IS NOT NULL AND validity = 'active' GROUP BY entity_id"


class OverviewVerbs(Verbs):
    """`domain.maintenance.overview.Overviews`."""

    def activity(
        self, caller: Caller, *, since: datetime, most: int = MOST_EVENTS
    ) -> tuple[dict[tuple[str, str], int], datetime | None]:
        return self._ask(caller, lambda tx: _activity(tx, caller, since, most))

    def standouts(self, request: Request, *, limit: int, most: int = MOST_MEMORIES) -> Standouts:
        return self._ask(request.caller, lambda tx: _standouts(tx, request, limit, most))


def _activity(
    tx: Transaction, caller: Caller, since: datetime, most: int
) -> tuple[dict[tuple[str, str], int], datetime | None]:
    bound = {**seen_by(caller, tx.dialect), "types": tx.dialect.listed(_TYPES), "since": tx.dialect.time(since)}
    rows = tx.rows("activity", **bound, limit=most)
    counts = {(str(day), str(type_)): int(count) for day, type_, count, _ in rows}
    is_cut = sum(counts.values()) == most
    return counts, min((tx.dialect.moment(oldest) for *_, oldest in rows), default=None) if is_cut else None


def _standouts(tx: Transaction, request: Request, limit: int, most: int) -> Standouts:
    looked_at: dict[str, int] = dict.fromkeys(KINDS, 0)
    size: dict[str, int] = dict.fromkeys(KINDS, 0)
    best: list[tuple[int, Any, str, int]] = []
    about: Counter[str] = Counter()
    for kind, scope in searched(tx, request).places:
        newest, bound = _newest(tx, request, kind, scope)
        if not bound:
            continue
        bound |= {"most": most, "limit": limit}
        [(count, bytes_)] = tx.ask(f"SELECT count(*), coalesce(sum(bytes), 0) FROM {newest}", bound)  # noqa: S608  # no input in it
        looked_at[kind] += int(count)
        size[kind] += int(bytes_)
        found = tx.ask(f"SELECT reference_count, happened_at, id, doc FROM {newest} {_BEST}", bound)  # noqa: S608  # likewise
        best += [(count, at, id_, doc) for count, at, id_, doc in found]
        if kind == "fact":
            found = tx.ask(f"SELECT entity_id, count(*) FROM {newest} {_ABOUT}", bound)  # noqa: S608  # likewise
            about.update({str(id_): int(facts) for id_, facts in found})
    docs = [doc for *_, doc in sorted(best, key=lambda each: each[:3], reverse=True)[: max(limit, 0)]]
    records = lookups.records(tx, request, docs)
    return Standouts(
        most_referenced=tuple(records[doc] for doc in docs if doc in records),
        entities=tuple(sorted(about.items(), key=lambda each: (-each[1], each[0]))[: max(limit, 0)]),
        looked_at=looked_at,
        content_bytes=size,
    )


def _newest(tx: Transaction, request: Request, kind: Kind, scope: str) -> tuple[str, dict[str, Any]]:
    """The newest :most of one scope, along its index, as a table; and what that is bound to."""
    condition, bound = compiled(request, kind, tx.dialect, scope="scope = :scope")
    by, more = HAPPENED_AT[kind], ", entity_id, validity" if kind == "fact" else ""
    table = (
        f"(SELECT {by} AS happened_at, id, doc, reference_count, octet_length(content) AS bytes{more} "  # noqa: S608  # no input in it
        f"FROM {KIND_TABLES[kind]} WHERE {condition} ORDER BY {by} DESC, id DESC LIMIT :most) AS newest"
    )
    return table, {**bound, "scope": scope} if bound else {}
