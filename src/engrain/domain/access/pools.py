"""Pools: scopes that some agents of a tenant share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from engrain.domain.records import DEFAULT_TENANT, Episode, Fact, MemoryRecord, Record, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from engrain.domain.requests import Act

# Key of a memory's metadata with the pool that it was copied from.
SYNCED_KEY = "synced_from_pool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool(Record):
    """A pool as its members see it."""

    name: str
    tenant_id: str = DEFAULT_TENANT
    members: tuple[str, ...]  # agents, sorted; never none
    created_at: datetime
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)  # a dict has no hash of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSync(Record):
    """Result of a copy from a pool: new copies, and slots with a different fact of the agent's own."""

    pool: str
    copied: tuple[str, ...] = ()  # ids of the agent's own copies that are new
    unchanged: int = 0
    kept: tuple[str, ...] = ()  # ids of the agent's own facts in whose slot the pool has another content


def copy_to_scope(memory: MemoryRecord, *, id_: str, act: Act, scope: str) -> MemoryRecord:
    """Copy a memory to another scope: its content, without references, sources and consolidation."""
    owner = {"id": id_, "agent": act.caller.agent, "scope": scope, "created_at": act.at}
    fresh: dict[str, Any] = {**owner, "reference_count": 0, "last_referenced_at": None}
    match memory:
        case Episode():
            return replace(memory, **fresh, session=None, turn=0, consolidation_status="consolidated")
        case Fact():
            return replace(memory, **fresh, supersedes_id=None, source_episode_id=None, last_confirmed_at=act.at)
        case Rule():
            return replace(memory, **fresh, source_episode_id=None, last_confirmed_at=act.at)
