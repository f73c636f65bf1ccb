"""The library's tools of pools: what an agent shares with some others, and nobody else sees."""

from typing import Annotated

from pydantic import Field

from engrain.interfaces.mcp import arguments as given
from engrain.interfaces.mcp.identity import Identity, RequestContextArgument
from engrain.interfaces.mcp.library import words
from engrain.interfaces.mcp.library.answers import FoundPool, FromPool, PoolGone, PoolList, Synced
from engrain.interfaces.mcp.offers import ADDS, CONFIRMS, READS, REMOVES, REPLACES, Offer, unless_absent
from engrain.interfaces.mcp.results import Found

_Pool = Annotated[str, Field(description="Name of the pool.")]
_Member = Annotated[str, Field(description="An agent of the tenant.")]


def pool_create(
    who: Identity,
    pool: _Pool,
    *,
    members: Annotated[list[str] | None, Field(description="Who is in it besides this agent.")] = None,
    metadata: words.Metadata = None,
    request_context: RequestContextArgument = None,
) -> FoundPool:
    """Make a pool that this agent and others are in; a memory with the scope pool:NAME is seen by them alone."""
    agent = who.agent(request_context)
    return FoundPool.of(agent, agent.pools.create(pool, members, metadata=metadata))


def pool_list(who: Identity, *, request_context: RequestContextArgument = None) -> PoolList:
    """The pools this agent is in, and who else is."""
    agent = who.agent(request_context)
    return PoolList.of(agent.pools.list(), agent.caller.request_id)


def pool_add(
    who: Identity, pool: _Pool, member: _Member, *, request_context: RequestContextArgument = None
) -> FoundPool:
    """Let another agent into a pool; it sees all that the pool holds, at once."""
    agent = who.agent(request_context)
    return FoundPool.of(agent, unless_absent(lambda: agent.pools.add(pool, member)))


def pool_remove(
    who: Identity, pool: _Pool, member: _Member, *, request_context: RequestContextArgument = None
) -> FoundPool:
    """Take somebody out of a pool, or leave it; who is out sees nothing of it any more."""
    agent = who.agent(request_context)
    return FoundPool.of(agent, unless_absent(lambda: agent.pools.remove(pool, member)))


def pool_delete(who: Identity, pool: _Pool, *, request_context: RequestContextArgument = None) -> PoolGone:
    """Remove a pool that holds nothing."""
    agent = who.agent(request_context)

    def gone() -> bool:
        agent.pools.delete(pool)
        return True

    return PoolGone(found=unless_absent(gone) is not None, request_id=agent.caller.request_id)


def pool_contribute(
    who: Identity, pool: _Pool, memory_id: given.MemoryId, *, request_context: RequestContextArgument = None
) -> Found:
    """Put a copy of a memory into a pool; the copy. `found` false where there is no such pool or memory."""
    agent = who.agent(request_context)
    return Found.of(agent, unless_absent(lambda: agent.pools.contribute(pool, memory_id)))


def pool_query(
    who: Identity,
    pool: _Pool,
    query: words.Asked,
    *,
    limit: words.MostHits = None,
    preset: words.Preset = None,
    request_context: RequestContextArgument = None,
) -> FromPool:
    """What a pool knows of a question, best first; nothing from elsewhere."""
    agent = who.agent(request_context)
    answer = unless_absent(lambda: agent.pools.query(pool, query, limit=limit, preset=preset))
    return FromPool(found=answer is not None, answer=answer, request_id=agent.caller.request_id)


def pool_sync(who: Identity, pool: _Pool, *, request_context: RequestContextArgument = None) -> Synced:
    """Copy what others put into a pool into this agent's own scope, where it stays when the agent leaves."""
    agent = who.agent(request_context)
    synced = unless_absent(lambda: agent.pools.sync_to_agent(pool))
    return Synced(found=synced is not None, sync=synced, request_id=agent.caller.request_id)


OFFERS = (
    Offer(pool_create, ADDS),
    Offer(pool_list, READS),
    Offer(pool_add, CONFIRMS),
    Offer(pool_remove, REMOVES),
    Offer(pool_delete, REMOVES),
    Offer(pool_contribute, REPLACES),
    Offer(pool_query, READS),
    Offer(pool_sync, REPLACES),
)
