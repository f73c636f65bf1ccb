"""Tenants of a database, and their agents: maintenance, never an answer to a caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from engrain.domain.checks import nearest_name
from engrain.domain.maintenance.stats import AgentCounts, UserCounts
from engrain.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from engrain.storage.transaction import Transaction

_Counts = TypeVar("_Counts", AgentCounts, UserCounts)


def list_tenants(tx: Transaction) -> list[str]:
    """List the tenants that have, or had, any memory, or have items that expire, sorted."""
    return [tenant_id for (tenant_id,) in tx.rows("tenants")]


def list_agents(tx: Transaction, tenant_id: str) -> list[str]:
    """List the agents of a tenant with a scope of their own or in a pool, sorted."""
    return [agent for (agent,) in tx.rows("agents", tenant_id=tenant_id)]


def list_learners(tx: Transaction, tenant_id: str, *, since: datetime) -> list[tuple[str, str | None]]:
    """List the agents that stored a fact of a tenant since a moment, each with a user that it did so for, or None.

    In Python's order, the same on every database.
    """
    rows = tx.rows("learners", tenant_id=tenant_id, event_type="fact_created", since=tx.dialect.time(since))
    return [(actor, user or None) for actor, user in sorted(map(tuple, rows))]


def load_agent_counts(tx: Transaction, tenant_id: str, now: datetime) -> list[AgentCounts]:
    """Count the live memories of a tenant by the agent that stored them, of every agent, sorted by agent."""
    rows = tx.rows("agent_counts", tenant_id=tenant_id, now=tx.dialect.time(now))
    return [
        AgentCounts(tenant_id=tenant_id, agent=agent, episodes=int(episodes), facts=int(facts), rules=int(rules))
        for agent, episodes, facts, rules in rows
    ]


def load_user_counts(tx: Transaction, tenant_id: str, now: datetime) -> list[UserCounts]:
    """Count the live memories of a tenant by end user, of every user of whom there is anything, sorted by user."""
    rows = tx.rows("user_counts", tenant_id=tenant_id, now=tx.dialect.time(now))
    return [
        UserCounts(tenant_id=tenant_id, user_id=user, episodes=int(episodes), facts=int(facts), rules=int(rules))
        for user, episodes, facts, rules in rows
    ]


def check_user(tx: Transaction, tenant_id: str, user: str, now: datetime) -> None:
    """Check that a tenant has, or had, anything of an end user: what is misspelt would look like a request fulfilled.

    Raises:
        NotFound: it never had; the message has the nearest name.
    """
    named = {"tenant_id": tenant_id, "user_id": user}
    if tx.rows("scopes_of_user", **named) or tx.one("knows_user", **named) is not None:
        return
    near = nearest_name(user, [counts.user_id for counts in load_user_counts(tx, tenant_id, now)])
    hint = "users lists those it knows" if near is None else f"did you mean {near!r}?"
    raise NotFound(f"tenant {tenant_id} knows no user {user!r:.80}; {hint}")


def load_page(
    tx: Transaction,
    load: Callable[[Transaction, str, datetime], list[_Counts]],
    tenant_id: str | None,
    now: datetime,
    *,
    after: tuple[str, str],
    limit: int,
) -> list[_Counts]:
    """Load the next counts after a position: of one tenant, or of all, one statement for each.

    `load` gives those of a tenant: `load_agent_counts` or `load_user_counts`.
    """
    found: list[_Counts] = []
    for name in list_tenants(tx) if tenant_id is None else [tenant_id]:
        if name >= after[0] and len(found) < limit:
            found += [row for row in load(tx, name, now) if row.position > after]
    return found[:limit]
