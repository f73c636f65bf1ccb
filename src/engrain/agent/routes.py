"""What an agent does with an input that the router has judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.memories.routing import Handled, Routing

if TYPE_CHECKING:
    from engrain.agent import Agent
    from engrain.domain.records import Role


def handle(agent: Agent, routing: Routing, *, role: Role, speaker: str | None) -> Handled:
    """Store it, hold it, or find what it asks for; facts and rules in the agent's own scope: nobody said to share."""
    own, said = agent.caller.agent, routing.content
    match routing.route:
        case "recall":
            return Handled(routing=routing, answer=agent.recall(said))
        case "working":
            return Handled(routing=routing, working=agent.working.append(said, role=role, speaker=speaker))
        case "note":
            assert routing.key is not None
            return Handled(routing=routing, kept=agent.notes.save(routing.key, said))
        case "rule":
            return Handled(routing=routing, kept=agent.rules.add(said, scope=own))
        case "fact":
            assert routing.subject is not None
            assert routing.predicate is not None
            fact = agent.remember(said, subject=routing.subject, predicate=routing.predicate, scope=own)
            return Handled(routing=routing, kept=fact)
        case "episode":
            return Handled(routing=routing, kept=agent.observe(said, role=role, speaker=speaker))
