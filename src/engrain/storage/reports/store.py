"""Tenants and agents of a Store, and the pages that an audit reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.records import Caller
from engrain.storage.reports import stats, surveys
from engrain.storage.search import history
from engrain.storage.transactions import Transactions
from engrain.storage.write import sweeps

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.maintenance.stats import AgentCounts
    from engrain.domain.records import Entity, Link, MemoryRecord, Relation
    from engrain.domain.requests import Request


class SqlSurveys(Transactions):
    """Implements the reads of `domain.ports.Maintenance`, and `domain.ports.Surveys`."""

    def tenants(self) -> list[str]:
        return self._read(None, lambda tx: [tenant_id for (tenant_id,) in tx.rows("tenants")])

    def agents(self, tenant_id: str) -> list[str]:
        whose = Caller(tenant_id=tenant_id, agent="upkeep")
        return self._read(whose, lambda tx: [agent for (agent,) in tx.rows("agents", tenant_id=tenant_id)])

    def agent_counts(self, tenant_id: str, now: datetime) -> list[AgentCounts]:
        whose = Caller(tenant_id=tenant_id, agent="upkeep")
        return self._read(whose, lambda tx: stats.load_agent_counts(tx, tenant_id, now))

    def learners(self, tenant_id: str, *, since: datetime) -> list[str]:
        whose = Caller(tenant_id=tenant_id, agent="upkeep")
        return self._read(whose, lambda tx: sweeps.list_learners(tx, tenant_id, since))

    def page(self, request: Request, *, before: str | None, limit: int) -> list[MemoryRecord]:
        return self._read(request.caller, lambda tx: surveys.load_page(tx, request, before=before, limit=limit))

    def links_from(self, caller: Caller, ids: Collection[str], relations: Collection[Relation]) -> list[Link]:
        return self._read(caller, lambda tx: history.load_links_from(tx, caller, ids, relations))

    def vectors_of(self, caller: Caller, ids: Collection[str]) -> dict[str, NDArray[np.float32]]:
        return self._read(caller, lambda tx: surveys.load_vectors(tx, caller, ids))

    def unmentioned(self, caller: Caller, *, after: str | None, limit: int) -> list[Entity]:
        return self._read(caller, lambda tx: surveys.find_unmentioned(tx, caller, after=after, limit=limit))
