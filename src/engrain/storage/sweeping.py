"""One batch of a sweep on either database: SQL finds what may be due, `domain.decay` decides under the rows' locks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from engrain.domain import aging, decay, events
from engrain.domain.records import Episode, Fact
from engrain.domain.scoring import AGE_STEPS, LEAST_AGE_MULTIPLIER
from engrain.storage import lookups
from engrain.storage.rows import KIND_TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from engrain.domain.aging import Standing
    from engrain.domain.decay import AgingKind, DecayPolicy, Swept
    from engrain.domain.records import Rule
    from engrain.domain.requests import Act
    from engrain.storage.ledger import Ledger
    from engrain.storage.transaction import Transaction

# The databases' exp() may differ from ours in the last digit: what is so close to a threshold is looked at here.
_CLOSE = 1e-9
_OF_THESE = "tenant_id = :tenant_id AND id IN :ids"


@dataclass(frozen=True, slots=True)
class Look:
    """A stretch of a tenant's facts or rules in the order of their ids, and those of it that may be due."""

    looked_at: int
    last: str | None
    ids: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Words:
    """What the databases say differently."""

    days: str  # since a moment, never negative
    latest: str  # of two moments, either of which may be missing
    least: str
    ids: str


_WORDS: Mapping[Literal["sqlite", "postgres"], _Words] = {
    "sqlite": _Words(
        days="max(:at - since, 0) / 86400000000.0",
        latest="coalesce(max(last_confirmed_at, last_referenced_at), last_confirmed_at, last_referenced_at)",
        least="min",
        ids="json_group_array(id)",
    ),
    "postgres": _Words(
        days="greatest(date_part('epoch', CAST(:at AS timestamptz) - since), 0) / 86400.0",
        latest="greatest(last_confirmed_at, last_referenced_at)",
        least="least",
        ids="array_agg(id)",
    ),
}


def look(tx: Transaction, act: Act, kind: AgingKind, policy: DecayPolicy, *, after: str, limit: int) -> Look:
    """The next `limit` live facts or rules of the act's tenant that decay."""
    [(count, last, found)] = tx.ask(
        _statement(tx, kind, policy),
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
    return Look(looked_at=count, last=last if count == limit else None, ids=ids)


def judged(tx: Transaction, act: Act, kind: AgingKind, policy: DecayPolicy, *, seen: Look) -> Swept:
    """What a sweep of these would do."""
    return _swept(seen, Counter(to for _, _, to in _due(tx, act, kind, policy, ids=seen.ids)))


def sweep(ledger: Ledger, kind: AgingKind, policy: DecayPolicy, seen: Look) -> Swept:
    """Let those fade, recover or expire that still should, now that nobody else changes them; an event for each."""
    tx, act = ledger.tx, ledger.act
    due = _due(tx, act, kind, policy, ids=seen.ids, order=f"ORDER BY id {tx.dialect.lock}")
    tx.run_each(f"age_{kind}", [_changed(tx, memory, to, act.at) for _, memory, to in due])
    for doc, memory, to in due:
        if to == "expired":
            ledger.index.leave(tx, doc, memory, act.at)
    tx.add_each(
        tx.speech.rows.events, "memory_events", [events.aged(act, memory, to, ledger.ids) for _, memory, to in due]
    )
    return _swept(seen, Counter(to for _, _, to in due))


def _due(
    tx: Transaction, act: Act, kind: AgingKind, policy: DecayPolicy, *, ids: Sequence[str], order: str = ""
) -> list[tuple[int, Fact | Rule, Standing]]:
    """Docs and memories that should stand otherwise, and how."""
    if not ids:
        return []
    bound = {"tenant_id": act.caller.tenant_id, "ids": tx.dialect.listed(ids)}
    found = []
    for doc, memory in lookups.select(tx, kind, _OF_THESE, bound, order=order):
        assert not isinstance(memory, Episode)
        to = decay.due(memory, policy, now=act.at)
        if to is not None:
            found.append((doc, memory, to))
    return found


def _changed(tx: Transaction, memory: Fact | Rule, to: Standing, at: datetime) -> Mapping[str, Any]:
    aged = aging.aged(memory, to, at)
    ended = None if aged.invalidated_at is None else tx.dialect.time(aged.invalidated_at)
    named = {"tenant_id": aged.tenant_id, "id": aged.id}
    changed = {"metadata": tx.dialect.json(aged.metadata), "invalidated_at": ended}
    return {**named, **changed, "validity": aged.validity} if isinstance(aged, Fact) else {**named, **changed}


def _swept(seen: Look, counts: Counter[Standing]) -> Swept:
    return decay.Swept(
        looked_at=seen.looked_at,
        last=seen.last,
        active=counts["active"],
        fading=counts["fading"],
        expired=counts["expired"],
    )


def _statement(tx: Transaction, kind: AgingKind, policy: DecayPolicy) -> str:
    """One row: how many were looked at, the last id of them, and the ids of those that may be due."""
    words, table = _WORDS[tx.dialect.name], KIND_TABLES[kind]
    is_live = "validity = 'active'" if kind == "fact" else f"NOT ({tx.dialect.is_true('metadata', 'forgotten')})"
    since = "last_confirmed_at" if policy.anchor == "confirmation" else words.latest
    return f"""
        SELECT count(*), max(id), {words.ids} FILTER (
            WHERE worth < :expired OR CASE WHEN is_fading THEN worth >= :recovered ELSE worth < :fading END
        )
        FROM (
            SELECT id, is_fading,
                CASE WHEN since IS NULL THEN 0.0 ELSE confidence * {_share(policy, words)} END AS worth
            FROM (
                SELECT id, confidence, decay_rate, {since} AS since,
                    metadata ->> 'status' IS NOT DISTINCT FROM 'fading' AS is_fading
                FROM {table} INDEXED BY {table}_id
                WHERE tenant_id = :tenant_id AND id > :after AND decay_rate > 0 AND {is_live}
                ORDER BY id LIMIT :limit
            ) AS aging
        ) AS judged
    """  # noqa: S608  # the schema's own words


def _share(policy: DecayPolicy, words: _Words) -> str:
    """What time leaves, of 1; PostgreSQL calls exp(-750) an underflow, and exp(-700) is nothing already."""
    if policy.curve == "exponential":
        return f"exp(-{words.least}(decay_rate * ({words.days}), 700.0))"
    steps = " ".join(f"WHEN {words.days} < {below} THEN {left}" for below, left in AGE_STEPS)
    return f"CASE {steps} ELSE {LEAST_AGE_MULTIPLIER} END"
