"""Owners of mem0's memories: the agent that acts for one, where the key may, and the versions of a memory by its id."""

from typing import TYPE_CHECKING

from engrain.agent.compat import find_whose
from engrain.domain.records import Episode
from engrain.errors import Forbidden
from engrain.interfaces.compat.mem0 import conversion
from engrain.interfaces.compat.mem0.filters import Owner
from engrain.interfaces.http.request_identity import RequestIdentity

if TYPE_CHECKING:
    from engrain.agent.agent import Agent


def agent_of(identity: RequestIdentity, owner: Owner, *, session: str | None = None) -> "Agent":
    """Return the memory as an owner sees it.

    Raises:
        Forbidden: as `check_owner`.
    """
    check_owner(identity, owner)
    return identity.agent_named(owner.agent, user=owner.user, session=session)


def check_owner(identity: RequestIdentity, owner: Owner) -> None:
    """Check that the key may act for an owner.

    Raises:
        Forbidden: it speaks for another agent or user alone.
    """
    grant = identity.grant
    if not may_act_for(identity, owner):
        whom = [f"{kind} {name!r:.80}" for kind, name in (("agent", grant.agent), ("user", grant.user_id)) if name]
        raise Forbidden(f"the key speaks for the {' and the '.join(whom)} alone, not for {owner.key!r:.80}")


def may_act_for(identity: RequestIdentity, owner: Owner) -> bool:
    """Tell whether the key is neither another agent's nor another user's."""
    grant = identity.grant
    return grant.agent in (None, owner.agent) and grant.user_id in (None, owner.user)


def load_versions(identity: RequestIdentity, memory_id: str) -> tuple[Owner, list[Episode]]:
    """Return the owner of a memory and every version of it, oldest first.

    Raises:
        NotFound: there is no such memory, or the key may not act for its owner.
    """
    id_ = conversion.parse_id(memory_id)
    whose = find_whose(identity.agent(), id_)
    owner = None if whose is None else conversion.owner_of(*whose)
    if owner is None or not may_act_for(identity, owner):
        raise conversion.no_memory(memory_id)
    agent = agent_of(identity, owner)
    first = agent.get(id_)
    if not isinstance(first, Episode) or first.scope != owner.scope:
        raise conversion.no_memory(memory_id)
    later = [agent.get(link.source_id) for link in agent.links(id_, direction="incoming", relation="supersedes")]
    episodes = (record for record in later if isinstance(record, Episode))
    return owner, [first, *sorted(episodes, key=lambda episode: episode.created_at)]


def load_live(identity: RequestIdentity, memory_id: str) -> tuple[Owner, Episode, list[Episode]]:
    """Return the owner of a memory, its live version and all versions.

    Raises:
        NotFound: as `load_versions`, or none is live.
    """
    owner, versions = load_versions(identity, memory_id)
    now = identity.memory.now
    live = [version for version in versions if version.is_live(now)]
    if not live:
        raise conversion.no_memory(memory_id)
    return owner, live[-1], versions
