"""Sweeps of decaying memories: SQL finds what may be due, and judges it again under the rows' locks.

What is as close to a threshold as two libraries' exp() may differ, `domain.memories.decay` decides.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from engrain.domain import events
from engrain.domain.memories import decay
from engrain.domain.memories.decay import AGE_STEPS, LEAST_AGE_MULTIPLIER, AgingKind, DecayPolicy, Standing, SweepBatch
from engrain.domain.records import Episode
from engrain.storage import selection
from engrain.storage.dialects import as_json
from engrain.storage.rows import KIND_TABLES
from engrain.storage.transaction import Transaction, for_every_user, repeatable
from engrain.storage.write import periods

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engrain.domain.requests import Act
    from engrain.storage.unit_of_work import UnitOfWork

# The databases' exp() may differ from ours in the last digit: what is so close to a threshold is decided here.
_CLOSE = 1e-9
_AGES: Mapping[AgingKind, str] = {"fact": "age_facts", "rule": "age_rules"}
_EXPIRES: Mapping[AgingKind, str] = {"fact": "expire_facts", "rule": "expire_rules"}
_OF_THESE = "tenant_id = :tenant_id AND id IN :ids"


@dataclass(frozen=True, slots=True)
class Stretch:
    """Stretch of a tenant's facts or rules in the order of their ids, and those of it that may be due."""

    looked_at: int
    last: str | None
    ids: Sequence[str]


class Change(NamedTuple):
    """Change of a fact or rule from one standing to another."""

    doc: int
    id: str
    scope: str
    metadata: str  # as JSON
    before: Standing
    to: Standing | None


@dataclass(frozen=True, slots=True)
class _Expressions:
    """Expressions that the databases spell differently."""

    days: str  # since a moment, never negative
    latest: str  # of two moments, either of which may be missing
    least: str
    ids: str


_EXPRESSIONS: Mapping[Literal["sqlite", "postgres"], _Expressions] = {
    "sqlite": _Expressions(
        days="max(:at - since, 0) / 86400000000.0",
        latest="coalesce(max(last_confirmed_at, last_referenced_at), last_confirmed_at, last_referenced_at)",
        least="min",
        ids="json_group_array(id)",
    ),
    "postgres": _Expressions(
        days="greatest(date_part('epoch', CAST(:at AS timestamptz) - since), 0) / 86400.0",
        latest="greatest(last_confirmed_at, last_referenced_at)",
        least="least",
        ids="array_agg(id)",
    ),
}


@for_every_user
def find_due(tx: Transaction, act: Act, kind: AgingKind, policy: DecayPolicy, *, after: str, limit: int) -> Stretch:
    """Find the next `limit` live facts or rules of the act's tenant that decay, and which of them may be due."""
    [(count, last, found)] = tx.ask(
        _find_statement(tx, kind, policy),
        {
            "tenant_id": act.caller.tenant_id,
            "at": tx.dialect.time(act.at),
            "after": after,
            "limit": limit,
            "expired": policy.expired_below * (1 + _CLOSE),
            "fading": policy.fading_below * (1 + _CLOSE),
            "recovered": policy.fading_below * (1 - _CLOSE),
        },
    )
    ids = tx.dialect.parsed(found) if found else []
    return Stretch(looked_at=count, last=last if count == limit else None, ids=ids)


@for_every_user
def preview_sweep(
    tx: Transaction, act: Act, kind: AgingKind, policy: DecayPolicy, *, after: str, limit: int
) -> SweepBatch:
    """Count what a sweep of the next `limit` would change."""
    seen = find_due(tx, act, kind, policy, after=after, limit=limit)
    return _count_changes(seen, _find_changes(tx, act, kind, policy, ids=seen.ids))


@for_every_user
@repeatable
def sweep(work: UnitOfWork, kind: AgingKind, policy: DecayPolicy, seen: Stretch) -> SweepBatch:
    """Let those fade, recover or expire that still should, now that nobody else changes them; an event for each."""
    moving = _find_changes(work, work.act, kind, policy, ids=seen.ids, lock=work.dialect.lock)
    apply_changes(work, kind, moving)
    return _count_changes(seen, moving)


def apply_changes(work: UnitOfWork, kind: AgingKind, moving: Sequence[Change]) -> None:
    """Apply changes to locked facts or rules: a few statements, however many they are."""
    act = work.act
    named = {"tenant_id": act.caller.tenant_id, "at": work.dialect.time(act.at)}
    for (before, to), these in _group_by_change(moving).items():
        changes = {
            metadata: as_json(decay.standing_metadata(json.loads(metadata), kind, to))
            for metadata in {change.metadata for change in these}
        }
        rows = ",".join([f"[{doc},{changes[metadata]}]" for doc, _, _, metadata, _, _ in these])
        work.run((_EXPIRES if to == "expired" else _AGES)[kind], **named, rows=f"[{rows}]")
        if to == "expired":
            work.index.take_out(work, act.caller.tenant_id, [change.doc for change in these], at=act.at)
            _reopen_periods(work, kind, [change.id for change in these])
        event_type, payload = events.standing_changed(kind, before, to)
        work.record_all(event_type, [(change.scope, change.id, payload) for change in these])


def _reopen_periods(work: UnitOfWork, kind: AgingKind, ids: Sequence[str]) -> None:
    """Let those go on that end where a fact begins which expires before that."""
    if kind == "fact":
        bound = {"tenant_id": work.tenant_id, "ids": work.dialect.listed(ids), "at": work.at}
        for _, fact in selection.select_facts(work, f"{_OF_THESE} AND valid_from > :at", bound):
            periods.reopen(work, fact)


