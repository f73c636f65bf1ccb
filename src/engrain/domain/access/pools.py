"""Pools: what some agents of a tenant share, and nobody else sees."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from engrain.domain.records import DEFAULT_TENANT, Episode, Fact, MemoryRecord, Record, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from engrain.domain.records import Caller
    from engrain.domain.requests import Act

# In the metadata of a memory that an agent took over from a pool: which pool.
SYNCED_KEY = "synced_from_pool"


def pool_scope(name: str) -> str:
    """Where the memories of a pool are."""
    return f"pool:{name}"


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
    """What an agent took over from a pool, and what it left because it knows something of its own there."""

    pool: str
    copied: tuple[str, ...] = ()  # ids of the agent's own copies that are new
    unchanged: int = 0
    kept: tuple[str, ...] = ()  # ids of the agent's own facts in whose place the pool says something else


class Pools(Protocol):
    """The part of the Store port that keeps pools. To who is no member a pool does not exist."""

    def pools_of(self, caller: Caller) -> tuple[str, ...]:
        """The names of the pools the caller's agent is in, sorted; whatever pools the caller itself names."""

    def pools(self, caller: Caller) -> list[Pool]:
        """The pools the caller's agent is in, by name."""

    def create_pool(self, act: Act, name: str, members: Sequence[str], metadata: Mapping[str, Any]) -> Pool:
        """A new pool of the acting agent and `members`.

        Raises:
            InvalidInput: the tenant has a pool of this name; nothing was written.
        """

    def join_pool(self, act: Act, name: str, member: str) -> Pool | None:
        """The pool with one member more, who may be in it already; None where the acting agent is in no such pool."""

    def leave_pool(self, act: Act, name: str, member: str) -> Pool | None:
        """The pool without a member, who may be in it no more; None where the acting agent is in no such pool.

        Raises:
            InvalidInput: nobody would be left in it; nothing was written.
        """

    def delete_pool(self, act: Act, name: str) -> bool:
        """Remove a pool that holds no memory; False where the acting agent is in no such pool.

        Raises:
            InvalidInput: it holds memories, live or not; nothing was written.
        """


def copy_to_scope(memory: MemoryRecord, *, id_: str, act: Act, scope: str) -> MemoryRecord:
    """A copy of a memory for another scope: what it says, and none of what was made of it where it came from."""
    who = {"id": id_, "agent": act.caller.agent, "scope": scope, "created_at": act.at}
    fresh: dict[str, Any] = {**who, "reference_count": 0, "last_referenced_at": None}
    match memory:
        case Episode():
            return replace(memory, **fresh, session=None, turn=0, consolidation_status="consolidated")
        case Fact():
            return replace(memory, **fresh, supersedes_id=None, source_episode_id=None, last_confirmed_at=act.at)
        case Rule():
            return replace(memory, **fresh, source_episode_id=None, last_confirmed_at=act.at)
