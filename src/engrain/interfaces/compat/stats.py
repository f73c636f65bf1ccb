"""The tool memory_stats of the profiles butler and orchestrator."""

from engrain.agent.agent import Agent
from engrain.interfaces.mcp.argument_types import WithinScope
from engrain.interfaces.mcp.results import MemoryCounts


def memory_stats(agent: Agent, *, scope: WithinScope = None) -> MemoryCounts:
    """Count what this agent remembers: episodes, facts and rules by state, and the time of the last write."""
    latest = agent.events(limit=1)
    return MemoryCounts.of(agent.stats(scope=scope), latest[0].created_at if latest else None)
