"""Long-term memory for AI agents: remembers what happened and what is true, finds it again, and says why.

from engrain import Memory

with Memory.open("agent.db") as memory:
    ana = memory.agent("assistant", session="2026-11-21")
    ana.observe("I moved to Lisbon in May.", role="user", speaker="Ana")
    for hit in ana.recall("Where does Ana live?", limit=5):
        print(hit.score, hit.memory.content, hit.why)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engrain.agent.agent import Agent
    from engrain.aio import AsyncAgent, AsyncMemory
    from engrain.config.tree import Settings
    from engrain.context.block import ContextBlock
    from engrain.domain.records import Answer, Episode, Explanation, Fact, Hit
    from engrain.errors import EngrainError, InvalidInput, NotFound
    from engrain.service import Memory

__version__ = "0.1.0"

# Each name is loaded when it is first asked for, so that importing engrain costs next to nothing.
_HOMES = {
    "Agent": "engrain.agent.agent",
    "Answer": "engrain.domain.records",
    "AsyncAgent": "engrain.aio",
    "AsyncMemory": "engrain.aio",
    "ContextBlock": "engrain.context.block",
    "EngrainError": "engrain.errors",
    "Episode": "engrain.domain.records",
    "Explanation": "engrain.domain.records",
    "Fact": "engrain.domain.records",
    "Hit": "engrain.domain.records",
    "InvalidInput": "engrain.errors",
    "Memory": "engrain.service",
    "NotFound": "engrain.errors",
    "Settings": "engrain.config.tree",
}

__all__ = [
    "Agent",
    "Answer",
    "AsyncAgent",
    "AsyncMemory",
    "ContextBlock",
    "EngrainError",
    "Episode",
    "Explanation",
    "Fact",
    "Hit",
    "InvalidInput",
    "Memory",
    "NotFound",
    "Settings",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'engrain' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
