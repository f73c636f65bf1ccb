"""Tenants of a database, and their agents: maintenance, never an answer to a caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from engrain.domain.checks import nearest_name
from engrain.domain.maintenance.stats import AgentCounts, UserCounts
from engrain.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from engrain.domain.maintenance.backups import Extent
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


def check_extent(tx: Transaction, extent: Extent, now: datetime) -> None:
    """Check that there is, or was, anything of a user, an agent or a tenant: a misspelt name would look like success.

    Raises:
        NotFound: there never was; the message has the nearest name.
    """
    tenant_id = str(extent.tenant_id)
    if extent.user is not None:
        named = {"tenant_id": tenant_id, "user_id": extent.user}
        if not tx.rows("scopes_of_user", **named) and tx.one("knows_user", **named) is None:
            known = [counts.user_id for counts in load_user_counts(tx, tenant_id, now)]
            raise _unknown(f"tenant {tenant_id} knows no user", extent.user, known, "users lists those it knows")
    elif extent.agent is not None:
        known = list_agents(tx, tenant_id)
        if extent.agent not in known and tx.one("knows_agent", tenant_id=tenant_id, agent=extent.agent) is None:
            raise _unknown(f"tenant {tenant_id} knows no agent", extent.agent, known, "agents lists those it knows")
    elif tx.one("knows_tenant", tenant_id=tenant_id) is None:
        raise _unknown("there is no tenant", tenant_id, (), "agents lists every tenant that has memories")


def _unknown(what: str, name: str, known: Sequence[str], hint: str) -> NotFound:
    near = nearest_name(name, known)
    return NotFound(f"{what} {name!r:.80}; {hint if near is None else f'did you mean {near!r}?'}")


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
