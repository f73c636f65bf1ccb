"""Predecessors of engrain: their defaults, and their names of settings in a host's file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engrain.errors import InvalidInput

# Defaults that differ from engrain's own. `butler`: a module of a host's butler.toml, defaults of its RetrievalConfig
# and its seven days for episodes. `layered`: working memory, Redis, PostgreSQL and pgvector, its defaultConfig; its 90
# days are those of conversations.
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

# Names in a butler's [modules.memory.retrieval], and the settings they stand for.
_RETRIEVAL = {
    "context_token_budget": ("context", "budget_tokens"),
    "default_limit": ("retrieval", "limit"),
    "default_mode": ("retrieval", "preset"),
}


def translate_names(table: Mapping[str, Any], *, origin: str) -> dict[str, Any]:
    """Replace a butler's names in a host's table by those of engrain; other names stay.

    Raises:
        InvalidInput: a setting is there under both names.
    """
    retrieval = table.get("retrieval")
    if not isinstance(retrieval, Mapping):
        return dict(table)
    ours: dict[str, Any] = {
        **table,
        "retrieval": {name: value for name, value in retrieval.items() if name not in _RETRIEVAL},
    }
    for theirs, (section, name) in _RETRIEVAL.items():
        if theirs not in retrieval:
            continue
        present = ours.get(section, {})
        if not isinstance(present, Mapping):
            continue  # refused with the other names
        if name in present:
            raise InvalidInput(
                f"setting {section}.{name}, given by {origin}, is there as retrieval.{theirs} too; leave one out"
            )
        ours[section] = {**present, name: retrieval[theirs]}
    return ours
