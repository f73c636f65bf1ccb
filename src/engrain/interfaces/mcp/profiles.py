"""Profiles of tools that a server offers, by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from engrain.interfaces.compat import assistant, butler, consolidator, graph, notes
from engrain.interfaces.mcp.resources import KNOWLEDGE_GRAPH, Resource
from engrain.interfaces.mcp.tools import ToolDefinition


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The tools of a server, and its instructions for a client."""

    tools: tuple[ToolDefinition, ...]
    instructions: str
    resources: tuple[Resource, ...] = ()  # besides those of all profiles


_FEW: Mapping[str, Profile] = {
    "butler": Profile(
        tools=butler.TOOLS,
        instructions=(
            "Long-term memory. Ask memory_context for what matters to a prompt when a session begins; store what "
            "happened with memory_store_episode when it ends, facts with memory_store_fact, what works with "
            "memory_store_rule; look things up with memory_search. An id in an answer names a memory for good."
        ),
    ),
    "assistant": Profile(
        tools=assistant.TOOLS,
        instructions=(
            "Long-term memory of earlier conversations. Use search_memory before saying that something is not known; "
            "remember_fact for what will matter later, correct_fact where the user corrects what is remembered, "
            "confirm_fact where the user confirms it."
        ),
    ),
    "consolidator": Profile(
        tools=consolidator.TOOLS,
        instructions=(
            "Learn from a session: is_session_consolidated, then get_episodes_for_consolidation page by page, "
            "save_facts_batch with what they teach, detect_conflicts for each saved fact and resolve_conflict where "
            "it is one, mark_session_consolidated at the end."
        ),
    ),
    "notes": Profile(
        tools=notes.TOOLS,
        instructions="Notes that an agent keeps for itself under keys such as project:alpha; saving a key replaces it.",
    ),
    "graph": Profile(
        tools=graph.TOOLS,
        resources=(KNOWLEDGE_GRAPH,),
        instructions=(
            "A knowledge graph: entities, what is observed of them, and how they relate. create_entities before "
            "add_observations; search_nodes finds an entity by any part of its name, type or observations."
        ),
    ),
}
PROFILES = (*_FEW, "all")


def profile_of(name: str) -> Profile:
    """Return the profile of a name, one of PROFILES."""
    return _verbs() if name == "all" else _FEW[name]


@cache
def _verbs() -> Profile:
    """Make the profile of all verbs, when first needed: a server of few tools does not load them."""
    from engrain.interfaces.mcp import verb_tools

    return Profile(
        tools=verb_tools.tools(),
        instructions=(
            "Long-term memory, with every verb of the library as a tool of its own name (observe, remember, recall, "
            "context, ...): recall finds what is known, observe stores what happened, remember what is true, rules_add "
            "what works. Every answer is {found, answer, request_id}."
        ),
    )
