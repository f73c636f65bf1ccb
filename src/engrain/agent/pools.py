"""Pools: scopes that some agents of a tenant share, as one of them sees them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engrain.agent.operations.instrumentation import instrument
from engrain.agent.reads.lookups import find_memory, get_memory, memory_not_found
from engrain.agent.reads.search import search_counted
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.arguments import find_preset, mask_secrets, parse_agent, parse_limit
from engrain.agent.wiring.view import View
from engrain.agent.writes import linking
from engrain.domain import checks
from engrain.domain.access.pools import SYNCED_KEY, Pool, PoolSync, copy_to_scope
from engrain.domain.access.scopes import pool_scope, user_scope
from engrain.domain.filters import Filter
from engrain.domain.ids import derived_id
from engrain.domain.records import Answer, Caller, Fact, Link, MemoryRecord
from engrain.domain.requests import Request
from engrain.errors import InvalidInput, NotFound
from engrain.storage.access import pools
from engrain.storage.entities.mentions import put_with_mentions
from engrain.storage.reports.surveys import load_page
from engrain.storage.selection import load_memories
from engrain.storage.transaction import repeatable
from engrain.storage.write import arrivals, updates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engrain.agent.wiring.parts import Parts
    from engrain.storage.unit_of_work import Snapshot, UnitOfWork
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
            InvalidInput: an empty name, one that is taken, a member that is a scope's name, or this agent is bound to
                its user; nothing was written.
            Forbidden: another member, from the key of one agent without the right to publish.
        """
        parts = self._parts()
        named = checks.name(name, name="pool")
        joined = [parse_agent(member, name="member") for member in checks.names(members, name="member")]
        act = new_act(parts, self._caller)
        return parts.store.write(act, pools.create_pool, named, joined, mask_secrets(parts, checks.metadata(metadata)))

    def list(self) -> list[Pool]:
        """List the pools that this agent is in, by name."""
        return self._parts().store.read(self._caller, pools.list_pools)

    def add(self, name: words.PoolName, member: words.PoolMember) -> Pool:
        """Add an agent of the tenant to a pool; it sees the whole pool at once. Twice is once.

        Raises:
            NotFound: this agent is in no such pool.
            InvalidInput: the member is a scope's name, or this agent is bound to its user.
            Forbidden: as `create`.
        """
        named, joined = checks.name(name, name="pool"), parse_agent(member, name="member")
        parts = self._parts()
        return self._there(parts.store.write(new_act(parts, self._caller), pools.join_pool, named, joined), named)

    def remove(self, name: words.PoolName, member: words.PoolMember) -> Pool:
        """Remove a member from a pool, or leave it; its next call sees nothing of it. Twice is once.

        Raises:
            NotFound: this agent is in no such pool.
            InvalidInput: no member would be left, or this agent is bound to its user; nothing was written.
        """
        named, left = checks.name(name, name="pool"), parse_agent(member, name="member")
        parts = self._parts()
        return self._there(parts.store.write(new_act(parts, self._caller), pools.leave_pool, named, left), named)

    def delete(self, name: words.PoolName) -> None:
        """Delete an empty pool.

        Raises:
            NotFound: this agent is in no such pool.
            InvalidInput: it holds memories of any user, live or not: `erase` them first. Or this agent is bound to its
                user.
        """
        named = checks.name(name, name="pool")
        parts = self._parts()
        if not parts.store.write(new_act(parts, self._caller), pools.delete_pool, named):
            raise _pool_not_found(self._caller, named)

    def contribute(self, name: words.PoolName, id_: words.Id) -> MemoryRecord:
        """Copy a memory that this agent sees into a pool; the copy is linked `derived_from` it.

        A fact supersedes the one in its slot in the pool; an episode comes without its session, and is not consolidated
        again. A repeat gives the copy made first.

        Raises:
            NotFound: this agent is in no such pool, or sees no such memory.
            InvalidInput: the memory is no longer live, or is in the pool already.
        """
        pool, original_id = checks.name(name, name="pool"), checks.name(id_, name="id")
        parts = self._parts()
        stored = parts.store.write(new_act(parts, self._caller), _contribute, parts, pool, original_id)
        parts.queue.announce()
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
        from engrain.retrieval.search_query import SearchQuery

        named = checks.name(name, name="pool")
        parts = self._parts()
        most = parse_limit(parts, limit)
        search_query = SearchQuery(text=checks.query(query), preset=find_preset(parts, preset), limit=most)
        narrowed = Filter(scopes=_pool_scopes(self._caller, named))
        return search_counted(
            parts, self._caller, search_query, narrowed, check=lambda snapshot: _check_member(snapshot, named)
        )

    def sync_to_agent(self, name: words.PoolName) -> PoolSync:
        """Copy the facts and rules of others in a pool into this agent's own scope, to stay there.

        Only live ones. A repeat copies new ones, and supersedes earlier copies that have changed. A fact of the agent's
        own in the same slot stays. Each copy is linked `derived_from` its original.

        Raises:
            NotFound: this agent is in no such pool.
        """
        named = checks.name(name, name="pool")
        parts = self._parts()
        act = new_act(parts, self._caller)
        pages: list[PoolSync] = []
        last: str | None = None
        try:
            while not pages or last is not None:
                page, last = parts.store.write(act, _sync_page, parts, named, last)
                pages.append(page)
        finally:
            parts.note_cache.drop_agent(self._caller)
            parts.queue.announce()
        return PoolSync(
            pool=named,
            copied=tuple(id_ for page in pages for id_ in page.copied),
            unchanged=sum(page.unchanged for page in pages),
            kept=tuple(id_ for page in pages for id_ in page.kept),
        )

    def _there(self, pool: Pool | None, name: str) -> Pool:
        if pool is None:
            raise _pool_not_found(self._caller, name)
        return pool


