"""Pools as the reference store keeps them: sets in a dictionary."""

from collections.abc import Mapping, Sequence
from typing import Any

from engrain.domain import events
from engrain.domain.access.pools import Pool, pool_scope
from engrain.domain.records import Caller, MemoryRecord
from engrain.domain.requests import Act
from engrain.errors import InvalidInput
from tests.support.reference_records import ReferenceRecords


class ReferencePools(ReferenceRecords):
    """Who is in which pool of which tenant."""

    def __init__(self) -> None:
        super().__init__()
        self._pools: dict[tuple[str, str], Pool] = {}

    def _new(self, act: Act, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        if act.checks_pools:
            own = {"global", act.caller.agent, *(pool_scope(name) for name in self.pools_of(act.caller))}
            if not {each.scope for each in memories} <= own:
                raise InvalidInput("not a member any more")
        return super()._new(act, memories)

    def pools_of(self, caller: Caller) -> tuple[str, ...]:
        return tuple(pool.name for pool in self.pools(caller))

    def pools(self, caller: Caller) -> list[Pool]:
        return [pool for _, pool in sorted(self._pools.items()) if _is_in(pool, caller)]

    def create_pool(self, act: Act, name: str, members: Sequence[str], metadata: Mapping[str, Any]) -> Pool:
        tenant = act.caller.tenant_id
        if (tenant, name) in self._pools:
            raise InvalidInput(f"{name} is taken")
        joined = tuple(sorted({act.caller.agent, *members}))
        pool = Pool(name=name, tenant_id=tenant, members=joined, created_at=act.at, metadata=dict(metadata))
        self._pools[tenant, name] = pool
        self._tell_members(act, "pool_created", name, joined)
        return pool

    def join_pool(self, act: Act, name: str, member: str) -> Pool | None:
        pool = self._of(act, name)
        return None if pool is None else self._with(act, pool, {*pool.members, member}, "pool_joined", member)

    def leave_pool(self, act: Act, name: str, member: str) -> Pool | None:
        pool = self._of(act, name)
        if pool is None:
            return None
        if not {*pool.members} - {member}:
            raise InvalidInput(f"{member} is the last member of {name}")
        return self._with(act, pool, {*pool.members} - {member}, "pool_left", member)

    def delete_pool(self, act: Act, name: str) -> bool:
        if self._of(act, name) is None:
            return False
        tenant = act.caller.tenant_id
        if any(
            (entry.memory.tenant_id, entry.memory.scope) == (tenant, pool_scope(name))
            for entry in self._entries.values()
        ):
            raise InvalidInput(f"{name} holds memories")
        del self._pools[tenant, name]
        self._tell_members(act, "pool_deleted", name, ())
        return True

    def _of(self, act: Act, name: str) -> Pool | None:
        pool = self._pools.get((act.caller.tenant_id, name))
        return pool if pool is not None and _is_in(pool, act.caller) else None

    def _with(self, act: Act, pool: Pool, members: set[str], event_type: str, who: str) -> Pool:
        changed = Pool(
            name=pool.name,
            tenant_id=pool.tenant_id,
            members=tuple(sorted(members)),
            created_at=pool.created_at,
            metadata=pool.metadata,
        )
        if changed.members != pool.members:
            self._pools[pool.tenant_id, pool.name] = changed
            self._tell_members(act, event_type, pool.name, [who])
        return changed

    def _tell_members(self, act: Act, event_type: str, name: str, members: Sequence[str]) -> None:
        self._events.append(events.pool_changed(act, event_type, name, self._ids, members=members))


def _is_in(pool: Pool, caller: Caller) -> bool:
    return pool.tenant_id == caller.tenant_id and caller.agent in pool.members
