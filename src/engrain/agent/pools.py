"""Pools as an agent sees them: those it is in."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from engrain.agent.operations.instrumentation import instrument
from engrain.agent.reads.search import search_counted
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.arguments import find_preset, parse_limit
from engrain.agent.wiring.view import View
from engrain.agent.writes.memories import follow_up
from engrain.agent.writes.retries import MOST_TRIES
from engrain.domain import checks
from engrain.domain.access.pools import SYNCED_KEY, PoolSync, copy_to_scope, pool_scope
from engrain.domain.filters import Filter
from engrain.domain.ids import derived_id
from engrain.domain.records import GLOBAL_SCOPE, Fact, Link, MemoryRecord, Rule
from engrain.domain.requests import Request
from engrain.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.access.pools import Pool
    from engrain.domain.records import Answer, Caller
    from engrain.domain.requests import Act
    from engrain.verbs import words

_PAGE = 500


@instrument("pools")
class Pools(View):
    """What an agent shares with some agents of its tenant, and no others."""

    __slots__ = ()

    def create(
        self, name: words.PoolName, members: words.PoolMembers | None = None, *, metadata: words.Metadata | None = None
    ) -> Pool:
        """Make a pool that this agent and `members` are in: what is put into it they see, and nobody else.

        `remember` and `rules.add` write to it with `scope="pool:<name>"`; `recall` finds it with everything else.

        Raises:
            InvalidInput: an empty name, one that is taken, or a member that is a scope's name; nothing was written.
        """
        parts = self._parts()
        named = checks.name(name, name="pool")
        joined = [_member(each) for each in checks.names(members, name="member")]
        return parts.store.create_pool(new_act(parts, self._who), named, joined, checks.metadata(metadata))

    def list(self) -> list[Pool]:
        """The pools this agent is in, by name."""
        return self._parts().store.pools(self._who)

    def add(self, name: words.PoolName, member: words.PoolMember) -> Pool:
        """Let another agent of the tenant in; it sees all that the pool holds, at once. Twice is once.

        Raises:
            NotFound: this agent is in no such pool.
            InvalidInput: the member is a scope's name.
        """
        named, joined = checks.name(name, name="pool"), _member(member)
        parts = self._parts()
        return self._there(parts.store.join_pool(new_act(parts, self._who), named, joined), named)

    def remove(self, name: words.PoolName, member: words.PoolMember) -> Pool:
        """Take somebody out, or leave: its next call sees nothing of the pool any more. Twice is once.

        Raises:
            NotFound: this agent is in no such pool.
            InvalidInput: nobody would be left in it; nothing was written.
        """
        named, left = checks.name(name, name="pool"), _member(member)
        parts = self._parts()
        return self._there(parts.store.leave_pool(new_act(parts, self._who), named, left), named)

    def delete(self, name: words.PoolName) -> None:
        """Remove a pool that holds nothing.

        Raises:
            NotFound: this agent is in no such pool.
            InvalidInput: it holds memories, live or not: `erase` them first.
        """
        named = checks.name(name, name="pool")
        parts = self._parts()
        if not parts.store.delete_pool(new_act(parts, self._who), named):
            raise self._unknown(named)

    def contribute(self, name: words.PoolName, id_: words.Id) -> MemoryRecord:
        """Put a copy of a memory that this agent sees into a pool; the copy, linked `derived_from` the original.

        A fact supersedes what the pool held of the same; an episode comes without its session, and is not consolidated
        again. A repeat gives the copy made first.

        Raises:
            NotFound: this agent is in no such pool, or sees no such memory.
            InvalidInput: the memory is no longer live, or is in the pool already.
        """
        named, asked = checks.name(name, name="pool"), checks.name(id_, name="id")
        parts, caller = self._parts(), self._in(named)
        act = new_act(parts, caller)
        found = next(iter(parts.store.get(caller, [asked])), None)
        if found is None:
            raise NotFound(f"no memory {asked} is visible to agent {caller.agent}; recall shows ids")
        if not found.is_live(act.at):
            raise InvalidInput(f"{found.kind} {asked} is no longer live; contribute what holds its place now")
        if found.scope == pool_scope(named):
            raise InvalidInput(f"{found.kind} {asked} is in pool {named!r:.80} already; its members see it")
        copy = copy_to_scope(found, id_=_copy_id(caller, named, asked), act=act, scope=pool_scope(named))
        kept = _copied(parts, act, copy, asked)
        if kept is None:
            raise InvalidInput(
                f"the copy of {asked} in pool {named!r:.80} was erased; what was erased does not come back"
            )
        return kept

    def query(
        self,
        name: words.PoolName,
        query: words.Query,
        *,
        limit: words.Limit | None = None,
        preset: words.PresetName | None = None,
    ) -> Answer:
        """What a pool knows of a question, best first, as `Agent.recall` finds it; nothing from elsewhere.

        Raises:
            NotFound: this agent is in no such pool.
            InvalidInput: an unknown preset, or a limit out of its range.
        """
        from engrain.retrieval.search import SearchQuery

        named = checks.name(name, name="pool")
        parts, caller = self._parts(), self._in(named)
        most = parse_limit(parts, limit)
        asked = SearchQuery(text=checks.query(query), preset=find_preset(parts, preset), limit=most)
        return search_counted(parts, caller, asked, Filter(scopes=(pool_scope(named),)))

    def sync_to_agent(self, name: words.PoolName) -> PoolSync:
        """Copy what others put into a pool into this agent's own scope, where it stays when the agent leaves.

        That is the pool's live facts and rules. A repeat copies what is new, and supersedes what was copied before and
        says something else now. A fact that the agent knows of its own in the same place stays. Each copy is linked
        `derived_from` its original.

        Raises:
            NotFound: this agent is in no such pool.
        """
        named = checks.name(name, name="pool")
        parts, caller = self._parts(), self._in(named)
        act = new_act(parts, caller)
        copied, kept, unchanged = [], [], 0
        for original in _held(parts, caller, pool_scope(named)):
            fresh = copy_to_scope(original, id_=_copy_id(caller, named, original.id), act=act, scope=caller.agent)
            copy = replace(fresh, metadata={**original.metadata, SYNCED_KEY: named})
            if parts.store.get(caller, [copy.id]):
                unchanged += 1
                continue
            standing = _synced(parts, act, copy, named) if isinstance(copy, Fact) else _stored(parts, act, copy)
            if standing is not None and standing.id == copy.id:
                _follow(parts, act, standing, original.id)
                copied.append(copy.id)
            elif standing is not None:
                kept.append(standing.id)
        return PoolSync(pool=named, copied=tuple(copied), unchanged=unchanged, kept=tuple(kept))

    def _in(self, name: str) -> Caller:
        """Who asks, if it is in the pool."""
        caller = self._caller
        if name not in caller.pools:
            raise self._unknown(name)
        return caller

    def _there(self, pool: Pool | None, name: str) -> Pool:
        if pool is None:
            raise self._unknown(name)
        return pool

    def _unknown(self, name: str) -> NotFound:
        return NotFound(f"agent {self._who.agent} is in no pool {name!r:.80}; pools.list shows those it is in")


def _copied(parts: Parts, act: Act, copy: MemoryRecord, original_id: str) -> MemoryRecord | None:
    """A copy as stored, now or before, with a link to its original; None where it was erased."""
    stored = _stored(parts, act, copy)
    if stored is not None:
        _follow(parts, act, stored, original_id)
    return stored


def _stored(parts: Parts, act: Act, copy: MemoryRecord) -> MemoryRecord | None:
    """A copy as stored, now or before; None where it was erased."""
    return next(iter(parts.store.put(act, [copy]) or parts.store.get(act.caller, [copy.id])), None)


def _follow(parts: Parts, act: Act, copy: MemoryRecord, original_id: str) -> None:
    """What follows from a copy; one whose original was erased meanwhile is linked to nothing."""
    with suppress(NotFound):
        parts.store.link(
            act, Link(source_id=copy.id, target_id=original_id, relation="derived_from", created_at=act.at)
        )
    follow_up(parts, act, copy)


def _synced(parts: Parts, act: Act, copy: Fact, pool: str) -> Fact | None:
    """A copy as stored, in place of nothing or of what was copied from the pool before; else what stays in its place.

    None where it was erased, or others write to its place all the while: it is for the next time.
    """
    for _ in range(MOST_TRIES):
        own = _in_place(parts, act.caller, copy)
        if own is not None and (own.id == copy.id or own.metadata.get(SYNCED_KEY) != pool):
            return own
        try:
            stored = parts.store.supersede(act, copy, [] if own is None else [own.id], derives=False)
        finally:
            parts.note_cache.drop(copy)
        if stored is not None:
            return stored
    return None


def _member(value: object) -> str:
    name = checks.name(value, name="member")
    if name == GLOBAL_SCOPE or name.startswith("pool:"):
        raise InvalidInput(f"member {name!r:.80} is the name of a scope; members are agents")
    return name


def _copy_id(caller: Caller, pool: str, original: str) -> str:
    """The same copy of the same memory by the same agent has the same id."""
    return derived_id(caller.tenant_id, caller.agent, "pool", pool, original, at=None)


def _held(parts: Parts, caller: Caller, scope: str) -> Iterator[Fact | Rule]:
    """The live facts and rules of a scope that others put there, the newest first."""
    request = Request(caller=caller, filter=Filter(kinds=("fact", "rule"), scopes=(scope,)), now=parts.clock())
    found = _pages(parts, request)
    yield from (each for each in found if isinstance(each, Fact | Rule) and each.agent != caller.agent)


def _in_place(parts: Parts, caller: Caller, fact: Fact) -> Fact | None:
    """The active fact whose place a new one would take."""
    if fact.entity_id is None:
        return parts.store.find_active_fact(caller, scope=fact.scope, subject=fact.subject, predicate=fact.predicate)
    asked = Filter(kinds=("fact",), scopes=(fact.scope,), predicates=(fact.predicate,))
    request = Request(caller=caller, filter=asked, now=parts.clock())

    def found() -> Fact | None:
        pages = _pages(parts, request)
        return next((each for each in pages if isinstance(each, Fact) and each.slot == fact.slot), None)

    return parts.store.in_one_snapshot(caller, found)


def _pages(parts: Parts, request: Request) -> Iterator[MemoryRecord]:
    """All that match, the newest first."""
    before: str | None = None
    while page := parts.store.page(request, before=before, limit=_PAGE):
        yield from page
        before = page[-1].id
