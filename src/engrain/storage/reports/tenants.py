"""Tenants of a database, and their agents: maintenance, never an answer to a caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.maintenance.stats import AgentCounts

if TYPE_CHECKING:
    from datetime import datetime

    from engrain.storage.transaction import Transaction


def list_tenants(tx: Transaction) -> list[str]:
    """List the tenants that have, or had, any memory, sorted."""
    return [tenant_id for (tenant_id,) in tx.rows("tenants")]


def list_agents(tx: Transaction, tenant_id: str) -> list[str]:
    """List the agents of a tenant with a scope of their own or in a pool, sorted."""
    return [agent for (agent,) in tx.rows("agents", tenant_id=tenant_id)]


def list_learners(tx: Transaction, tenant_id: str, *, since: datetime) -> list[str]:
    """List the agents that stored a fact of a tenant since a moment, in Python's order, the same on every database."""
    return sorted(actor for (actor,) in tx.rows("learners", tenant_id=tenant_id, since=tx.dialect.time(since)))


def load_agent_counts(tx: Transaction, tenant_id: str, now: datetime) -> list[AgentCounts]:
    """Count the live memories of a tenant by the agent that stored them, of every agent, sorted by agent."""
    rows = tx.rows("agent_counts", tenant_id=tenant_id, now=tx.dialect.time(now))
    return [
        AgentCounts(tenant_id=tenant_id, agent=agent, episodes=int(episodes), facts=int(facts), rules=int(rules))
        for agent, episodes, facts, rules in rows
    ]


def load_agent_page(
    tx: Transaction, tenant_id: str | None, now: datetime, *, after: tuple[str, str], limit: int
) -> list[AgentCounts]:
    """Load counts of the next agents after a tenant and agent: of one tenant, or of all, one statement for each."""
    found: list[AgentCounts] = []
    for name in list_tenants(tx) if tenant_id is None else [tenant_id]:
        if name >= after[0] and len(found) < limit:
            found += [row for row in load_agent_counts(tx, name, now) if (row.tenant_id, row.agent) > after]
    return found[:limit]
