"""The systems that engrain takes over from: what they have as defaults, and how they call settings in a host's file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engrain.errors import InvalidInput

# What differs from engrain's own. `butler`: a module of a host's butler.toml, defaults of its RetrievalConfig and the
# seven days it keeps an episode. `layered`: working memory, Redis, PostgreSQL and pgvector, its defaultConfig; what it
# keeps for 90 days are conversations.
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "butler": {
        "episodes": {"ttl_days": 7.0},
        "retrieval": {"preset": "hybrid", "limit": 20},
        "context": {"recipe": "butler", "budget_tokens": 3000},
    },
    "layered": {
        "embedding": {"model": "openai:text-embedding-3-small"},
        "episodes": {"ttl_days": 90.0},
        "storage": {"pool_size": 10},
        "batching": {"seconds": 1.0},
        "jobs": {"schedules": {"cleanup": "0 3 * * *"}},
        "retrieval": {"preset": "weighted", "limit": 20, "max_limit": 100},
    },
}

# Names of a butler's [modules.memory.retrieval], and whose they are here.
_RETRIEVAL = {
    "context_token_budget": ("context", "budget_tokens"),
    "default_limit": ("retrieval", "limit"),
    "default_mode": ("retrieval", "preset"),
}


def in_our_words(table: Mapping[str, Any], *, origin: str) -> dict[str, Any]:
    """A host's table with every name that is a butler's under our own; other names as they are.

    Raises:
        InvalidInput: a setting is there under both names.
    """
    said = table.get("retrieval")
    if not isinstance(said, Mapping):
        return dict(table)
    ours: dict[str, Any] = {**table, "retrieval": {name: said[name] for name in said if name not in _RETRIEVAL}}
    for theirs, (section, name) in _RETRIEVAL.items():
        if theirs not in said:
            continue
        there = ours.get(section, {})
        if not isinstance(there, Mapping):
            continue  # refused with the other names
        if name in there:
            raise InvalidInput(
                f"setting {section}.{name}, given by {origin}, is there as retrieval.{theirs} too; leave one out"
            )
        ours[section] = {**there, name: said[theirs]}
    return ours
