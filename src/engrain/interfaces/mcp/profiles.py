"""Profiles of tools that a server offers, by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from engrain.interfaces.compat import assistant, butler, consolidator, graph, notes, orchestrator
from engrain.interfaces.mcp.resources import KNOWLEDGE_GRAPH, Resource
from engrain.interfaces.mcp.tools import ToolDefinition


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The tools of a server; interfaces/mcp/instructions.py has what a client is told of them."""

    name: str
    tools: tuple[ToolDefinition, ...]
    resources: tuple[Resource, ...] = ()  # besides those of all profiles


_FEW: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(name="assistant", tools=assistant.TOOLS),
        Profile(name="butler", tools=butler.TOOLS),
        Profile(name="orchestrator", tools=orchestrator.TOOLS),
        Profile(name="consolidator", tools=consolidator.TOOLS),
        Profile(name="notes", tools=notes.TOOLS),
        Profile(name="graph", tools=graph.TOOLS, resources=(KNOWLEDGE_GRAPH,)),
    )
}


def profile_of(name: str) -> Profile:
    """Return the profile of a name, one of PROFILES."""
    return _verbs() if name == "all" else _FEW[name]


@cache
def _verbs() -> Profile:
    """Make the profile of all verbs, when first needed: a server of few tools does not load them."""
    from engrain.interfaces.mcp import verb_tools

    return Profile(name="all", tools=verb_tools.tools())
