"""What a client can attach to a conversation by its address: `memory://...`, as whoever asks sees it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engrain.domain.records import KINDS
from engrain.errors import NotFound
from engrain.interfaces.compat.counting import memory_stats
from engrain.interfaces.compat.graph import Told
from engrain.interfaces.mcp.identity import Identity
from engrain.interfaces.mcp.results import Profiled

JSON, MARKDOWN = "application/json", "text/markdown"
_MOST_PROPOSED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """One resource, or where its address has parameters a template of many: the function's are the same."""

    uri: str
    title: str
    call: Callable[..., object]
    mime_type: str = JSON

    @property
    def name(self) -> str:
        return self.call.__name__


def context(who: Identity) -> str:
    """What matters most of all that is remembered, as a block for a prompt."""
    return who.agent().context("").text


def stats(who: Identity) -> dict[str, Any]:
    """How much is remembered, by kind and state, and when something was last written."""
    return memory_stats(who).model_dump(mode="json")


def knowledge_graph(who: Identity) -> dict[str, Any]:
    """The full knowledge graph with all entities and relations."""
    return Told.of(who.agent().graph.read()).model_dump(mode="json", by_alias=True)


def entity(who: Identity, name: str) -> dict[str, Any]:
    """Everything known of somebody or something, by name or id: facts with their history, what was said, who else."""
    return Profiled.of(who.agent().entities.profile(name)).model_dump(mode="json")


def note(who: Identity, key: str) -> str:
    """The note under a key."""
    found = who.agent().notes.recall(key)
    if found is None:
        raise NotFound(f"there is no note {key!r:.80}; list_notes shows the keys")
    return found.content


def memory(who: Identity, kind: str, id: str) -> dict[str, Any]:  # noqa: A002  # as the address has it
    """One memory by its kind (episode, fact, rule) and id, live or not."""
    found = who.agent().get(id)
    if found is None or found.kind != kind:
        raise NotFound(f"there is no {kind:.20} {id!r:.80}; a search shows kinds and ids")
    return found.to_dict()


# An address is read by the first that it fits, so what fits most stands last.
ADDRESSES: Sequence[Address] = (
    Address(uri="memory://context", title="What matters most", call=context, mime_type=MARKDOWN),
    Address(uri="memory://stats", title="How much is remembered", call=stats),
    Address(uri="memory://entities/{name}", title="Everything known of somebody", call=entity),
    Address(uri="memory://notes/{key}", title="A note", call=note, mime_type=MARKDOWN),
    Address(uri="memory://{kind}/{id}", title="One memory", call=memory),
)
KNOWLEDGE_GRAPH = Address(uri="memory://knowledge-graph", title="Knowledge Graph", call=knowledge_graph)


def proposals(who: Identity, argument: str, begun: str) -> list[str]:
    """How an argument of an address or a prompt may go on from what somebody has typed; at most 100."""
    agent = who.agent()
    match argument:
        case "kind":
            return [kind for kind in KINDS if kind.startswith(begun)]
        case "key":
            return [each.key for each in agent.notes.list(_MOST_PROPOSED) if each.key.startswith(begun)]
        case "name" | "topic" if begun.strip():
            matches = agent.entities.resolve(begun, limit=_MOST_PROPOSED)
            return list(dict.fromkeys(each.canonical_name for each in matches))
        case "name" | "topic":
            return list(dict.fromkeys(each.canonical_name for each in agent.entities.find(limit=_MOST_PROPOSED)))
        case _:
            return []
