"""The profile `assistant`: the few tools that a conversation needs, with short answers."""

from typing import Annotated

from pydantic import Field

from engrain.agent.compat import protect_fact
from engrain.domain.records import Fact
from engrain.errors import InvalidInput
from engrain.interfaces.compat.counting import memory_stats
from engrain.interfaces.mcp import arguments as given
from engrain.interfaces.mcp.identity import Identity, RequestContextArgument
from engrain.interfaces.mcp.offers import READS, REPLACES, Offer, unless_absent
from engrain.interfaces.mcp.results import EntityInfo, Found, Known, Profiled, Recollection, Stored, texts_of


def search_memory(
    who: Identity,
    query: Annotated[str, Field(description="A question or a topic.")],
    *,
    kinds: given.Kinds = None,
    limit: given.Limit = 10,
    request_context: RequestContextArgument = None,
) -> Recollection:
    """Search the long-term memory before answering what earlier conversations may tell: best first, in short."""
    agent = who.agent(request_context)
    answer = agent.recall(query, kinds=kinds, limit=limit, preset="assistant")
    return Recollection(
        memories=[Known.of(hit) for hit in answer],
        evidence=answer.evidence,
        degraded=texts_of(answer.degraded),
        request_id=agent.caller.request_id,
    )


def remember_fact(
    who: Identity,
    subject: Annotated[str, Field(description="Whom or what it is about.")],
    predicate: Annotated[str, Field(description="What it says of the subject, such as: lives in.")],
    content: given.Content,
    *,
    tags: given.Tags = None,
    idempotency_key: given.IdempotencyKey = None,
    request_context: RequestContextArgument = None,
) -> Stored:
    """Remember a fact that will matter later. It takes the place of what was true of the same before."""
    agent = who.agent(request_context)
    fact = agent.remember(content, subject=subject, predicate=predicate, tags=tags, idempotency_key=idempotency_key)
    return Stored.of(agent, fact)


def correct_fact(
    who: Identity,
    fact_id: given.FactId,
    content: Annotated[str, Field(description="What is true instead.")],
    *,
    request_context: RequestContextArgument = None,
) -> Found:
    """Put what is true in the place of a fact that is wrong; the answer has the new fact and its id."""
    agent = who.agent(request_context)
    return Found.of(agent, unless_absent(lambda: agent.correct(fact_id, content)))


def confirm_fact(who: Identity, fact_id: given.FactId, *, request_context: RequestContextArgument = None) -> Found:
    """Protect a fact that the user has confirmed: believed in full, it never fades. The answer has its new id."""
    agent = who.agent(request_context)
    fact = agent.get(fact_id)
    if fact is None:
        return Found.of(agent, None)
    if not isinstance(fact, Fact) or fact.validity != "active":
        raise InvalidInput(f"{fact_id} is no active fact; search_memory shows those that hold")
    if fact.permanence == "permanent" and fact.confidence == 1.0:
        return Found.of(agent, agent.confirm(fact_id))
    return Found.of(agent, protect_fact(agent, fact_id))


def get_entity_info(
    who: Identity,
    name: Annotated[str, Field(description="Name or id of a person, place, project or other thing.")],
    *,
    request_context: RequestContextArgument = None,
) -> EntityInfo:
    """Everything known about somebody or something: facts with their history, what was said, who else is there."""
    agent = who.agent(request_context)
    profile = unless_absent(lambda: agent.entities.profile(name))
    return EntityInfo(
        found=profile is not None,
        profile=None if profile is None else Profiled.of(profile),
        request_id=agent.caller.request_id,
    )


OFFERS = (
    Offer(search_memory, READS),
    Offer(remember_fact, REPLACES),
    Offer(correct_fact, REPLACES),
    Offer(confirm_fact, REPLACES),
    Offer(memory_stats, READS),
    Offer(get_entity_info, READS),
)