def _group_by_change(moving: Iterable[Change]) -> Mapping[tuple[Standing, Standing], Sequence[Change]]:
    """Group changes by their standing before and after."""
    found: dict[tuple[Standing, Standing], list[Change]] = {}
    for change in moving:
        assert change.to is not None
        found.setdefault((change.before, change.to), []).append(change)
    return found


def _find_changes(
    tx: Transaction, act: Act, kind: AgingKind, policy: DecayPolicy, *, ids: Sequence[str], lock: str = ""
) -> list[Change]:
    """Find memories whose standing is out of date, in the order of their ids."""
    if not ids:
        return []
    bound = {
        "tenant_id": act.caller.tenant_id,
        "ids": tx.dialect.listed(ids),
        "at": tx.dialect.time(act.at),
        "surely_expired": policy.expired_below * (1 - _CLOSE),
        "hardly_expired": policy.expired_below * (1 + _CLOSE),
        "surely_fading": policy.fading_below * (1 - _CLOSE),
        "hardly_fading": policy.fading_below * (1 + _CLOSE),
    }
    found = [Change._make(row) for row in tx.ask(_judge_statement(tx, kind, policy, lock), bound)]
    close = [change.id for change in found if change.to is None]
    if not close:
        return found
    decided = _decide_close(tx, act, kind, policy, ids=close)
    judged = (change if change.to is not None else change._replace(to=decided.get(change.id)) for change in found)
    return [change for change in judged if change.to is not None]


def _decide_close(
    tx: Transaction, act: Act, kind: AgingKind, policy: DecayPolicy, *, ids: Sequence[str]
) -> dict[str, Standing | None]:
    """Compute in Python the standing of memories near a threshold; None where it does not change."""
    found: dict[str, Standing | None] = {}
    for _, memory in selection.load_by_ids(tx, kind, act.caller.tenant_id, ids):
        assert not isinstance(memory, Episode)
        found[memory.id] = decay.due_standing(memory, policy, now=act.at)
    return found


def _count_changes(seen: Stretch, moving: Iterable[Change]) -> SweepBatch:
    counts = Counter(change.to for change in moving)
    return decay.SweepBatch(
        looked_at=seen.looked_at,
        last=seen.last,
        active=counts["active"],
        fading=counts["fading"],
        expired=counts["expired"],
    )


def _find_statement(tx: Transaction, kind: AgingKind, policy: DecayPolicy) -> str:
    """One row: how many were looked at, the last id of them, and the ids of those that may be due."""
    words, table = _EXPRESSIONS[tx.dialect.name], KIND_TABLES[kind]
    some = f"{table} INDEXED BY {table}_id WHERE tenant_id = :tenant_id AND id > :after"
    return _in_one_line(f"""
        SELECT count(*), max(id), {words.ids} FILTER (
            WHERE worth < :expired OR CASE WHEN is_fading THEN worth >= :recovered ELSE worth < :fading END
        )
        FROM ({_select_worth(tx, kind, policy, some, order="ORDER BY id LIMIT :limit")}) AS judged
    """)  # noqa: S608  # the schema's own words


def _judge_statement(tx: Transaction, kind: AgingKind, policy: DecayPolicy, lock: str) -> str:
    """SQL that selects a `Change` row for each memory whose standing changes, or may: it is NULL near a threshold."""
    some = f"{KIND_TABLES[kind]} WHERE {_OF_THESE}"
    return _in_one_line(f"""
        SELECT * FROM (
            SELECT doc, id, scope, CAST(metadata AS text) AS metadata,
                CASE WHEN is_fading THEN 'fading' ELSE 'active' END AS before,
                CASE WHEN worth < :surely_expired THEN 'expired' WHEN worth < :hardly_expired THEN NULL
                WHEN worth < :surely_fading THEN 'fading' WHEN worth < :hardly_fading THEN NULL
                ELSE 'active' END AS due
            FROM ({_select_worth(tx, kind, policy, some, order=f"ORDER BY id {lock}")}) AS worths
        ) AS judged WHERE before IS DISTINCT FROM due
    """)  # noqa: S608  # the schema's own words


def _select_worth(tx: Transaction, kind: AgingKind, policy: DecayPolicy, some: str, *, order: str) -> str:
    """The worth of those of some facts or rules that are live and decay."""
    words = _EXPRESSIONS[tx.dialect.name]
    is_live = "validity = 'active'" if kind == "fact" else f"NOT ({tx.dialect.is_true('metadata', 'forgotten')})"
    since = "last_confirmed_at" if policy.anchor == "confirmation" else words.latest
    return f"""
        SELECT doc, id, scope, metadata, is_fading,
            CASE WHEN since IS NULL THEN 0.0 ELSE confidence * {_decay_share(policy, words)} END AS worth
        FROM (
            SELECT doc, id, scope, metadata, confidence, decay_rate, {since} AS since,
                metadata ->> 'status' IS NOT DISTINCT FROM 'fading' AS is_fading
            FROM {some} AND decay_rate > 0 AND {is_live} {order}
        ) AS aging
    """  # noqa: S608  # the schema's own words


def _decay_share(policy: DecayPolicy, words: _Expressions) -> str:
    """What time leaves, of 1; PostgreSQL calls exp(-750) an underflow, and exp(-700) is nothing already."""
    if policy.curve == "exponential":
        return f"exp(-{words.least}(decay_rate * ({words.days}), 700.0))"
    steps = " ".join(f"WHEN {words.days} < {below} THEN {left}" for below, left in AGE_STEPS)
    return f"CASE {steps} ELSE {LEAST_AGE_MULTIPLIER} END"


def _in_one_line(statement: str) -> str:
    return " ".join(statement.split())
