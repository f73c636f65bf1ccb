"""Pools: scopes that some agents of a tenant share, as one of them sees them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from engrain.agent.operations.instrumentation import instrument
from engrain.agent.reads.lookups import get_memory, read_all
from engrain.agent.reads.search import search_counted
from engrain.agent.wiring.acts import MOST_TRIES, new_act
from engrain.agent.wiring.arguments import find_preset, parse_agent, parse_limit
from engrain.agent.wiring.view import View
from engrain.agent.writes.memories import follow_up
from engrain.domain import checks
from engrain.domain.access.pools import SYNCED_KEY, PoolSync, copy_to_scope, pool_scope
from engrain.domain.filters import Filter
from engrain.domain.ids import derived_id
from engrain.domain.records import Fact, Link, MemoryRecord, Rule
from engrain.domain.requests import Request
from engrain.errors import InvalidInput, NotFound
from engrain.storage.reports.surveys import load_page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.access.pools import Pool
    from engrain.domain.records import Answer, Caller
    from engrain.domain.requests import Act
    from engrain.storage.unit_of_work import Snapshot
    from engrain.verbs import words

_PAGE = 500


@instrument("pools")
class Pools(View):
    """Scopes that an agent shares with some agents of its tenant."""

    __slots__ = ()

    def create(
        self, name: words.PoolName, members: words.PoolMembers | None = None, *, metadata: words.Metadata | None = None
    ) -> Pool:
        """Create a pool of this agent and other members; only they see its memories.

        `remember` and `rules.add` write to it with `scope="pool:<name>"`; `recall` finds its memories with all others.

        Raises:
            InvalidInput: an empty name, one that is taken, or a member that is a scope's name; nothing was written.
        """
        parts = self._parts()
        named = checks.name(name, name="pool")
        joined = [parse_agent(member, name="member") for member in checks.names(members, name="member")]
        return parts.store.create_pool(new_act(parts, self._who), named, joined, checks.metadata(metadata))

    def list(self) -> list[Pool]:
        """List the pools that this agent is in, by name."""
        return self._parts().store.pools(self._who)

    def add(self, name: words.PoolName, member: words.PoolMember) -> Pool:
        """Add an agent of the tenant to a pool; it sees the whole pool at once. Twice is once.

        Raises:
            NotFound: this agent is in no such pool.
            InvalidInput: the member is a scope's name.
        """
        named, joined = checks.name(name, name="pool"), parse_agent(member, name="member")
        parts = self._parts()
        return self._there(parts.store.join_pool(new_act(parts, self._who), named, joined), named)

    def remove(self, name: words.PoolName, member: words.PoolMember) -> Pool:
        """Remove a member from a pool, or leave it; its next call sees nothing of it. Twice is once.

        Raises:
            NotFound: this agent is in no such pool.
            InvalidInput: no member would be left; nothing was written.
        """
        named, left = checks.name(name, name="pool"), parse_agent(member, name="member")
        parts = self._parts()
        return self._there(parts.store.leave_pool(new_act(parts, self._who), named, left), named)

    def delete(self, name: words.PoolName) -> None:
        """Delete an empty pool.

        Raises:
            NotFound: this agent is in no such pool.
            InvalidInput: it holds memories, live or not: `erase` them first.
        """
        named = checks.name(name, name="pool")
        parts = self._parts()
        if not parts.store.delete_pool(new_act(parts, self._who), named):
            raise self._unknown(named)

    def contribute(self, name: words.PoolName, id_: words.Id) -> MemoryRecord:
        """Copy a memory that this agent sees into a pool; the copy is linked `derived_from` it.

        A fact supersedes the one in its slot in the pool; an episode comes without its session, and is not consolidated
        again. A repeat gives the copy made first.

        Raises:
            NotFound: this agent is in no such pool, or sees no such memory.
            InvalidInput: the memory is no longer live, or is in the pool already.
        """
        pool, original_id = checks.name(name, name="pool"), checks.name(id_, name="id")
        parts, caller = self._parts(), self._in(pool)
        act = new_act(parts, caller)
        original = parts.store.read(caller, get_memory, original_id)
        if not original.is_live(act.at):
            raise InvalidInput(f"{original.kind} {original_id} is no longer live; contribute what holds its place now")
        if original.scope == pool_scope(pool):
            raise InvalidInput(f"{original.kind} {original_id} is in pool {pool!r:.80} already; its members see it")
        copy = copy_to_scope(original, id_=_copy_id(caller, pool, original_id), act=act, scope=pool_scope(pool))
        stored = _store_copy(parts, act, copy)
        if stored is None:
            raise InvalidInput(
                f"the copy of {original_id} in pool {pool!r:.80} was erased; what was erased does not come back"
            )
        _follow_up(parts, act, stored, original_id)
        return stored

    def query(
        self,
        name: words.PoolName,
        query: words.Query,
        *,
        limit: words.Limit | None = None,
        preset: words.PresetName | None = None,
    ) -> Answer:
        """Find the best memories of a pool for a question, best first, as `Agent.recall` does.

        Raises:
            NotFound: this agent is in no such pool.
            InvalidInput: an unknown preset, or a limit out of its range.
        """
        from engrain.retrieval.search import SearchQuery

        named = checks.name(name, name="pool")
        parts = self._parts()
        most = parse_limit(parts, limit)
        search_query = SearchQuery(text=checks.query(query), preset=find_preset(parts, preset), limit=most)
        narrowed = Filter(scopes=(pool_scope(named),))
        return search_counted(
            parts, self._who, search_query, narrowed, check=lambda snapshot: self._check(snapshot, named)
        )

    def sync_to_agent(self, name: words.PoolName) -> PoolSync:
        """Copy the facts and rules of others in a pool into this agent's own scope, to stay there.

        Only live ones. A repeat copies new ones, and supersedes earlier copies that have changed. A fact of the agent's
        own in the same slot stays. Each copy is linked `derived_from` its original.

        Raises:
            NotFound: this agent is in no such pool.
        """
        named = checks.name(name, name="pool")
        parts, caller = self._parts(), self._in(named)
        act = new_act(parts, caller)
        copied, own, unchanged = [], [], 0
        for original in _read_pool(parts, caller, pool_scope(named)):
            fresh = copy_to_scope(original, id_=_copy_id(caller, named, original.id), act=act, scope=caller.agent)
            copy = replace(fresh, metadata={**original.metadata, SYNCED_KEY: named})
            if parts.store.get(caller, [copy.id]):
                _link(parts, act, copy, original.id)  # where the process that copied it ended before it did
                unchanged += 1
                continue
            standing = _sync(parts, act, copy, named) if isinstance(copy, Fact) else _store_copy(parts, act, copy)
            if standing is not None and standing.id == copy.id:
                _follow_up(parts, act, standing, original.id)
                copied.append(copy.id)
            elif standing is not None:
                own.append(standing.id)
        return PoolSync(pool=named, copied=tuple(copied), unchanged=unchanged, kept=tuple(own))

    def _in(self, name: str) -> Caller:
        """Return the caller, if it is in the pool."""
        caller = self._caller
        if name not in caller.pools:
            raise self._unknown(name)
        return caller

    def _check(self, snapshot: Snapshot, name: str) -> None:
        """Refuse a pool that the caller is not in."""
        if name not in snapshot.caller.pools:
            raise self._unknown(name)

    def _there(self, pool: Pool | None, name: str) -> Pool:
        if pool is None:
            raise self._unknown(name)
        return pool

    def _unknown(self, name: str) -> NotFound:
        return NotFound(f"agent {self._who.agent} is in no pool {name!r:.80}; pools.list shows those it is in")


def _store_copy(parts: Parts, act: Act, copy: MemoryRecord) -> MemoryRecord | None:
    """Store a copy; return it as stored, now or before, None where it was erased."""
    return next(iter(parts.store.put(act, [copy]) or parts.store.get(act.caller, [copy.id])), None)


def _follow_up(parts: Parts, act: Act, copy: MemoryRecord, original_id: str) -> None:
    """Link a copy to its original, and start what it sets going."""
    _link(parts, act, copy, original_id)
    follow_up(parts, act, copy)


def _link(parts: Parts, act: Act, copy: MemoryRecord, original_id: str) -> None:
    """Link a copy to its original, unless that was erased meanwhile; a link that is there stays as it is."""
    with suppress(NotFound):
        parts.store.link(
            act, Link(source_id=copy.id, target_id=original_id, relation="derived_from", created_at=act.at)
        )


def _sync(parts: Parts, act: Act, copy: Fact, pool: str) -> Fact | None:
    """Store a copy in place of nothing or of an earlier copy; return it, or else the fact that stays in its slot.

    None where it was erased, or others write to its slot all the while: it is for the next time.
    """
    for _ in range(MOST_TRIES):
        own = _find_in_slot(parts, act.caller, copy)
        if own is not None and (own.id == copy.id or own.metadata.get(SYNCED_KEY) != pool):
            return own
        try:
            stored = parts.store.supersede(act, copy, [] if own is None else [own.id], derives=False)
        finally:
            parts.note_cache.drop(copy)
        if stored is not None:
            return stored
    return None


def _copy_id(caller: Caller, pool: str, original: str) -> str:
    """Return the id of a copy: the same for the same memory, pool and agent."""
    return derived_id(caller.tenant_id, caller.agent, "pool", pool, original, at=None)


def _read_pool(parts: Parts, caller: Caller, scope: str) -> Iterator[Fact | Rule]:
    """Yield the live facts and rules of a scope that others put there, the newest first."""
    request = Request(caller=caller, filter=Filter(kinds=("fact", "rule"), scopes=(scope,)), now=parts.clock())
    last = None
    while page := parts.store.read(caller, load_page, request, before=last, limit=_PAGE):
        yield from (memory for memory in page if isinstance(memory, Fact | Rule) and memory.agent != caller.agent)
        last = page[-1].id


def _find_in_slot(parts: Parts, caller: Caller, fact: Fact) -> Fact | None:
    """Return the active fact in the slot of a new one."""
    if fact.entity_id is None:
        return parts.store.find_active_fact(caller, scope=fact.scope, subject=fact.subject, predicate=fact.predicate)
    narrowed = Filter(kinds=("fact",), scopes=(fact.scope,), predicates=(fact.predicate,))
    request = Request(caller=caller, filter=narrowed, now=parts.clock())

    def find(snapshot: Snapshot) -> Fact | None:
        facts = (memory for memory in read_all(snapshot, request) if isinstance(memory, Fact))
        return next((other for other in facts if other.slot == fact.slot), None)

    return parts.store.read(caller, find)