def _pool_scopes(caller: Caller, name: str) -> tuple[str, ...]:
    """Return the scopes of a pool that a caller sees: of no user, and of its user."""
    return tuple(dict.fromkeys((pool_scope(name), user_scope(caller.user, pool_scope(name)))))


def _check_member(snapshot: Snapshot, pool: str) -> None:
    """Refuse a pool that the caller is not in."""
    if pool not in snapshot.caller.pools:
        raise _pool_not_found(snapshot.caller, pool)


def _pool_not_found(caller: Caller, name: str) -> NotFound:
    return NotFound(f"agent {caller.agent} is in no pool {name!r:.80}; pools.list shows those it is in")


@repeatable
def _contribute(work: UnitOfWork, parts: Parts, pool: str, original_id: str) -> MemoryRecord:
    """Copy a memory into a pool, and link the copy to it; return the copy as stored, now or before."""
    _check_member(work, pool)
    there = user_scope(work.caller.user, pool_scope(pool))
    mentioned = _lock_mentioned(work, parts, [_copy(work, get_memory(work, original_id), pool, there)])
    for original in _hold(work, [original_id]):
        if not original.is_live(work.act.at):
            raise InvalidInput(f"{original.kind} {original_id} is no longer live; contribute what holds its place now")
        if original.scope == there:
            raise InvalidInput(f"{original.kind} {original_id} is in pool {pool!r:.80} already; its members see it")
        copy = _copy(work, original, pool, there)
        stored = _store_copy(work, copy, original, mentioned) or find_memory(work, copy.id)
        if stored is None:
            raise InvalidInput(
                f"the copy of {original_id} in pool {pool!r:.80} was erased; what was erased does not come back"
            )
        return stored
    raise memory_not_found(work.caller, original_id)  # erased since it was looked up


@repeatable
def _sync_page(work: UnitOfWork, parts: Parts, pool: str, before: str | None) -> tuple[PoolSync, str | None]:
    """Copy the next facts and rules of others in a pool, by id from the largest; return what was done, and the last."""
    _check_member(work, pool)
    narrowed = Filter(kinds=("fact", "rule"), scopes=_pool_scopes(work.caller, pool))
    own = work.own_scope
    request = Request(caller=work.caller, filter=narrowed, now=work.act.at)
    page = load_page(work, request, before=before, limit=_PAGE)
    seen = [memory for memory in page if memory.agent != work.agent]
    mentioned = _lock_mentioned(work, parts, [_copy(work, memory, pool, own) for memory in seen])
    originals = [memory for memory in _hold(work, [memory.id for memory in seen]) if memory.is_live(work.act.at)]
    copies = [_copy(work, original, pool, own) for original in originals]
    known = {memory.id for memory in load_memories(work, [copy.id for copy in copies])}
    copied, kept = [], []
    for original, fresh in zip(originals, copies, strict=True):
        if fresh.id in known:
            continue
        copy = replace(fresh, metadata={**original.metadata, SYNCED_KEY: pool})
        holders = arrivals.lock_slot_holders(work, copy) if isinstance(copy, Fact) else []
        taken = [holder.id for _, holder in holders if holder.metadata.get(SYNCED_KEY) != pool]
        if taken:
            kept += taken
        elif _store_copy(work, copy, original, mentioned) is not None:  # else it was erased, and does not come back
            copied.append(copy.id)
    done = PoolSync(pool=pool, copied=tuple(copied), unchanged=len(known), kept=tuple(kept))
    return done, page[-1].id if len(page) == _PAGE else None


def _copy(work: UnitOfWork, original: MemoryRecord, pool: str, scope: str) -> MemoryRecord:
    """Make the copy of a memory, whose id is the same for the same memory, pool and agent."""
    id_ = derived_id(work.tenant_id, work.own_scope, "pool", pool, original.id, at=None)
    return copy_to_scope(original, id_=id_, act=work.act, scope=scope)


def _lock_mentioned(work: UnitOfWork, parts: Parts, copies: Sequence[MemoryRecord]) -> Mapping[str, Sequence[str]]:
    """Lock the slots of copies, then whom they mention; return these by the ids of the copies."""
    work.backend.lock(work, (), [copy for copy in copies if isinstance(copy, Fact)])
    return linking.find_mentioned(work, parts, copies)


def _hold(work: UnitOfWork, ids: Sequence[str]) -> Sequence[MemoryRecord]:
    """Load memories as they stand, which nobody erases until this unit ends."""
    return [memory for _, memory in updates.lock_visible(work, ids)]


def _store_copy(
    work: UnitOfWork, copy: MemoryRecord, original: MemoryRecord, mentioned: Mapping[str, Sequence[str]]
) -> MemoryRecord | None:
    """Store a copy, linked to its original and to whom it mentions; None where its id is taken."""
    for stored in put_with_mentions(work, [copy], mentioned):
        link = Link(source_id=copy.id, target_id=original.id, relation="derived_from", created_at=work.act.at)
        updates.add_link(work, stored, original, link)
        return stored
    return None
