"""Instructions for a client and profiles by name; they load nothing of the SDK."""

from collections.abc import Mapping

_REQUEST_CONTEXT = (
    " request_context is the host's: {request_id, which comes back in the answer and stands in the events, session_id, "
    "the conversation that is going on}; a model leaves it out."
)
INSTRUCTIONS: Mapping[str, str] = {
    "assistant": (
        "Long-term memory of earlier conversations. Call context with the user's message when a conversation begins, "
        "and search before saying that something is not known. remember what will matter later, one statement at a "
        "time; correct what the user says is wrong and forget what they want forgotten, by the ids in the answers."
    ),
    "butler": (
        "Long-term memory. Ask memory_context for what matters to a prompt when a session begins; store what "
        "happened with memory_store_episode when it ends, facts with memory_store_fact, what works with "
        "memory_store_rule; look things up with memory_search. An id in an answer names a memory for good."
        f"{_REQUEST_CONTEXT}"
    ),
    "orchestrator": (
        "Long-term memory of earlier conversations. Use search_memory before saying that something is not known; "
        "remember_fact for what will matter later, correct_fact where the user corrects what is remembered, "
        f"confirm_fact where the user confirms it.{_REQUEST_CONTEXT}"
    ),
    "consolidator": (
        "Learn from a session: is_session_consolidated, then get_episodes_for_consolidation page by page, "
        "save_facts_batch with what they teach, detect_conflicts for each saved fact and resolve_conflict where "
        f"it is one, mark_session_consolidated at the end.{_REQUEST_CONTEXT}"
    ),
    "notes": (
        "Notes that an agent keeps for itself under keys such as project:alpha; saving a key replaces it."
        f"{_REQUEST_CONTEXT}"
    ),
    "graph": (
        "A knowledge graph: entities, what is observed of them, and how they relate. create_entities before "
        "add_observations; search_nodes finds an entity by any part of its name, type or observations."
    ),
    "all": (
        "Long-term memory, with every verb of the library as a tool of its own name (observe, remember, recall, "
        "context, ...): recall finds what is known, observe stores what happened, remember what is true, rules_add "
        f"what works. Every answer is {{found, answer, request_id}}.{_REQUEST_CONTEXT}"
    ),
}
PROFILES = tuple(INSTRUCTIONS)
DEFAULT_PROFILE = "assistant"
# Profiles of which a client can hear that a resource has changed.
SUBSCRIBABLE = frozenset({"graph"})
