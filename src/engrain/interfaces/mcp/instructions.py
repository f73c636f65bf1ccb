"""Instructions for a client and profiles by name; they load nothing of the SDK."""

from collections.abc import Mapping

INSTRUCTIONS: Mapping[str, str] = {
    "butler": (
        "Long-term memory. Ask memory_context for what matters to a prompt when a session begins; store what "
        "happened with memory_store_episode when it ends, facts with memory_store_fact, what works with "
        "memory_store_rule; look things up with memory_search. An id in an answer names a memory for good."
    ),
    "assistant": (
        "Long-term memory of earlier conversations. Use search_memory before saying that something is not known; "
        "remember_fact for what will matter later, correct_fact where the user corrects what is remembered, "
        "confirm_fact where the user confirms it."
    ),
    "consolidator": (
        "Learn from a session: is_session_consolidated, then get_episodes_for_consolidation page by page, "
        "save_facts_batch with what they teach, detect_conflicts for each saved fact and resolve_conflict where "
        "it is one, mark_session_consolidated at the end."
    ),
    "notes": "Notes that an agent keeps for itself under keys such as project:alpha; saving a key replaces it.",
    "graph": (
        "A knowledge graph: entities, what is observed of them, and how they relate. create_entities before "
        "add_observations; search_nodes finds an entity by any part of its name, type or observations."
    ),
    "all": (
        "Long-term memory, with every verb of the library as a tool of its own name (observe, remember, recall, "
        "context, ...): recall finds what is known, observe stores what happened, remember what is true, rules_add "
        "what works. Every answer is {found, answer, request_id}."
    ),
}
PROFILES = tuple(INSTRUCTIONS)
# Profiles of which a client can hear that a resource has changed.
SUBSCRIBABLE = frozenset({"graph"})
