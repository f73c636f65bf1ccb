"""The tool that two profiles share."""

from engrain.interfaces.mcp.arguments import WithinScope
from engrain.interfaces.mcp.identity import Identity, RequestContextArgument
from engrain.interfaces.mcp.results import Counts


def memory_stats(who: Identity, *, scope: WithinScope = None, request_context: RequestContextArgument = None) -> Counts:
    """How much this agent remembers: episodes, facts and rules by state, and when something was last written."""
    agent = who.agent(request_context)
    latest = agent.events(limit=1)
    return Counts.of(agent, agent.stats(scope=scope), latest[0].created_at if latest else None)
