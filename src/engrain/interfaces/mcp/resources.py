"""Resources that a client can attach to a conversation: `memory://...`, as the caller sees them."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engrain.domain.records import KINDS
from engrain.errors import NotFound
from engrain.interfaces.compat.graph import Graph
from engrain.interfaces.compat.stats import memory_stats
from engrain.interfaces.mcp.identity import Identity
from engrain.interfaces.mcp.results import Profile

JSON, MARKDOWN = "application/json", "text/markdown"
_MOST_PROPOSED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One resource, or where its URI has parameters a template of many, with the function's parameters."""

    uri: str
    title: str
    call: Callable[..., object]
    mime_type: str = JSON

    @property
    def name(self) -> str:
        return self.call.__name__.replace("_", "-")


def context(identity: Identity) -> str:
    """The most important memories, as a block for a prompt."""
    return identity.agent().context("").text


def stats(identity: Identity) -> dict[str, Any]:
    """Counts of memories by kind and state, and the time of the last write."""
    agent = identity.agent()
    return memory_stats(agent).for_request(agent).model_dump(mode="json")


def knowledge_graph(identity: Identity) -> str:
    """The full knowledge graph with all entities and relations."""
    graph = Graph.of(identity.agent().graph.read())
    return json.dumps(graph.model_dump(mode="json", by_alias=True), indent=2, ensure_ascii=False)


def entity(identity: Identity, name: str) -> dict[str, Any]:
    """Everything known of somebody or something, by name or id: facts with their history, what was said, who else."""
    return Profile.model_validate(identity.agent().entities.profile(name)).model_dump(mode="json")


def note(identity: Identity, key: str) -> str:
    """The note under a key."""
    current = identity.agent().notes.recall(key)
    if current is None:
        raise NotFound(f"there is no note {key!r:.80}; list_notes shows the keys")
    return current.content


def memory(identity: Identity, kind: str, id: str) -> dict[str, Any]:  # noqa: A002  # as the address has it
    """One memory by its kind (episode, fact, rule) and id, live or not."""
    record = identity.agent().get(id)
    if record is None or record.kind != kind:
        raise NotFound(f"there is no {kind:.20} {id!r:.80}; a search shows kinds and ids")
    return record.to_dict()


# A URI is read by the first template that it matches, so the widest stands last.
RESOURCES: Sequence[Resource] = (
    Resource(uri="memory://context", title="What matters most", call=context, mime_type=MARKDOWN),
    Resource(uri="memory://stats", title="How much is remembered", call=stats),
    Resource(uri="memory://entities/{name}", title="Everything known of somebody", call=entity),
    Resource(uri="memory://notes/{key}", title="A note", call=note, mime_type=MARKDOWN),
    Resource(uri="memory://{kind}/{id}", title="One memory", call=memory),
)
KNOWLEDGE_GRAPH = Resource(uri="memory://knowledge-graph", title="Knowledge Graph", call=knowledge_graph)


def proposals(identity: Identity, argument: str, begun: str) -> list[str]:
    """Return completions of an argument of a resource or prompt, from its beginning; at most 100."""
    agent = identity.agent()
    match argument:
        case "kind":
            return [kind for kind in KINDS if kind.startswith(begun)]
        case "key":
            return [note.key for note in agent.notes.list(_MOST_PROPOSED) if note.key.startswith(begun)]
        case "name" | "topic" if begun.strip():
            matches = agent.entities.resolve(begun, limit=_MOST_PROPOSED)
            return list(dict.fromkeys(match.canonical_name for match in matches))
        case "name" | "topic":
            return list(dict.fromkeys(entity.canonical_name for entity in agent.entities.find(limit=_MOST_PROPOSED)))
        case _:
            return []
