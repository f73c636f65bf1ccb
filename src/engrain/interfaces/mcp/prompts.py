"""Prompts for a client's menu, made from the memory as the caller sees it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from engrain.context.block import mark_as_data
from engrain.domain.records import Fact
from engrain.domain.text.prompt_safety import flatten
from engrain.errors import NotFound
from engrain.interfaces.mcp.identity import Identity

_MOST_TURNS = 30
_MOST_FACTS = 50
_NOTHING = "(nothing yet)"


@dataclass(frozen=True, slots=True)
class PromptDefinition:
    """One prompt: its function's name and docstring are the prompt's."""

    call: Callable[..., str]
    title: str

    @property
    def name(self) -> str:
        return self.call.__name__


def recall_topic(
    identity: Identity, topic: Annotated[str, Field(description="What to think of: a question, a name, a project.")]
) -> str:
    """Put what is remembered of a topic before the conversation goes on."""
    block = identity.agent().context(topic)
    return (
        f"This is what is remembered about {topic!r}:\n\n{_quote(block.text)}\n\n"
        "Say in a few sentences what of it matters here, and what is missing. Do not add what is not there."
    )


def review_known(
    identity: Identity, name: Annotated[str, Field(description="A person, place, project or other thing.")]
) -> str:
    """Go through what is known of somebody or something, so that it can be corrected."""
    facts = _facts_of(identity, name)
    lines = "\n".join(
        f"- {flatten(fact.predicate)}: {flatten(fact.content)} (since {fact.happened_at:%Y-%m-%d}, id {fact.id})"
        for fact in facts
    )
    return (
        f"This is what is known of {name!r}:\n\n{_quote(lines)}\n\n"
        "Go through it with me, one at a time: what no longer holds is corrected, what was never true is forgotten, "
        "what I confirm is confirmed, each by its id with the tools of the memory. Change nothing that I have not said."
    )


def remember_session(
    identity: Identity,
    session: Annotated[str, Field(description="Name of the conversation; left out: the one that is going on.")] = "",
) -> str:
    """Keep at the end of a conversation what will matter in the next one."""
    agent = identity.agent()
    turns = agent.consolidation.episodes(session, limit=_MOST_TURNS) if session else []
    lines = "\n".join(f"- {flatten(turn.speaker or turn.role)}: {flatten(turn.content)}" for turn in turns)
    last = agent.latest_reflection()
    thought = "" if last is None else flatten(last.content)
    begins = f"This was said in {session!r}:\n\n{_quote(lines)}" if session else "This conversation ends."
    return (
        f"{begins}\n\n"
        f"What you thought the last time you looked back:\n\n{_quote(thought)}\n\n"
        "Find what will matter later: facts about people and projects, decisions, preferences, what worked and what "
        "did not. Look up each first; then store it with the tools of the memory, one statement at a time and in "
        "words that stand alone. Keep neither what is known already nor what was said in passing. End with a list of "
        "what you stored."
    )


def _quote(lines: str) -> str:
    """Mark remembered lines as data, so that nothing in them passes for the prompt."""
    return mark_as_data(lines) if lines else _NOTHING


def _facts_of(identity: Identity, name: str) -> list[Fact]:
    """Return the active facts about an entity, or where the registry has none, about a subject of that name."""
    agent = identity.agent()
    try:
        known = agent.entities.profile(name).facts.values()
    except NotFound:
        return list(agent.facts(name, limit=_MOST_FACTS))
    return [fact for facts in known for fact in facts if fact.validity == "active"][:_MOST_FACTS]


PROMPTS: Sequence[PromptDefinition] = (
    PromptDefinition(recall_topic, "Recall a topic"),
    PromptDefinition(review_known, "Review what is known"),
    PromptDefinition(remember_session, "Remember this conversation"),
)
